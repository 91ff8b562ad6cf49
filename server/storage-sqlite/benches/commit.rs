//! The store beside what it rests on, in the same run: durable commits of many writers against raw SQLite
//! inserts of the same bytes in transactions of as many rows; and the start on a large database against a
//! bare scan of it.
//!
//! `cargo bench -p orch-storage-sqlite --bench commit [-- DIRECTORY]`: the databases are made in DIRECTORY,
//! which should be on the disk that is meant.

#![expect(clippy::unwrap_used, reason = "a benchmark ends at the first thing that goes wrong")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use orch_storage::{Body, Change, Key, ResourceName, Storage};
use orch_storage_sqlite::{FaultPoint, Faults, SqliteConfig};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

const WRITERS: usize = 32;
const VALUE: usize = 1024;
const ROUND: Duration = Duration::from_secs(1);
const ROUNDS: usize = 7;
const OBJECTS: usize = 100_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let directory = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let directory = match directory {
        Some(directory) => tempfile::tempdir_in(directory),
        None => tempfile::tempdir(),
    };
    let directory = directory.unwrap();
    commits(directory.path()).await;
    start(directory.path()).await;
}

async fn commits(directory: &Path) {
    let transactions = Arc::new(AtomicU64::new(0));
    let faults = {
        let transactions = Arc::clone(&transactions);
        Faults::new(move |point| {
            transactions.fetch_add(u64::from(point == FaultPoint::BeforeCommit), Ordering::Relaxed);
            Ok(())
        })
    };
    let config = SqliteConfig { faults, ..SqliteConfig::new(directory.join("store.db"), "orch") };
    let storage = orch_storage_sqlite::open(config).await.unwrap();
    let (mut commits, mut of_many) = (0, 0);
    let mut raw = Raw::open(directory.join("raw.db")).await;
    let (mut single, mut many, mut batched, mut large, mut alone) = (vec![], vec![], vec![], vec![], vec![]);
    // The disk is shared: what is compared takes turns.
    for round in 0..ROUNDS {
        let before = (storage.current_revision().get(), transactions.load(Ordering::Relaxed));
        many.push(store_rate(&storage, WRITERS, &format!("m{round}")).await);
        commits += storage.current_revision().get() - before.0;
        of_many += transactions.load(Ordering::Relaxed) - before.1;
        batched.push(raw.rate(WRITERS).await);
        single.push(store_rate(&storage, 1, &format!("s{round}")).await);
        large.push(raw.rate(100).await);
        alone.push(raw.rate(1).await);
    }
    let (many, batched) = (Rates::of(many), Rates::of(batched));
    println!("commits of {VALUE} bytes per second      best   median");
    println!("  store, {WRITERS} writers              {many}");
    println!("  raw, {WRITERS} rows a transaction     {batched}");
    println!("  raw, 100 rows a transaction    {}", Rates::of(large));
    println!("  raw, 1 row a transaction       {}", Rates::of(alone));
    println!("  store, 1 writer                {}", Rates::of(single));
    println!("  commits per transaction: {:.1}", commits as f64 / of_many as f64);
    println!(
        "  ratio store to raw: best {:.2}, median {:.2}",
        many.best / batched.best,
        many.median / batched.median
    );
    storage.shutdown().await.unwrap();
}

