//! One queue of a level.

use std::collections::VecDeque;

use super::QueueView;
use crate::{Nanos, width::Width};

/// A queue that has requests: some that wait, some that came through it and run.
#[derive(Debug)]
pub(super) struct Queue<W> {
    pub(super) waiting: VecDeque<Waiting<W>>,
    pub(super) running: u32,
    pub(super) seats_in_use: u32,
    /// The virtual time at which the next request begins.
    pub(super) next_start: f64,
    /// The work that waits.
    pub(super) work: f64,
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Waiting<W> {
    /// Rises along the queue.
    pub(super) number: u64,
    pub(super) arrived: Nanos,
    pub(super) arrived_virtually: f64,
    pub(super) width: Width,
    pub(super) work: f64,
    pub(super) waiter: W,
}

impl<W> Queue<W> {
    /// Without requests, at this virtual time.
    pub(super) fn starting(virtual_time: f64) -> Self {
        Queue { waiting: VecDeque::new(), running: 0, seats_in_use: 0, next_start: virtual_time, work: 0.0 }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    /// A request that came through it begins to run.
    pub(super) fn run(&mut self, width: Width) {
        self.running += 1;
        self.seats_in_use += width.most();
    }

    pub(super) fn push(&mut self, waiting: Waiting<W>) {
        self.work += waiting.work;
        self.waiting.push_back(waiting);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting<W>> {
        let first = self.waiting.pop_front();
        self.less_work(first)
    }

    /// The request of this number, which leaves.
    pub(super) fn take(&mut self, number: u64) -> Option<Waiting<W>> {
        let place = self.waiting.binary_search_by_key(&number, |waiting| waiting.number).ok()?;
        let left = self.waiting.remove(place);
        self.less_work(left)
    }

    /// No request begins before it arrived: a queue that used less than its share does not get more later.
    pub(super) fn bound_next_start(&mut self) {
        if let Some(first) = self.waiting.front() {
            self.next_start = self.next_start.max(first.arrived_virtually);
        }
    }

    pub(super) fn view(&self, number: u32) -> QueueView {
        let sum = |seats: fn(Width) -> u32| self.waiting.iter().map(|waiting| seats(waiting.width)).sum();
        QueueView {
            number,
            waiting: self.waiting.len(),
            seats_wanted: (sum(|width| width.first), sum(Width::most)),
            running: self.running,
            seats_in_use: self.seats_in_use,
            next_start: self.next_start,
            work: self.work,
        }
    }

    fn less_work(&mut self, gone: Option<Waiting<W>>) -> Option<Waiting<W>> {
        let gone = gone?;
        // Sums of rounded numbers do not come back to 0 by themselves.
        self.work = if self.waiting.is_empty() { 0.0 } else { self.work - gone.work };
        Some(gone)
    }
}
