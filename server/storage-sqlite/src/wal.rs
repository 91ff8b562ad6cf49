//! The write-ahead log as it lies on the disk, read without the database.
//!
//! The database takes the frames up to the first one whose checksum does not fit, and throws the rest away
//! without a word: that is where a power cut ended the last transaction. But a damaged frame in the middle
//! looks the same. Here the frames after it are looked at as well.
//! Format: <https://sqlite.org/fileformat2.html#walformat>.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use orch_storage::StoreError;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The first four bytes; the last bit says in which order the numbers of checksums are read.
const MAGIC: u32 = 0x377f_0682;
/// How often a log is read anew that seems to be damaged: one that is being written to may seem so.
const ATTEMPTS: usize = 5;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Whether there is a log with a whole header.
    pub(crate) is_readable: bool,
    /// The frames that the database takes: those of whole transactions before any damage.
    pub(crate) taken: usize,
    /// What comes after a frame whose checksum does not fit, if anything whole does.
    pub(crate) after_damage: Option<AfterDamage>,
}

/// Whole frames after a damaged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AfterDamage {
    /// The number of the first frame that does not fit, counted from 1.
    pub(crate) damaged: usize,
    /// How many frames after it are whole.
    pub(crate) whole: usize,
    /// Whether the damaged frame was on the disk once. A transaction is written when the one before is on
    /// the disk. So this is known if a whole transaction ends after the damage, and another follows it; all
    /// else a power cut may have left.
    pub(crate) was_durable: bool,
}

/// One frame as it was read.
pub(crate) struct Frame<'a> {
    /// Its number, counted from 1.
    pub(crate) number: usize,
    /// The page of the database that it is.
    pub(crate) page: u32,
    /// Whether a transaction ends with it.
    pub(crate) is_commit: bool,
    /// Whether its checksum fits and it belongs to the log as it was begun last.
    pub(crate) is_whole: bool,
    /// The content of the page.
    pub(crate) content: &'a [u8],
}

/// The write-ahead log of the database at `path`.
pub(crate) fn wal_path(path: &Path) -> PathBuf {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    wal.into()
}

/// Looks through the write-ahead log of the database at `path`. A server may be writing to it.
pub(crate) fn scan(path: &Path) -> Result<Scan, StoreError> {
    let wal = wal_path(path);
    let failed =
        |error: io::Error| StoreError::NotWritable { path: wal.clone(), detail: error.to_string().into() };
    let mut last = scan_once(&wal).map_err(failed)?;
    for _ in 1..ATTEMPTS {
        if last.after_damage.is_none() {
            break;
        }
        let again = scan_once(&wal).map_err(failed)?;
        if again == last {
            break;
        }
        last = again;
    }
    Ok(last)
}

fn scan_once(wal: &Path) -> io::Result<Scan> {
    let mut scan = Scan::default();
    let (mut damaged, mut whole, mut was_durable) = (None, 0, false);
    let mut after_commit = false;
    let mut complete = 0;
    scan.is_readable = read(wal, &mut |frame| {
        if frame.is_whole && damaged.is_none() {
            complete += 1;
            if frame.is_commit {
                scan.taken = complete;
            }
        } else if frame.is_whole {
            whole += 1;
            was_durable |= after_commit;
            after_commit = frame.is_commit;
        } else {
            damaged.get_or_insert(frame.number);
            after_commit = false;
        }
    })?;
    if let Some(damaged) = damaged.filter(|_| whole > 0) {
        scan.after_damage = Some(AfterDamage { damaged, whole, was_durable });
    }
    Ok(scan)
}

/// Shows `visit` all frames of a log, also those that the database does not take. A frame is checked against
/// the checksum that stands in the frame before it, so the frames after a damaged one can be told. Returns
/// whether there is a log with a whole header.
pub(crate) fn read(wal: &Path, visit: &mut dyn FnMut(&Frame<'_>)) -> io::Result<bool> {
    let file = match File::open(wal) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut file = BufReader::with_capacity(1 << 18, file);
    let mut header = [0; HEADER];
    if !fill(&mut file, &mut header)? {
        return Ok(false);
    }
    let words: [u32; 8] = std::array::from_fn(|index| number(&header, index * 4));
    let big_endian = words[0] & 1 == 1;
    let page_size = words[2] as usize;
    let mut sum = checksum((0, 0), &header[..24], big_endian);
    let is_header = words[0] & !1 == MAGIC
        && sum == (words[6], words[7])
        && page_size.is_power_of_two()
        && (512..=1 << 16).contains(&page_size);
    if !is_header {
        return Ok(false);
    }
    let salts = (words[4], words[5]);
    let mut bytes = vec![0; FRAME_HEADER + page_size];
    let mut count = 0;
    while fill(&mut file, &mut bytes)? {
        count += 1;
        let (head, content) = bytes.split_at(FRAME_HEADER);
        let computed = checksum(checksum(sum, &head[..8], big_endian), content, big_endian);
        sum = (number(head, 16), number(head, 20));
        visit(&Frame {
            number: count,
            page: number(head, 0),
            is_commit: number(head, 4) != 0,
            is_whole: computed == sum && (number(head, 8), number(head, 12)) == salts,
            content,
        });
    }
    Ok(true)
}

/// Fills `bytes` from the file; false if it ends before.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The checksum of the format, carried on over `bytes`, whose length is a multiple of 8.
fn checksum((mut first, mut second): (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    let word = |four: &[u8]| {
        let four = [four[0], four[1], four[2], four[3]];
        if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    for eight in bytes.chunks_exact(8) {
        first = first.wrapping_add(word(&eight[..4])).wrapping_add(second);
        second = second.wrapping_add(word(&eight[4..])).wrapping_add(first);
    }
    (first, second)
}
