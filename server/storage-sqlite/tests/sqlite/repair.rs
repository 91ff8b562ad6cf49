//! Salvage of damaged databases: every row that can be read is kept, what is lost is said, nothing comes back
//! that was deleted.

use std::collections::BTreeMap;
use std::fs;

use orch_storage::{Revision, Scope, Storage, StoreError};
use orch_storage_sqlite::{Repaired, SqliteConfig, repair};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::support::{DataDir, VOCABULARY, create, remove, replace, resource, seed};

const PAGE: usize = 8192;
/// The first byte of a page above the leaves of a table.
const INTERIOR: u8 = 5;

/// A closed database with 300 objects of many sizes. Each value repeats the name of its object, so that every
/// page shows whose data is in it. There were more objects, which were deleted and forgotten.
struct Whole {
    bytes: Vec<u8>,
    mark: Vec<u8>,
    objects: BTreeMap<String, (Revision, String)>,
    revision: Revision,
}

impl Whole {
    async fn new() -> Self {
        let data = DataDir::new();
        let storage = data.open().await;
        for index in 0..330 {
            let name = format!("object-{index:04}");
            let repeated = [1, 20, 100, 1500][index % 4];
            let created = create(&storage, &name, &name.repeat(repeated)).await.unwrap();
            if index % 11 == 0 {
                remove(&storage, &name, created.revision).await.unwrap();
            } else if index % 7 == 0 {
                replace(&storage, &name, created.revision, &name.repeat(repeated + 1)).await.unwrap();
            }
        }
        storage.compact(storage.current_revision()).await.unwrap();
        let revision = storage.current_revision();
        let objects = readable(&storage);
        storage.shutdown().await.unwrap();
        let (bytes, mark) = (fs::read(data.path()).unwrap(), fs::read(data.mark()).unwrap());
        Self { bytes, mark, objects, revision }
    }

    fn pages(&self) -> usize {
        self.bytes.len() / PAGE
    }

    /// The page with this number, counted from 1.
    fn page(&self, number: usize) -> &[u8] {
        &self.bytes[(number - 1) * PAGE..number * PAGE]
    }

    /// The page and the place in it where the row of an object has its name.
    fn row_of(&self, name: &str) -> (usize, usize) {
        let column = [b"default", name.as_bytes()].concat();
        let found = (2..=self.pages()).find_map(|number| {
            let mut places = self.page(number).windows(column.len());
            Some((number, places.position(|bytes| bytes == column)? + "default".len()))
        });
        found.unwrap()
    }

    /// A copy with one page changed.
    fn with_page(&self, number: usize, change: impl FnOnce(&mut [u8])) -> DataDir {
        let mut bytes = self.bytes.clone();
        change(&mut bytes[(number - 1) * PAGE..number * PAGE]);
        let data = DataDir::new();
        fs::write(data.path(), bytes).unwrap();
        fs::write(data.mark(), &self.mark).unwrap();
        data
    }

    /// Repairs `data` and looks at what became of it. Returns the names of objects that are not whole.
    async fn repaired(&self, data: &DataDir, context: &str) -> (Repaired, Vec<String>) {
        let repaired = repair(&data.path(), Some(VOCABULARY)).await.unwrap();
        let report = orch_storage_sqlite::check(&data.path()).await.unwrap();
        assert!(report.problems.is_empty(), "{context}: {report:?}");
        let storage = data.open().await;
        let begin = storage.current_revision();
        assert!(begin > self.revision && begin == repaired.revision, "{context}");
        let watched = storage.watch(&resource(), Scope::All, self.revision).err();
        assert!(matches!(watched, Some(StoreError::Expired { .. })), "{context}");
        let found = readable(&storage);
        for (name, value) in &found {
            assert_eq!(Some(value), self.objects.get(name), "{context}: {name} is what it was");
        }
        let shown = storage.snapshot(&resource()).len();
        assert_eq!(shown, repaired.objects, "{context}");
        assert_eq!(shown - found.len(), repaired.damaged.len(), "{context}: {repaired:?}");
        let missing: Vec<String> =
            self.objects.keys().filter(|name| !found.contains_key(*name)).cloned().collect();
        let is_said = missing.len() <= repaired.damaged.len() || !repaired.lost.is_empty();
        assert!(is_said, "{context}: {missing:?} and {repaired:?}");
        create(&storage, "new", "x").await.unwrap();
        storage.shutdown().await.unwrap();
        data.open().await.shutdown().await.unwrap();
        (repaired, missing)
    }
}

/// The objects whose values can be read.
fn readable(storage: &Storage) -> BTreeMap<String, (Revision, String)> {
    let snapshot = storage.snapshot(&resource());
    let readable = snapshot.iter().filter_map(|object| {
        let value = String::from_utf8(object.value().ok()?.to_vec()).unwrap();
        Some((object.key().name.to_string(), (object.revision(), value)))
    });
    readable.collect()
}

#[tokio::test]
async fn only_what_a_damaged_page_held_is_lost() {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let whole = Whole::new().await;
    let mut refused = 0;
    for round in 0..40 {
        let number = random.random_range(2..=whole.pages());
        let kind = round % 4;
        let context = format!("seed {seed}, round {round}, page {number} of {}, kind {kind}", whole.pages());
        let data = whole.with_page(number, |page| match kind {
            0 => page.fill(0),
            1 => random.fill(page),
            2 => random.fill(&mut page[..8]),
            _ => {
                let at = random.random_range(0..PAGE);
                page[at] ^= 1 << random.random_range(0..8);
            }
        });
        let report = orch_storage_sqlite::check(&data.path()).await;
        if report.is_ok_and(|report| report.is_clean()) {
            assert_eq!(readable(&data.open().await), whole.objects, "{context}: a check says all is well");
            continue;
        }
        match orch_storage_sqlite::open(data.config()).await {
            Ok(storage) => storage.shutdown().await.unwrap(),
            Err(_) => refused += 1,
        }
        let held = String::from_utf8_lossy(whole.page(number)).into_owned();
        for name in whole.repaired(&data, &context).await.1 {
            assert!(held.contains(&name), "{context}: {name} was not in this page");
        }
    }
    assert!(refused > 5, "seed {seed}: {refused}");
}

