//! States of a store in which every write fails, whoever makes it.
//!
//! The log is told of the state, not of each write: clients that go on would fill the disk with it, which may
//! be the one that is full.

use crate::recurrence::Recurrence;

/// What the log was told of each state.
#[derive(Debug, Default)]
pub struct StoreStates {
    /// There is no room.
    pub full: Recurrence,
    /// The disk fails.
    pub failing: Recurrence,
    /// Something is wrong with the data.
    pub read_only: Recurrence,
    /// The database cannot be reached.
    pub unreachable: Recurrence,
}
