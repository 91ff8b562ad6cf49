//! How values are kept: without their revision, which etcd tells, and sealed where that is configured.

use std::sync::Arc;

use bytes::Bytes;
use orch_storage::{Body, Corrupt, Key, Object, Revision, Seal, SealError, Sealing};

use crate::config::EtcdConfig;
use crate::journal::Entry;
use crate::keys::Keys;
use crate::message::KeyValue;
use crate::other_forms::OtherForms;

/// A value with its revision, or what is wrong with it.
pub(crate) type Value = Result<Bytes, Corrupt>;

/// Reads and writes values.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// Where the revision is in a value, or goes in one without it.
    pub(crate) revision_at: fn(&[u8]) -> Option<usize>,
    pub(crate) sealing: Option<Arc<dyn Sealing>>,
    pub(crate) other_forms: Option<Arc<dyn OtherForms>>,
}

impl Form {
    pub(crate) fn of(config: &EtcdConfig) -> Self {
        let EtcdConfig { revision_at, sealing, other_forms, .. } = config.clone();
        Self { revision_at, sealing, other_forms }
    }

    /// What is kept of a value at a place: the key of etcd in which an object is.
    pub(crate) fn kept(&self, key: &Key, place: &str, value: &[u8]) -> Result<Vec<u8>, SealError> {
        let sealed = self.sealing.as_ref().map(|sealing| sealing.seal(key, &place, value)).transpose()?;
        Ok(sealed.flatten().map_or_else(|| value.to_vec(), |sealed| sealed.bytes))
    }

    /// The value of an object as it is in etcd, and the key under which it is kept.
    pub(crate) fn value(&self, key: &Key, kv: &KeyValue) -> (Value, Option<Seal>) {
        let revision = Revision::new(kv.mod_revision);
        let corrupt = |detail: String| Corrupt { revision, detail: detail.into() };
        let (value, seal) = match self.opened(key, &String::from_utf8_lossy(&kv.key), kv.value.clone()) {
            Ok(opened) => opened,
            Err(error) => return (Err(corrupt(error.to_string())), None),
        };
        let at = (self.revision_at)(&value).filter(|at| *at <= value.len());
        let body = match at {
            Some(at) => Some(Body::new(value.to_vec(), at)),
            None => self.other_forms.as_ref().and_then(|forms| forms.read(key, &value)),
        };
        let value = body.map(|body| body.with_revision(revision));
        (value.ok_or_else(|| corrupt("the value is not in the form of this server".to_owned())), seal)
    }

    /// The last state of an object, as the one who removed it said.
    pub(crate) fn last(&self, key: &Key, entry: &Entry, keys: &Keys, removal: Revision) -> Value {
        let corrupt = |detail: String| Corrupt { revision: removal, detail: detail.into() };
        let opened = self.opened(key, &last_place(keys, key), entry.last.clone());
        let (value, _) = opened.map_err(|error| corrupt(error.to_string()))?;
        if entry.revision_at > value.len() {
            return Err(corrupt("the last state is cut".to_owned()));
        }
        Ok(Body::new(value.to_vec(), entry.revision_at).with_revision(removal))
    }

    /// The last state of an object that somebody removed who did not say what it was.
    pub(crate) fn at_removal(&self, object: &Object, removal: Revision) -> Bytes {
        let Ok(value) = object.value() else { return Bytes::new() };
        let Some(at) = (self.revision_at)(value).filter(|at| *at <= value.len()) else {
            return value.clone();
        };
        let (head, tail) = value.split_at(at);
        let digits = object.revision().to_string();
        let tail = tail.strip_prefix(digits.as_bytes()).unwrap_or(tail);
        Body::new([head, tail].concat(), at).with_revision(removal)
    }

    /// The value of what is kept, and the key under which it is.
    pub(crate) fn opened(
        &self,
        key: &Key,
        place: &str,
        kept: Bytes,
    ) -> Result<(Bytes, Option<Seal>), SealError> {
        let Some(sealing) = &self.sealing else { return Ok((kept, None)) };
        sealing.open(key, &place, kept).map(|opened| (opened.value, opened.seal))
    }
}

/// Where the last state of an object is kept.
pub(crate) fn last_place(keys: &Keys, key: &Key) -> String {
    let (writes, object) = (keys.writes(), keys.object(key));
    format!("{} {}", String::from_utf8_lossy(&writes), String::from_utf8_lossy(&object))
}
