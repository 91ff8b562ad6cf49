//! Moves the data from SQLite to etcd, or back.
//!
//! Every object is written anew, above all versions that the source gave out, and then history is forgotten:
//! so no version comes twice, and clients that know older ones list again. What is there at the end is read
//! again and compared. Until then no server takes the target: an etcd says that data are being moved to it,
//! and a database lies in a directory beside its place.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use orch_config::{DataDir, EtcdSettings, MoveFlags, MovePlace, database_in, start_error::StartError};
use orch_encryption::encryption::Encryption;
use orch_registry::stored;
use orch_storage::{Body, Change, Key, Object, Revision, Sealing, Snapshot, Storage, StoreError};
use orch_storage_etcd::EtcdConfig;
use orch_storage_sqlite::SqliteConfig;
use tokio::task::JoinSet;

use super::{encryption_of, existing, must_be_free, progress, runtime, say};
use crate::bootstrap::{files, shared_keys, storage};

/// How many writes are on their way at a time.
const TOGETHER: usize = 256;

/// The directory, in that of the database, in which a database is made.
const DRAFT: &str = "moving";

/// What goes from one store to another beside the objects.
struct Identity {
    cluster_uid: Arc<str>,
    vocabulary: Arc<str>,
    /// All that is written from now on has a higher version.
    newest: Revision,
}

/// An object without its version: what comes before it, and what comes after.
type State = (Vec<u8>, Vec<u8>);

/// Moves everything, and prints what came of it.
pub async fn migrate(flags: &MoveFlags) -> Result<(), StartError> {
    let MoveFlags { from, to, access, encryption_provider_config: file } = flags;
    let encryption = |vocabulary: &str| -> Result<Arc<dyn Sealing>, StartError> {
        let encryption: Arc<Encryption> = encryption_of(vocabulary, file.as_deref())?;
        Ok(encryption)
    };
    let moved = match (from, to) {
        (MovePlace::Sqlite(at), MovePlace::Etcd(servers)) => {
            let etcd = access.clone().check(servers.clone())?;
            progress::during("moving", Box::pin(into_etcd(&at.data_dir, etcd, &encryption))).await?
        }
        (MovePlace::Etcd(servers), MovePlace::Sqlite(at)) => {
            let etcd = access.clone().check(servers.clone())?;
            progress::during("moving", Box::pin(into_sqlite(&at.data_dir, etcd, &encryption))).await?
        }
        _ => return Err(StartError::configuration("--to", "one place must be SQLite, and the other etcd")),
    };
    let (objects, before, revision) = moved;
    say(format_args!(
        "{objects} objects are moved; they had versions up to {before}, and have versions up to {revision}"
    ));
    Ok(())
}

/// How many objects were moved, the newest version before, and the newest one now.
type Moved = (usize, Revision, Revision);

/// How data of a vocabulary are sealed.
type Encrypt<'a> = dyn Fn(&str) -> Result<Arc<dyn Sealing>, StartError> + 'a;

