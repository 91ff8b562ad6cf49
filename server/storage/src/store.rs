//! The contract of a store, whatever keeps its data.
//!
//! A store is where writes become durable. Readers see the memory; a store publishes every write to it, in
//! order, after the write is durable and before it is acknowledged. So three things hold for all
//! implementations, and [`crate::conformance`] checks them:
//!
//! - a write is acknowledged only when it would survive a crash;
//! - a write that was acknowledged or told to a watch is in every snapshot that is taken from then on;
//! - revisions are given out in the order of commits, without gaps between the writes of one run, where
//!   nobody else writes to the same database.
//!
//! A write that is handed over while another one waits may be committed before it, unless the store says more
//! ([`conformance::Fixture::keeps_order`](crate::conformance::Fixture::keeps_order)).

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::key::Key;
use crate::object::{Corrupt, Object};
use crate::patrolled::Patrolled;
use crate::revision::Revision;
use crate::write::{Committed, Write};

/// A future without a name, so that stores can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Receives the records of a log, one by one.
pub type Visitor<'a> = dyn FnMut(Record) + Send + 'a;

/// Where writes become durable.
pub trait Store: Send + Sync + 'static {
    /// Commits one write if its change and its conditions hold; otherwise nothing happens. Dropping the
    /// future does not take back a write that the store has accepted.
    fn commit(&self, write: Write) -> BoxFuture<'_, Result<Committed, StoreError>>;

    /// Shows `visit` every record that is kept, in order of revision, and returns the newest revision. The
    /// state is the newest record of each object; the changes after a revision are the records after it.
    fn records<'a>(&'a self, visit: &'a mut Visitor<'_>) -> BoxFuture<'a, Result<Revision, StoreError>>;

    /// The newest revision that any replica had committed when this was called, visible here now. A read that
    /// follows is consistent.
    fn barrier(&self) -> BoxFuture<'_, Result<Revision, StoreError>>;

    /// Forgets history up to and including `before`: states that were replaced or removed by then.
    fn compact(&self, before: Revision) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Forgets history that is older or larger than configured. Happens by itself as well, in small steps.
    fn expire(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Damage in what the records rest on, in words for an operator; empty if there is none.
    fn integrity(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>>;

    /// What the store found that looks through its data by itself; nothing of one that does not.
    fn patrolled(&self) -> Patrolled {
        Patrolled::default()
    }

    /// Whether other servers may write to the same data.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns, with the reason, when the store no longer has what it has told: whoever serves from it has to
    /// end, and to begin anew. Never, unless somebody else can take something away from it.
    fn lost(&self) -> BoxFuture<'_, Arc<str>> {
        Box::pin(std::future::pending())
    }

    /// Why consistent reads failed when one was tried last; none where it succeeded. Told without waiting,
    /// for probes.
    fn trouble(&self) -> Option<StoreError> {
        None
    }

    /// Whether a state would be kept otherwise if it were written now: under another key, or under none.
    fn is_stale(&self, _: &Object) -> bool {
        false
    }

    /// Commits what was accepted, refuses what comes later, lets go of all resources.
    fn shutdown(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The identity that the data got when it was first created.
    fn cluster_uid(&self) -> Arc<str>;
}

/// What a record says about its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It came into being.
    Create,
    /// It got a new state.
    Replace,
    /// It went away.
    Remove,
}

/// One write, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its revision.
    pub revision: Revision,
    /// The object that it changed.
    pub key: Key,
    /// What it did.
    pub op: Op,
    /// When it was committed.
    pub time: Timestamp,
    /// The state it wrote; of a removal, the last state.
    pub value: Result<Bytes, Corrupt>,
}
