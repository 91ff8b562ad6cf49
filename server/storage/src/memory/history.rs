//! All events that are kept, oldest first, across resources; and the rule for how long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::event::Event;
use crate::revision::Revision;

/// How much history is kept. Whichever bound is reached first ends it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    pub(crate) time: Duration,
    /// Bytes of memory held only for the sake of history.
    pub(crate) bytes: u64,
}

#[derive(Default)]
pub(super) struct History {
    events: VecDeque<Arc<Event>>,
    bytes: u64,
}

impl Retention {
    /// Whether an event of `time` is too old at `now`. One from far in the future is a leftover of a clock that
    /// was wrong: its age is unknown, and without this it would be kept until that time comes.
    pub(super) fn is_over(&self, time: Timestamp, now: Timestamp) -> bool {
        time < now.before(self.time) || time.before(self.time) > now
    }
}

impl History {
    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.bytes += event.history_bytes();
        self.events.push_back(event);
    }

    /// The revision of the newest event that must go.
    pub(super) fn overdue(&self, now: Timestamp, retention: &Retention) -> Option<Revision> {
        let aged = self.events.iter().take_while(|event| retention.is_over(event.time(), now)).count();
        let mut excess = self.bytes.saturating_sub(retention.bytes);
        let too_many = self
            .events
            .iter()
            .take_while(|event| {
                let over = excess > 0;
                excess = excess.saturating_sub(event.history_bytes());
                over
            })
            .count();
        let count = aged.max(too_many).checked_sub(1)?;
        Some(self.events[count].revision())
    }

    pub(super) fn pop_through(&mut self, before: Revision, limit: usize) -> Vec<Arc<Event>> {
        let overdue = self.events.iter().take(limit).take_while(|event| event.revision() <= before).count();
        let popped: Vec<_> = self.events.drain(..overdue).collect();
        self.bytes -= popped.iter().map(|event| event.history_bytes()).sum::<u64>();
        popped
    }
}
