//! Names of faults that stay the same when the words of a message change.

use std::cmp::Ordering;

/// One kind of fault.
#[derive(Debug)]
pub struct Code {
    /// `B201`: never given to another fault.
    pub id: &'static str,
    /// What is wrong, in one line, without the names of a case.
    pub title: &'static str,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Code {}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(other.id)
    }
}
