//! What changed at one revision: the events of a watch, as records of objects.

use std::sync::Arc;

use bytes::Bytes;
use orch_storage::store::{Op, Record};
use orch_storage::{Body, Corrupt, Key, ResourceName, Revision, Timestamp};

use crate::journal::Entry;
use crate::keys::{Keys, Place};
use crate::message::{Change, KeyValue};

/// Everything that one transaction changed.
pub(crate) struct Group {
    pub(crate) revision: Revision,
    /// What the write said beside its change; none of one that no server of ours made.
    pub(crate) entry: Option<Entry>,
    /// The objects, each with what was done and its new value: none for a removal.
    pub(crate) objects: Vec<(Key, Op, Option<Stored>)>,
    /// The resources in which terms were claimed.
    pub(crate) claims: Vec<ResourceName>,
}

/// A value with its revision, or what is wrong with it.
type Stored = Result<Bytes, Corrupt>;

/// How values are read.
#[derive(Clone, Copy)]
pub(crate) struct Form(pub(crate) fn(&[u8]) -> Option<usize>);

/// The changes of each revision. They come in order.
pub(crate) fn groups(changes: Vec<Change>, keys: &Keys, form: Form) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for Change { is_delete, kv } in changes {
        let revision = Revision::new(kv.mod_revision);
        if groups.last().is_none_or(|group| group.revision != revision) {
            groups.push(Group { revision, entry: None, objects: Vec::new(), claims: Vec::new() });
        }
        let Some(group) = groups.last_mut() else { continue };
        match keys.place(&kv.key) {
            Place::Writes => group.entry = Entry::decode(&kv.value),
            Place::Claims(resource) => group.claims.push(resource),
            Place::Object(key) if is_delete => group.objects.push((key, Op::Remove, None)),
            Place::Object(key) => group.objects.push((key, op(&kv), Some(form.value(&kv)))),
            Place::Other => {}
        }
    }
    groups
}

/// The record of an object as it is in etcd. When it was written is not known.
pub(crate) fn state(key: Key, kv: &KeyValue, form: Form) -> Record {
    let revision = Revision::new(kv.mod_revision);
    Record { revision, key, op: op(kv), time: Timestamp(0), value: form.value(kv) }
}

fn op(kv: &KeyValue) -> Op {
    if kv.version == 1 { Op::Create } else { Op::Replace }
}

impl Group {
    /// The records of the objects. `previous` is asked for the last state of an object that was removed by
    /// somebody who did not say what it was; `now` is the time of such a change.
    pub(crate) fn records(
        self,
        now: Timestamp,
        mut previous: impl FnMut(&Key) -> Bytes,
    ) -> impl Iterator<Item = Record> {
        let Self { revision, entry, objects, .. } = self;
        objects.into_iter().map(move |(key, op, value)| {
            let value = match (value, &entry) {
                (Some(value), _) => value,
                (None, Some(entry)) => {
                    Ok(Body::new(entry.last.to_vec(), entry.revision_at).with_revision(revision))
                }
                (None, None) => Ok(previous(&key)),
            };
            let time = entry.as_ref().map_or(now, |entry| entry.time);
            Record { revision, key, op, time, value }
        })
    }
}

impl Form {
    fn value(self, kv: &KeyValue) -> Stored {
        let revision = Revision::new(kv.mod_revision);
        match self.0(&kv.value) {
            Some(at) if at <= kv.value.len() => Ok(Body::new(kv.value.to_vec(), at).with_revision(revision)),
            _ => Err(Corrupt { revision, detail: Arc::from("the value is not in the form of this server") }),
        }
    }

    /// A value that has the revision `old`, with another one.
    pub(crate) fn at_revision(self, value: &Bytes, old: Revision, new: Revision) -> Bytes {
        let digits = old.to_string();
        let Some(at) = self.0(value).filter(|at| *at <= value.len()) else { return value.clone() };
        let (head, tail) = value.split_at(at);
        let tail = tail.strip_prefix(digits.as_bytes()).unwrap_or(tail);
        Body::new([head, tail].concat(), at).with_revision(new)
    }
}
