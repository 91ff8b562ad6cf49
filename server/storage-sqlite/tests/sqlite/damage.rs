//! Damaged data: what is hit says so, the rest is served, nothing wrong is ever served as right.

use std::fs;

use orch_storage::{Revision, Scope, StoreError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sqlx::{AssertSqlSafe, Connection};

use crate::support::{DataDir, create, listing, remove, replace, resource, seed, text};

/// A closed database with objects a, b and c, on which `sql` was run.
async fn damaged(sql: &str) -> DataDir {
    let data = DataDir::new();
    let storage = data.open().await;
    for name in ["a", "b", "c"] {
        create(&storage, name, "value").await.unwrap();
    }
    storage.shutdown().await.unwrap();
    let mut database = data.tamper().await;
    let changed = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut database).await.unwrap();
    assert_eq!(changed.rows_affected(), 1, "{sql}");
    database.close().await.unwrap();
    data
}

#[tokio::test]
async fn a_damaged_row_is_the_damage_of_one_object() {
    for column in ["value = x'00'", "value = x''", "checksum = 1", "time = 5", "op = 9", "op = 2"] {
        let data = damaged(&format!("UPDATE log SET {column} WHERE name = 'b'")).await;
        let storage = data.open().await;
        let snapshot = storage.snapshot(&resource());
        assert_eq!(snapshot.len(), 3, "{column}");
        let bad = snapshot.get("default", "b").unwrap();
        let corrupt = bad.value().unwrap_err();
        assert_eq!(corrupt.revision, bad.revision());
        assert!(corrupt.to_string().contains("is damaged"), "{corrupt}");
        for name in ["a", "c"] {
            assert!(text(snapshot.get("default", name).unwrap()).starts_with("value@"), "{column}");
        }

        let report = storage.self_check().await.unwrap();
        assert_eq!(report.corrupt, [bad.revision()], "{column}");
        assert!(!report.is_clean() && report.problems.is_empty(), "{report:?}");
        assert_eq!(orch_storage_sqlite::check(&data.path()).await.unwrap().corrupt, [bad.revision()]);

        let healed = replace(&storage, "b", bad.revision(), "new").await.unwrap();
        assert!(healed.previous.unwrap().value().is_err());
        storage.shutdown().await.unwrap();
        let storage = data.open().await;
        assert_eq!(listing(&storage).len(), 3, "{column}: every value is readable again");
        let gone = remove(&storage, "b", healed.revision).await.unwrap().revision;
        storage.compact(gone).await.unwrap();
        assert!(storage.self_check().await.unwrap().is_clean(), "{column}");
    }
}

#[tokio::test]
async fn a_name_that_is_no_text_does_not_stop_the_start() {
    let data = damaged("UPDATE log SET name = CAST(x'62ff' AS TEXT) WHERE name = 'b'").await;
    let storage = data.open().await;
    let snapshot = storage.snapshot(&resource());
    assert_eq!(snapshot.len(), 3);
    assert!(snapshot.get("default", "b\u{fffd}").unwrap().value().is_err());
    assert!(snapshot.get("default", "a").unwrap().value().is_ok());
}

#[tokio::test]
async fn watches_deliver_what_is_damaged_as_damaged() {
    let data = damaged("UPDATE log SET value = x'00' WHERE name = 'b'").await;
    let storage = data.open().await;
    let mut watch = storage.watch(&resource(), Scope::All, Revision::FIRST).unwrap();
    let readable: Vec<bool> =
        watch.take().unwrap().iter().map(|event| event.object().value().is_ok()).collect();
    assert_eq!(readable, [true, false, true]);
}

/// Nobody has to ask for what was written long ago.
#[tokio::test]
async fn the_store_looks_through_its_data_by_itself() {
    for (column, damaged_rows) in [("time = time", 0), ("value = x'00'", 1)] {
        let data = damaged(&format!("UPDATE log SET {column} WHERE name = 'b'")).await;
        let storage = data.open().await;
        while storage.patrolled().rounds == 0 {
            tokio::task::yield_now().await;
        }
        let found = storage.patrolled();
        assert_eq!((found.rows, found.damaged_rows, found.unreadable), (3, damaged_rows, 0), "{column}");
        storage.shutdown().await.unwrap();
    }
}

/// Bytes of the file are overwritten at random: opening ends well or with an error, and whatever is served as
/// good is what was written.
#[tokio::test]
async fn random_damage_is_never_served() {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let data = DataDir::new();
    let storage = data.open().await;
    for index in 0..200 {
        create(&storage, &format!("o{index}"), &format!("o{index} {}", "x".repeat(500))).await.unwrap();
    }
    storage.shutdown().await.unwrap();
    let whole = fs::read(data.path()).unwrap();
    let mut opened = 0;
    for round in 0..60 {
        let mut bytes = whole.clone();
        for _ in 0..random.random_range(1..4) {
            let position = random.random_range(100..bytes.len());
            let length = random.random_range(1..64).min(bytes.len() - position);
            random.fill(&mut bytes[position..position + length]);
        }
        let copy = DataDir::new();
        fs::write(copy.path(), &bytes).unwrap();
        let storage = match orch_storage_sqlite::open(copy.config()).await {
            Ok(storage) => storage,
            // A revision that is far too large looks as if the rows before it were gone.
            Err(
                StoreError::Damaged { .. }
                | StoreError::Lost { .. }
                | StoreError::NotADatabase { .. }
                | StoreError::Unavailable { .. },
            ) => continue,
            Err(other) => panic!("seed {seed}, round {round}: {other}"),
        };
        opened += 1;
        for object in storage.snapshot(&resource()).iter().filter(|object| object.value().is_ok()) {
            let want = format!("{} {}@{}", object.key().name, "x".repeat(500), object.revision());
            assert_eq!(text(object), want, "seed {seed}, round {round}");
        }
        storage.shutdown().await.unwrap();
    }
    assert!(opened > 10, "seed {seed}: most damage is in values; {opened} of 60 opened");
}
