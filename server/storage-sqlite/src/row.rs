//! A record as a row: its checksum, and how it is read back.

use std::sync::Arc;

use bytes::Bytes;
use orch_storage::store::{Op, Record};
use orch_storage::{Corrupt, Key, ResourceName, Revision, Seal, Sealing, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, ValueRef};

/// The columns that [`read`] expects, in this order.
pub(crate) const SELECT: &str =
    "SELECT revision, resource, namespace, name, op, time, checksum, value FROM log
    WHERE revision > 0 ORDER BY revision";

/// The same of at most so many rows after a revision.
pub(crate) const SELECT_SOME: &str =
    "SELECT revision, resource, namespace, name, op, time, checksum, value FROM log
    WHERE revision > ? ORDER BY revision LIMIT ?";

/// The number that stands for `op`.
pub(crate) fn op_number(op: Op) -> i64 {
    match op {
        Op::Create => 1,
        Op::Replace => 2,
        Op::Remove => 3,
    }
}

/// What a number stands for. One that stands for nothing is damage: the object exists then.
pub(crate) fn op(number: i64) -> Op {
    match number {
        1 => Op::Create,
        3 => Op::Remove,
        _ => Op::Replace,
    }
}

/// The checksum of a row with these columns.
pub(crate) fn checksum(revision: Revision, key: &Key, op: i64, time: i64, value: &[u8]) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&revision.get().to_le_bytes());
    hasher.update(&op.to_le_bytes());
    hasher.update(&time.to_le_bytes());
    for text in [key.resource.as_str(), &key.namespace, &key.name] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.update(value);
    i64::from(hasher.finalize())
}

/// The record of a row. A row that is not what was written gives a record whose value says so; its other
/// parts are what the row shows now, which is all there is to go by.
pub(crate) fn read(row: &SqliteRow) -> Record {
    let revision = Revision::new(number(row, 0) as u64);
    let key = Key { resource: ResourceName::new(text(row, 1)), namespace: text(row, 2), name: text(row, 3) };
    let (op, time) = (number(row, 4), number(row, 5));
    let value: &[u8] = row.try_get(7).unwrap_or_default();
    let sum = checksum(revision, &key, op, time, value);
    let value = if sum == number(row, 6) {
        Ok(Bytes::copy_from_slice(value))
    } else {
        let detail = format!("its checksum should be {}, not {sum}", number(row, 6));
        Err(Corrupt { revision, detail: detail.into() })
    };
    Record { revision, key, op: self::op(op), time: Timestamp(time as u64), value }
}

/// The record with its value, where that is kept sealed, and the key. A value that cannot be opened is a
/// damaged one.
pub(crate) fn opened(mut record: Record, sealing: Option<&dyn Sealing>) -> (Record, Option<Seal>) {
    let Some(sealing) = sealing else { return (record, None) };
    let mut seal = None;
    record.value = record.value.and_then(|kept| match sealing.open(&record.key, &record.key, kept) {
        Ok(opened) => {
            seal = opened.seal;
            Ok(opened.value)
        }
        Err(error) => Err(Corrupt { revision: record.revision, detail: error.to_string().into() }),
    });
    (record, seal)
}

/// Zero if the column is no number, which the checksum then finds.
fn number(row: &SqliteRow, column: usize) -> i64 {
    row.try_get(column).unwrap_or_default()
}

/// As much of the column as is text.
fn text(row: &SqliteRow, column: usize) -> Arc<str> {
    match row.try_get::<&str, _>(column) {
        Ok(text) => text.into(),
        Err(_) => match row.try_get_raw(column) {
            Ok(raw) if !raw.is_null() => {
                let bytes = row.try_get_unchecked::<&[u8], _>(column).unwrap_or_default();
                String::from_utf8_lossy(bytes).into()
            }
            _ => "".into(),
        },
    }
}
