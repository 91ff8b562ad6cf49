//! What a priority level counts of the requests of a flow schema. It is changed under the lock of the level,
//! so counting costs additions.

use orch_flow::{Nanos, SECOND, width::Width};

/// Upper bounds of times, in seconds, of lengths of queues, and of numbers of seats: those of the reference.
const TIMES: &[f64] = &[0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0];
const LENGTHS: &[f64] = &[0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
const WIDTHS: &[f64] = &[1.0, 2.0, 4.0, 10.0];

/// Why a request did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    QueueFull,
    ConcurrencyLimit,
    TimeOut,
    Cancelled,
}

/// The names of the reasons, as metrics show them.
pub const REFUSALS: [&str; 4] = ["queue-full", "concurrency-limit", "time-out", "cancelled"];

/// Counts values by upper bounds.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// The bounds, without the infinite one.
    pub bounds: &'static [f64],
    /// How many values are between a bound and the one before; the last are above all.
    pub counts: [u64; 14],
    /// The sum of all values.
    pub sum: f64,
}

/// The counts of one flow schema.
#[derive(Clone, Debug)]
pub struct TallyView {
    /// Its name.
    pub schema: String,
    /// Requests that ran, ever.
    pub dispatched: u64,
    /// Requests that did not, in the order of [`REFUSALS`].
    pub refused: [u64; 4],
    /// Requests that wait now, those that run, and their seats.
    pub now: [u32; 3],
    /// How long requests waited that did not run, and that did.
    pub waited: [Histogram; 2],
    /// How long requests ran that were no watches, and how long watches began.
    pub ran: [Histogram; 2],
    /// How long the queues were to which requests came.
    pub lengths: Histogram,
    /// How many seats requests took.
    pub widths: Histogram,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) schema: String,
    /// Whether the schema leads to the level.
    is_kept: bool,
    recent: Recent,
    /// All that is not in `recent`.
    counts: TallyView,
}

/// What each request changes, in one place: memory that several processors change is what counting costs.
#[derive(Debug)]
struct Recent {
    /// Requests that took one seat and did not wait.
    at_once: u64,
    /// Requests that run, and their seats.
    running: [u32; 2],
    /// How long requests ran that were no watches.
    ran: Histogram,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Histogram { bounds, counts: [0; 14], sum: 0.0 }
    }

    fn observe(&mut self, value: f64) {
        self.observe_times(value, 1);
    }

    fn observe_times(&mut self, value: f64, times: u64) {
        let place = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        self.counts[place] += times;
        self.sum += value * times as f64;
    }
}

impl Tally {
    pub(super) fn new(schema: &str) -> Self {
        let times = || [Histogram::new(TIMES), Histogram::new(TIMES)];
        let counts = TallyView {
            schema: schema.to_owned(),
            dispatched: 0,
            refused: [0; 4],
            now: [0; 3],
            waited: times(),
            ran: times(),
            lengths: Histogram::new(LENGTHS),
            widths: Histogram::new(WIDTHS),
        };
        let recent = Recent { at_once: 0, running: [0; 2], ran: Histogram::new(TIMES) };
        Tally { schema: schema.to_owned(), is_kept: true, recent, counts }
    }

    /// Its schema leads to the level.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Its schema leads to the level where `leads` says so; otherwise it leads elsewhere, or is gone.
    pub(super) fn keep_if(&mut self, leads: impl Fn(&str) -> bool) {
        self.is_kept = leads(&self.schema);
    }

    /// Whether it is worth a look: its schema leads to the level, or requests are still there.
    pub(super) fn is_shown(&self) -> bool {
        self.is_kept || self.has_requests()
    }

    /// Whether another schema may be counted in its place.
    pub(super) fn is_free(&self) -> bool {
        !self.is_shown()
    }

    fn has_requests(&self) -> bool {
        self.counts.now[0] > 0 || self.recent.running[0] > 0
    }

    pub(super) fn view(&self) -> TallyView {
        let Recent { at_once, running: [requests, seats], ran } = &self.recent;
        let mut view = self.counts.clone();
        view.dispatched += at_once;
        view.waited[1].observe_times(0.0, *at_once);
        view.widths.observe_times(1.0, *at_once);
        (view.now[1], view.now[2], view.ran[0]) = (*requests, *seats, ran.clone());
        view
    }

    pub(super) fn queued(&mut self, length: usize) {
        self.counts.now[0] += 1;
        self.counts.lengths.observe(length as f64);
    }

    pub(super) fn left_queue(&mut self) {
        self.counts.now[0] -= 1;
    }

    pub(super) fn began(&mut self, width: Width, waited: Nanos) {
        let Recent { at_once, running: [requests, seats], .. } = &mut self.recent;
        *requests += 1;
        *seats += width.most();
        if waited == 0 && width.most() == 1 {
            *at_once += 1;
            return;
        }
        self.counts.dispatched += 1;
        self.counts.waited[1].observe(seconds(waited));
        self.counts.widths.observe(f64::from(width.most()));
    }

    pub(super) fn ended(&mut self, width: Width, ran: Nanos, is_watch: bool) {
        let Recent { running: [requests, seats], ran: regular, .. } = &mut self.recent;
        *requests -= 1;
        *seats -= width.most();
        let durations = if is_watch { &mut self.counts.ran[1] } else { regular };
        durations.observe(seconds(ran));
    }

    pub(super) fn refused(&mut self, reason: Reason) {
        self.counts.refused[reason as usize] += 1;
    }

    pub(super) fn gave_up(&mut self, reason: Reason, waited: Nanos) {
        self.refused(reason);
        self.counts.waited[0].observe(seconds(waited));
    }
}

fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / SECOND as f64
}