async fn into_etcd(
    directory: &Path,
    etcd: EtcdSettings,
    encryption: &Encrypt<'_>,
) -> Result<Moved, StartError> {
    let database = existing(&DataDir { data_dir: directory.to_owned() })?;
    let _lock = files::lock(directory)?;
    let vocabulary = Box::pin(orch_storage_sqlite::vocabulary(&database)).await;
    let vocabulary = vocabulary.map_err(|error| in_directory(&error))?;
    let sealing = encryption(&vocabulary)?;
    let target = storage::in_etcd(etcd, &vocabulary, &sealing);
    let held =
        Box::pin(orch_storage_etcd::look(&target)).await.map_err(|error| storage::etcd_refusal(&error))?;
    if held.is_some_and(|held| !held.is_moving) {
        return Err(StartError::configuration("--etcd-prefix", "there is data below it already"));
    }
    let source = open_database(&database, &vocabulary, &sealing).await?;
    let (cluster_uid, newest) = (source.cluster_uid(), source.current_revision());
    let identity = Identity { cluster_uid, vocabulary, newest };
    let objects = objects(&source)?;
    source.shutdown().await.map_err(|error| runtime(&error))?;

    let in_etcd = |error: StoreError| storage::etcd_fault(&error);
    let begun = orch_storage_etcd::begin_move(&target, &identity.cluster_uid, identity.newest);
    let begun = Box::pin(begun).await.map_err(in_etcd)?;
    let filling = EtcdConfig { is_moving: true, ..target.clone() };
    let revision = fill(open_etcd(filling.clone()).await?, &objects).await?;
    compare(open_etcd(filling.clone()).await?, &objects, &identity).await?;
    Box::pin(shared_keys::share_in(directory, &filling)).await?;
    Box::pin(orch_storage_etcd::end_move(&target, &begun)).await.map_err(in_etcd)?;
    Ok((objects.len(), identity.newest, revision))
}

async fn into_sqlite(
    directory: &Path,
    etcd: EtcdSettings,
    encryption: &Encrypt<'_>,
) -> Result<Moved, StartError> {
    files::create_directory(directory)?;
    let _lock = files::lock(directory)?;
    let database = database_in(directory);
    must_be_free("--to", &database)?;
    let held = Box::pin(held(&etcd)).await?;
    let sealing = encryption(&held.vocabulary)?;
    let from = storage::in_etcd(etcd, &held.vocabulary, &sealing);
    Box::pin(shared_keys::share_in(directory, &from)).await?;
    let source = open_etcd(from.clone()).await?;
    let seen = source.barrier().await.map_err(|error| storage::etcd_fault(&error))?;
    let objects = objects(&source)?;
    source.shutdown().await.map_err(|error| runtime(&error))?;

    let draft = directory.join(DRAFT);
    // What a move left that was cut off.
    let _ = std::fs::remove_dir_all(&draft);
    files::create_directory(&draft)?;
    let filled = database_in(&draft);
    let Identity { cluster_uid, vocabulary, newest } = &held;
    let created = orch_storage_sqlite::create(&filled, vocabulary, cluster_uid, *newest);
    Box::pin(created).await.map_err(|error| in_directory(&error))?;
    let revision = fill(open_database(&filled, vocabulary, &sealing).await?, &objects).await?;
    compare(open_database(&filled, vocabulary, &sealing).await?, &objects, &held).await?;
    let again = open_etcd(from).await?;
    let now = again.barrier().await.map_err(|error| storage::etcd_fault(&error))?;
    again.shutdown().await.map_err(|error| runtime(&error))?;
    if now != seen {
        let problem = "a server wrote to etcd meanwhile: stop all servers, and move again";
        return Err(StartError::Runtime(problem.to_owned()));
    }
    Box::pin(orch_storage_sqlite::put_in_place(&filled, &database)).await.map_err(|error| runtime(&error))?;
    // Everything is moved, and a draft that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&draft);
    Ok((objects.len(), *newest, revision))
}

/// What is in etcd, which must be data of this program.
async fn held(etcd: &EtcdSettings) -> Result<Identity, StartError> {
    // The vocabulary is not known yet, and no value is read.
    let unsealed: Arc<dyn Sealing> = Arc::new(Encryption::default());
    let config = storage::in_etcd(etcd.clone(), "", &unsealed);
    let held =
        Box::pin(orch_storage_etcd::look(&config)).await.map_err(|error| storage::etcd_refusal(&error))?;
    let held = held.filter(|held| !held.is_moving);
    let held = held.ok_or_else(|| StartError::configuration("--etcd-prefix", "there is no data below it"))?;
    Ok(Identity { cluster_uid: held.cluster_uid, vocabulary: held.vocabulary, newest: held.newest })
}

