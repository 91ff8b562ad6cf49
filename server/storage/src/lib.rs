//! A revisioned store of objects that it knows only as bytes with a name.
//!
//! Writes go to a [`store::Store`], which makes them durable in one order and publishes them to memory.
//! Everything is read from immutable snapshots in memory, and watches follow the same events in the same
//! order. [`Storage`] is the handle on both.
//!
//! This crate is the contract, what all backends share ([`engine`]), a [`reference`](mod@reference) store
//! without durability, and the suite that every backend has to pass ([`conformance`]). It knows no kinds, no
//! encoding, no transport and no database.

pub mod check;
mod clock;
mod condition;
pub mod conformance;
pub mod engine;
mod error;
mod event;
mod following;
mod frame_bytes;
mod index;
mod key;
mod memo;
mod object;
mod patrolled;
pub mod reference;
mod revision;
mod sealing;
mod storage;
pub mod store;
mod write;

pub use check::Report;
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use condition::Condition;
pub use engine::{Events, HistoryUse, Snapshot, Watch};
pub use error::StoreError;
pub use event::{Event, EventKind};
pub use following::{Following, News};
pub use index::{Indexer, Term};
pub use key::{Key, ResourceName, Scope};
pub use object::{Corrupt, Object};
pub use patrolled::Patrolled;
pub use revision::{InvalidRevision, Revision};
pub use sealing::{Opened, Seal, SealError, Sealed, Sealing};
pub use storage::Storage;
pub use write::{Body, Change, Committed, Write};
