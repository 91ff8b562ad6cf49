//! A level and its requests, for the metrics and for the dumps of `/debug/api_priority_and_fairness`.

use std::time::Duration;

use orch_flow::{
    Nanos, borrowing,
    demand::{Ratios, Smoothed},
    queue_set::{QueueView, Totals},
    shares::Seats,
    width::Width,
};

use super::{
    super::{
        about::About,
        tally::{Tally, TallyView},
    },
    Gate,
};

/// A level, for the metrics and the dumps.
pub struct GateView {
    /// The name of the level.
    pub name: String,
    /// What its shares give it.
    pub seats: Seats,
    /// Whether it is deleted, and only finishes the requests that it had.
    pub is_quiescing: bool,
    /// The seats that it has now.
    pub limit: u32,
    /// Its demand.
    pub demand: Smoothed,
    /// A histogram of its demand relative to its nominal seats, weighted by time.
    pub ratios: Ratios,
    /// The seats that it is to have, if there are enough.
    pub target: f64,
    /// Its requests.
    pub totals: Totals,
    /// What it counted, by flow schema.
    pub tallies: Vec<TallyView>,
    /// Its queues that have requests, by number.
    pub queues: Vec<QueueView>,
}

/// A request, for the dumps.
pub struct RequestView {
    /// The priority level.
    pub level: String,
    /// The flow schema.
    pub schema: String,
    /// The number of its queue; `None` if it was not queued.
    pub queue: Option<u32>,
    /// Its place in the queue; `None` if it runs.
    pub place: Option<usize>,
    /// How long ago it came.
    pub arrived: Duration,
    /// How long ago it began to run; `None` if it waits.
    pub began: Option<Duration>,
    /// What it takes.
    pub width: Width,
    /// What it is about.
    pub about: About,
}

impl Gate {
    /// The state of the level now.
    pub(in super::super) fn view(&self) -> GateView {
        let now = self.clock.now();
        let mut inner = self.lock();
        inner.set.observe(now);
        let mut queues: Vec<QueueView> = inner.set.queues().collect();
        queues.sort_by_key(|queue| queue.number);
        GateView {
            name: self.name.clone(),
            seats: inner.seats,
            is_quiescing: inner.is_quiescing,
            limit: inner.set.limit(),
            demand: inner.demand,
            ratios: inner.set.demand_ratios(),
            target: borrowing::target(&inner.borrower(inner.demand)),
            totals: inner.set.totals(),
            tallies: inner.tallies.iter().filter(|tally| tally.is_shown()).map(Tally::view).collect(),
            queues,
        }
    }

    /// The requests that run, then those that wait, by queue and place.
    pub(in super::super) fn requests(&self) -> Vec<RequestView> {
        let now = self.clock.now();
        let since = |then: Nanos| Duration::from_nanos(now.saturating_sub(then));
        let inner = self.lock();
        let schema = |tally: usize| inner.tallies[tally].schema.clone();
        let running = inner.listed.values().map(|runs| RequestView {
            level: self.name.clone(),
            schema: schema(runs.tally),
            queue: runs.queue,
            place: None,
            arrived: since(runs.arrived),
            began: Some(since(runs.began)),
            width: runs.width,
            about: runs.about.clone(),
        });
        let waiting = inner.set.waiting().map(|waits| RequestView {
            level: self.name.clone(),
            schema: schema(waits.waiter.tally),
            queue: Some(waits.queue),
            place: Some(waits.place),
            arrived: since(waits.arrived),
            began: None,
            width: waits.width,
            about: waits.waiter.about.clone(),
        });
        let mut requests: Vec<RequestView> = running.chain(waiting).collect();
        requests.sort_by_key(|request| (request.queue, request.place));
        requests
    }
}
