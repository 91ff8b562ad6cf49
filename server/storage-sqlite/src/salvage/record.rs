//! A row as it lies in a page: the cell of a table, and the record in it.
//! Format: <https://sqlite.org/fileformat2.html>, sections 1.6 and 2.1.

use orch_storage::{Key, ResourceName, Revision};

use crate::row;

/// The columns of the table `log`, in their order; the first one is the number of the row.
const COLUMNS: usize = 8;

/// Longer records are not believed, in bytes: no body of a request comes near it.
const LONGEST: usize = 1 << 26;

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogRow {
    pub(crate) revision: Revision,
    pub(crate) key: Key,
    pub(crate) op: i64,
    pub(crate) time: i64,
    pub(crate) checksum: i64,
    pub(crate) value: Vec<u8>,
}

/// A cell of a table's leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<'a> {
    /// The number of the row.
    pub(crate) rowid: i64,
    /// The length of the whole record.
    pub(crate) length: usize,
    /// As much of it as lies in the page.
    pub(crate) local: &'a [u8],
    /// The page in which it goes on, or 0.
    pub(crate) overflow: u32,
    /// How many bytes of the page are the cell.
    pub(crate) size: usize,
}

impl LogRow {
    /// Whether it is what was written.
    pub(crate) fn is_whole(&self) -> bool {
        row::checksum(self.revision, &self.key, self.op, self.time, &self.value) == self.checksum
    }

    /// This row as it was written, if one bit of it was changed outside of its value. `record` is what it was
    /// read from. Where the damage is in the name, the row must not count as one of another object.
    pub(crate) fn mended(&self, record: &[u8], length: usize) -> Option<Self> {
        let rowid = self.revision.get() as i64;
        let begin = record.len().checked_sub(self.value.len())?;
        let mut changed = record.to_vec();
        let of_record = (0..begin * 8).find_map(|bit| {
            changed[bit / 8] ^= 1 << (bit % 8);
            let row = Self::of(rowid, &changed, length);
            changed[bit / 8] ^= 1 << (bit % 8);
            row.filter(Self::is_whole)
        });
        let numbers = (0..i64::BITS - 1).map(|bit| rowid ^ (1 << bit));
        of_record.or_else(|| {
            let mut rows =
                numbers.map(|number| Self { revision: Revision::new(number as u64), ..self.clone() });
            rows.find(Self::is_whole)
        })
    }

    /// The row with this number and this record. The end of the record may be missing: then the value is as
    /// much as is there. Nothing where it is not a row of the log.
    pub(crate) fn of(rowid: i64, record: &[u8], length: usize) -> Option<Self> {
        let (header, types) = header::<COLUMNS>(record)?;
        let sizes: Vec<usize> = types.iter().map(|kind| size(*kind)).collect::<Option<_>>()?;
        let is_shape = types[0] == 0
            && types[1..4].iter().all(|kind| is_text(*kind))
            && types[4..7].iter().all(|kind| is_integer(*kind))
            && is_blob(types[7])
            && header + sizes.iter().sum::<usize>() == length;
        if !is_shape || rowid <= 0 {
            return None;
        }
        let mut at = header;
        let mut columns = sizes.iter().map(|size| {
            let column = record.get(at..(at + size).min(record.len())).unwrap_or_default();
            at += size;
            column
        });
        let mut next = || columns.next().unwrap_or_default();
        let _ = next();
        let mut text = || String::from_utf8_lossy(next()).into_owned();
        let (resource, namespace, name) = (text(), text(), text());
        let (op, time, checksum) =
            (integer(types[4], next())?, integer(types[5], next())?, integer(types[6], next())?);
        let value = next().to_vec();
        let key =
            Key { resource: ResourceName::new(&*resource), namespace: namespace.into(), name: name.into() };
        let is_named = !resource.is_empty() && !key.name.is_empty();
        is_named.then(|| Self { revision: Revision::new(rowid as u64), key, op, time, checksum, value })
    }
}

/// The cell of a table's leaf that begins at `at`; `usable` is the size of a page.
pub(crate) fn table_cell(page: &[u8], at: usize, usable: usize) -> Option<Cell<'_>> {
    let (length, first) = varint(page.get(at..)?)?;
    let (rowid, second) = varint(page.get(at + first..)?)?;
    let length = usize::try_from(length).ok().filter(|length| *length < LONGEST)?;
    let begin = at + first + second;
    // What fits lies in the page, else a part whose size the format says.
    let most = usable - 35;
    let least = (usable - 12) * 32 / 255 - 23;
    let local = if length <= most {
        length
    } else {
        let part = least + (length - least) % (usable - 4);
        if part <= most { part } else { least }
    };
    let record = page.get(begin..begin + local)?;
    let overflow = if length > local {
        u32::from_be_bytes(page.get(begin + local..begin + local + 4)?.try_into().ok()?)
    } else {
        0
    };
    let size = begin + local - at + if overflow == 0 { 0 } else { 4 };
    Some(Cell { rowid: rowid as i64, length, local: record, overflow, size })
}

/// The two texts of a row of the table `meta`, whose cell begins at `at`.
pub(crate) fn meta_cell(page: &[u8], at: usize) -> Option<(String, String)> {
    let (length, first) = varint(page.get(at..)?)?;
    let begin = at + first;
    let record = page.get(begin..begin.checked_add(usize::try_from(length).ok()?)?)?;
    let (header, types) = header::<2>(record)?;
    let [name, value] = [size(types[0])?, size(types[1])?];
    if !types.iter().all(|kind| is_text(*kind)) || header + name + value != record.len() {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some((text(&record[header..header + name])?, text(&record[header + name..])?))
}

/// The length of a record's header, and the types of its columns.
fn header<const COUNT: usize>(record: &[u8]) -> Option<(usize, [u64; COUNT])> {
    let (length, mut at) = varint(record)?;
    let mut types = [0; COUNT];
    for kind in &mut types {
        let (found, size) = varint(record.get(at..)?)?;
        (*kind, at) = (found, at + size);
    }
    (at as u64 == length).then_some((at, types))
}

/// A number of one to nine bytes, and how many they are.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        if index == 8 {
            return Some((number << 8 | u64::from(*byte), 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, index + 1));
        }
    }
    None
}

fn size(kind: u64) -> Option<usize> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => Some(kind as usize),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => usize::try_from((kind - 12) / 2).ok().filter(|size| *size < LONGEST),
    }
}

fn is_text(kind: u64) -> bool {
    kind >= 13 && kind % 2 == 1
}

fn is_blob(kind: u64) -> bool {
    kind >= 12 && kind.is_multiple_of(2)
}

fn is_integer(kind: u64) -> bool {
    matches!(kind, 1..=6 | 8 | 9)
}

fn integer(kind: u64, bytes: &[u8]) -> Option<i64> {
    match kind {
        8 => Some(0),
        9 => Some(1),
        _ => {
            let negative = bytes.first()? & 0x80 != 0;
            let start = if negative { -1 } else { 0 };
            Some(bytes.iter().fold(start, |number, byte| number << 8 | i64::from(*byte)))
        }
    }
}
