//! A write as one transaction of etcd.
//!
//! What the change and the conditions demand of other keys is compared in the transaction. That a term is
//! unclaimed is looked up in memory, and the transaction compares that no term was claimed in the resource
//! since. A write is answered when the watch has brought it and memory shows it; so an answer that was lost
//! does no harm, as long as the watch goes on.

use std::time::Duration;

use orch_storage::{Change, Committed, Condition, Revision, StoreError, Write};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout_at};

use crate::client::TXN;
use crate::failure::Failure;
use crate::form::last_place;
use crate::journal::Entry;
use crate::message::{Compare, Compared, Op, Range, Txn, TxnDone};
use crate::shared::Shared;

/// The longest pause before a write is tried again, whose conditions hold in memory and not in etcd.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// Writes for all callers.
pub(crate) struct Committer {
    /// Held by a write that claims a term: of two at once, one would have to be tried again.
    claiming: Mutex<()>,
}

/// How a transaction ended.
enum Outcome {
    Published(Committed),
    /// Something that was compared does not hold. Memory knows what, at this revision.
    Refused(Revision),
}

impl Committer {
    pub(crate) fn new() -> Self {
        Self { claiming: Mutex::default() }
    }

    pub(crate) async fn commit(&self, shared: &Shared, write: &Write) -> Result<Committed, StoreError> {
        let claims =
            write.conditions.iter().any(|condition| matches!(condition, Condition::Unclaimed { .. }));
        let _claiming = if claims { Some(self.claiming.lock().await) } else { None };
        let deadline = Instant::now() + shared.timeout;
        let mut pause = Duration::from_millis(1);
        loop {
            let claimed = if claims { Some(unclaimed(shared, write).await?) } else { None };
            let revision = match attempt(shared, write, claimed, deadline).await? {
                Outcome::Published(committed) => return Ok(committed),
                Outcome::Refused(revision) => revision,
            };
            shared.reach(revision).await?;
            shared.memory.check(write)?;
            // It holds now: somebody wrote in between.
            if Instant::now() + pause > deadline {
                let detail = "the conditions of the write change all the time".into();
                return Err(StoreError::Unreachable { detail });
            }
            sleep(pause).await;
            pause = (2 * pause).min(MAX_PAUSE);
        }
    }
}

/// Looks up in memory that the terms are unclaimed. Returns the revision up to which that is known.
async fn unclaimed(shared: &Shared, write: &Write) -> Result<Revision, StoreError> {
    let resource = &write.key().resource;
    let claimed = shared.claims.of(resource);
    if shared.memory.check(write).is_ok() {
        return Ok(claimed);
    }
    // Memory may be behind.
    let newest = shared.reader().newest().await.map_err(|failure| failure.of_read())?;
    shared.reach(Revision::new(newest.write)).await?;
    let claimed = shared.claims.of(resource);
    shared.memory.check(write).map(|()| claimed)
}

async fn attempt(
    shared: &Shared,
    write: &Write,
    claimed: Option<Revision>,
    deadline: Instant,
) -> Result<Outcome, StoreError> {
    let mut ticket = shared.pending.ticket();
    let request = transaction(shared, write, claimed, Some(&ticket.id()))?;
    let sent = tokio::select! {
        biased;
        Some(committed) = ticket.published() => return Ok(Outcome::Published(committed)),
        sent = shared.client.call::<TxnDone>(TXN, &request, shared.timeout) => sent,
    };
    let failure = match sent {
        Ok(done) if done.succeeded => None,
        Ok(done) => return Ok(Outcome::Refused(newest_of(&done))),
        Err(failure) if failure.is_out_of_space() && matches!(write.change, Change::Remove { .. }) => {
            return remove_without_room(shared, write, claimed, deadline).await;
        }
        Err(failure) if failure.leaves_open() => Some(failure),
        Err(failure) => return Err(failure.of_write()),
    };
    // It is made, or may be: the watch tells.
    match timeout_at(deadline, ticket.published()).await {
        Ok(Some(committed)) => Ok(Outcome::Published(committed)),
        Ok(None) => Err(StoreError::Closed),
        Err(_) => Err(match failure {
            Some(failure) => failure.of_write(),
            None => {
                Failure::NoAnswer("the write is made, and the watch has not shown it".to_owned()).of_write()
            }
        }),
    }
}

