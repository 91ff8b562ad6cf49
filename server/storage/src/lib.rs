//! A revisioned store of objects that it knows only as bytes with a name.
//!
//! Writes go one way: to a [`store::Store`], which makes them durable in one order and publishes them to memory.
//! Reads go the other: everything is answered from immutable snapshots in memory, and watches follow the same
//! events in the same order. [`Storage`] is the handle on both.
//!
//! The crate knows no kinds, no encoding and no transport.

mod check;
mod clock;
pub mod conformance;
mod error;
mod event;
mod index;
mod key;
mod memo;
mod memory;
mod object;
pub mod reference;
mod revision;
pub mod sqlite;
mod storage;
pub mod store;
mod write;

pub use check::Report;
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use error::StoreError;
pub use event::{Event, EventKind};
pub use index::{Indexer, Term};
pub use key::{Key, ResourceName, Scope};
pub use memory::{Snapshot, Watch};
pub use object::{Corrupt, Object};
pub use revision::{InvalidRevision, Revision};
pub use storage::Storage;
pub use write::{Body, Committed, Write};
