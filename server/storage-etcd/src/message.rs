//! The messages of etcd's API that are needed here, with the field numbers of its `rpc.proto` and `kv.proto`.
//! A field that an answer has and that nobody needs is skipped.

use bytes::Bytes;

use crate::versions::Versions;
use crate::wire::{Encoder, Malformed, Value, fields};

/// Writes a message.
pub(crate) trait Encode {
    /// Its fields, with revisions for versions.
    fn write(&self, versions: Versions, to: &mut Encoder);

    /// The message, behind so many bytes that are free.
    fn encode(&self, versions: Versions, free: usize) -> Vec<u8> {
        let mut encoder = Encoder::behind(free);
        self.write(versions, &mut encoder);
        encoder.finish()
    }
}

/// Reads a message.
pub(crate) trait Decode: Default {
    /// Takes one field.
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed>;

    /// With versions for revisions.
    fn decode(message: &Bytes, versions: Versions) -> Result<Self, Malformed> {
        let mut read = Self::default();
        fields(message, |field, value| read.field(field, value, versions))?;
        Ok(read)
    }
}

/// `RangeRequest`.
#[derive(Default)]
pub(crate) struct Range {
    pub(crate) key: Vec<u8>,
    /// Empty for the one key.
    pub(crate) end: Vec<u8>,
    /// 0 for all.
    pub(crate) limit: u64,
    /// The version at which it is read; 0 for the newest.
    pub(crate) revision: u64,
    pub(crate) keys_only: bool,
}

/// `Compare`: what has to hold for a key. It is always an equality.
pub(crate) struct Compare {
    pub(crate) key: Vec<u8>,
    pub(crate) what: Compared,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The key exists no more than this says.
    Exists(bool),
    /// The version of its newest change; 0 if it does not exist.
    ModRevision(u64),
}

/// `RequestOp`: a part of a transaction.
pub(crate) enum Op {
    Range(Range),
    Put {
        key: Vec<u8>,
        value: Vec<u8>,
    },
    Delete {
        key: Vec<u8>,
    },
    /// All keys from one to before another one.
    DeleteAll {
        key: Vec<u8>,
        end: Vec<u8>,
    },
}

/// `TxnRequest`.
#[derive(Default)]
pub(crate) struct Txn {
    pub(crate) compare: Vec<Compare>,
    pub(crate) success: Vec<Op>,
    pub(crate) failure: Vec<Op>,
}

/// `WatchRequest` with a `WatchCreateRequest`: everything in a range from a version on, in answers that are
/// no longer than a request may be.
pub(crate) struct Watch {
    pub(crate) key: Vec<u8>,
    pub(crate) end: Vec<u8>,
    pub(crate) start: u64,
}

/// `CompactionRequest` up to a version, which is answered when the space is free.
pub(crate) struct Compaction(pub(crate) u64);

/// A request that says nothing.
pub(crate) struct Empty;

/// `KeyValue`. Its revision is a version here, and so it is in all answers.
#[derive(Debug, Default, Clone)]
pub(crate) struct KeyValue {
    pub(crate) key: Bytes,
    pub(crate) value: Bytes,
    pub(crate) mod_revision: u64,
    /// How often it was written since it was created.
    pub(crate) version: u64,
}

/// `RangeResponse`.
#[derive(Debug, Default)]
pub(crate) struct Ranged {
    pub(crate) header: Header,
    pub(crate) kvs: Vec<KeyValue>,
    pub(crate) more: bool,
}

/// `ResponseHeader`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) revision: u64,
}

/// `TxnResponse`.
#[derive(Debug, Default)]
pub(crate) struct TxnDone {
    pub(crate) header: Header,
    pub(crate) succeeded: bool,
    /// The answers of its parts that are ranges.
    pub(crate) ranges: Vec<Ranged>,
}

/// `WatchResponse`.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) canceled: bool,
    /// Where history begins, if it begins after what was asked for.
    pub(crate) compact_revision: u64,
    pub(crate) cancel_reason: String,
    /// The next answer goes on with the same revision.
    pub(crate) is_cut: bool,
    pub(crate) events: Vec<Change>,
}

/// `Event`.
#[derive(Debug, Default)]
pub(crate) struct Change {
    pub(crate) is_delete: bool,
    pub(crate) kv: KeyValue,
}

/// `AlarmResponse`.
#[derive(Debug, Default)]
pub(crate) struct Alarms(pub(crate) Vec<Alarm>);

/// `AlarmMember`.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    pub(crate) member: u64,
    pub(crate) kind: u64,
}

/// An answer of which nothing is needed.
#[derive(Debug, Default)]
pub(crate) struct Done;

