//! Authenticates and authorizes the callers of open watches again, and ends watches that are refused.
//!
//! Requests are checked when they begin, and a watch goes on for up to an hour. So what the checks need is
//! kept: the credential, the headers about identity and the URI. With these it is checked again, as if it
//! came now. A watch whose credential is refused, whose caller may not impersonate or not watch any more,
//! ends like one whose time is over; the client asks again and is told why. Where it cannot be decided,
//! because another server does not answer, the watch goes on.
//!
//! When: within about a second after authentication was read anew, or an account, what its tokens are bound
//! to, a role or a binding was written; all others, such as an expiry or a changed file of authorizers,
//! within about ten seconds. Where judging all watches takes long, it waits twenty times as long in between,
//! so that it never needs more than a twentieth of a processor.
//!
//! Another server that is asked may be slow, and a caller may choose what it is asked. So each credential is
//! judged by itself, and holds up no other one. A round ends after ten seconds; watches that it did not come
//! to are the first ones of the next.

use std::{
    collections::HashMap,
    future::poll_fn,
    hash::{BuildHasher, RandomState},
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant, SystemTime},
};

use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use http::{HeaderMap, Method};
use orch_auth::authenticator::{Authenticated, Credentials};
use orch_storage::Following;
use tokio::{
    sync::watch,
    task::{JoinSet, yield_now},
    time::timeout,
};

use crate::{
    access::Review,
    app::App,
    open_watches::OpenWatch,
    request::{identity_headers::View, impersonation, info::RequestInfo, query::Query},
};

/// How often it is asked whether something has changed.
const TICK: Duration = Duration::from_secs(1);
/// How often all watches are judged although nothing seems to have changed.
const PERIOD: Duration = Duration::from_secs(10);
/// How much longer than judging all watches the rest after it takes.
const REST: u32 = 20;
/// How many watches of a credential wait for other servers at a time.
const AT_A_TIME: usize = 64;
/// How many credentials are judged at a time.
const CREDENTIALS: usize = 512;

/// The callers of one round, by connection (0 for one without a certificate) and credential.
type Callers = Mutex<Known>;
type Known = HashMap<(usize, Option<Box<[u8]>>), Option<Authenticated>>;

/// Ends watches until the server stops. `standing` tells of stored objects that matter.
pub async fn follow(app: Arc<App>, standing: Following, mut stopping: watch::Receiver<bool>) {
    let authentication = &app.access.authentication;
    let (mut seen, mut judged, mut rest) = (authentication.load_full(), Instant::now(), TICK);
    let mut round = 0;
    loop {
        tokio::select! {
            // An error means that the sender is gone, and the server with it.
            _ = stopping.wait_for(|stopping| *stopping) => return,
            () = tokio::time::sleep(rest) => {}
        }
        let (current, has_news) = (authentication.load_full(), standing.has_news());
        if !has_news && Arc::ptr_eq(&current, &seen) && judged.elapsed() < PERIOD {
            rest = TICK;
            continue;
        }
        if has_news {
            // What is written from here on is news again.
            drop(standing.news());
        }
        seen = current;
        round += 1;
        let busy = judge_all(&app, round).await;
        judged = Instant::now();
        rest = TICK.max(REST * busy);
    }
}

/// Judges all watches once, or as many as there is time for. Returns how long that kept threads.
async fn judge_all(app: &Arc<App>, round: u64) -> Duration {
    let (callers, busy) = (Arc::<Callers>::default(), Arc::<AtomicU64>::default());
    let mut tasks = JoinSet::new();
    let all = async {
        for watches in by_credential(app.open_watches.now()) {
            if tasks.len() == CREDENTIALS {
                tasks.join_next().await;
            }
            let (app, callers, busy) = (Arc::clone(app), Arc::clone(&callers), Arc::clone(&busy));
            tasks.spawn(async move {
                let judged = async {
                    one_by_one(watches.iter().map(|watch| judge(&app, watch, &callers, round))).await;
                };
                counted(&busy, judged).await;
            });
        }
        while tasks.join_next().await.is_some() {}
    };
    // What is not done then goes away with the tasks.
    let _ = timeout(PERIOD, all).await;
    Duration::from_nanos(busy.load(Relaxed))
}

/// Makes judgements, and gives way to others after each. Those that wait for another server do so together.
async fn one_by_one(judgements: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut waiting = FuturesUnordered::new();
    for judgement in judgements {
        let mut judgement = Box::pin(judgement);
        // Nearly all are made at once.
        if (&mut judgement).now_or_never().is_none() {
            waiting.push(judgement);
        }
        if waiting.len() == AT_A_TIME {
            waiting.next().await;
        }
        yield_now().await;
    }
    while waiting.next().await.is_some() {
        yield_now().await;
    }
}

