//! The pages of a database as they should be after a start: those of the file, and newer ones from the
//! write-ahead log, read without the database.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::schema::PAGE;
use crate::wal;

/// What a map of pages says about one (<https://sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Tree,
    Free,
    Overflow,
    /// It is a map itself.
    Map,
    /// The map is damaged there.
    Unknown,
}

/// The pages of a database.
pub(crate) struct Image {
    file: File,
    newer: HashMap<u32, Vec<u8>>,
    /// Pages in frames of the write-ahead log whose checksum does not fit.
    pub(crate) damaged_frames: Vec<Vec<u8>>,
    pages: u32,
}

/// Bytes of a page. The store makes databases with this size only.
pub(crate) const SIZE: usize = PAGE as usize;
/// Bytes of an entry in a map of pages.
const ENTRY: usize = 5;

impl Image {
    /// Of the database at `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let mut pages = u32::try_from(file.metadata()?.len().div_ceil(SIZE as u64)).unwrap_or(u32::MAX);
        let wal = wal::wal_path(path);
        let mut last_commit = 0;
        wal::read(&wal, &mut |frame| {
            if frame.is_whole && frame.is_commit {
                last_commit = frame.number;
            }
        })?;
        let (mut newer, mut damaged_frames) = (HashMap::new(), Vec::new());
        wal::read(&wal, &mut |frame| {
            // What comes after the last whole transaction was not acknowledged.
            if frame.number > last_commit || frame.content.len() != SIZE {
                return;
            }
            if frame.is_whole {
                newer.insert(frame.page, frame.content.to_vec());
                pages = pages.max(frame.page);
            } else {
                damaged_frames.push(frame.content.to_vec());
            }
        })?;
        Ok(Self { file, newer, damaged_frames, pages })
    }

    /// The number of the last page; the first one is 1.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// A page; nothing where it cannot be read. The end of a file that was cut is filled with zeros.
    pub(crate) fn page(&self, number: u32) -> Option<Vec<u8>> {
        if let Some(page) = self.newer.get(&number) {
            return Some(page.clone());
        }
        let begin = u64::from(number.checked_sub(1)?) * SIZE as u64;
        let mut page = vec![0; SIZE];
        let mut filled = 0;
        while filled < SIZE {
            match self.file.read_at(&mut page[filled..], begin + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        (filled > 0).then_some(page)
    }

    /// What a page is used for, as far as the map of pages knows.
    pub(crate) fn use_of(&self, number: u32) -> Use {
        let per_map = SIZE / ENTRY;
        let map = (number as usize).saturating_sub(2) / (per_map + 1) * (per_map + 1) + 2;
        if map == number as usize {
            return Use::Map;
        }
        let entry = (number as usize).checked_sub(map + 1).map(|index| index * ENTRY);
        let map = self.page(map as u32);
        match entry.and_then(|at| map.as_ref()?.get(at)) {
            Some(1 | 5) => Use::Tree,
            Some(2) => Use::Free,
            Some(3 | 4) => Use::Overflow,
            _ => Use::Unknown,
        }
    }

    /// The pages that the list of free ones names; nothing where the list is damaged.
    pub(crate) fn free_pages(&self) -> Option<HashSet<u32>> {
        let number = |page: &[u8], at: usize| {
            page.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
        };
        let first = self.page(1).filter(|first| first.starts_with(b"SQLite format 3\0"))?;
        let mut free = HashSet::new();
        let mut trunk = number(&first, 32);
        while trunk != 0 && trunk <= self.pages && free.insert(trunk) {
            let page = self.page(trunk)?;
            let count = (number(&page, 4) as usize).min(SIZE / 4 - 2);
            free.extend((0..count).map(|index| number(&page, 8 + index * 4)));
            trunk = number(&page, 0);
        }
        (free.len() == number(&first, 36) as usize).then_some(free)
    }
}