/// A removal without an entry in the journal: etcd that has no room takes only what frees some. Watches then
/// show the state before as the last one.
async fn remove_without_room(
    shared: &Shared,
    write: &Write,
    claimed: Option<Revision>,
    deadline: Instant,
) -> Result<Outcome, StoreError> {
    let published = shared.pending.removal(write.key());
    let request = transaction(shared, write, claimed, None)?;
    let done: TxnDone =
        shared.client.call(TXN, &request, shared.timeout).await.map_err(|failure| failure.of_write())?;
    if !done.succeeded {
        return Ok(Outcome::Refused(newest_of(&done)));
    }
    match timeout_at(deadline, published).await {
        Ok(Ok(committed)) => Ok(Outcome::Published(committed)),
        _ => Err(StoreError::Unknown { detail: "the watch has not shown the removal".into() }),
    }
}

/// The newest write that the transaction found.
fn newest_of(done: &TxnDone) -> Revision {
    let kv = done.ranges.first().and_then(|ranged| ranged.kvs.first());
    Revision::new(kv.map_or(0, |kv| kv.mod_revision))
}

fn transaction(
    shared: &Shared,
    write: &Write,
    claimed: Option<Revision>,
    id: Option<&str>,
) -> Result<Txn, StoreError> {
    let Write { change, conditions } = write;
    let keys = &shared.keys;
    let key = keys.object(change.key());
    let mut compare = Vec::new();
    match change {
        Change::Create { .. } => compare.push(Compare { key: key.clone(), what: Compared::Exists(false) }),
        Change::Replace { expected, .. }
        | Change::Retire { expected, .. }
        | Change::Remove { expected, .. } => {
            is_at(&key, *expected, &mut compare);
        }
    }
    for condition in conditions {
        match condition {
            Condition::At { key, revision } => is_at(&keys.object(key), *revision, &mut compare),
            Condition::Absent { key } => {
                compare.push(Compare { key: keys.object(key), what: Compared::Exists(false) });
            }
            // By `claimed`.
            Condition::Unclaimed { .. } => {}
        }
    }
    let claims = || keys.claims(&change.key().resource);
    if let Some(revision) = claimed {
        compare.push(Compare { key: claims(), what: Compared::ModRevision(revision.get()) });
    }
    let (body, is_removal) = (change.body(), matches!(change, Change::Remove { .. }));
    let place = if is_removal { last_place(keys, change.key()) } else { place_of(&key) };
    let value = shared.form.kept(change.key(), &place, body.bytes());
    let value = value.map_err(|error| StoreError::Unavailable { detail: error.to_string().into() })?;
    let (change_op, last) =
        if is_removal { (Op::Delete { key }, value) } else { (Op::Put { key, value }, Vec::new()) };
    let mut success = vec![change_op];
    if let Some(id) = id {
        let value = Entry::encode(shared.clock.now(), id, &last, body.revision_at());
        success.push(Op::Put { key: keys.writes(), value });
    }
    if !is_removal && (claimed.is_some() || shared.memory.adds_term(write)) {
        success.push(Op::Put { key: claims(), value: Vec::new() });
    }
    let failure = vec![Op::Range(Range { key: keys.writes(), keys_only: true, ..Range::default() })];
    Ok(Txn { compare, success, failure })
}

fn place_of(key: &[u8]) -> String {
    String::from_utf8_lossy(key).into_owned()
}

/// A key that does not exist is at revision 0 for etcd.
fn is_at(key: &[u8], revision: Revision, compare: &mut Vec<Compare>) {
    compare.push(Compare { key: key.to_vec(), what: Compared::ModRevision(revision.get()) });
    if revision == Revision::ZERO {
        compare.push(Compare { key: key.to_vec(), what: Compared::Exists(true) });
    }
}
