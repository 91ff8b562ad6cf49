//! The store that keeps its data in etcd, so that several servers serve one state.
//!
//! A write is one transaction ([`commit`]); its revision is etcd's. Every server follows one watch of all
//! keys ([`watcher`]) into its memory ([`follower`]), from which all reads are answered, and answers a write
//! when it has published it itself. A consistent read asks etcd for the newest write and waits for it
//! ([`barrier`]). At the start, the state is read as it was where history begins, and the watch brings the
//! rest ([`load`]).
//!
//! Servers over one state also share a few values that are no objects ([`shared_value`]). Data of another
//! store are moved into a prefix ([`moving`]) with versions that go on above the older ones ([`versions`]).
//!
//! etcd is spoken to in its own gRPC API: over HTTP/2 of hyper, which is in the server anyway, with the dozen
//! messages that are needed ([`client`], [`connections`], [`changes`], [`message`], [`wire`]).

mod barrier;
mod changes;
mod client;
mod cluster;
mod commit;
mod compaction;
mod config;
mod connection;
mod connections;
mod failure;
mod follower;
mod form;
mod group;
mod journal;
mod keys;
mod load;
mod mark;
mod message;
mod moving;
mod other_forms;
mod pending;
mod shared;
mod shared_value;
mod span;
mod store;
mod tls;
mod versions;
mod watcher;
mod wire;

use std::sync::Arc;

use orch_storage::engine::{Memory, MemoryWriter, Replay};
use orch_storage::{Revision, Storage, StoreError, Timestamp};
use tokio::sync::{Semaphore, mpsc};

pub use config::EtcdConfig;
pub use moving::{Begun, Held, begin_move, end_move, look};
pub use other_forms::OtherForms;
pub use shared_value::{read_shared, seal_shared, share};
pub use tls::TlsFiles;

use barrier::Barrier;
use client::Client;
use commit::Committer;
use failure::Failure;
use follower::Follower;
use form::Form;
use keys::{Keys, Place};
use load::Reader;
use mark::Mark;
use message::KeyValue;
use pending::Pending;
use shared::{Claims, Shared};
use store::Etcd;

/// How often the load at the start is begun anew, because etcd was compacted meanwhile.
const LOADS: usize = 5;

/// Opens the data below the prefix, or creates it, and follows it. Everything that was written before this
/// was called is visible when it returns.
pub async fn open(config: EtcdConfig) -> Result<Storage, StoreError> {
    let mut client = Client::new(&config.servers, &config.tls)?;
    let keys = Keys::new(&config.prefix);
    let reader = Reader { client: &client, keys: &keys, timeout: config.timeout };
    let identity = cluster::identify(reader, &config).await?;
    client.versions = identity.versions;
    let reader = Reader { client: &client, keys: &keys, timeout: config.timeout };
    let form = Form::of(&config);
    let Loaded { writer, claims, mark, newest, next } = load(reader, &config, &form).await?;
    let shared = Arc::new(Shared {
        client,
        keys,
        form,
        timeout: config.timeout,
        clock: Arc::clone(&config.clock),
        memory: Memory::clone(writer.memory()),
        pending: Pending::new(),
        claims,
        mark,
    });
    let follower = Follower { shared: Arc::clone(&shared), writer, retention: config.retention() };
    let (controls, control_queue) = mpsc::channel(8);
    tokio::spawn(follower.run(next, control_queue));
    let (barrier, asking) = Barrier::start(Arc::clone(&shared));
    let compacting = tokio::spawn(compaction::run(Arc::clone(&shared), config.retention));
    let etcd = Etcd {
        committer: Arc::new(Committer::new()),
        writes: Arc::new(Semaphore::new(config.writes as usize)),
        permits: config.writes,
        barrier,
        controls,
        cluster_uid: identity.cluster_uid,
        tasks: vec![asking.abort_handle(), compacting.abort_handle()],
        shared: Arc::clone(&shared),
    };
    let storage = Storage::new(shared.memory.clone(), Arc::new(etcd));
    if let Err(error) = shared.reach(newest, shared.deadline()).await {
        storage.shutdown().await?;
        return Err(error);
    }
    Ok(storage)
}

/// The state where history begins.
struct Loaded {
    writer: MemoryWriter,
    claims: Claims,
    mark: Mark,
    /// The newest write that there was.
    newest: Revision,
    /// The revision to watch from.
    next: u64,
}

async fn load(reader: Reader<'_>, config: &EtcdConfig, form: &Form) -> Result<Loaded, StoreError> {
    for _ in 1..LOADS {
        match load_once(reader, config, form).await {
            Err(failure) if failure.is_compacted() => {}
            loaded => return loaded.map_err(|failure| failure.of_read()),
        }
    }
    load_once(reader, config, form).await.map_err(|failure| failure.of_read())
}

/// How many revisions of the past a start reads at most. etcd tells them in pieces of a thousand and looks at
/// all that are left for each piece, so 100,000 would take 15 seconds. Older ones are gone to the clients of
/// this server, which list again.
const MAX_REPLAY: u64 = 10_000;

async fn load_once(reader: Reader<'_>, config: &EtcdConfig, form: &Form) -> Result<Loaded, Failure> {
    let now = config.clock.now();
    let mark = Mark::new(reader.get(reader.keys.writes()).await?.as_ref());
    let newest = reader.newest().await?;
    let mut begins = reader.history_begins(now.before(config.retention), newest.etcd).await?;
    if begins > newest.write && newest.write > 0 {
        // An etcd that is full takes removals without an entry in the journal. There may be some after its
        // newest entry, and clients may still ask for them.
        begins = reader.history_begins(Timestamp(0), newest.etcd).await?.clamp(newest.write, begins);
    }
    let begins = begins.max(newest.etcd.saturating_sub(MAX_REPLAY));
    let mut replay = Replay::new(Revision::ZERO, now, config.retention());
    let claims = Claims::default();
    let mut damaged = 0;
    let mut take = |kv: KeyValue| match reader.keys.place(&kv.key) {
        Place::Object(key) => {
            let (record, seal) = group::state(key, &kv, form);
            damaged += usize::from(record.value.is_err());
            replay.push_state(record, seal);
        }
        Place::Claims(resource) => claims.changed(resource, Revision::new(kv.mod_revision)),
        Place::Writes | Place::Other => {}
    };
    let last = reader.state_at(begins, &mut take).await?;
    if damaged > 0 {
        tracing::error!(damaged, "this many objects cannot be read");
    }
    // What others write to etcd beside the prefix moves its revision, and no version that a client sees.
    let shown = if begins <= newest.write { begins } else { last };
    replay.begin_after(Revision::new(shown.max(reader.client.versions.offset)));
    let (writer, _) = replay.finish();
    Ok(Loaded { writer, claims, mark, newest: Revision::new(newest.write), next: begins + 1 })
}
