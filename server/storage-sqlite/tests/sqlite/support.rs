//! What the cases share: a directory for one database, and short ways to write and read.

use std::path::{Path, PathBuf};

use orch_storage::{Body, Change, Committed, Key, Object, ResourceName, Revision, Storage, StoreError};
use orch_storage_sqlite::SqliteConfig;
use sqlx::{ConnectOptions, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

pub const VOCABULARY: &str = "orch";

/// What a test with random steps begins with. It is printed; `ORCH_TEST_SEED` sets it.
pub fn seed() -> u64 {
    let seed = std::env::var("ORCH_TEST_SEED").map_or_else(|_| rand::random(), |text| text.parse().unwrap());
    println!("ORCH_TEST_SEED={seed}");
    seed
}

pub struct DataDir(TempDir);

impl DataDir {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn directory(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("store.db")
    }

    pub fn wal(&self) -> PathBuf {
        self.0.path().join("store.db-wal")
    }

    pub fn mark(&self) -> PathBuf {
        self.0.path().join("store.db.mark")
    }

    pub fn config(&self) -> SqliteConfig {
        SqliteConfig::new(self.path(), VOCABULARY)
    }

    pub async fn open(&self) -> Storage {
        orch_storage_sqlite::open(self.config()).await.unwrap()
    }

    /// The database without a store in between.
    pub async fn tamper(&self) -> SqliteConnection {
        SqliteConnectOptions::new().filename(self.path()).create_if_missing(true).connect().await.unwrap()
    }
}

pub fn resource() -> ResourceName {
    ResourceName::new("configmaps")
}

pub fn key(name: &str) -> Key {
    Key::new(resource(), "default", name)
}

/// `text`, then `@` and the revision.
pub fn body(text: &str) -> Body {
    let bytes = format!("{text}@").into_bytes();
    let end = bytes.len();
    Body::new(bytes, end)
}

pub async fn create(storage: &Storage, name: &str, text: &str) -> Result<Committed, StoreError> {
    storage.commit(Change::Create { key: key(name), body: body(text) }).await
}

pub async fn replace(
    storage: &Storage,
    name: &str,
    expected: Revision,
    text: &str,
) -> Result<Committed, StoreError> {
    storage.commit(Change::Replace { key: key(name), expected, body: body(text) }).await
}

pub async fn remove(storage: &Storage, name: &str, expected: Revision) -> Result<Committed, StoreError> {
    storage.commit(Change::Remove { key: key(name), expected, body: body("gone") }).await
}

pub fn text(object: &Object) -> String {
    String::from_utf8(object.value().unwrap().to_vec()).unwrap()
}

/// Names, revisions and values of all objects.
pub fn listing(storage: &Storage) -> Vec<(String, Revision, String)> {
    let snapshot = storage.snapshot(&resource());
    let entry =
        |object: &std::sync::Arc<Object>| (object.key().name.to_string(), object.revision(), text(object));
    snapshot.iter().map(entry).collect()
}
