//! What a request costs: no list or map that a client sends is worked on in more than n log n time, and no
//! body takes more memory than it may.
//!
//! Times are those of the processor, in this thread, and are compared with those of a smaller request: so a
//! busy machine changes little. Memory is what the allocator gave out at most. Tests take turns, because
//! there is one allocator.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]
#![allow(clippy::needless_pass_by_value, reason = "objects are made where they are passed")]

mod engines;
mod meter;
mod places;
mod rules;
mod server;
mod sweep;

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;
