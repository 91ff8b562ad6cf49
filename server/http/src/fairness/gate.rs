//! One priority level while the server runs: its seats and queues behind a lock, and the requests that wait.

mod seat;
mod view;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use orch_flow::{
    Nanos, SECOND,
    borrowing::Borrower,
    config::{Level, LevelKind},
    dealing::Hand,
    demand::Smoothed,
    queue_set::{Arrival, QueueSet, Refusal, Running, Totals},
    retry_after::RetryAfter,
    shares::Seats,
    width::Width,
};
use tokio::sync::oneshot;

pub use self::{
    seat::{Seat, Waiting},
    view::{GateView, RequestView},
};

use super::{
    Clock,
    about::About,
    tally::{Reason, Tally},
};

/// A priority level.
pub struct Gate {
    name: String,
    clock: Clock,
    inner: Mutex<Inner>,
}

struct Inner {
    kind: LevelKind,
    /// Whether the level is deleted, and only finishes the requests that it had.
    is_quiescing: bool,
    seats: Seats,
    demand: Smoothed,
    set: QueueSet<Waiter>,
    retry_after: RetryAfter,
    /// Requests that run and are not answered at once, by the order in which that was seen.
    listed: BTreeMap<u64, Listed>,
    next_listed: u64,
    /// By flow schema. Requests refer to them by number, so each stays in its place until no request does and
    /// another schema needs one.
    tallies: Vec<Tally>,
}

/// What stands for a request that waits.
struct Waiter {
    start: oneshot::Sender<Running>,
    tally: usize,
    about: About,
}

/// A request that runs, for the dumps.
struct Listed {
    queue: Option<u32>,
    tally: usize,
    arrived: Nanos,
    began: Nanos,
    width: Width,
    about: About,
}

/// What becomes of a request.
pub enum Entry {
    /// It runs.
    Runs(Seat),
    /// It waits.
    Waits(Waiting),
    /// It is refused.
    Refused(Refused),
}

/// The level has no seats for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// After how many seconds the client may try again.
    pub retry_after: u32,
}

impl Gate {
    pub(super) fn new(level: &Level, seats: Seats, clock: Clock) -> Arc<Self> {
        let now = clock.now();
        let mut set = QueueSet::new(level.kind, seats.initial(), now);
        set.set_nominal(now, seats.nominal);
        let inner = Inner {
            kind: level.kind,
            is_quiescing: false,
            seats,
            demand: Smoothed::default(),
            set,
            retry_after: RetryAfter::default(),
            listed: BTreeMap::new(),
            next_listed: 0,
            tallies: Vec::new(),
        };
        Arc::new(Gate { name: level.name.clone(), clock, inner: Mutex::new(inner) })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The number by which requests of a flow schema are counted. A request that was placed just before its
    /// schema was deleted may be counted for the one that takes the number over.
    pub(super) fn tally(&self, schema: &str) -> usize {
        let tallies = &mut self.lock().tallies;
        if let Some(known) = tallies.iter().position(|tally| tally.schema == schema) {
            tallies[known].keep();
            return known;
        }
        let place = tallies.iter().position(Tally::is_free).unwrap_or(tallies.len());
        if place == tallies.len() {
            tallies.push(Tally::new(schema));
        } else {
            tallies[place] = Tally::new(schema);
        }
        place
    }

    /// Counts no more for flow schemas that do not lead here.
    pub(super) fn keep_tallies(&self, leads: impl Fn(&str) -> bool) {
        for tally in &mut self.lock().tallies {
            tally.keep_if(&leads);
        }
    }

    /// Changes the level. It keeps the seats that it has borrowed or lent, as far as it still may.
    pub(super) fn configure(&self, kind: LevelKind, seats: Seats) {
        let now = self.clock.now();
        let mut inner = self.lock();
        (inner.kind, inner.seats, inner.is_quiescing) = (kind, seats, false);
        inner.set.set_kind(kind);
        inner.set.set_nominal(now, seats.nominal);
        let limit = inner.set.limit().clamp(seats.lowest, seats.highest);
        inner.set.set_limit(now, limit);
        inner.start_next(now);
    }

    /// Marks the level as deleted. Returns whether it still has requests.
    pub(super) fn quiesce(&self) -> bool {
        let mut inner = self.lock();
        inner.is_quiescing = true;
        inner.is_busy()
    }

    /// Whether the level exists, or still has requests.
    pub(super) fn is_needed(&self) -> bool {
        let inner = self.lock();
        !inner.is_quiescing || inner.is_busy()
    }

    pub(super) fn borrower(&self, now: Nanos) -> Borrower {
        let mut inner = self.lock();
        let observed = inner.set.take_demand(now);
        let mut demand = inner.demand;
        demand.add(observed);
        inner.borrower(demand)
    }

    pub(super) fn set_limit(&self, now: Nanos, limit: u32, demand: Smoothed) {
        let mut inner = self.lock();
        inner.demand = demand;
        inner.set.set_limit(now, limit);
        inner.start_next(now);
    }

    pub(super) fn arrive(
        self: &Arc<Self>,
        now: Nanos,
        tally: usize,
        hand: &Hand,
        width: Width,
        about: impl FnOnce() -> About,
    ) -> Entry {
        let mut started = None;
        let waiter = || {
            let (start, receiver) = oneshot::channel();
            started = Some(receiver);
            Waiter { start, tally, about: about() }
        };
        let gate = || Arc::clone(self);
        let mut inner = self.lock();
        match inner.set.arrive(now, hand, width, waiter) {
            Arrival::Runs(running) => {
                inner.tallies[tally].began(width, 0);
                Entry::Runs(Seat {
                    gate: gate(),
                    running: Some(running),
                    tally,
                    width,
                    arrived: now,
                    began: now,
                    is_watch: false,
                    listed: None,
                })
            }
            Arrival::Waits(ticket) => {
                let length = inner.set.length_at(ticket);
                inner.tallies[tally].queued(length);
                inner.start_next(now);
                let started = started.expect("a request that waits has a waiter");
                let (gate, is_over) = (gate(), false);
                Entry::Waits(Waiting { gate, ticket, started, tally, width, arrived: now, is_over })
            }
            Arrival::Refused(refusal) => {
                let reason = match refusal {
                    Refusal::QueueFull => Reason::QueueFull,
                    Refusal::ConcurrencyLimit => Reason::ConcurrencyLimit,
                };
                inner.tallies[tally].refused(reason);
                Entry::Refused(Refused { retry_after: inner.retry_after.refused(now / SECOND) })
            }
        }
    }

    /// Lets requests start that fit now.
    fn start_next(&self) {
        let now = self.clock.now();
        self.lock().start_next(now);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn is_busy(&self) -> bool {
        let Totals { running, waiting, .. } = self.set.totals();
        running > 0 || waiting > 0
    }

    fn borrower(&self, demand: Smoothed) -> Borrower {
        Borrower { seats: self.seats, demand, is_exempt: self.kind == LevelKind::Exempt }
    }

    fn start_next(&mut self, now: Nanos) {
        while let Some((waiter, running)) = self.set.next(now) {
            // One that is gone has left, or is about to be told that it need not.
            if let Err(running) = waiter.start.send(running) {
                self.set.give_back(now, running);
            }
        }
    }
}
