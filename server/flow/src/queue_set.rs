//! The seats and queues of one level: which requests run, wait, are refused, and are next.
//!
//! Queues are served fairly by virtual time (start-time fair queuing). It goes on with the seats that are in
//! use, divided by the queues that have requests: as fast as the work of one queue would, if all of them were
//! served at once. Each queue remembers at which virtual time its next request begins, and the request that
//! would end first is the next one. What a request takes is guessed when it starts and put right when it
//! ends.
//!
//! There may be millions of queues. Only those that have requests exist ([`queues`]).

mod number_hash;
mod queue;
mod queues;

use std::{cmp::Reverse, collections::BinaryHeap};

use self::{queue::Waiting, queues::Queues};
use crate::{
    Nanos, SECOND,
    config::{LevelKind, Queuing},
    dealing::Hand,
    demand::{Demand, Observed, Ratios},
    width::Width,
};

/// How long a request is taken to run, before it has ended.
const GUESS: f64 = 0.003;

/// The seats and queues of a level. `W` is whatever stands for a request that waits.
#[derive(Debug)]
pub struct QueueSet<W> {
    discipline: Discipline,
    limit: u32,
    queues: Queues<W>,
    totals: Totals,
    /// Seats of requests that have ended, and until when they are not free.
    lingering: BinaryHeap<Reverse<(Nanos, u32)>>,
    demand: Demand,
    /// The virtual time, in seat-seconds, and the time at which it was so late.
    virtual_time: f64,
    synced: Nanos,
    /// How many requests came to the queues.
    arrivals: u64,
    /// The queue that was served last.
    last_served: u32,
    next_number: u64,
}

/// What happens to requests for which there are no seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discipline {
    /// There are always seats.
    Exempt,
    Reject,
    Queue(Queuing),
}

/// How many requests and seats there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests that run.
    pub running: u32,
    /// Requests that wait.
    pub waiting: u32,
    /// Seats that are not free.
    pub seats_in_use: u32,
    /// Seats that are waited for.
    pub seats_wanted: u32,
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Arrival {
    /// It runs at once.
    Runs(Running),
    /// It waits.
    Waits(Ticket),
    /// It is refused.
    Refused(Refusal),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its queue is full.
    QueueFull,
    /// There are no seats, and the level has no queues.
    ConcurrencyLimit,
}

/// A request that runs; to be given back to [`QueueSet::finish`].
#[derive(Debug)]
#[must_use = "its seats stay taken until it is given back"]
pub struct Running {
    queue: Option<u32>,
    width: Width,
    started: Nanos,
}

/// The place of a request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    queue: u32,
    number: u64,
}

/// A request that waits, for dumps.
#[derive(Clone, Copy, Debug)]
pub struct Waits<'s, W> {
    /// The number of its queue.
    pub queue: u32,
    /// Its place in it, from 0.
    pub place: usize,
    /// What it takes.
    pub width: Width,
    /// When it came.
    pub arrived: Nanos,
    /// What stands for it.
    pub waiter: &'s W,
}

/// A queue that has requests, for dumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueView {
    /// Its number.
    pub number: u32,
    /// Requests that wait in it, and the seats that they want.
    pub waiting: usize,
    /// Seats that its requests want, in the first and in the widest phase of each.
    pub seats_wanted: (u32, u32),
    /// Requests that came through it and run.
    pub running: u32,
    /// The seats of these.
    pub seats_in_use: u32,
    /// The virtual time at which its next request begins, in seat-seconds.
    pub next_start: f64,
    /// The work that waits in it, in seat-seconds.
    pub work: f64,
}

impl Running {
    /// The number of the queue that it came through; `None` at a level without queues.
    pub fn queue(&self) -> Option<u32> {
        self.queue
    }
}

impl<W> QueueSet<W> {
    /// A level of this kind with so many seats.
    pub fn new(kind: LevelKind, limit: u32, now: Nanos) -> Self {
        QueueSet {
            discipline: Discipline::of(kind),
            limit,
            queues: Queues::default(),
            totals: Totals::default(),
            lingering: BinaryHeap::new(),
            demand: Demand::begin(now, limit),
            virtual_time: 0.0,
            synced: now,
            arrivals: 0,
            last_served: 0,
            next_number: 0,
        }
    }

    /// Changes the kind. Requests that wait stay where they are.
    pub fn set_kind(&mut self, kind: LevelKind) {
        self.discipline = Discipline::of(kind);
    }

    /// Changes the number of seats. More of them may let requests run: ask for the [next](QueueSet::next).
    pub fn set_limit(&mut self, now: Nanos, limit: u32) {
        self.sync(now);
        self.limit = limit;
    }

    /// Changes with how many seats the demand is compared; at first with those of the beginning.
    pub fn set_nominal(&mut self, now: Nanos, nominal: u32) {
        self.demand.set_nominal(now, nominal);
    }

