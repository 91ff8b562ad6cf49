//! The tasks to wake when a log has new events.
//!
//! A watch stays registered from one event to the next, because most watches wait again: waking a thousand of
//! them costs a thousand wake-ups and nothing else. A task that is woken without need looks at its log and
//! waits again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The watches of one log.
#[derive(Default)]
pub(super) struct Wakers(Mutex<Registrations>);

#[derive(Default)]
struct Registrations {
    /// By the number of the registration; none where it is free, or its watch has not waited yet.
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Wakers {
    /// Registers a watch. Returns the number of its registration.
    pub(super) fn register(&self) -> usize {
        let mut registrations = self.lock();
        registrations.free.pop().unwrap_or_else(|| {
            registrations.wakers.push(None);
            registrations.wakers.len() - 1
        })
    }

    /// How many watches are registered.
    pub(super) fn count(&self) -> usize {
        let registrations = self.lock();
        registrations.wakers.len() - registrations.free.len()
    }

    /// Ends a registration.
    pub(super) fn unregister(&self, registration: usize) {
        let mut registrations = self.lock();
        registrations.wakers[registration] = None;
        registrations.free.push(registration);
    }

    /// From now on, `waker` is woken for this registration.
    pub(super) fn set(&self, registration: usize, waker: &Waker) {
        self.lock().wakers[registration] = Some(waker.clone());
    }

    /// Wakes all.
    pub(super) fn wake(&self) {
        self.lock().wakers.iter().flatten().for_each(Waker::wake_by_ref);
    }

    /// Whether no watch is registered.
    pub(super) fn is_empty(&self) -> bool {
        let registrations = self.lock();
        registrations.free.len() == registrations.wakers.len()
    }

    fn lock(&self) -> MutexGuard<'_, Registrations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
