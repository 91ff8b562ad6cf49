//! How many requests are answered at a time, and whether that is shared out fairly.

use clap::{ArgAction::Set, Args};

use crate::{boolean::BOOL, start_error::StartError};

/// Flags about it.
#[derive(Debug, Args)]
pub struct InFlightFlags {
    /// Whether requests are shared out fairly among priority levels (flow schemas). Otherwise they are first
    /// come, first served, up to the two numbers below.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = true)]
    enable_priority_and_fairness: bool,
    /// How many requests that only read are answered at a time, 0 for no limit; with priority and fairness,
    /// a part of the seats that the levels share.
    #[arg(long, value_name = "N", default_value_t = 400)]
    max_requests_inflight: u32,
    /// How many requests that change something are answered at a time, 0 for no limit; with priority and
    /// fairness, the other part of the seats.
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_mutating_requests_inflight: u32,
}

/// How many requests are answered at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlightLimits {
    /// Those that only read.
    pub reading: u32,
    /// Those that change something.
    pub mutating: u32,
    /// Whether both together are the seats of priority and fairness.
    pub is_fair: bool,
}

impl InFlightFlags {
    /// Checks that there is something to share out.
    pub fn check(self) -> Result<InFlightLimits, StartError> {
        let (reading, mutating) = (self.max_requests_inflight, self.max_mutating_requests_inflight);
        let is_fair = self.enable_priority_and_fairness;
        if is_fair && !reading.checked_add(mutating).is_some_and(|seats| (1..=MOST_SEATS).contains(&seats)) {
            let problem = format!(
                "must be from 1 to {MOST_SEATS} together with --max-mutating-requests-inflight, where priority \
                 and fairness is on"
            );
            return Err(StartError::configuration("--max-requests-inflight", problem));
        }
        Ok(InFlightLimits { reading, mutating, is_fair })
    }
}

/// The most seats that levels can share.
const MOST_SEATS: u32 = 1_000_000;