    /// The number of seats.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// How many requests and seats there are.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many queues have requests.
    #[cfg(test)]
    fn active_queues(&self) -> usize {
        self.queues.len()
    }

    /// The demand since the last call.
    pub fn take_demand(&mut self, now: Nanos) -> Observed {
        self.sync(now);
        self.demand.take(now)
    }

    /// Advances the clock without an event, so that the figures are those of `now`.
    pub fn observe(&mut self, now: Nanos) {
        self.sync(now);
        self.note_demand(now);
    }

    /// A histogram of the demand relative to the nominal seats, weighted by time, up to the last event or
    /// [observation](QueueSet::observe).
    pub fn demand_ratios(&self) -> Ratios {
        self.demand.ratios()
    }

    /// Takes a request in, of a flow that was dealt this hand. `waiter` is called where it has to wait; then
    /// ask for the [next](QueueSet::next), which may be this one.
    pub fn arrive(&mut self, now: Nanos, hand: &Hand, width: Width, waiter: impl FnOnce() -> W) -> Arrival {
        self.sync(now);
        match self.discipline {
            Discipline::Exempt => Arrival::Runs(self.run(now, None, width)),
            Discipline::Reject if self.totals.fits(width, self.limit) => {
                Arrival::Runs(self.run(now, None, width))
            }
            Discipline::Reject => Arrival::Refused(Refusal::ConcurrencyLimit),
            Discipline::Queue(queuing) => self.arrive_at_queue(now, queuing, hand, width, waiter),
        }
    }

    fn arrive_at_queue(
        &mut self,
        now: Nanos,
        queuing: Queuing,
        hand: &Hand,
        width: Width,
        waiter: impl FnOnce() -> W,
    ) -> Arrival {
        let number = self.choose(hand);
        let queue = self.queues.begun(number, self.virtual_time);
        if self.totals.waiting == 0 && self.totals.fits(width, self.limit) {
            // Nobody is before it.
            queue.next_start += width.work(GUESS);
            queue.run(width);
            self.last_served = number;
            return Arrival::Runs(self.run(now, Some(number), width));
        }
        let is_full = queue.waiting.len() >= queuing.length_limit as usize;
        if is_full && self.totals.seats_in_use >= self.limit {
            self.queues.forget_if_idle(number);
            return Arrival::Refused(Refusal::QueueFull);
        }
        let ticket = Ticket { queue: number, number: self.next_number };
        self.next_number += 1;
        let waiting = Waiting {
            number: ticket.number,
            arrived: now,
            arrived_virtually: self.virtual_time,
            width,
            work: width.work(GUESS),
            waiter: waiter(),
        };
        queue.push(waiting);
        self.totals.waiting += 1;
        self.totals.seats_wanted += width.most();
        self.note_demand(now);
        Arrival::Waits(ticket)
    }

    /// The queue of the flow's hand in which the least work waits. The hand is looked through from another
    /// card each time: where hands overlap, no queue is preferred.
    fn choose(&mut self, hand: &Hand) -> u32 {
        let cards = hand.cards();
        // A hand may have been dealt before the level had queues.
        if cards.is_empty() {
            return 0;
        }
        let first = (self.arrivals % cards.len() as u64) as usize;
        self.arrivals = self.arrivals.wrapping_add(1);
        if self.totals.waiting == 0 {
            return cards[first];
        }
        let work = |card: u32| self.queues.get(card).map_or(0.0, |queue| queue.work);
        let mut best = (cards[first], work(cards[first]));
        for card in cards[first + 1..].iter().chain(&cards[..first]) {
            let work = work(*card);
            if work < best.1 {
                best = (*card, work);
            }
        }
        best.0
    }

    /// The next request that runs now; `None` if none waits, or there are not enough seats for the next one.
    /// To be called until it is `None`, whenever a request came or ended.
    pub fn next(&mut self, now: Nanos) -> Option<(W, Running)> {
        if self.totals.waiting == 0 {
            return None;
        }
        self.sync(now);
        if self.totals.seats_in_use >= self.limit {
            return None;
        }
        let number = self.next_queue()?;
        let width = self.queues.get(number)?.waiting.front()?.width;
        if !self.totals.fits(width, self.limit) {
            return None;
        }
        let queue = self.queues.get_mut(number)?;
        let first = queue.pop()?;
        queue.next_start += first.work;
        queue.bound_next_start();
        queue.run(width);
        self.last_served = number;
        self.totals.waiting -= 1;
        self.totals.seats_wanted -= width.most();
        Some((first.waiter, self.run(now, Some(number), width)))
    }

    /// The queue whose first request would end first; among equals the one that comes first after the one
    /// that was served last.
    fn next_queue(&self) -> Option<u32> {
        let distance = |number: u32| number.wrapping_sub(self.last_served).wrapping_sub(1);
        let mut best: Option<(f64, u32, u32)> = None;
        for (number, queue) in self.queues.iter() {
            let Some(first) = queue.waiting.front() else { continue };
            let (end, distance) = (queue.next_start + first.work, distance(number));
            let is_before = |(least, at, _)| end.total_cmp(&least).then(distance.cmp(&at)).is_lt();
            if best.is_none_or(is_before) {
                best = Some((end, distance, number));
            }
        }
        best.map(|(.., number)| number)
    }

