//! How often values were sealed and opened, for the metrics of the server.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// What is counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// `secrets`, `leases.coordination.k8s.io`.
    pub resource: String,
    /// `to_storage` or `from_storage`.
    pub direction: &'static str,
    /// `k8s:enc:aescbc:v1:`, `identity`, or `unknown` where no provider fits.
    pub prefix: &'static str,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// Upper bounds of durations, in seconds: those of the reference, 5 us and twice as long each.
pub const BOUNDS: [f64; 25] = {
    let mut bounds = [5e-6; 25];
    let mut at = 1;
    while at < bounds.len() {
        bounds[at] = bounds[at - 1] * 2.0;
        at += 1;
    }
    bounds
};

/// How long something took, how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    /// How often it took as long as between a bound and the one before; the last are above all [`BOUNDS`].
    pub counts: [u64; BOUNDS.len() + 1],
    /// The sum, in seconds.
    pub sum: f64,
}

impl Durations {
    /// How often.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds those of another kind.
    pub fn add(&mut self, other: &Durations) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, count)| *sum += count);
        self.sum += other.sum;
    }
}

/// All counts since the start. Only resources that the file names are counted.
#[derive(Debug, Default)]
pub struct Counts(Mutex<BTreeMap<Operation, Durations>>);

impl Counts {
    /// The counts now.
    pub fn get(&self) -> BTreeMap<Operation, Durations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self, operation: Operation, took: Duration) {
        let seconds = took.as_secs_f64();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let durations = all.entry(operation).or_default();
        durations.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        durations.sum += seconds;
    }
}
