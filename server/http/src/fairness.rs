//! Priority and fairness (KEP-1040), or plain limits of requests in flight where that is turned off.
//!
//! A request that is authenticated gets a seat of its priority level, waits for one, or is answered with 429.
//! It has the seat until its answer is handed over ([`held`]). What is fair is decided in `orch-flow`; here
//! are the clock, the locks, the tasks that wait, and HTTP.
//!
//! A request whose level has seats takes one short lock when it comes and one when it goes. What its user
//! matches is remembered with the connection ([`RememberedUsers`]).

mod about;
pub(crate) mod dump;
mod gate;
mod held;
mod in_flight;
mod plan;
mod remembered;
mod tally;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use http::HeaderName;
use orch_auth::user::UserInfo;
use orch_flow::{
    Nanos,
    borrowing::{self, Adjusted, Borrower, PERIOD},
    config::Source,
    matching::What,
    width::Width,
};
use orch_runtime::vocabulary::Vocabulary;
use tokio::sync::watch;

pub use self::{
    about::About,
    gate::{Entry, GateView, Refused, RequestView, Seat},
    held::{SeatOrPlace, until_handed_over, until_initial_events},
    in_flight::{InFlight, MaxInFlight},
    remembered::{Placed, RememberedUsers},
    tally::{Histogram, REFUSALS, TallyView},
};
use self::{gate::Gate, plan::Plan};

/// How the server is shared out among requests.
pub enum Sharing {
    /// By priority and fairness.
    Fair(Arc<Fairness>),
    /// First come, first served, up to a number.
    Plain(MaxInFlight),
}

impl Sharing {
    /// Priority and fairness, where it is on.
    pub fn fairness(&self) -> Option<&Arc<Fairness>> {
        match self {
            Sharing::Fair(fairness) => Some(fairness),
            Sharing::Plain(_) => None,
        }
    }
}

/// Shares the server out among priority levels.
pub struct Fairness {
    source: Box<dyn Source>,
    total_seats: u32,
    clock: Clock,
    /// The headers that name the flow schema and the level of a request, in each vocabulary.
    headers: Arc<[[HeaderName; 2]]>,
    plan: ArcSwap<Plan>,
    /// The number of the plan: most requests need not look at the plan itself.
    number: AtomicU64,
    /// Whether a plan is being made: its news are taken already, and the plan is not there yet.
    is_planning: AtomicBool,
    /// The bits of the fair fraction of the last adjustment.
    fair_fraction: AtomicU64,
    /// By the names of their levels. Also held while a plan is made.
    gates: Mutex<HashMap<String, Arc<Gate>>>,
}

/// Tells the time since the server began.
#[derive(Clone, Copy, Debug)]
struct Clock(Instant);

impl Clock {
    fn now(self) -> Nanos {
        self.at(Instant::now())
    }

    fn at(self, instant: Instant) -> Nanos {
        instant.saturating_duration_since(self.0).as_nanos() as Nanos
    }
}

impl Fairness {
    /// Shares out so many seats, by the objects that are stored.
    pub fn new(source: Box<dyn Source>, total_seats: u32, vocabularies: &[&'static Vocabulary]) -> Self {
        let headers = |words: &&'static Vocabulary| {
            [words.flow_schema_header, words.priority_level_header].map(HeaderName::from_static)
        };
        let headers: Arc<[_]> = vocabularies.iter().map(headers).collect();
        let clock = Clock(Instant::now());
        let mut gates = HashMap::new();
        let plan = plan::make(0, &mut gates, source.read(), total_seats, clock, &headers);
        let plan = ArcSwap::from_pointee(plan);
        let [number, fair_fraction] = [0, 0].map(AtomicU64::new);
        Fairness {
            source,
            total_seats,
            clock,
            headers,
            plan,
            number,
            is_planning: AtomicBool::new(false),
            fair_fraction,
            gates: Mutex::new(gates),
        }
    }

    /// Where a request belongs. `users` are those of the connection.
    pub fn place(&self, users: &RememberedUsers, user: &Arc<UserInfo>, what: What<'_>) -> Option<Placed> {
        // `is_planning` is read second: it is set before the changes are taken.
        if self.source.has_news() || self.is_planning.load(Ordering::Acquire) {
            self.make_plan();
        }
        users.of(self.number.load(Ordering::Acquire), user, || self.plan.load_full()).place(what)
    }

    /// Takes a request in that came at `arrived`.
    pub fn enter(
        &self,
        (placed, what): (&Placed, What<'_>),
        arrived: Instant,
        width: Width,
        about: impl FnOnce() -> About,
    ) -> Entry {
        let (now, hand) = (self.clock.at(arrived), placed.hand(what));
        placed.gate().arrive(now, placed.tally(), &hand, width, about)
    }

    /// Lends seats anew, again and again, until the server stops.
    pub async fn adjust(self: Arc<Self>, mut stopping: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                // An error means that the sender is gone, and the server with it.
                _ = stopping.wait_for(|stopping| *stopping) => return,
                () = tokio::time::sleep(Duration::from_nanos(PERIOD)) => self.lend(),
            }
        }
    }

    fn lend(&self) {
        let now = self.clock.now();
        self.locked_gates().retain(|_, gate| gate.is_needed());
        let gates = self.gates();
        let borrowers: Vec<Borrower> = gates.iter().map(|gate| gate.borrower(now)).collect();
        let Adjusted { seats, fair_fraction } = borrowing::adjust(&borrowers);
        self.fair_fraction.store(fair_fraction.to_bits(), Ordering::Relaxed);
        for (gate, (borrower, seats)) in gates.iter().zip(borrowers.iter().zip(seats)) {
            gate.set_limit(now, seats, borrower.demand);
        }
    }

    /// The part of its target that each level got in the last adjustment.
    pub fn fair_fraction(&self) -> f64 {
        f64::from_bits(self.fair_fraction.load(Ordering::Relaxed))
    }

    /// All levels, for the metrics and the dumps, in the order of their names.
    pub fn views(&self) -> Vec<GateView> {
        self.gates().iter().map(|gate| gate.view()).collect()
    }

    /// All requests that wait, and those that run and are listed.
    pub fn requests(&self) -> Vec<RequestView> {
        self.gates().iter().flat_map(|gate| gate.requests()).collect()
    }

    fn gates(&self) -> Vec<Arc<Gate>> {
        let mut gates: Vec<Arc<Gate>> = self.locked_gates().values().cloned().collect();
        gates.sort_by(|one, other| one.name().cmp(other.name()));
        gates
    }

    /// A panic elsewhere leaves the gates usable.
    fn locked_gates(&self) -> MutexGuard<'_, HashMap<String, Arc<Gate>>> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a plan of the objects that are stored now, or waits until another request has made it.
    fn make_plan(&self) {
        let mut gates = self.locked_gates();
        // Another request may have made it while this one waited.
        if self.source.has_news() {
            self.is_planning.store(true, Ordering::Release);
            let number = self.plan.load().number + 1;
            let plan = plan::make(
                number,
                &mut gates,
                self.source.read(),
                self.total_seats,
                self.clock,
                &self.headers,
            );
            self.plan.store(Arc::new(plan));
            // Whoever sees the number finds the plan, or a newer one.
            self.number.store(number, Ordering::Release);
            self.is_planning.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests;
