//! Time and memory per input: whatever is read and checked takes no more of both than its length allows.
//!
//! The first byte chooses the target, the others are its input. A program without optimization takes up to 80
//! milliseconds and 330 kilobytes for the first input, and 1.3 microseconds and 71 bytes for each byte of a
//! long one. The limits are some times that, so that a busy machine does not break them; work that grows with
//! the square of its input does, from some ten kilobytes on.

use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;

/// Counts the memory. A program that runs the targets installs it as its allocator, or measures time alone.
pub const METER: PeakAlloc = PeakAlloc;

/// What any input may take, and what each of its bytes may take more.
const TIME: (Duration, Duration) = (Duration::from_millis(500), Duration::from_micros(10));
const MEMORY: (usize, usize) = (1024 * 1024, 256);

pub fn run(input: &[u8]) {
    let Some((first, input)) = input.split_first() else { return };
    let targets: Vec<_> = super::TARGETS.iter().filter(|(name, _)| *name != "cost").collect();
    let (name, target) = targets[usize::from(*first) % targets.len()];
    let before = METER.current_usage();
    METER.reset_peak_usage();
    let started = Instant::now();
    target(input);
    let (time, memory) = (started.elapsed(), METER.peak_usage().saturating_sub(before));
    let length = input.len();
    let allowed = TIME.0 + TIME.1 * u32::try_from(length).unwrap_or(u32::MAX);
    assert!(time <= allowed, "{name}: {length} bytes took {time:?}");
    assert!(memory <= MEMORY.0 + MEMORY.1 * length, "{name}: {length} bytes took {memory} bytes of memory");
}
