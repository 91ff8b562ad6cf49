//! What a store finds while it runs, without being asked.

use std::sync::Arc;

/// What a store found that looks through its data by itself, all the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patrolled {
    /// How often it has read everything.
    pub rounds: u64,
    /// How many records it has read in all rounds.
    pub rows: u64,
    /// How many records of a round cannot be trusted.
    pub damaged_rows: u64,
    /// How many places of a round cannot be read at all.
    pub unreadable: u64,
    /// Why it takes no writes any more; none where it does.
    pub stopped: Option<Arc<str>>,
}

impl Patrolled {
    /// Whether anything is damaged.
    pub fn is_clean(&self) -> bool {
        self.damaged_rows == 0 && self.unreadable == 0
    }
}
