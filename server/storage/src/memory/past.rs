//! Older states that somebody asked for, kept for the next who does: the pages of one list are all of one revision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::snapshot::Snapshot;
use crate::revision::Revision;

/// How many states of a resource are kept.
const KEPT: usize = 8;

/// States of one resource, the least recently used first. What they hold beyond the newest state is what history holds
/// anyway.
#[derive(Default)]
pub(super) struct Past(Mutex<Vec<Snapshot>>);

impl Past {
    /// The oldest state that is kept and not older than `revision`.
    pub(super) fn at_or_after(&self, revision: Revision) -> Option<Snapshot> {
        let mut kept = self.lock();
        let candidates = kept.iter().enumerate().filter(|(_, snapshot)| snapshot.revision() >= revision);
        let (index, _) = candidates.min_by_key(|(_, snapshot)| snapshot.revision())?;
        let found = kept.remove(index);
        kept.push(found.clone());
        Some(found)
    }

    /// Keeps `snapshot` in place of the least recently used one.
    pub(super) fn keep(&self, snapshot: &Snapshot) {
        let mut kept = self.lock();
        kept.retain(|other| other.revision() != snapshot.revision());
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(snapshot.clone());
    }

    /// Lets go of states before `revision`: history does not reach them any more.
    pub(super) fn forget_before(&self, revision: Revision) {
        self.lock().retain(|snapshot| snapshot.revision() >= revision);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Snapshot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