/// The watches of each credential. Those that were judged longest ago come first.
fn by_credential(mut watches: Vec<Arc<OpenWatch>>) -> Vec<Vec<Arc<OpenWatch>>> {
    watches.sort_by_key(|watch| watch.judged_in.load(Relaxed));
    let (mut places, hasher) = (HashMap::new(), RandomState::new());
    let mut groups: Vec<Vec<Arc<OpenWatch>>> = Vec::new();
    for watch in watches {
        let certificate = watch.connection.peer().certificates.own();
        let credential = hasher.hash_one((certificate, &watch.authorization, &watch.headers));
        let place = *places.entry(credential).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(watch),
            None => groups.push(vec![watch]),
        }
    }
    groups
}

/// Adds the nanoseconds for which a future keeps its thread.
async fn counted(busy: &AtomicU64, future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let begun = Instant::now();
        let polled = future.as_mut().poll(cx);
        busy.fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
        polled
    })
    .await;
}

async fn judge(app: &App, watch: &OpenWatch, callers: &Callers, round: u64) {
    if !may_go_on(app, watch, callers).await {
        // The query can hold anything.
        let path = watch.path_and_query().0;
        tracing::debug!(path, "a watch ends: its caller may not have it any more");
        watch.end();
    }
    watch.judged_in.store(round, Relaxed);
}

/// Whether the request would be allowed now.
async fn may_go_on(app: &App, watch: &OpenWatch, callers: &Callers) -> bool {
    let headers: HeaderMap = watch.headers.iter().cloned().collect();
    let sender = match sender(app, watch, &headers, callers).await {
        Review::Allowed(sender) => sender,
        Review::Refused => return false,
        Review::Undecided => return true,
    };
    let (path, query) = watch.path_and_query();
    let query = Query::parse(query);
    let info = RequestInfo::parse(app.core.catalog(), &Method::GET, path, &query);
    // Headers that made sense do so still.
    let Ok(wanted) = impersonation::wanted(&headers, String::new) else { return false };
    !matches!(app.access.review(sender, wanted, &info.names, path, &query).await, Review::Refused)
}

/// Authenticates the caller of a watch again. One credential is judged once in a round, unless a proxy may
/// name users. Whether a request needs no credential can depend on its path.
async fn sender(
    app: &App,
    watch: &OpenWatch,
    headers: &HeaderMap,
    callers: &Callers,
) -> Review<Authenticated> {
    let certificates = &watch.connection.peer().certificates;
    let by = if certificates.is_empty() { 0 } else { Arc::as_ptr(&watch.connection).addr() };
    let key = (by, watch.authorization.clone());
    let has_credential = by != 0 || watch.authorization.is_some();
    let is_shared = has_credential && (headers.is_empty() || by == 0);
    if is_shared && let Some(known) = lock(callers).get(&key) {
        return known.clone().map_or(Review::Refused, Review::Allowed);
    }
    let view = View(headers);
    let credentials = Credentials::new(certificates, watch.authorization.as_deref(), SystemTime::now())
        .at(watch.path_and_query().0)
        .with_headers(&view);
    let found = app.access.identify(&credentials).await;
    if is_shared {
        match &found {
            Review::Allowed(caller) => drop(lock(callers).insert(key, Some(caller.clone()))),
            Review::Refused => drop(lock(callers).insert(key, None)),
            Review::Undecided => {}
        }
    }
    found
}

fn lock(callers: &Callers) -> MutexGuard<'_, Known> {
    callers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    #[tokio::test]
    async fn others_get_the_thread_after_each_judgement() {
        let (turns, seen) = (Cell::new(0), RefCell::new(Vec::new()));
        let others = async {
            loop {
                turns.set(turns.get() + 1);
                yield_now().await;
            }
        };
        let judgement = |number: usize| {
            let (turns, seen) = (&turns, &seen);
            async move {
                // Every third one waits for another server.
                if number.is_multiple_of(3) {
                    yield_now().await;
                }
                seen.borrow_mut().push(turns.get());
            }
        };
        tokio::select! {
            biased;
            () = one_by_one((0..300).map(judgement)) => {}
            () = others => unreachable!("it has no end"),
        }
        let seen = seen.into_inner();
        assert_eq!(seen.len(), 300);
        assert!(seen.windows(2).all(|two| two[0] < two[1]), "{seen:?}");
    }

    /// All that fit wait together: none of them goes on before the others have come.
    #[tokio::test]
    async fn judgements_wait_for_other_servers_together() {
        let barrier = tokio::sync::Barrier::new(AT_A_TIME);
        let judgement = |_| async {
            barrier.wait().await;
        };
        one_by_one((0..3 * AT_A_TIME).map(judgement)).await;
    }
}