impl Encode for Range {
    fn write(&self, versions: Versions, to: &mut Encoder) {
        let revision = versions.revision(self.revision);
        to.bytes(1, &self.key).bytes(2, &self.end).number(3, self.limit).number(4, revision);
        to.number(8, self.keys_only.into());
    }
}

impl Encode for Txn {
    fn write(&self, versions: Versions, to: &mut Encoder) {
        for compare in &self.compare {
            to.message(1, |to| compare.write(versions, to));
        }
        for op in &self.success {
            to.message(2, |to| op.write(versions, to));
        }
        for op in &self.failure {
            to.message(3, |to| op.write(versions, to));
        }
    }
}

impl Encode for Compare {
    /// Results: 0 equal, 1 greater. Targets: 1 the revision of the creation, 2 that of the newest change.
    fn write(&self, versions: Versions, to: &mut Encoder) {
        match self.what {
            Compared::Exists(exists) => {
                to.number(1, exists.into()).number(2, 1).bytes(3, &self.key).present(5, 0);
            }
            Compared::ModRevision(version) => {
                to.number(2, 2).bytes(3, &self.key).present(6, versions.revision(version));
            }
        }
    }
}

impl Encode for Op {
    fn write(&self, versions: Versions, to: &mut Encoder) {
        match self {
            Self::Range(range) => to.message(1, |to| range.write(versions, to)),
            Self::Put { key, value } => to.message(2, |to| {
                to.bytes(1, key).bytes(2, value);
            }),
            Self::Delete { key } => to.message(3, |to| {
                to.bytes(1, key);
            }),
            Self::DeleteAll { key, end } => to.message(3, |to| {
                to.bytes(1, key).bytes(2, end);
            }),
        };
    }
}

impl Encode for Watch {
    fn write(&self, versions: Versions, to: &mut Encoder) {
        to.message(1, |to| {
            to.bytes(1, &self.key).bytes(2, &self.end).number(3, versions.revision(self.start));
            to.number(8, 1);
        });
    }
}

impl Encode for Compaction {
    fn write(&self, versions: Versions, to: &mut Encoder) {
        to.number(1, versions.revision(self.0)).number(2, 1);
    }
}

impl Encode for Empty {
    fn write(&self, _: Versions, _: &mut Encoder) {}
}

impl Decode for Header {
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed> {
        if field == 3 {
            self.revision = versions.of(value.number()?);
        }
        Ok(())
    }
}

impl Decode for KeyValue {
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed> {
        match field {
            1 => self.key = value.bytes()?,
            3 => self.mod_revision = versions.of(value.number()?),
            4 => self.version = value.number()?,
            5 => self.value = value.bytes()?,
            _ => {}
        }
        Ok(())
    }
}

impl Decode for Ranged {
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed> {
        match field {
            1 => self.header = Header::decode(&value.bytes()?, versions)?,
            2 => self.kvs.push(KeyValue::decode(&value.bytes()?, versions)?),
            3 => self.more = value.number()? > 0,
            _ => {}
        }
        Ok(())
    }
}

impl Decode for TxnDone {
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed> {
        match field {
            1 => self.header = Header::decode(&value.bytes()?, versions)?,
            2 => self.succeeded = value.number()? > 0,
            3 => fields(&value.bytes()?, |field, value| {
                if field == 1 {
                    self.ranges.push(Ranged::decode(&value.bytes()?, versions)?);
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }
}

impl Decode for Watched {
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed> {
        match field {
            4 => self.canceled = value.number()? > 0,
            5 => self.compact_revision = versions.of(value.number()?),
            6 => self.cancel_reason = String::from_utf8_lossy(&value.bytes()?).into_owned(),
            7 => self.is_cut = value.number()? > 0,
            11 => self.events.push(Change::decode(&value.bytes()?, versions)?),
            _ => {}
        }
        Ok(())
    }
}

impl Decode for Change {
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed> {
        match field {
            1 => self.is_delete = value.number()? == 1,
            2 => self.kv = KeyValue::decode(&value.bytes()?, versions)?,
            _ => {}
        }
        Ok(())
    }
}

impl Decode for Alarms {
    fn field(&mut self, field: u32, value: Value, versions: Versions) -> Result<(), Malformed> {
        if field == 2 {
            self.0.push(Alarm::decode(&value.bytes()?, versions)?);
        }
        Ok(())
    }
}

impl Decode for Alarm {
    fn field(&mut self, field: u32, value: Value, _: Versions) -> Result<(), Malformed> {
        match field {
            1 => self.member = value.number()?,
            2 => self.kind = value.number()?,
            _ => {}
        }
        Ok(())
    }
}

impl Decode for Done {
    fn field(&mut self, _: u32, _: Value, _: Versions) -> Result<(), Malformed> {
        Ok(())
    }
}
