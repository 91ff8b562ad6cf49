//! What controllers tell about themselves: counts and times for metrics, and whether they are well.

use std::{
    array,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

/// The upper bounds of the buckets of [`Durations`], in seconds.
pub const BOUNDS: [f64; 9] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0];

/// A controller lags behind if a key has waited so long for a worker.
const LAG: Duration = Duration::from_secs(10);

/// What there is to know of one controller. Counts begin at the start of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Its name.
    pub name: &'static str,
    /// How many keys wait for a worker.
    pub depth: usize,
    /// How long the first of them has waited.
    pub longest_wait: Duration,
    /// How many keys failed the last time that they were worked on.
    pub failing: usize,
    /// How often one was worked on.
    pub reconciles: u64,
    /// How often that failed, so that it has to be done again.
    pub retries: u64,
    /// How often that panicked; these are among the retries.
    pub panics: u64,
    /// How often the watching loop panicked.
    pub restarts: u64,
    /// How long keys waited for a worker.
    pub queue_time: Durations,
    /// How long the work at keys took.
    pub work_time: Durations,
}

/// How many of a series of times were how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Durations {
    /// How many were at most as long as the bound of the same index in [`BOUNDS`], and longer than the one
    /// before; the last are longer than all.
    pub counts: [u64; BOUNDS.len() + 1],
    /// How long they were together.
    pub sum: Duration,
}

/// Looks at controllers while they run. Clones look at the same ones.
#[derive(Clone)]
pub struct Monitor(pub(crate) Arc<[Arc<Record>]>);

impl Monitor {
    /// The names of the controllers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|record| record.name)
    }

    /// What there is to know of each controller.
    pub fn stats(&self) -> Vec<Stats> {
        self.0.iter().map(|record| record.stats()).collect()
    }

    /// Whether a controller receives changes. It does not before it has listed its objects for the first
    /// time, and for a while after its watching loop panicked. Objects that fail do not make it ill, because
    /// one bad object must not take the server out of service; [`Stats::failing`] counts them.
    ///
    /// # Errors
    /// What is wrong, in words for an operator.
    pub fn health(&self, name: &str) -> Result<(), String> {
        let record = self.0.iter().find(|record| record.name == name);
        let record = record.ok_or_else(|| format!("there is no controller {name}"))?;
        if *record.watches.borrow() { Ok(()) } else { Err(format!("the controller {name} does not watch")) }
    }

    /// What an operator should know of a controller that is well: that it lags behind, or that objects fail.
    /// Mostly nothing.
    pub fn remark(&self, name: &str) -> String {
        let Some(record) = self.0.iter().find(|record| record.name == name) else { return String::new() };
        let Stats { depth, failing, longest_wait, .. } = record.stats();
        let mut remarks = Vec::new();
        if record.stands_by.load(Relaxed) {
            remarks.push("another server runs it".to_owned());
        }
        if longest_wait >= LAG {
            remarks.push(format!("lags, {depth} keys wait, the first for {} s", longest_wait.as_secs()));
        }
        if failing > 0 {
            remarks.push(format!("{failing} keys fail"));
        }
        remarks.join("; ")
    }

    /// Waits until all controllers receive changes.
    pub async fn all_watch(&self) {
        for record in self.0.iter() {
            // An error means that the sender is gone, and this holds it.
            let _ = record.watches.subscribe().wait_for(|watches| *watches).await;
        }
    }

    /// The controllers that do not watch yet.
    pub fn not_watching(&self) -> Vec<&'static str> {
        let idle = self.0.iter().filter(|record| !*record.watches.borrow());
        idle.map(|record| record.name).collect()
    }
}

/// See [`Record`].
const NOTHING_WAITS: u64 = u64::MAX;

/// Where a controller writes down what it does.
pub(crate) struct Record {
    pub(crate) name: &'static str,
    /// Whether its watching loop runs, or there is nothing to watch.
    pub(crate) watches: watch::Sender<bool>,
    /// Whether another server runs it.
    pub(crate) stands_by: AtomicBool,
    pub(crate) depth: AtomicUsize,
    begun: Instant,
    /// Since when the first key waits, in milliseconds since the beginning; `NOTHING_WAITS` where none does.
    waits_since: AtomicU64,
    pub(crate) failing: AtomicUsize,
    pub(crate) retries: AtomicU64,
    pub(crate) panics: AtomicU64,
    pub(crate) restarts: AtomicU64,
    pub(crate) queue_time: Histogram,
    pub(crate) work_time: Histogram,
}

impl Record {
    pub(crate) fn new(name: &'static str) -> Self {
        Record {
            name,
            watches: watch::Sender::new(false),
            stands_by: AtomicBool::new(false),
            depth: AtomicUsize::default(),
            begun: Instant::now(),
            waits_since: AtomicU64::new(NOTHING_WAITS),
            failing: AtomicUsize::default(),
            retries: AtomicU64::default(),
            panics: AtomicU64::default(),
            restarts: AtomicU64::default(),
            queue_time: Histogram::default(),
            work_time: Histogram::default(),
        }
    }

    /// From here on another server runs it, and nothing waits here.
    pub(crate) fn stand_by(&self) {
        self.stands_by.store(true, Relaxed);
        self.depth.store(0, Relaxed);
        self.failing.store(0, Relaxed);
        self.waits_since(None);
        self.watches.send_replace(true);
    }

    /// Says since when the first key waits for a worker.
    pub(crate) fn waits_since(&self, since: Option<Instant>) {
        let since = since.map(|since| since.saturating_duration_since(self.begun).as_millis() as u64);
        self.waits_since.store(since.unwrap_or(NOTHING_WAITS), Relaxed);
    }

    fn longest_wait(&self) -> Duration {
        match self.waits_since.load(Relaxed) {
            NOTHING_WAITS => Duration::ZERO,
            since => self.begun.elapsed().saturating_sub(Duration::from_millis(since)),
        }
    }

    fn stats(&self) -> Stats {
        let work_time = self.work_time.durations();
        Stats {
            name: self.name,
            depth: self.depth.load(Relaxed),
            longest_wait: self.longest_wait(),
            failing: self.failing.load(Relaxed),
            reconciles: work_time.counts.iter().sum(),
            retries: self.retries.load(Relaxed),
            panics: self.panics.load(Relaxed),
            restarts: self.restarts.load(Relaxed),
            queue_time: self.queue_time.durations(),
            work_time,
        }
    }
}

/// Counts times by their lengths.
#[derive(Default)]
pub(crate) struct Histogram {
    /// One bucket for each bound, and one for what is longer.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Histogram {
    pub(crate) fn observe(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    fn durations(&self) -> Durations {
        let counts = array::from_fn(|bucket| self.buckets[bucket].load(Relaxed));
        Durations { counts, sum: Duration::from_nanos(self.nanoseconds.load(Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_by_length() {
        let histogram = Histogram::default();
        for milliseconds in [1, 2, 100, 400_000] {
            histogram.observe(Duration::from_millis(milliseconds));
        }
        let durations = histogram.durations();
        assert_eq!(durations.counts, [1, 1, 0, 1, 0, 0, 0, 0, 0, 1]);
        assert_eq!(durations.sum, Duration::from_millis(400_103));
    }
}