/// One changed bit in the name of a row makes it look like the row of another object. It is put right.
#[tokio::test]
async fn a_changed_bit_in_a_name_is_put_right() {
    let whole = Whole::new().await;
    for (name, other) in [("object-0291", "object-0290"), ("object-0280", "object-0288")] {
        let (number, at) = whole.row_of(name);
        let data =
            whole.with_page(number, |page| page[at..at + name.len()].copy_from_slice(other.as_bytes()));
        assert!(!orch_storage_sqlite::check(&data.path()).await.unwrap().is_clean());
        let (repaired, missing) = whole.repaired(&data, name).await;
        assert!(missing.is_empty() && repaired.damaged.is_empty(), "{missing:?} {repaired:?}");
        assert!(repaired.lost.is_empty(), "{repaired:?}");
    }
}

/// Where more of a name was changed, the row is lost, and that is said. The object of the other name stays.
#[tokio::test]
async fn a_row_under_a_wrong_name_is_not_another_objects() {
    let whole = Whole::new().await;
    let (number, at) = whole.row_of("object-0292");
    let data = whole.with_page(number, |page| page[at..at + 11].copy_from_slice(b"object-0004"));
    let (repaired, missing) = whole.repaired(&data, "").await;
    assert_eq!(missing, ["object-0292"]);
    assert_eq!((repaired.damaged.len(), repaired.lost.len()), (0, 1), "{repaired:?}");
}

#[tokio::test]
async fn pages_above_the_rows_are_not_needed() {
    let whole = Whole::new().await;
    let above: Vec<usize> = (2..=whole.pages()).filter(|number| whole.page(*number)[0] == INTERIOR).collect();
    assert!(!above.is_empty());
    for number in above {
        let data = whole.with_page(number, |page| page.fill(0xff));
        assert!(orch_storage_sqlite::open(data.config()).await.is_err());
        let (repaired, missing) = whole.repaired(&data, "").await;
        assert!(
            missing.is_empty() && repaired.lost.is_empty() && repaired.damaged.is_empty(),
            "{repaired:?}"
        );
        assert!(repaired.kept.iter().all(|kept| kept.exists()) && !repaired.kept.is_empty(), "{repaired:?}");
    }
}

/// The first page is the way to all others, for the database.
#[tokio::test]
async fn a_file_without_its_first_page_is_salvaged() {
    let whole = Whole::new().await;
    let data = whole.with_page(1, |page| page.fill(0));
    assert!(orch_storage_sqlite::open(data.config()).await.is_err());
    let (repaired, missing) = whole.repaired(&data, "").await;
    assert!(missing.is_empty() && repaired.lost.is_empty(), "{missing:?} {repaired:?}");
}

#[tokio::test]
async fn a_database_that_has_forgotten_its_vocabulary_is_told_it() {
    let whole = Whole::new().await;
    let is_meta = |number: &usize| whole.page(*number).windows(11).any(|bytes| bytes == b"cluster_uid");
    let metas: Vec<usize> = (2..=whole.pages()).filter(is_meta).collect();
    assert_eq!(metas.len(), 1);
    let data = whole.with_page(metas[0], |page| page.fill(0));
    let error = repair(&data.path(), None).await.unwrap_err().to_string();
    assert!(error.contains("--vocabulary"), "{error}");
    let (repaired, missing) = whole.repaired(&data, "").await;
    assert!(missing.is_empty(), "{repaired:?}");
}

/// One changed byte in the write-ahead log costs everything that was written after it, until it is repaired.
#[tokio::test]
async fn what_follows_damage_in_the_log_is_salvaged() {
    let data = DataDir::new();
    let config = SqliteConfig { checkpoint_bytes: u64::MAX, ..data.config() };
    let storage = orch_storage_sqlite::open(config).await.unwrap();
    for index in 0..200 {
        create(&storage, &format!("o{index}"), &"x".repeat(300)).await.unwrap();
    }
    let (acknowledged, revision) = (readable(&storage), storage.current_revision());
    let copy = DataDir::new();
    fs::write(copy.path(), fs::read(data.path()).unwrap()).unwrap();
    fs::write(copy.mark(), fs::read(data.mark()).unwrap()).unwrap();
    let mut log = fs::read(data.wal()).unwrap();
    let middle = log.len() / 3;
    log[middle] ^= 1;
    fs::write(copy.wal(), log).unwrap();

    let error = orch_storage_sqlite::open(copy.config()).await.err().unwrap();
    assert!(matches!(error, StoreError::Lost { .. }), "{error}");
    let repaired = repair(&copy.path(), None).await.unwrap();
    let storage = copy.open().await;
    let found = readable(&storage);
    assert!(found.len() >= 199 && found.iter().all(|object| acknowledged.get(object.0) == Some(object.1)));
    assert!(found.len() == 200 || !repaired.lost.is_empty(), "{repaired:?}");
    assert!(storage.current_revision() > revision);
    assert_eq!(repaired.kept.len(), 2, "the log and the database are kept: {repaired:?}");
}
