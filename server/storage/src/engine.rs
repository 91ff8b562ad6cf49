//! The state and the history in memory, which all backends share. Only backends need it; readers use
//! [`Storage`](crate::Storage).
//!
//! A backend adds durability and nothing more. It
//!
//! - feeds the records of its log to a [`Replay`], which becomes a [`MemoryWriter`], and hands a [`Memory`]
//!   of it to [`Storage::new`](crate::Storage::new);
//! - for each transaction takes a [`Batch`] ([`MemoryWriter::batch`]), adds writes to it, which checks their
//!   conditions, makes what was [accepted](Batch::accepted) durable, and then calls [`MemoryWriter::publish`]
//!   and [`MemoryWriter::wake`]. A batch that could not be stored is dropped, and leaves no trace;
//! - from time to time calls [`MemoryWriter::forget_overdue`], and drops from its log the [`Garbage`] that it
//!   returns.
//!
//! One writer changes the memory; any number of readers hold a [`Memory`]. A batch becomes visible at one
//! instant, when the new state is swapped in: snapshots, watches and the current revision all go by the
//! revision of that state. Events are in the logs before that instant, so a reader that knows a revision
//! always finds the events up to it.

mod batch;
mod digested;
mod event_log;
mod history;
mod memory;
mod older_states;
mod replay;
mod shared;
mod snapshot;
mod state;
mod table;
mod wakers;
mod watch;
mod writer;

pub use batch::{Accepted, Batch};
pub use event_log::Events;
pub use history::{Garbage, HistoryUse, Retention};
pub use memory::Memory;
pub use replay::Replay;
pub use snapshot::Snapshot;
pub use watch::{Tail, Watch};
pub use writer::{MemoryWriter, Published};
