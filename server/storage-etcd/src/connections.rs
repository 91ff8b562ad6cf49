//! The connection to the member that is spoken to now, and the search for the next one.
//!
//! All who need a connection wait for one search and share its outcome, each as long as it has time. The
//! search goes on where nobody waits any more: it gets past members that say nothing, however short the time
//! of each caller is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use crate::connection::{Endpoint, Sender};
use crate::failure::Failure;

/// How long a connection may take to come about.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How much later than a member the next one is tried, beside it.
const HEAD_START: Duration = Duration::from_millis(500);

/// The members of one cluster.
pub(crate) struct Connections {
    endpoints: Vec<Arc<Endpoint>>,
    current: Mutex<Current>,
    /// The number of the newest connection.
    newest: watch::Sender<u64>,
}

/// An open connection.
#[derive(Clone)]
pub(crate) struct Connected {
    /// Tells one connection from the next.
    pub(crate) number: u64,
    pub(crate) sender: Sender,
    pub(crate) endpoint: Arc<Endpoint>,
}

type Outcome = Result<Connected, Failure>;

/// The connection that is used now.
#[derive(Default)]
struct Current {
    connected: Option<Connected>,
    number: u64,
    /// The member to try next, or the one that is used.
    next: usize,
    /// The search that goes on.
    search: Option<watch::Receiver<Option<Outcome>>>,
}

impl Connections {
    /// Connects to nobody yet. There is at least one member.
    pub(crate) fn new(endpoints: Vec<Endpoint>) -> Self {
        let endpoints = endpoints.into_iter().map(Arc::new).collect();
        Self { endpoints, current: Mutex::default(), newest: watch::Sender::new(0) }
    }

    /// The connection that is used now, or a new one.
    pub(crate) async fn connected(self: &Arc<Self>, deadline: Instant) -> Outcome {
        let mut search = {
            let mut current = self.locked();
            if let Some(open) = current.connected.as_ref().filter(|open| !open.sender.is_closed()) {
                return Ok(open.clone());
            }
            // A search ends by itself, but not where its runtime has ended.
            let running = current.search.take().filter(|search| search.has_changed().is_ok());
            let search = running.unwrap_or_else(|| self.search(current.next));
            current.search.insert(search).clone()
        };
        let Ok(found) = timeout_at(deadline, search.wait_for(Option::is_some)).await else {
            return Err(Failure::Unreachable("no connection in time".to_owned()));
        };
        let outcome = found.ok().and_then(|found| found.clone());
        outcome.unwrap_or_else(|| Err(Failure::Unreachable("the search for a member has ended".to_owned())))
    }

    /// Begins to look for a member that can be reached.
    fn search(self: &Arc<Self>, first: usize) -> watch::Receiver<Option<Outcome>> {
        let (teller, search) = watch::channel(None);
        let connections = Arc::clone(self);
        tokio::spawn(async move {
            let found = connections.find(first).await;
            let outcome = {
                let mut current = connections.locked();
                current.search = None;
                found.map(|(at, sender)| {
                    current.number += 1;
                    current.next = at;
                    let (number, endpoint) = (current.number, Arc::clone(&connections.endpoints[at]));
                    current.connected.insert(Connected { number, sender, endpoint }).clone()
                })
            };
            if let Ok(connected) = &outcome {
                connections.newest.send_replace(connected.number);
            }
            teller.send_replace(Some(outcome));
        });
        search
    }

    /// Connects to one of the members. The first one that is ready is taken, and each has a head start before
    /// the next one.
    async fn find(&self, first: usize) -> Result<(usize, Sender), Failure> {
        let (mut attempts, mut failures) = (JoinSet::new(), Vec::new());
        let count = self.endpoints.len();
        let mut waiting = (0..count).map(|index| (first + index) % count);
        loop {
            if let Some(at) = waiting.next() {
                let endpoint = Arc::clone(&self.endpoints[at]);
                attempts.spawn(async move {
                    let connected = timeout(CONNECT_TIMEOUT, endpoint.connect()).await;
                    let connected = connected.unwrap_or_else(|_| Err("no connection in time".to_owned()));
                    connected
                        .map(|sender| (at, sender))
                        .map_err(|error| format!("{}: {error}", endpoint.origin))
                });
            }
            match timeout(HEAD_START, attempts.join_next()).await {
                Err(_) => {}
                Ok(None) => return Err(Failure::Unreachable(failures.join("; "))),
                Ok(Some(Ok(Ok(found)))) => return Ok(found),
                Ok(Some(Ok(Err(failure)))) => failures.push(failure),
                Ok(Some(Err(ended))) => failures.push(ended.to_string()),
            }
        }
    }

    /// Goes on with the next member, unless that has happened already.
    pub(crate) fn leave(&self, number: u64) {
        let mut current = self.locked();
        if current.connected.as_ref().is_some_and(|connected| connected.number == number) {
            current.connected = None;
            current.next = (current.next + 1) % self.endpoints.len();
        }
    }

    /// Tells which connection is the newest.
    pub(crate) fn newest(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.locked().connected = None;
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
