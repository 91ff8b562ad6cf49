//! A write as one transaction of etcd.
//!
//! What the change and the conditions demand of other keys is compared in the transaction. That a term is
//! unclaimed is looked up in memory, and the transaction compares that no term was claimed in the resource
//! since. A write is answered when the watch has brought it and memory shows it; so an answer that was lost
//! does no harm, as long as the watch goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use orch_storage::{Change, Committed, Condition, ResourceName, Revision, StoreError, Write};
use tokio::time::{Instant, sleep, timeout_at};

use crate::client::TXN;
use crate::failure::Failure;
use crate::form::last_place;
use crate::journal::Entry;
use crate::load::Reader;
use crate::message::{Compare, Compared, Op, Range, Txn, TxnDone};
use crate::pending::Ticket;
use crate::shared::{Shared, too_late};

/// The longest pause before a write is tried again, whose conditions hold in memory and not in etcd.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// Writes for all callers.
pub(crate) struct Committer {
    /// By resource, held by a write that claims a term: of two at once, one would have to be tried again.
    claiming: Mutex<HashMap<ResourceName, Arc<tokio::sync::Mutex<()>>>>,
}

/// What a transaction says beside its change, in the journal.
#[derive(Debug, Clone, Copy)]
enum Said<'a> {
    /// Which write it is, and of a removal the last state.
    Everything(&'a str),
    /// Which write it is.
    Id(&'a str),
    Nothing,
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

    /// Where the deadline passes before the write is sent, it is not made.
    pub(crate) async fn commit(
        &self,
        shared: &Shared,
        write: &Write,
        deadline: Instant,
    ) -> Result<Committed, StoreError> {
        let claims =
            write.conditions.iter().any(|condition| matches!(condition, Condition::Unclaimed { .. }));
        let _claiming = if claims {
            let lock = self.claiming(&write.key().resource);
            Some(timeout_at(deadline, lock.lock_owned()).await.map_err(|_| too_late())?)
        } else {
            None
        };
        let mut pause = Duration::from_millis(1);
        loop {
            let claimed = if claims { Some(unclaimed(shared, write, deadline).await?) } else { None };
            let revision = match attempt(shared, write, claimed, deadline).await? {
                Outcome::Published(committed) => return Ok(committed),
                Outcome::Refused(revision) => revision,
            };
            shared.reach(revision, deadline).await?;
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

    fn claiming(&self, resource: &ResourceName) -> Arc<tokio::sync::Mutex<()>> {
        let mut claiming = self.claiming.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(claiming.entry(resource.clone()).or_default())
    }
}

/// Looks up in memory that the terms are unclaimed. Returns the revision up to which that is known.
async fn unclaimed(shared: &Shared, write: &Write, deadline: Instant) -> Result<Revision, StoreError> {
    let resource = &write.key().resource;
    let claimed = shared.claims.of(resource);
    if shared.memory.check(write).is_ok() {
        return Ok(claimed);
    }
    // Memory may be behind.
    let reader = Reader { timeout: left(deadline), ..shared.reader() };
    let newest = reader.newest().await.map_err(|failure| failure.of_read())?;
    shared.reach(Revision::new(newest.write), deadline).await?;
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
    let is_removal = matches!(write.change, Change::Remove { .. });
    let id = ticket.id();
    let mut sent = send(shared, write, claimed, Said::Everything(&id), &mut ticket, deadline).await?;
    if is_removal && matches!(&sent, Sent::Failed(failure) if failure.is_too_large()) {
        sent = send(shared, write, claimed, Said::Id(&id), &mut ticket, deadline).await?;
    }
    let failure = match sent {
        Sent::Published(committed) => return Ok(Outcome::Published(committed)),
        Sent::Done(done) if done.succeeded => None,
        Sent::Done(done) => return Ok(Outcome::Refused(newest_of(&done))),
        Sent::Failed(failure) if failure.is_out_of_space() && is_removal => {
            return remove_without_room(shared, write, claimed, deadline).await;
        }
        Sent::Failed(failure) if failure.leaves_open() => Some(failure),
        Sent::Failed(failure) => return Err(failure.of_write()),
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

/// What has become of a transaction that was sent.
enum Sent {
    /// The watch has shown it.
    Published(Committed),
    Done(TxnDone),
    Failed(Failure),
}

/// Sends a transaction, and returns what comes first: its answer, or what the watch shows.
async fn send(
    shared: &Shared,
    write: &Write,
    claimed: Option<Revision>,
    said: Said<'_>,
    ticket: &mut Ticket<'_>,
    deadline: Instant,
) -> Result<Sent, StoreError> {
    let request = transaction(shared, write, claimed, said)?;
    let mut call = Box::pin(shared.client.call::<TxnDone, _>(TXN, &request, left(deadline)));
    Ok(tokio::select! {
        biased;
        Some(committed) = ticket.published() => {
            // Nobody waits for the answer any more, and the call goes on to its end.
            tokio::spawn(call);
            Sent::Published(committed)
        }
        answer = &mut call => match answer {
            Ok(done) => Sent::Done(done),
            Err(failure) => Sent::Failed(failure),
        },
    })
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
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
    let request = transaction(shared, write, claimed, Said::Nothing)?;
    let done: TxnDone =
        shared.client.call(TXN, &request, left(deadline)).await.map_err(|failure| failure.of_write())?;
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
    said: Said<'_>,
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
    let entry = match said {
        Said::Everything(id) => Some((id, &last[..])),
        Said::Id(id) => Some((id, &[][..])),
        Said::Nothing => None,
    };
    if let Some((id, last)) = entry {
        let value = Entry::encode(shared.clock.now(), id, last, body.revision_at());
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
