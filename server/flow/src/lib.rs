//! Priority and fairness: which requests run, which wait and which are refused (KEP-1040).
//!
//! A request is put into a flow by flow schemas ([`matching`]), and the schema names its priority level. Each
//! level has a number of seats, by its shares ([`shares`]); every ten seconds levels lend each other what
//! they do not need ([`borrowing`], by the demand that was measured: [`demand`]). A request takes one seat or
//! several ([`width`]). Where too few are free it waits in one of its level's queues ([`queue_set`]): one of
//! the few that its flow was dealt ([`dealing`]), so that a flow with many requests stands in its own way.
//!
//! Nothing here waits, reads a clock or knows HTTP. Time is told by the caller, as nanoseconds since any
//! beginning, so simulations run in no time.

pub mod borrowing;
pub mod config;
pub mod dealing;
pub mod demand;
pub mod matching;
pub mod queue_set;
pub mod retry_after;
pub mod shares;
pub mod width;

/// Nanoseconds since a beginning that the caller chooses.
pub type Nanos = u64;

/// Nanoseconds of a second.
pub const SECOND: Nanos = 1_000_000_000;
