//! Values that are kept sealed: memory has them as they are, the file does not, and a commit that cannot seal
//! is refused.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use orch_storage::{Key, Opened, ResourceName, Seal, SealError, Sealed, Sealing, StoreError};
use orch_storage_sqlite::SqliteConfig;

use crate::support::{DataDir, create, listing, replace, resource, text};

/// Turns the bits of every byte, with a number before it. 0 keeps values as they are, and above 9 nothing can
/// be sealed.
#[derive(Debug, Default)]
struct Turning(AtomicU64);

impl Turning {
    fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn turned(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().map(|byte| !byte)
}

impl Sealing for Turning {
    fn seal(&self, _: &Key, place: &dyn Display, value: &[u8]) -> Result<Option<Sealed>, SealError> {
        assert!(place.to_string().starts_with("configmaps/default/"), "{place}");
        match self.number() {
            0 => Ok(None),
            10.. => Err(SealError("no key".to_owned())),
            number => {
                let bytes = std::iter::once(b'0' + number as u8).chain(turned(value)).collect();
                Ok(Some(Sealed { bytes, seal: Seal(number) }))
            }
        }
    }

    fn open(&self, _: &Key, _: &dyn Display, kept: Bytes) -> Result<Opened, SealError> {
        match kept[0] {
            number @ b'1'..=b'8' => {
                let value = turned(&kept[1..]).collect();
                Ok(Opened { value, seal: Some(Seal(u64::from(number - b'0'))) })
            }
            b'9' => Err(SealError("the key is gone".to_owned())),
            _ => Ok(Opened { value: kept, seal: None }),
        }
    }

    fn is_stale(&self, _: &ResourceName, seal: Option<Seal>) -> bool {
        seal.map_or(0, |Seal(number)| number) != self.number()
    }
}

fn with(data: &DataDir, turning: &Arc<Turning>) -> SqliteConfig {
    SqliteConfig { sealing: Some(Arc::clone(turning) as _), ..data.config() }
}

#[tokio::test]
async fn what_is_kept_sealed_is_read_as_it_was_written() {
    let (data, turning) = (DataDir::new(), Arc::<Turning>::default());
    let storage = orch_storage_sqlite::open(with(&data, &turning)).await.unwrap();
    let mut revisions = Vec::new();
    for (number, name) in [(0, "plain"), (1, "old"), (2, "new")] {
        turning.0.store(number, Ordering::Relaxed);
        let committed = create(&storage, name, "secret").await.unwrap();
        assert_eq!(text(&committed.object), format!("secret@{}", committed.revision));
        revisions.push(committed.revision);
    }
    let stale = |storage: &orch_storage::Storage| {
        let snapshot = storage.snapshot(&resource());
        let stale = snapshot.iter().filter(|object| storage.is_stale(object));
        stale.map(|object| object.key().name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(stale(&storage), ["old", "plain"]);
    assert!(storage.self_check().await.unwrap().is_clean());
    let listed = listing(&storage);
    storage.shutdown().await.unwrap();

    let storage = orch_storage_sqlite::open(with(&data, &turning)).await.unwrap();
    assert_eq!(listing(&storage), listed);
    assert_eq!(stale(&storage), ["old", "plain"]);
    replace(&storage, "plain", revisions[0], "secret").await.unwrap();
    assert_eq!(stale(&storage), ["old"]);
    assert!(storage.self_check().await.unwrap().is_clean());

    // What cannot be sealed is not written, and the store goes on.
    turning.0.store(10, Ordering::Relaxed);
    let refused = create(&storage, "more", "secret").await.unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable { detail } if detail.contains("no key")), "{refused}");
    turning.0.store(9, Ordering::Relaxed);
    create(&storage, "lost", "secret").await.unwrap();
    storage.shutdown().await.unwrap();
    let file = std::fs::read(data.path()).unwrap();
    let find = |text: &[u8]| file.windows(text.len()).any(|window| window == text);
    assert!(find(b"plain") && !find(b"1secret") && find(&turned(b"secret").collect::<Vec<_>>()));

    let storage = orch_storage_sqlite::open(with(&data, &turning)).await.unwrap();
    let snapshot = storage.snapshot(&resource());
    let lost = snapshot.get("default", "lost").unwrap().value().unwrap_err();
    assert!(lost.to_string().ends_with("is damaged: the key is gone"), "{lost}");
    assert!(text(snapshot.get("default", "old").unwrap()).starts_with("secret@"));
    storage.shutdown().await.unwrap();
    // The rows themselves are sound.
    assert!(orch_storage_sqlite::check(&data.path()).await.unwrap().is_clean());
}