async fn start(directory: &Path) {
    let path = directory.join("large.db");
    let storage = orch_storage_sqlite::open(SqliteConfig::new(&path, "orch")).await.unwrap();
    let fill = (0..64).map(|writer| {
        let storage = storage.clone();
        tokio::spawn(async move {
            for index in (writer..OBJECTS).step_by(64) {
                storage.commit(creation(&format!("object-{index:06}"))).await.unwrap();
            }
        })
    });
    for task in fill.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    storage.shutdown().await.unwrap();
    drop(storage);
    let (mut opened, mut scanned) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        let started = Instant::now();
        let mut connection = options(&path).connect().await.unwrap();
        let sum = "SELECT sum(length(value) + length(name) + checksum) FROM log";
        sqlx::query_scalar::<_, i64>(sum).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        scanned = scanned.min(started.elapsed());

        let started = Instant::now();
        let storage = orch_storage_sqlite::open(SqliteConfig::new(&path, "orch")).await.unwrap();
        opened = opened.min(started.elapsed());
        assert_eq!(storage.snapshot(&ResourceName::new("configmaps")).len(), OBJECTS);
        storage.shutdown().await.unwrap();
    }
    println!(
        "start with {OBJECTS} objects: {} ms; bare scan: {} ms",
        opened.as_millis(),
        scanned.as_millis()
    );
    let empty = Instant::now();
    let storage =
        orch_storage_sqlite::open(SqliteConfig::new(directory.join("empty.db"), "orch")).await.unwrap();
    println!("start of a new database: {} ms", empty.elapsed().as_millis());
    storage.shutdown().await.unwrap();
}

/// Creations per second of `writers` tasks, each of which waits for its own.
async fn store_rate(storage: &Storage, writers: usize, prefix: &str) -> f64 {
    let stop = Arc::new(AtomicBool::new(false));
    let count = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let tasks = (0..writers).map(|writer| {
        let (storage, stop, count) = (storage.clone(), Arc::clone(&stop), Arc::clone(&count));
        let prefix = format!("{prefix}-{writer:02}");
        tokio::spawn(async move {
            let mut index = 0;
            while !stop.load(Ordering::Relaxed) {
                storage.commit(creation(&format!("{prefix}-{index:06}"))).await.unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                index += 1;
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    tokio::time::sleep(ROUND).await;
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    count.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}

fn creation(name: &str) -> Change {
    let key = Key::new(ResourceName::new("configmaps"), "default", name);
    Change::Create { key, body: Body::new(vec![b'x'; VALUE], VALUE / 8) }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(false)
        .disable_statement_logging()
}

/// The same columns and bytes, and nothing else: prepared, in batches, as fast as SQLite takes them.
struct Raw {
    connection: SqliteConnection,
    rows: i64,
}

impl Raw {
    async fn open(path: PathBuf) -> Self {
        let mut connection = options(&path).connect().await.unwrap();
        let table =
            "CREATE TABLE log (revision INTEGER PRIMARY KEY, resource TEXT, namespace TEXT, name TEXT,
            op INTEGER, time INTEGER, checksum INTEGER, value BLOB)";
        sqlx::raw_sql(table).execute(&mut connection).await.unwrap();
        Self { connection, rows: 0 }
    }

    async fn rate(&mut self, batch: usize) -> f64 {
        let text: Arc<str> =
            format!("INSERT INTO log VALUES {}", vec!["(?,?,?,?,?,?,?,?)"; batch].join(",")).into();
        let (resource, namespace): (Arc<str>, Arc<str>) = ("configmaps".into(), "default".into());
        let value = vec![b'x'; VALUE];
        let started = Instant::now();
        let before = self.rows;
        while started.elapsed() < ROUND {
            let mut query = sqlx::query(AssertSqlSafe(Arc::clone(&text)));
            for _ in 0..batch {
                self.rows += 1;
                query = query
                    .bind(self.rows)
                    .bind(Arc::clone(&resource))
                    .bind(Arc::clone(&namespace))
                    .bind(format!("m0-00-{:06}", self.rows))
                    .bind(1_i64)
                    .bind(1_700_000_000_000_i64)
                    .bind(1_234_567_890_i64)
                    .bind(value.clone());
            }
            query.execute(&mut self.connection).await.unwrap();
        }
        (self.rows - before) as f64 / started.elapsed().as_secs_f64()
    }
}

struct Rates {
    best: f64,
    median: f64,
}

impl Rates {
    fn of(mut rates: Vec<f64>) -> Self {
        rates.sort_by(f64::total_cmp);
        Self { best: rates[rates.len() - 1], median: rates[rates.len() / 2] }
    }
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>9.0}{:>9.0}", self.best, self.median)
    }
}