async fn open_database(
    database: &Path,
    vocabulary: &str,
    sealing: &Arc<dyn Sealing>,
) -> Result<Storage, StartError> {
    let sealing = Some(Arc::clone(sealing));
    let config = SqliteConfig { sealing, ..SqliteConfig::new(database, vocabulary) };
    Box::pin(orch_storage_sqlite::open(config)).await.map_err(|error| in_directory(&error))
}

async fn open_etcd(config: EtcdConfig) -> Result<Storage, StartError> {
    Box::pin(orch_storage_etcd::open(config)).await.map_err(|error| storage::etcd_fault(&error))
}

fn in_directory(error: &StoreError) -> StartError {
    StartError::caused("--data-dir", error)
}

/// All objects without their versions, and the order in which they were written.
fn objects(storage: &Storage) -> Result<BTreeMap<Key, (Revision, State)>, StartError> {
    let snapshots: Vec<_> = storage.resources().iter().map(|resource| storage.snapshot(resource)).collect();
    let objects = snapshots.iter().flat_map(Snapshot::iter);
    objects.map(|object| Ok((object.key().clone(), (object.revision(), state(object)?)))).collect()
}

fn state(object: &Object) -> Result<State, StartError> {
    let key = object.key();
    let damaged = |detail: &dyn std::fmt::Display| StartError::Runtime(format!("{key} is damaged: {detail}"));
    let value = object.value().map_err(|corrupt| damaged(corrupt))?;
    let at = stored::revision_at(value).ok_or_else(|| damaged(&"it does not say its version"))?;
    let (head, tail) = value.split_at(at);
    let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Ok((head.to_vec(), tail[digits..].to_vec()))
}

/// Writes the objects, those first that were written first, forgets how, and closes the store. Returns the
/// newest version.
async fn fill(target: Storage, objects: &BTreeMap<Key, (Revision, State)>) -> Result<Revision, StartError> {
    let mut in_order: Vec<_> = objects.iter().collect();
    in_order.sort_by_key(|(_, (revision, _))| *revision);
    let mut writing = JoinSet::new();
    for (key, (_, (head, tail))) in in_order {
        if writing.len() >= TOGETHER
            && let Some(done) = writing.join_next().await
        {
            written(done)?;
        }
        let body = Body::new([&head[..], tail].concat(), head.len());
        let (target, change) = (target.clone(), Change::Create { key: key.clone(), body });
        writing.spawn(async move { target.commit(change).await.map(drop) });
    }
    while let Some(done) = writing.join_next().await {
        written(done)?;
    }
    let newest = target.current_revision();
    target.compact(newest).await.map_err(|error| runtime(&error))?;
    target.shutdown().await.map_err(|error| runtime(&error))?;
    Ok(newest)
}

fn written(done: Result<Result<(), StoreError>, tokio::task::JoinError>) -> Result<(), StartError> {
    let done = done.map_err(|error| StartError::Runtime(error.to_string()))?;
    done.map_err(|error| StartError::Runtime(format!("an object cannot be written: {error}")))
}

/// Compares what was written with what it should be, and closes the store.
async fn compare(
    target: Storage,
    wanted: &BTreeMap<Key, (Revision, State)>,
    identity: &Identity,
) -> Result<(), StartError> {
    let found = objects(&target)?;
    let differs = |key: &Key| StartError::Runtime(format!("{key} is not what it was: nothing is moved"));
    for (key, (_, state)) in wanted {
        let is_same =
            found.get(key).is_some_and(|(version, found)| found == state && *version > identity.newest);
        if !is_same {
            return Err(differs(key));
        }
    }
    if let Some(key) = found.keys().find(|key| !wanted.contains_key(*key)) {
        return Err(differs(key));
    }
    if target.cluster_uid() != identity.cluster_uid {
        return Err(StartError::Runtime("the identity of the data is not what it was".to_owned()));
    }
    target.shutdown().await.map_err(|error| runtime(&error))
}
