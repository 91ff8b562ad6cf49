//! One priority level while the server runs: its seats and queues behind a lock, and the requests that wait.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use orch_flow::{
    Nanos, SECOND,
    borrowing::{self, Borrower},
    config::{Level, LevelKind},
    dealing::Hand,
    demand::{Ratios, Smoothed},
    queue_set::{Arrival, QueueSet, QueueView, Refusal, Running, Ticket, Totals},
    retry_after::RetryAfter,
    shares::Seats,
    width::Width,
};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use super::{
    Clock,
    about::About,
    tally::{Reason, Tally, TallyView},
};

/// A priority level.
pub struct Gate {
    name: String,
    clock: Clock,
    inner: Mutex<Inner>,
}

struct Inner {
    kind: LevelKind,
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

/// A request that runs, for those who look.
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
    Waits(Turn),
    /// It is refused.
    Refused(Refused),
}

/// The level has no seats for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// After how many seconds the client may try again.
    pub retry_after: u32,
}

/// The seats of a request, until this is dropped.
#[must_use = "its seats are free when this is dropped"]
pub struct Seat {
    gate: Arc<Gate>,
    running: Option<Running>,
    tally: usize,
    width: Width,
    arrived: Nanos,
    began: Nanos,
    is_watch: bool,
    /// Its number in the list of those that run.
    listed: Option<u64>,
}

/// A request that waits for its turn. It leaves the queue when this is dropped.
pub struct Turn {
    gate: Arc<Gate>,
    ticket: Ticket,
    started: oneshot::Receiver<Running>,
    tally: usize,
    width: Width,
    arrived: Nanos,
    is_over: bool,
}

/// A level, for those who look.
pub struct GateView {
    /// The name of the level.
    pub name: String,
    /// What its shares give it.
    pub seats: Seats,
    /// The seats that it has now.
    pub limit: u32,
    /// Its demand.
    pub demand: Smoothed,
    /// For how long its demand was how large.
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

/// A request, for those who look.
pub struct RequestView {
    /// The priority level.
    pub level: String,
    /// The flow schema.
    pub schema: String,
    /// The number of its queue; none where it came through none.
    pub queue: Option<u32>,
    /// Its place in the queue; none where it runs.
    pub place: Option<usize>,
    /// How long ago it came.
    pub arrived: Duration,
    /// How long ago it began to run.
    pub began: Option<Duration>,
    /// What it takes.
    pub width: Width,
    /// What it is about.
    pub about: About,
}

impl Gate {
    pub(super) fn new(level: &Level, seats: Seats, clock: Clock) -> Arc<Self> {
        let now = clock.now();
        let mut set = QueueSet::new(level.kind, seats.initial(), now);
        set.set_nominal(now, seats.nominal);
        let inner = Inner {
            kind: level.kind,
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
        (inner.kind, inner.seats) = (kind, seats);
        inner.set.set_kind(kind);
        inner.set.set_nominal(now, seats.nominal);
        let limit = inner.set.limit().clamp(seats.lowest, seats.highest);
        inner.set.set_limit(now, limit);
        inner.start_next(now);
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
                Entry::Waits(Turn { gate, ticket, started, tally, width, arrived: now, is_over })
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

    /// A look at everything.
    pub(super) fn view(&self) -> GateView {
        let now = self.clock.now();
        let mut inner = self.lock();
        inner.set.observe(now);
        let mut queues: Vec<QueueView> = inner.set.queues().collect();
        queues.sort_by_key(|queue| queue.number);
        GateView {
            name: self.name.clone(),
            seats: inner.seats,
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
    pub(super) fn requests(&self) -> Vec<RequestView> {
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

impl Turn {
    /// Waits for so long at most.
    ///
    /// # Errors
    /// Where its turn did not come.
    pub async fn wait(mut self, at_most: Duration) -> Result<Seat, Refused> {
        if let Ok(Ok(running)) = timeout(at_most, &mut self.started).await {
            return Ok(self.seat(running));
        }
        self.is_over = true;
        match self.leave(Reason::TimeOut) {
            // It has come meanwhile.
            Some(running) => Ok(self.seat(running)),
            None => Err(Refused { retry_after: self.refused() }),
        }
    }

    fn refused(&self) -> u32 {
        let second = self.gate.clock.now() / SECOND;
        self.gate.lock().retry_after.refused(second)
    }

    fn seat(&mut self, running: Running) -> Seat {
        self.is_over = true;
        let now = self.gate.clock.now();
        let waited = now.saturating_sub(self.arrived);
        let tally = &mut self.gate.lock().tallies[self.tally];
        tally.left_queue();
        tally.began(self.width, waited);
        let Turn { width, tally, arrived, .. } = *self;
        Seat {
            gate: Arc::clone(&self.gate),
            running: Some(running),
            tally,
            width,
            arrived,
            began: now,
            is_watch: false,
            listed: None,
        }
    }

    /// Leaves the queue, and counts why. Its seats, where its turn has come already.
    fn leave(&mut self, reason: Reason) -> Option<Running> {
        let now = self.gate.clock.now();
        let mut inner = self.gate.lock();
        if inner.set.leave(now, self.ticket).is_none()
            && let Ok(running) = self.started.try_recv()
        {
            return Some(running);
        }
        let tally = &mut inner.tallies[self.tally];
        tally.left_queue();
        tally.gave_up(reason, now.saturating_sub(self.arrived));
        // It may have kept others waiting.
        inner.start_next(now);
        None
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Some(running) = self.leave(Reason::Cancelled) {
            let now = self.gate.clock.now();
            let mut inner = self.gate.lock();
            inner.tallies[self.tally].left_queue();
            inner.tallies[self.tally].gave_up(Reason::Cancelled, now.saturating_sub(self.arrived));
            inner.set.give_back(now, running);
            inner.start_next(now);
        }
    }
}

impl Seat {
    /// Lists the request for those who look. Most are answered before anybody could, so this is only called
    /// for one that has to wait for something.
    pub fn list(&mut self, about: impl FnOnce() -> About) {
        if self.listed.is_some() {
            return;
        }
        let queue = self.running.as_ref().and_then(Running::queue);
        let Seat { tally, width, arrived, began, .. } = *self;
        let listed = Listed { queue, tally, arrived, began, width, about: about() };
        let mut inner = self.gate.lock();
        let number = inner.next_listed;
        inner.next_listed += 1;
        inner.listed.insert(number, listed);
        drop(inner);
        self.listed = Some(number);
    }

    /// Gives the seat back at a time that is known.
    pub fn end(mut self, now: Instant) {
        let now = self.gate.clock.at(now);
        if let Some(running) = self.running.take() {
            self.give_back(running, now);
        }
    }

    /// The seat of a watch, which is counted apart.
    pub fn of_watch(mut self) -> Self {
        self.is_watch = true;
        self
    }

    fn give_back(&mut self, running: Running, now: Nanos) {
        let mut inner = self.gate.lock();
        let lingers = inner.set.finish(now, running);
        if let Some(number) = self.listed {
            inner.listed.remove(&number);
        }
        inner.tallies[self.tally].ended(self.width, now.saturating_sub(self.began), self.is_watch);
        inner.start_next(now);
        drop(inner);
        if let Some(until) = lingers
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let gate = Arc::clone(&self.gate);
            runtime.spawn(async move {
                sleep(Duration::from_nanos(until.saturating_sub(now))).await;
                gate.start_next();
            });
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            let now = self.gate.clock.now();
            self.give_back(running, now);
        }
    }
}
