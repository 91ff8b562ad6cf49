//! The identity of the data, and whose it is.

use std::path::PathBuf;
use std::sync::Arc;

use orch_storage::StoreError;

use crate::client::TXN;
use crate::config::EtcdConfig;
use crate::load::Reader;
use crate::message::{Compare, Compared, Op, Range, Txn, TxnDone};
use crate::versions::Versions;

/// The last word of an identity to which data are being moved.
const MOVING: &str = "moving";

/// What the key of the identity says, in words with spaces in between: who the data are and their
/// vocabulary; where they were moved here, also where their versions go on; and whether that is still so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) cluster_uid: Arc<str>,
    pub(crate) vocabulary: Arc<str>,
    pub(crate) versions: Versions,
    /// Not all that is moved here has come.
    pub(crate) is_moving: bool,
}

impl Identity {
    pub(crate) fn text(&self) -> String {
        let Self { cluster_uid, vocabulary, versions: Versions { offset }, is_moving } = self;
        match (offset, is_moving) {
            (0, false) => format!("{cluster_uid} {vocabulary}"),
            (_, false) => format!("{cluster_uid} {vocabulary} {offset}"),
            (_, true) => format!("{cluster_uid} {vocabulary} {offset} {MOVING}"),
        }
    }

    /// `None` for what [`Self::text`] never says.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let (cluster_uid, vocabulary) = (words.next()?.into(), words.next()?.into());
        let offset = words.next().map_or(Some(0), |word| word.parse().ok())?;
        let is_moving = words.next().map_or(Some(false), |word| (word == MOVING).then_some(true))?;
        let is_all = words.next().is_none();
        is_all.then_some(Self { cluster_uid, vocabulary, versions: Versions { offset }, is_moving })
    }
}

/// Reads the identity that the data got when it was created; creates it where there is no data. Refuses data
/// of another vocabulary and of other programs, and data of which some is still to come.
pub(crate) async fn identify(reader: Reader<'_>, config: &EtcdConfig) -> Result<Identity, StoreError> {
    loop {
        if let Some((found, _)) = read(reader, config).await? {
            if *found.vocabulary != *config.vocabulary {
                let (found, expected) = (found.vocabulary, config.vocabulary.as_str().into());
                return Err(StoreError::WrongVocabulary { path: path(config), found, expected });
            }
            if found.is_moving && !config.is_moving {
                return Err(refused(config, "data are being moved to the prefix, or only some were"));
            }
            return Ok(found);
        }
        if config.is_moving {
            return Err(refused(config, "the data that were moved are gone"));
        }
        let identity = Identity {
            cluster_uid: uuid::Uuid::new_v4().to_string().into(),
            vocabulary: config.vocabulary.as_str().into(),
            versions: Versions::default(),
            is_moving: false,
        };
        create(reader, config, &identity).await?;
    }
}

/// The identity of the data, and the version of its key; none where there is no data of ours.
pub(crate) async fn read(
    reader: Reader<'_>,
    config: &EtcdConfig,
) -> Result<Option<(Identity, u64)>, StoreError> {
    let found = reader.get(reader.keys.cluster()).await.map_err(|failure| failure.of_read())?;
    let Some(found) = found else { return Ok(None) };
    let identity = str::from_utf8(&found.value).ok().and_then(Identity::parse);
    let identity = identity.ok_or_else(|| refused(config, "its identity cannot be read"))?;
    Ok(Some((identity, found.mod_revision)))
}

/// Gives data that are not there yet an identity, unless somebody else does. Returns the version of its key,
/// if this did.
pub(crate) async fn create(
    reader: Reader<'_>,
    config: &EtcdConfig,
    identity: &Identity,
) -> Result<Option<u64>, StoreError> {
    let (key, end) = reader.keys.all();
    let range = Range { key, end, limit: 1, keys_only: true, ..Range::default() };
    let other = reader.range(range).await.map_err(|failure| failure.of_read())?;
    // Another server may have created it just now: then the identity is there.
    if other.kvs.first().is_some_and(|kv| !kv.key.starts_with(&reader.keys.own_begin())) {
        return Err(refused(config, "the prefix holds data of another program"));
    }
    let key = reader.keys.cluster();
    let create = Txn {
        compare: vec![Compare { key: key.clone(), what: Compared::Exists(false) }],
        success: vec![Op::Put { key, value: identity.text().into_bytes() }],
        failure: Vec::new(),
    };
    let created = reader.client.call::<TxnDone, _>(TXN, &create, reader.timeout).await;
    let created = created.map_err(|failure| failure.of_write())?;
    Ok(created.succeeded.then_some(created.header.revision))
}

/// The error for data that cannot be used.
pub(crate) fn refused(config: &EtcdConfig, detail: &str) -> StoreError {
    StoreError::NotADatabase { path: path(config), detail: detail.into() }
}

fn path(config: &EtcdConfig) -> PathBuf {
    PathBuf::from(format!("etcd:{}", config.prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_it_is_written() {
        for (text, offset, is_moving) in
            [("uid orch", 0, false), ("uid orch 17", 17, false), ("uid orch 17 moving", 17, true)]
        {
            let identity = Identity::parse(text).unwrap();
            assert_eq!((identity.versions.offset, identity.is_moving), (offset, is_moving), "{text}");
            assert_eq!((&*identity.cluster_uid, &*identity.vocabulary), ("uid", "orch"));
            assert_eq!(identity.text(), text);
        }
        for text in ["", "uid", "uid orch x", "uid orch -1", "uid orch 1 x", "uid orch 1 moving x"] {
            assert_eq!(Identity::parse(text), None, "{text:?}");
        }
    }
}
