//! All events that are kept, oldest first, across resources; and the rule for how long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::event::{Event, EventKind};
use crate::frame_bytes::FrameTotal;
use crate::revision::Revision;

/// How much history is kept. Whichever bound is reached first ends it.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// How long an event is kept.
    pub time: Duration,
    /// How much memory may be held for history alone, in bytes: older states, and the encoded forms of
    /// events.
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

/// How much of the history's memory encoded forms of events may always have, as the divisor. Watches read the
/// youngest events again and again, and must not have to encode them each time because history is full.
const FRAMES_SHARE: u64 = 8;

/// How often at most the log says that history is too short.
const WARNING_PERIOD: Duration = Duration::from_mins(10);

/// What history holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryUse {
    /// Memory in bytes that is held only because older states are kept.
    pub state_bytes: u64,
    /// Memory in bytes of the encoded forms of events.
    pub frame_bytes: u64,
    /// When the youngest event was committed that was forgotten because of its age or for want of room;
    /// `None` where there was none since the start.
    pub forgotten_through: Option<Timestamp>,
    /// How many events were forgotten before their time, for want of room, since the start.
    pub forgotten_early: u64,
}

/// The same, as the writer publishes it.
#[derive(Debug)]
pub(super) struct HistoryMeter {
    frames: FrameTotal,
    state_bytes: AtomicU64,
    /// What readers computed from states that events keep.
    copies: FrameTotal,
    /// 0 for none.
    forgotten_through: AtomicU64,
    forgotten_early: AtomicU64,
}

pub(super) struct History {
    events: VecDeque<Arc<Event>>,
    bytes: u64,
    meter: Arc<HistoryMeter>,
    /// The frames of events up to this one were dropped.
    bare_through: Revision,
    warned: Option<Timestamp>,
}

impl Retention {
    /// Whether an event of `time` is too old at `now`. One from far in the future is a leftover of a clock
    /// that was wrong: its age is unknown, and without this it would be kept until that time comes.
    pub(super) fn is_over(&self, time: Timestamp, now: Timestamp) -> bool {
        time < now.before(self.time) || time.before(self.time) > now
    }
}

impl HistoryMeter {
    pub(super) fn frames(&self) -> &FrameTotal {
        &self.frames
    }

    pub(super) fn read(&self) -> HistoryUse {
        let forgotten_through = self.forgotten_through.load(Ordering::Relaxed);
        HistoryUse {
            state_bytes: self.state_bytes.load(Ordering::Relaxed) + self.copies.get(),
            frame_bytes: self.frames.get(),
            forgotten_through: (forgotten_through > 0).then_some(Timestamp(forgotten_through)),
            forgotten_early: self.forgotten_early.load(Ordering::Relaxed),
        }
    }
}

impl History {
    /// An empty one. The encoded forms of its events count in `frames`.
    pub(super) fn new(frames: FrameTotal) -> Self {
        let meter = HistoryMeter {
            frames,
            state_bytes: AtomicU64::new(0),
            copies: FrameTotal::default(),
            forgotten_through: AtomicU64::new(0),
            forgotten_early: AtomicU64::new(0),
        };
        Self {
            events: VecDeque::new(),
            bytes: 0,
            meter: Arc::new(meter),
            bare_through: Revision::ZERO,
            warned: None,
        }
    }

    pub(super) fn meter(&self) -> &Arc<HistoryMeter> {
        &self.meter
    }

    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.set_bytes(self.bytes + event.history_bytes());
        event.departed().for_each(|state| state.enter_history(&self.meter.copies));
        self.events.push_back(event);
    }

    /// Drops the encoded forms of the oldest events while history is larger than `retention` allows, but for
    /// the share that they may always have. Looks at `limit` events at most. Returns the events without them,
    /// which are to be put into the logs.
    pub(super) fn drop_frames(&mut self, retention: &Retention, limit: usize) -> Vec<Arc<Event>> {
        let frames = self.meter.frames.get();
        let too_many = frames.saturating_sub(retention.bytes / FRAMES_SHARE);
        let mut excess =
            (self.bytes + self.meter.copies.get() + frames).saturating_sub(retention.bytes).min(too_many);
        let mut bare = Vec::new();
        if excess == 0 {
            return bare;
        }
        let start = self.events.partition_point(|event| event.revision() <= self.bare_through);
        for event in self.events.range_mut(start..).take(limit) {
            if excess == 0 {
                return bare;
            }
            self.bare_through = event.revision();
            let held = event.memo_bytes();
            if held > 0 {
                *event = Arc::new(event.without_memo());
                bare.push(Arc::clone(event));
                excess = excess.saturating_sub(held);
            }
        }
        if self.events.back().is_none_or(|newest| newest.revision() <= self.bare_through) {
            // A watch that began late may have made those of older events again.
            self.bare_through = Revision::ZERO;
        }
        bare
    }

    /// Takes out the oldest events while they are older or larger than `retention` allows, at most `limit`.
    pub(super) fn pop_overdue(
        &mut self,
        now: Timestamp,
        retention: &Retention,
        limit: usize,
    ) -> Vec<Arc<Event>> {
        let mut bytes = self.bytes + self.meter.copies.get() + self.meter.frames.get();
        let overdue = self.events.iter().take_while(|event| {
            let over = bytes > retention.bytes || retention.is_over(event.time(), now);
            let copies: u64 = event.departed().map(|state| state.memo_bytes()).sum();
            bytes = bytes.saturating_sub(event.history_bytes() + copies + event.memo_bytes());
            over
        });
        let count = overdue.take(limit).count();
        let popped = self.pop(count);
        self.note_forgotten(&popped, now, retention);
        popped
    }

    /// Publishes how far back history reaches, and warns where that is less than `retention` wants.
    fn note_forgotten(&mut self, popped: &[Arc<Event>], now: Timestamp, retention: &Retention) {
        let Some(youngest) = popped.last().map(|event| event.time()) else { return };
        self.meter.forgotten_through.store(youngest.0, Ordering::Relaxed);
        let early = popped.iter().filter(|event| !retention.is_over(event.time(), now)).count() as u64;
        if early == 0 {
            return;
        }
        self.meter.forgotten_early.fetch_add(early, Ordering::Relaxed);
        if self.warned.is_some_and(|warned| warned >= now.before(WARNING_PERIOD)) {
            return;
        }
        self.warned = Some(now);
        tracing::warn!(
            reaches_back_seconds = now.0.saturating_sub(youngest.0) / 1000,
            wanted_seconds = retention.time.as_secs(),
            size_bytes = retention.bytes,
            "history is shorter than its retention time, because its size is used up"
        );
    }

    /// Takes out the oldest events up to and including the revision `before`.
    pub(super) fn pop_through(&mut self, before: Revision) -> Vec<Arc<Event>> {
        self.pop(self.events.partition_point(|event| event.revision() <= before))
    }

    fn pop(&mut self, count: usize) -> Vec<Arc<Event>> {
        let popped: Vec<_> = self.events.drain(..count).collect();
        let departed = popped.iter().flat_map(|event| event.departed());
        departed.for_each(|state| state.leave_history(&self.meter.copies));
        self.set_bytes(self.bytes - popped.iter().map(|event| event.history_bytes()).sum::<u64>());
        popped
    }

    fn set_bytes(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.meter.state_bytes.store(bytes, Ordering::Relaxed);
    }
}
