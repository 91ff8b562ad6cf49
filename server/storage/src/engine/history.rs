//! All events that are kept, oldest first, across resources; and the rule for how long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::event::{Event, EventKind};
use crate::revision::Revision;

/// How much history is kept. Whichever bound is reached first ends it.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// How long an event is kept.
    pub time: Duration,
    /// How much memory may be held for history alone, in bytes.
    pub bytes: u64,
}

/// A record of the log that is needed only as long as some event is kept.
#[derive(Debug, Clone, Copy)]
pub struct Garbage {
    /// The revision of the record.
    pub revision: Revision,
    /// The revision of the event, which is no longer kept. It is never older than the record.
    pub because_of: Revision,
}

/// What may be dropped from the log when `event` is no longer kept, in the order to drop it: the state that
/// it replaced, and a removal itself. A removal must outlive the states before it, or they would come back at
/// the next start.
pub(super) fn garbage_of(event: &Event) -> impl Iterator<Item = Garbage> + use<> {
    let because_of = event.revision();
    let previous = event.previous().map(|previous| previous.revision());
    let removal = (event.kind() == EventKind::Remove).then_some(because_of);
    previous.into_iter().chain(removal).map(move |revision| Garbage { revision, because_of })
}

#[derive(Default)]
pub(super) struct History {
    events: VecDeque<Arc<Event>>,
    bytes: u64,
}

impl Retention {
    /// Whether an event of `time` is too old at `now`. One from far in the future is a leftover of a clock
    /// that was wrong: its age is unknown, and without this it would be kept until that time comes.
    pub(super) fn is_over(&self, time: Timestamp, now: Timestamp) -> bool {
        time < now.before(self.time) || time.before(self.time) > now
    }
}

impl History {
    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.bytes += event.history_bytes();
        self.events.push_back(event);
    }

    /// Takes out the oldest events while they are older or larger than `retention` allows, at most `limit`.
    pub(super) fn pop_overdue(
        &mut self,
        now: Timestamp,
        retention: &Retention,
        limit: usize,
    ) -> Vec<Arc<Event>> {
        let mut bytes = self.bytes;
        let overdue = self.events.iter().take_while(|event| {
            let over = bytes > retention.bytes || retention.is_over(event.time(), now);
            bytes -= event.history_bytes();
            over
        });
        let count = overdue.take(limit).count();
        self.pop(count)
    }

    /// Takes out the oldest events up to and including the revision `before`.
    pub(super) fn pop_through(&mut self, before: Revision) -> Vec<Arc<Event>> {
        self.pop(self.events.partition_point(|event| event.revision() <= before))
    }

    fn pop(&mut self, count: usize) -> Vec<Arc<Event>> {
        let popped: Vec<_> = self.events.drain(..count).collect();
        self.bytes -= popped.iter().map(|event| event.history_bytes()).sum::<u64>();
        popped
    }
}
