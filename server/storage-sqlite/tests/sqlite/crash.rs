//! Crashes: at every step of the writer, and at every length that the write-ahead log may have after a power
//! cut.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use orch_storage::{Revision, Scope, Storage, StoreError};
use orch_storage_sqlite::{FaultPoint, Faults, SqliteConfig};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::support::{DataDir, create, listing, remove, replace, resource, seed};

type Listing = Vec<(String, Revision, String)>;

/// The files of a database at one moment.
struct Image {
    point: FaultPoint,
    database: Vec<u8>,
    wal: Vec<u8>,
    mark: Vec<u8>,
    /// The newest revision that was acknowledged then.
    acknowledged: Revision,
}

impl Image {
    fn take(data: &DataDir, point: FaultPoint, acknowledged: Revision) -> Self {
        let database = fs::read(data.path()).unwrap();
        let mark = fs::read(data.mark()).unwrap();
        Self { point, database, wal: fs::read(data.wal()).unwrap_or_default(), mark, acknowledged }
    }

    /// What a process finds that starts on this image, with this log and this high-water mark.
    async fn start(&self, wal: &[u8], mark: &[u8]) -> (DataDir, Storage) {
        let data = DataDir::new();
        fs::write(data.mark(), mark).unwrap();
        fs::write(data.path(), &self.database).unwrap();
        fs::write(data.wal(), wal).unwrap();
        let storage = data.open().await;
        (data, storage)
    }
}

/// Twenty writes and a compaction in between. Returns the state after each revision.
async fn scenario(storage: &Storage, acknowledged: &Mutex<Revision>) -> BTreeMap<Revision, Listing> {
    let mut states = BTreeMap::from([(storage.current_revision(), listing(storage))]);
    for step in 0..20 {
        let name = format!("o{}", step % 4);
        let current = storage.snapshot(&resource()).get("default", &name).map(|object| object.revision());
        let written = match current {
            None => create(storage, &name, &format!("new {step}")).await,
            Some(revision) if step % 3 == 0 => remove(storage, &name, revision).await,
            Some(revision) => replace(storage, &name, revision, &format!("changed {step}")).await,
        };
        let revision = written.unwrap().revision;
        *acknowledged.lock().unwrap() = revision;
        states.insert(revision, listing(storage));
        if step == 11 {
            storage.compact(Revision::new(revision.get() - 4)).await.unwrap();
        }
    }
    states
}

