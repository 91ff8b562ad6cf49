//! How fast clients must read long answers.

use std::time::Duration;

use clap::Args;

use crate::{duration, size};

/// Flags about it.
#[derive(Debug, Args)]
pub struct ReadingFlags {
    /// How many bytes per second a client must take of a long answer that is no watch, such as 32KiB: who
    /// reads more slowly is cut off, because the answer holds an old version in memory. 0 for any pace.
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = size::bytes)]
    min_read_rate: u64,
    /// For how long a client may read more slowly than that.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::positive)]
    min_read_rate_grace_period: Duration,
}

/// How fast clients must read long answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bytes per second; 0 for any pace.
    pub min_rate: u64,
    /// For how long a client may be slower.
    pub grace: Duration,
}

impl ReadingFlags {
    /// All values are right.
    pub fn check(self) -> Pace {
        Pace { min_rate: self.min_read_rate, grace: self.min_read_rate_grace_period }
    }
}
