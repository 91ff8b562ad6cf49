//! Measures the time of the processor and the memory that a piece of work takes.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

use crate::ALLOCATOR;

/// How many times the larger input is as large as the smaller one.
pub const FACTOR: usize = 6;

/// How many times longer it may take: six times would be linear, 36 quadratic.
const MAX_RATIO: u32 = 16;

/// Differences below this are noise.
const NOISE: Duration = Duration::from_millis(20);

/// One test at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time that the processor needs for some work, and the bytes that are allocated meanwhile at most.
pub fn measured<T>(work: impl FnOnce() -> T) -> (Duration, usize, T) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let started = processor_time();
    let done = work();
    let time = processor_time().saturating_sub(started);
    (time, ALLOCATOR.peak_usage().saturating_sub(before), done)
}

/// The bytes that some work allocates at most. Threads that end elsewhere count too, so the least of three.
pub fn memory_of<T>(work: impl Fn() -> T) -> usize {
    (0..3).map(|_| measured(&work).1).min().unwrap_or_default()
}

/// Why work grows faster than its input: `work` gets a size, and returns the time that it took. Nothing where
/// it does not. What looks too slow is measured again, because the machine may have been busy.
pub fn growth(size: usize, mut work: impl FnMut(usize) -> Duration) -> Option<String> {
    let (mut small, mut large) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        small = small.min(work(size));
        large = large.min(work(size * FACTOR));
        if large <= small * MAX_RATIO + NOISE {
            return None;
        }
    }
    Some(format!("{size} items take {small:?}, {} take {large:?}", size * FACTOR))
}

/// The time that the processor has spent on this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