    /// A request that waits leaves. `None` where it does not wait any more.
    pub fn leave(&mut self, now: Nanos, ticket: Ticket) -> Option<W> {
        self.sync(now);
        let left = self.queues.get_mut(ticket.queue)?.take(ticket.number)?;
        self.queues.forget_if_idle(ticket.queue);
        self.totals.waiting -= 1;
        self.totals.seats_wanted -= left.width.most();
        self.note_demand(now);
        Some(left.waiter)
    }

    /// A request has ended. Returns when its seats are free, where that is later: then ask for the
    /// [next](QueueSet::next) again.
    #[expect(clippy::needless_pass_by_value, reason = "whoever gives it back has it no more")]
    pub fn finish(&mut self, now: Nanos, running: Running) -> Option<Nanos> {
        self.sync(now);
        let Running { queue: number, width, started } = running;
        self.totals.running -= 1;
        if let Some(number) = number
            && let Some(queue) = self.queues.get_mut(number)
        {
            let took = now.saturating_sub(started) as f64 / SECOND as f64;
            queue.next_start += (took - GUESS) * f64::from(width.first);
            queue.bound_next_start();
            queue.running -= 1;
            queue.seats_in_use -= width.most();
            self.queues.forget_if_idle(number);
        }
        if width.linger == 0 {
            self.free(now, width.most());
            return None;
        }
        let until = now + width.linger;
        self.lingering.push(Reverse((until, width.most())));
        Some(until)
    }

    /// A request did not run, although its turn had come.
    pub fn give_back(&mut self, now: Nanos, mut running: Running) {
        running.width.linger = 0;
        self.finish(now, running);
    }

    /// How many requests wait in the queue of one of them.
    pub fn length_at(&self, ticket: Ticket) -> usize {
        self.queues.get(ticket.queue).map_or(0, |queue| queue.waiting.len())
    }

    /// The requests that wait.
    pub fn waiting(&self) -> impl Iterator<Item = Waits<'_, W>> {
        self.queues.iter().flat_map(|(number, queue)| {
            queue.waiting.iter().enumerate().map(move |(place, waiting)| Waits {
                queue: number,
                place,
                width: waiting.width,
                arrived: waiting.arrived,
                waiter: &waiting.waiter,
            })
        })
    }

    /// The queues that have requests.
    pub fn queues(&self) -> impl Iterator<Item = QueueView> {
        self.queues.iter().map(|(number, queue)| queue.view(number))
    }

    fn run(&mut self, now: Nanos, number: Option<u32>, width: Width) -> Running {
        self.totals.running += 1;
        self.totals.seats_in_use += width.most();
        self.note_demand(now);
        Running { queue: number, width, started: now }
    }

    fn free(&mut self, now: Nanos, seats: u32) {
        self.totals.seats_in_use -= seats;
        self.note_demand(now);
    }

    fn note_demand(&mut self, now: Nanos) {
        self.demand.set(now, self.totals.seats_in_use + self.totals.seats_wanted);
    }

    /// Lets the time go on. Seats become free on the way, each at its time.
    fn sync(&mut self, now: Nanos) {
        while let Some(Reverse((until, seats))) = self.lingering.peek().copied()
            && until <= now
        {
            self.lingering.pop();
            self.go_on(until);
            self.free(until, seats);
        }
        self.go_on(now);
    }

    fn go_on(&mut self, now: Nanos) {
        let passed = now.saturating_sub(self.synced);
        self.synced = self.synced.max(now);
        if self.queues.is_empty() {
            // No queue refers to it, and small numbers are exact.
            self.virtual_time = 0.0;
            return;
        }
        let passed = passed as f64 / SECOND as f64;
        let seats = (self.totals.seats_in_use + self.totals.seats_wanted).min(self.limit);
        self.virtual_time += passed * f64::from(seats) / self.queues.len() as f64;
    }
}

impl Totals {
    /// Whether a request gets its seats, of so many. What is wider than all of them runs alone.
    fn fits(self, width: Width, limit: u32) -> bool {
        let Totals { running, seats_in_use, .. } = self;
        if limit == 0 || seats_in_use >= limit {
            return false;
        }
        if width.most() > limit { running == 0 } else { seats_in_use + width.most() <= limit }
    }
}

impl Discipline {
    fn of(kind: LevelKind) -> Self {
        match kind {
            LevelKind::Exempt => Discipline::Exempt,
            LevelKind::Limited { queuing: None, .. } => Discipline::Reject,
            LevelKind::Limited { queuing: Some(queuing), .. } => Discipline::Queue(queuing),
        }
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
