//! Older states that were asked for, kept for the next request: all pages of a list are of one revision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::snapshot::Snapshot;
use crate::revision::Revision;

/// How many states of a resource are kept.
const KEPT: usize = 8;

/// States of one resource, the least recently used first. What they hold beyond the newest state is what
/// history holds anyway.
#[derive(Default)]
pub(super) struct OlderStates(Mutex<Vec<Snapshot>>);

impl OlderStates {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::table::Table;

    fn revisions(past: &OlderStates) -> Vec<u64> {
        past.lock().iter().map(|snapshot| snapshot.revision().get()).collect()
    }

    #[test]
    fn keeps_what_was_used_last() {
        let past = OlderStates::default();
        let used = |revision| past.at_or_after(Revision::new(revision)).map(|found| found.revision().get());
        for revision in [50, 30, 40, 30, 10, 20, 60, 70, 80] {
            past.keep(&Snapshot::new(Revision::new(revision), Table::default()));
        }
        assert_eq!(revisions(&past), [50, 40, 30, 10, 20, 60, 70, 80]);
        assert_eq!((used(45), used(50), used(81)), (Some(50), Some(50), None));
        past.keep(&Snapshot::new(Revision::new(90), Table::default()));
        assert_eq!(revisions(&past), [30, 10, 20, 60, 70, 80, 50, 90], "40 was not used for longest");
        past.forget_before(Revision::new(60));
        assert_eq!(revisions(&past), [60, 70, 80, 90]);
    }
}
