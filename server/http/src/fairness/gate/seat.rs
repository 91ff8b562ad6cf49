//! What a request has of its level: a place in a queue, then seats.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use orch_flow::{
    Nanos, SECOND,
    queue_set::{Running, Ticket},
    width::Width,
};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use super::{
    super::{about::About, tally::Reason},
    Gate, Listed, Refused,
};

/// The seats of a request, until this is dropped.
#[must_use = "its seats are free when this is dropped"]
pub struct Seat {
    pub(super) gate: Arc<Gate>,
    pub(super) running: Option<Running>,
    pub(super) tally: usize,
    pub(super) width: Width,
    pub(super) arrived: Nanos,
    pub(super) began: Nanos,
    pub(super) is_watch: bool,
    /// Its number in the list of those that run.
    pub(super) listed: Option<u64>,
}

/// A request that waits for its seats. It leaves the queue when this is dropped.
pub struct Waiting {
    pub(super) gate: Arc<Gate>,
    pub(super) ticket: Ticket,
    pub(super) started: oneshot::Receiver<Running>,
    pub(super) tally: usize,
    pub(super) width: Width,
    pub(super) arrived: Nanos,
    pub(super) is_over: bool,
}

impl Waiting {
    /// Waits for so long at most.
    ///
    /// # Errors
    /// Where its turn did not come.
    pub async fn wait(mut self, at_most: Duration) -> Result<Seat, Refused> {
        if let Ok(Ok(running)) = timeout(at_most, &mut self.started).await {
            return Ok(self.seat(running));
        }
        self.is_over = true;
        match self.leave(Reason::TimeOut) {
            // It has come meanwhile.
            Some(running) => Ok(self.seat(running)),
            None => Err(Refused { retry_after: self.refused() }),
        }
    }

    fn refused(&self) -> u32 {
        let second = self.gate.clock.now() / SECOND;
        self.gate.lock().retry_after.refused(second)
    }

    fn seat(&mut self, running: Running) -> Seat {
        self.is_over = true;
        let now = self.gate.clock.now();
        let waited = now.saturating_sub(self.arrived);
        let tally = &mut self.gate.lock().tallies[self.tally];
        tally.left_queue();
        tally.began(self.width, waited);
        let Waiting { width, tally, arrived, .. } = *self;
        Seat {
            gate: Arc::clone(&self.gate),
            running: Some(running),
            tally,
            width,
            arrived,
            began: now,
            is_watch: false,
            listed: None,
        }
    }

    /// Leaves the queue, and counts why. Its seats, where its turn has come already.
    fn leave(&mut self, reason: Reason) -> Option<Running> {
        let now = self.gate.clock.now();
        let mut inner = self.gate.lock();
        if inner.set.leave(now, self.ticket).is_none()
            && let Ok(running) = self.started.try_recv()
        {
            return Some(running);
        }
        let tally = &mut inner.tallies[self.tally];
        tally.left_queue();
        tally.gave_up(reason, now.saturating_sub(self.arrived));
        // It may have kept others waiting.
        inner.start_next(now);
        None
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Some(running) = self.leave(Reason::Cancelled) {
            let now = self.gate.clock.now();
            let mut inner = self.gate.lock();
            inner.tallies[self.tally].left_queue();
            inner.tallies[self.tally].gave_up(Reason::Cancelled, now.saturating_sub(self.arrived));
            inner.set.give_back(now, running);
            inner.start_next(now);
        }
    }
}

impl Seat {
    /// Lists the request for the dumps. Most are answered too soon for one, so this is only called for a
    /// request whose answer is pending.
    pub fn list(&mut self, about: impl FnOnce() -> About) {
        if self.listed.is_some() {
            return;
        }
        let queue = self.running.as_ref().and_then(Running::queue);
        let Seat { tally, width, arrived, began, .. } = *self;
        let listed = Listed { queue, tally, arrived, began, width, about: about() };
        let mut inner = self.gate.lock();
        let number = inner.next_listed;
        inner.next_listed += 1;
        inner.listed.insert(number, listed);
        drop(inner);
        self.listed = Some(number);
    }

    /// Gives the seat back at a time that is known.
    pub fn end(mut self, now: Instant) {
        let now = self.gate.clock.at(now);
        if let Some(running) = self.running.take() {
            self.give_back(running, now);
        }
    }

    /// The seat of a watch, which is counted apart.
    pub fn of_watch(mut self) -> Self {
        self.is_watch = true;
        self
    }

    fn give_back(&mut self, running: Running, now: Nanos) {
        let mut inner = self.gate.lock();
        let lingers = inner.set.finish(now, running);
        if let Some(number) = self.listed {
            inner.listed.remove(&number);
        }
        inner.tallies[self.tally].ended(self.width, now.saturating_sub(self.began), self.is_watch);
        inner.start_next(now);
        drop(inner);
        if let Some(until) = lingers
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let gate = Arc::clone(&self.gate);
            runtime.spawn(async move {
                sleep(Duration::from_nanos(until.saturating_sub(now))).await;
                gate.start_next();
            });
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            let now = self.gate.clock.now();
            self.give_back(running, now);
        }
    }
}
