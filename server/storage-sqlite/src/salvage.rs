//! Rows of a damaged database, read from its pages without the database.
//!
//! Each row has a checksum of its own. So wherever something lies that looks like a row, it is known whether
//! it is what was written, also in a page whose structure is destroyed or that nothing points to any more.
//! Only pages that are free are left alone: what they hold was deleted.

mod image;
mod record;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use image::{Image, SIZE, Use};
pub(crate) use record::LogRow;
use record::{meta_cell, table_cell};

/// The first byte of the pages of a tree: a leaf with rows, a leaf of a table without row numbers.
const TABLE_LEAF: u8 = 0x0d;
const INDEX_LEAF: u8 = 0x0a;
/// Pages above the leaves.
const INTERIOR: [u8; 2] = [0x05, 0x02];
/// Bytes of the head of a leaf, and what stands where in it: the first block that is free, the number of
/// cells, where they begin, and how many bytes are lost between them.
const LEAF_HEAD: usize = 8;
const FREE_BLOCK: usize = 1;
const CELLS: usize = 3;
const CONTENT: usize = 5;
const FRAGMENTS: usize = 7;

/// Reads a database page by page.
pub(crate) struct Salvage {
    image: Image,
    free: Option<HashSet<u32>>,
    next: u32,
    /// What the database said about itself, as far as it can be read.
    pub(crate) meta: HashMap<String, String>,
}

impl Salvage {
    /// Of the database at `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let image = Image::open(path)?;
        let free = image.free_pages();
        Ok(Self { image, free, next: 2, meta: HashMap::new() })
    }

    /// The rows of the next page; nothing after the last. Rows that are not [whole](LogRow::is_whole) are
    /// among them, and a row may come several times.
    pub(crate) fn next_rows(&mut self) -> Option<Vec<LogRow>> {
        if self.next > self.image.pages() {
            let frame = self.image.damaged_frames.pop()?;
            // What was newer is not known to be newer: only what can be trusted by itself is taken.
            return Some(self.carve(&frame).into_iter().filter(LogRow::is_whole).collect());
        }
        let number = self.next;
        self.next += 1;
        let page_use = self.image.use_of(number);
        let is_free = self.free.as_ref().map_or(page_use == Use::Free, |free| free.contains(&number));
        if is_free || page_use == Use::Map {
            return Some(Vec::new());
        }
        let Some(page) = self.image.page(number) else { return Some(Vec::new()) };
        let (mut rows, is_sound) = match page[0] {
            TABLE_LEAF => self.leaf(&page),
            INDEX_LEAF => (Vec::new(), self.read_meta(cells(&page).filter_map(|at| meta_cell(&page, at?)))),
            kind => (Vec::new(), INTERIOR.contains(&kind)),
        };
        if !is_sound && page_use != Use::Overflow {
            rows.extend(self.carve(&page));
            self.read_meta((0..SIZE).filter_map(|at| meta_cell(&page, at)));
        }
        Some(rows)
    }

    /// The rows of a leaf; and whether all of its cells are rows of the log, and are all that is in it.
    fn leaf(&self, page: &[u8]) -> (Vec<LogRow>, bool) {
        let rows: Vec<Option<LogRow>> = cells(page).map(|at| self.row(page, at?)).collect();
        let sizes = cells(page).map(|at| Some(table_cell(page, at?, SIZE)?.size));
        let used: Option<usize> = sizes.sum();
        let is_filled = used.is_some_and(|used| used + unused(page) == SIZE);
        let is_sound = is_filled && rows.iter().all(Option::is_some);
        (rows.into_iter().flatten().collect(), is_sound)
    }

    /// Everything in a page that looks like a row, wherever it is. A row that was deleted does not: it is
    /// overwritten with zeros.
    fn carve(&self, page: &[u8]) -> Vec<LogRow> {
        (0..SIZE).filter_map(|at| self.row(page, at)).collect()
    }

    fn row(&self, page: &[u8], at: usize) -> Option<LogRow> {
        let cell = table_cell(page, at, SIZE)?;
        // Most places are no cell: look at the beginning before the rest is fetched.
        LogRow::of(cell.rowid, cell.local, cell.length)?;
        let mut record = cell.local.to_vec();
        let mut next = cell.overflow;
        while record.len() < cell.length && next != 0 {
            let Some(page) = self.image.page(next) else { break };
            let part = (cell.length - record.len()).min(SIZE - 4);
            record.extend(&page[4..4 + part]);
            next = u32::from_be_bytes([page[0], page[1], page[2], page[3]]);
        }
        let row = LogRow::of(cell.rowid, &record, cell.length)?;
        if row.is_whole() { Some(row) } else { row.mended(&record, cell.length).or(Some(row)) }
    }

    /// Takes what the database says about itself. Returns whether there is anything.
    fn read_meta(&mut self, cells: impl Iterator<Item = (String, String)>) -> bool {
        const NAMES: [&str; 6] = ["format", "vocabulary", "cluster_uid", "compacted", "absent", "state"];
        let before = self.meta.len();
        for (name, value) in cells.filter(|(name, _)| NAMES.contains(&&**name)) {
            self.meta.entry(name).or_insert(value);
        }
        self.meta.len() > before
    }
}

/// The bytes of a leaf that are no cell: what comes before the first one, and what was deleted since.
fn unused(page: &[u8]) -> usize {
    let number = |at: usize| {
        page.get(at..at + 2).map_or(0, |bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    };
    let mut unused = number(CONTENT) + usize::from(page[FRAGMENTS]);
    let mut block = number(FREE_BLOCK);
    // They are in order, so that this ends.
    while block != 0 {
        unused += number(block + 2);
        block = if number(block) > block { number(block) } else { 0 };
    }
    unused
}

/// Where the cells of a leaf begin; nothing for one that lies outside.
fn cells(page: &[u8]) -> impl Iterator<Item = Option<usize>> {
    let number = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    let count = number(CELLS).min((SIZE - LEAF_HEAD) / 2);
    (0..count).map(move |index| {
        let at = number(LEAF_HEAD + index * 2);
        (at < SIZE).then_some(at)
    })
}
