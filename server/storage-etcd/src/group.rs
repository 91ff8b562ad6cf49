//! What changed at one revision: the events of a watch, as records of objects.

use bytes::Bytes;
use orch_storage::store::{Op, Record};
use orch_storage::{Key, ResourceName, Revision, Seal, Timestamp};

use crate::form::Form;
use crate::journal::Entry;
use crate::keys::{Keys, Place};
use crate::message::{Change, KeyValue};

/// Everything that one transaction changed.
pub(crate) struct Group {
    pub(crate) revision: Revision,
    /// What the write said beside its change; none of one that no server of ours made.
    pub(crate) entry: Option<Entry>,
    /// The objects, each with what was done and how it is in etcd.
    pub(crate) objects: Vec<(Key, Op, KeyValue)>,
    /// The resources in which terms were claimed.
    pub(crate) claims: Vec<ResourceName>,
}

/// The changes of each revision. They come in order.
pub(crate) fn groups(changes: Vec<Change>, keys: &Keys) -> Vec<Group> {
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
            Place::Object(key) => {
                let op = if is_delete { Op::Remove } else { op(&kv) };
                group.objects.push((key, op, kv));
            }
            Place::Other => {}
        }
    }
    groups
}

/// The record of an object as it is in etcd, and the key under which it is kept. When it was written is not
/// known.
pub(crate) fn state(key: Key, kv: &KeyValue, form: &Form) -> (Record, Option<Seal>) {
    let (value, seal) = form.value(&key, kv);
    let revision = Revision::new(kv.mod_revision);
    (Record { revision, key, op: op(kv), time: Timestamp(0), value }, seal)
}

fn op(kv: &KeyValue) -> Op {
    if kv.version == 1 { Op::Create } else { Op::Replace }
}

impl Group {
    /// The records of the objects, each with the key under which it is kept. `previous` is asked for the last
    /// state of an object that was removed by somebody who did not say what it was; `now` is the time of such
    /// a change.
    pub(crate) fn records(
        self,
        form: &Form,
        keys: &Keys,
        now: Timestamp,
        mut previous: impl FnMut(&Key) -> Bytes,
    ) -> impl Iterator<Item = (Record, Option<Seal>)> {
        let Self { revision, entry, objects, .. } = self;
        let time = entry.as_ref().map_or(now, |entry| entry.time);
        objects.into_iter().map(move |(key, op, kv)| {
            let (value, seal) = match (op, &entry) {
                (Op::Create | Op::Replace, _) => form.value(&key, &kv),
                (Op::Remove, Some(entry)) if !entry.last.is_empty() => {
                    (form.last(&key, entry, keys, revision), None)
                }
                (Op::Remove, _) => (Ok(previous(&key)), None),
            };
            (Record { revision, key, op, time, value }, seal)
        })
    }
}
