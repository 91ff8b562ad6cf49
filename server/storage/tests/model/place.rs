//! Where the store under test keeps its data, and how it is opened again.

use std::sync::Arc;

use orch_storage::reference::{self, Disk, ReferenceConfig};
use orch_storage::sqlite::{self, SqliteConfig};
use orch_storage::{Indexer, ResourceName, Storage, Term};
use tempfile::TempDir;

pub enum Place {
    Memory(Disk),
    Disk(TempDir),
}

/// The first letter of a value is its term.
pub struct FirstLetter;

impl Place {
    pub fn memory() -> Self {
        Place::Memory(Disk::default())
    }

    pub fn disk() -> Self {
        Place::Disk(TempDir::new().unwrap())
    }

    pub async fn open(&self) -> Storage {
        let storage = match self {
            Place::Memory(disk) => reference::open(disk.clone(), ReferenceConfig::default()),
            Place::Disk(directory) => {
                sqlite::open(SqliteConfig::new(directory.path().join("store.db"), "orch")).await.unwrap()
            }
        };
        let indexer: Arc<dyn Indexer> = Arc::new(FirstLetter);
        storage.index_by(&indexer);
        storage
    }
}

impl Indexer for FirstLetter {
    fn covers(&self, _: &ResourceName) -> bool {
        true
    }

    fn terms(&self, _: &ResourceName, value: &[u8]) -> Vec<Term> {
        vec![Term { index: 0, value: term_of(value).into() }]
    }
}

pub fn term_of(value: &[u8]) -> &str {
    str::from_utf8(&value[..1]).unwrap()
}
