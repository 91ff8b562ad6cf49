//! All changes from a revision on, as one watch of etcd tells them.

use std::time::Duration;

use orch_storage::Revision;
use tokio::time::timeout;

use crate::client::{Client, Stream, WATCH};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::message::{Change, Watch, Watched};

/// A watch that is open.
pub(crate) struct Changes {
    stream: Stream,
    /// Older changes are left out. The first was asked for only to know whether history still has it; others
    /// were told before: after a snapshot, a member may repeat a watch from its start.
    from: u64,
    held: Held,
    /// The first answer, which says that the watch is there, or why it is not.
    first: Option<Watched>,
}

/// What a watch tells next.
pub(crate) enum Told {
    /// Changes in order, all of each revision together.
    Changes(Vec<Change>),
    /// History is gone that was not told yet. Nothing comes after this.
    Overtaken,
}

/// Changes of a revision of which more may come.
///
/// etcd tells up to a thousand revisions at once, which may be any number of bytes. It cuts such an answer
/// where it becomes too long for a request, which may be within a revision.
#[derive(Default)]
struct Held(Vec<Change>);

impl Changes {
    /// Watches from revision `from` on. etcd says at once that the watch is there: a member that does not say
    /// so within `time` is taken for silent.
    ///
    /// Compaction up to a revision forgets removals at that revision too, and versions of etcd let watches
    /// begin there all the same. So the revision before is asked for, which must not be forgotten.
    pub(crate) async fn begin(
        client: &Client,
        keys: &Keys,
        from: u64,
        time: Duration,
    ) -> Result<Self, Failure> {
        let (key, end) = keys.all();
        let first = client.versions.offset + 1;
        let start = from.saturating_sub(1).max(first);
        let mut stream = client.stream(WATCH, &Watch { key, end, start }).await?;
        let first = timeout(time, stream.next()).await.unwrap_or_else(|_| Err(silent(time)))?;
        Ok(Self { stream, from, held: Held::default(), first: Some(first) })
    }

    /// The same as [`next`](Self::next), where it comes within `time`.
    pub(crate) async fn next_within(&mut self, time: Duration) -> Result<Told, Failure> {
        timeout(time, self.next()).await.unwrap_or_else(|_| Err(silent(time)))
    }

    /// What comes next, with all that has come beside it.
    pub(crate) async fn next(&mut self) -> Result<Told, Failure> {
        let mut changes = Vec::new();
        loop {
            let mut answer = match self.first.take() {
                None => Some(self.stream.next().await?),
                first => first,
            };
            while let Some(mut watched) = answer {
                if watched.compact_revision > 0 {
                    return Ok(Told::Overtaken);
                }
                if watched.canceled {
                    return Err(Failure::NoAnswer(watched.cancel_reason));
                }
                watched.events.retain(|change| change.kv.mod_revision >= self.from);
                changes.extend(self.held.whole(watched));
                if let Some(last) = changes.last() {
                    self.from = last.kv.mod_revision + 1;
                }
                answer = self.stream.waiting()?;
            }
            if !changes.is_empty() {
                return Ok(Told::Changes(changes));
            }
        }
    }
}

fn silent(time: Duration) -> Failure {
    Failure::NoAnswer(format!("the watch has told nothing within {time:?}"))
}

impl Held {
    /// The changes of all revisions of which nothing is missing.
    fn whole(&mut self, watched: Watched) -> Vec<Change> {
        let revision = |change: &Change| Revision::new(change.kv.mod_revision);
        self.0.extend(watched.events);
        let last = self.0.last().map(revision).filter(|_| watched.is_cut);
        let whole =
            last.map_or(self.0.len(), |last| self.0.partition_point(|change| revision(change) < last));
        let held = self.0.split_off(whole);
        std::mem::replace(&mut self.0, held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::KeyValue;

    fn watched(revisions: &[u64], is_cut: bool) -> Watched {
        let change = |revision: &u64| {
            let kv = KeyValue { mod_revision: *revision, ..KeyValue::default() };
            Change { is_delete: false, kv }
        };
        Watched { is_cut, events: revisions.iter().map(change).collect(), ..Watched::default() }
    }

    #[test]
    fn a_revision_that_is_cut_is_told_when_it_is_whole() {
        let mut held = Held::default();
        let mut whole = |revisions: &[u64], is_cut| {
            let whole = held.whole(watched(revisions, is_cut));
            whole.iter().map(|change| change.kv.mod_revision).collect::<Vec<_>>()
        };
        assert_eq!(whole(&[1, 1, 2], false), [1, 1, 2]);
        assert_eq!(whole(&[3, 4, 4], true), [3]);
        assert_eq!(whole(&[4], true), []);
        assert_eq!(whole(&[4, 5], true), [4, 4, 4, 4]);
        assert_eq!(whole(&[6], false), [5, 6]);
        assert_eq!(whole(&[], false), []);
    }
}
