//! Who is to be woken when a log has more.
//!
//! A waiter stays registered from one event to the next, because most waiters wait again: to wake a thousand costs a
//! thousand wake-ups and nothing else. One that is woken for nothing looks and waits again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The waiters of one log.
#[derive(Default)]
pub(super) struct Wakers(Mutex<Seats>);

#[derive(Default)]
struct Seats {
    /// By seat; none where nobody sits, or who sits there has never waited.
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Wakers {
    /// A seat, which has to be given back.
    pub(super) fn sit(&self) -> usize {
        let mut seats = self.lock();
        seats.free.pop().unwrap_or_else(|| {
            seats.wakers.push(None);
            seats.wakers.len() - 1
        })
    }

    /// Gives a seat back.
    pub(super) fn leave(&self, seat: usize) {
        let mut seats = self.lock();
        seats.wakers[seat] = None;
        seats.free.push(seat);
    }

    /// Who sits there wants to be woken by this one from now on.
    pub(super) fn set(&self, seat: usize, waker: &Waker) {
        self.lock().wakers[seat] = Some(waker.clone());
    }

    /// Wakes everybody.
    pub(super) fn wake(&self) {
        self.lock().wakers.iter().flatten().for_each(Waker::wake_by_ref);
    }

    /// Whether no seat is taken.
    pub(super) fn is_empty(&self) -> bool {
        let seats = self.lock();
        seats.free.len() == seats.wakers.len()
    }

    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