/// Runs the scenario and takes an image at every step of the writer.
async fn images() -> (Vec<Image>, BTreeMap<Revision, Listing>) {
    let data = Arc::new(DataDir::new());
    let acknowledged = Arc::new(Mutex::new(Revision::FIRST));
    let images = Arc::new(Mutex::new(Vec::new()));
    let faults = {
        let (data, acknowledged, images) = (data.clone(), acknowledged.clone(), images.clone());
        Faults::new(move |point| {
            let image = Image::take(&data, point, *acknowledged.lock().unwrap());
            images.lock().unwrap().push(image);
            Ok(())
        })
    };
    // No checkpoint: the log holds everything from the beginning.
    let config = SqliteConfig { faults, checkpoint_bytes: u64::MAX, ..data.config() };
    let storage = orch_storage_sqlite::open(config).await.unwrap();
    let states = scenario(&storage, &acknowledged).await;
    let images = std::mem::take(&mut *images.lock().unwrap());
    (images, states)
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_at_any_step() {
    let (images, states) = images().await;
    assert!(images.len() > 40, "before and after every commit and compaction");
    for image in images {
        let (data, storage) = image.start(&image.wal, &image.mark).await;
        let revision = storage.current_revision();
        let context = format!("{:?} after {}: at {revision}", image.point, image.acknowledged);
        assert!(revision >= image.acknowledged, "{context}");
        if image.point == FaultPoint::AfterCommit {
            assert_eq!(revision, image.acknowledged.next(), "durable before anybody knows; {context}");
        } else {
            assert_eq!(revision, image.acknowledged, "{context}");
        }
        assert_eq!(listing(&storage), states[&revision], "{context}");
        goes_on(&data, storage, &context).await;
    }
}

#[tokio::test]
async fn nothing_synced_is_lost_when_the_power_fails() {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let (images, states) = images().await;
    // What the log was long when a revision was about to be acknowledged: all of that is synced.
    let synced: Vec<(Revision, usize)> = images
        .iter()
        .filter(|image| image.point == FaultPoint::AfterCommit)
        .map(|image| (image.acknowledged.next(), image.wal.len()))
        .collect();
    // The mark is written when its revision is synced, and the disk has it some time later.
    let marks = |durable: Option<Revision>| -> Vec<&[u8]> {
        let reached = images.iter().filter(|image| image.acknowledged <= durable.unwrap_or(Revision::FIRST));
        reached.map(|image| &image.mark[..]).collect()
    };
    let last = images.last().unwrap();
    let ends = synced.iter().flat_map(|(_, end)| [end - 1, *end, end + 1]);
    let anywhere = (0..40).map(|_| random.random_range(0..=last.wal.len()));
    for cut in ends.chain(anywhere).filter(|cut| *cut <= last.wal.len()).collect::<Vec<_>>() {
        let mut wal = last.wal[..cut].to_vec();
        if random.random_bool(0.5) {
            // What was never synced can be anything.
            wal.extend((0..random.random_range(1..9000)).map(|_| random.random::<u8>()));
        }
        let durable = synced.iter().filter(|(_, end)| *end <= cut).map(|(revision, _)| *revision).max();
        let marks = marks(durable);
        let (data, storage) = last.start(&wal, marks[random.random_range(0..marks.len())]).await;
        let revision = storage.current_revision();
        let context = format!("seed {seed}: cut at {cut}, now at {revision}");
        assert!(revision >= durable.unwrap_or(Revision::FIRST), "{context}");
        assert_eq!(listing(&storage), states[&revision], "{context}");
        goes_on(&data, storage, &context).await;
    }
}

/// The store takes a write, watches resume at the newest revision, and all of it passes the check after a
/// restart.
async fn goes_on(data: &DataDir, storage: Storage, context: &str) {
    let before = storage.current_revision();
    let mut watch = storage.watch(&resource(), Scope::All, before).unwrap();
    let written = create(&storage, "after the crash", "x").await.unwrap();
    assert_eq!(written.revision, before.next(), "{context}");
    assert_eq!(watch.next().await.unwrap()[0].revision(), written.revision, "{context}");
    let report = storage.self_check().await.unwrap();
    assert!(report.is_clean(), "{context}: {report:?}");
    let state = listing(&storage);
    storage.shutdown().await.unwrap();
    assert_eq!(listing(&data.open().await), state, "{context}");
}

/// The n-th commit fails before or after it is durable: its writers are told, nobody ever sees it, the rest
/// goes on.
#[tokio::test]
async fn a_failed_commit_leaves_nothing_behind() {
    for point in [FaultPoint::BeforeCommit, FaultPoint::AfterCommit] {
        for nth in 0..4 {
            let data = DataDir::new();
            let count = Mutex::new(0);
            let faults = Faults::new(move |at| {
                let mut count = count.lock().unwrap();
                *count += usize::from(at == point);
                let fail = at == point && *count == nth + 1;
                if fail { Err(StoreError::Unavailable { detail: "injected".into() }) } else { Ok(()) }
            });
            let storage = orch_storage_sqlite::open(SqliteConfig { faults, ..data.config() }).await.unwrap();
            let mut states = Vec::new();
            for step in 0..6 {
                let before = (storage.current_revision(), listing(&storage));
                let written = create(&storage, &format!("o{step}"), "x").await;
                if step == nth {
                    assert!(
                        matches!(written, Err(StoreError::Unavailable { .. })),
                        "{point:?} {nth}: {written:?}"
                    );
                    assert_eq!((storage.current_revision(), listing(&storage)), before, "{point:?} {nth}");
                } else {
                    assert_eq!(written.unwrap().revision, before.0.next(), "{point:?} {nth}");
                }
                states.push(listing(&storage));
            }
            assert!(storage.self_check().await.unwrap().is_clean());
            storage.shutdown().await.unwrap();
            assert_eq!(listing(&data.open().await), states[5], "{point:?} {nth}");
        }
    }
}

/// Probes are told as long as the disk fails, also when nobody writes.
#[tokio::test]
async fn a_disk_that_fails_is_told_until_it_works_again() {
    let data = DataDir::new();
    let is_broken = Arc::new(AtomicBool::new(true));
    let broken = Arc::clone(&is_broken);
    let faults = Faults::new(move |at| {
        let fails = at == FaultPoint::BeforeCommit && broken.load(Ordering::Relaxed);
        if fails { Err(StoreError::DiskFails { detail: "injected".into() }) } else { Ok(()) }
    });
    let storage = orch_storage_sqlite::open(SqliteConfig { faults, ..data.config() }).await.unwrap();
    for _ in 0..2 {
        let refused = create(&storage, "a", "x").await;
        assert!(matches!(refused, Err(StoreError::DiskFails { .. })), "{refused:?}");
        let stopped = storage.patrolled().stopped;
        assert!(stopped.is_some_and(|reason| reason.contains("injected")));
        let began = Instant::now();
        while storage.patrolled().stopped.is_some() {
            assert!(began.elapsed() < Duration::from_secs(30), "nothing tries the disk");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    create(&storage, "a", "x").await.unwrap_err();
    is_broken.store(false, Ordering::Relaxed);
    create(&storage, "a", "x").await.unwrap();
    assert_eq!(storage.patrolled().stopped, None);
    storage.shutdown().await.unwrap();
    assert_eq!(listing(&data.open().await).len(), 1);
}

/// The same when the failed commit is the last thing that the process does.
#[tokio::test]
async fn a_failed_last_commit_does_not_come_back() {
    let data = DataDir::new();
    let faults = Faults::new(|point| match point {
        FaultPoint::AfterCommit => Err(StoreError::Unavailable { detail: "injected".into() }),
        _ => Ok(()),
    });
    let storage = orch_storage_sqlite::open(SqliteConfig { faults, ..data.config() }).await.unwrap();
    create(&storage, "a", "x").await.unwrap_err();
    storage.shutdown().await.unwrap();
    assert!(listing(&data.open().await).is_empty());
}

#[tokio::test]
async fn a_failed_compaction_is_made_up_for() {
    for point in [FaultPoint::BeforeCompaction, FaultPoint::AfterCompaction] {
        let data = DataDir::new();
        let failed = Mutex::new(false);
        let faults = Faults::new(move |at| {
            let first = at == point && !std::mem::replace(&mut failed.lock().unwrap(), true);
            if first { Err(StoreError::Unavailable { detail: "injected".into() }) } else { Ok(()) }
        });
        let storage = orch_storage_sqlite::open(SqliteConfig { faults, ..data.config() }).await.unwrap();
        let mut revision = create(&storage, "a", "0").await.unwrap().revision;
        for step in 1..10 {
            revision = replace(&storage, "a", revision, &step.to_string()).await.unwrap().revision;
        }
        storage.compact(revision).await.unwrap_err();
        assert!(storage.self_check().await.unwrap().is_clean());
        storage.compact(revision).await.unwrap();
        let report = storage.self_check().await.unwrap();
        assert_eq!((report.records, report.objects), (1, 1), "{point:?}");
    }
}
