//! When a plugin runs: the caching rules as a table, with a clock that is set by hand.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use futures_util::future::join_all;

use super::Cache;
use crate::{
    credential::{Credential, Proof},
    error::{Error, PluginFault},
};

/// What happens, in order; each request says which run its credential is from.
#[derive(Debug)]
enum Step {
    /// A request is sent, with the credential of this run.
    Request(u64),
    /// A request is sent and gets no credential.
    Failure,
    /// The clock shows this.
    Time(i64),
    /// The last request is answered by a 401.
    Refused,
    /// The plugin fails from now on, or does not.
    Fails(bool),
}
use Step::{Fails, Failure, Refused, Request, Time};

struct Plugin {
    cache: Cache,
    clock: Arc<AtomicI64>,
    runs: Arc<AtomicU64>,
    fails: Arc<AtomicI64>,
}

/// A plugin whose credentials expire at this time after the start of a run, which takes no time.
fn plugin(lifetime: Option<i64>) -> Plugin {
    let (clock, runs, fails): (Arc<AtomicI64>, Arc<AtomicU64>, Arc<AtomicI64>) = Default::default();
    let run = {
        let (clock, runs, fails) = (Arc::clone(&clock), Arc::clone(&runs), Arc::clone(&fails));
        Box::new(move || -> futures_util::future::BoxFuture<'static, Result<Credential, Error>> {
            let number = runs.fetch_add(1, SeqCst) + 1;
            let expires = lifetime.map(|lifetime| clock.load(SeqCst) + lifetime);
            let fails = fails.load(SeqCst) == 1;
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if fails {
                    return Err(Error::plugin("p", PluginFault::NoStatus));
                }
                let proof = Proof::bearer(&number.to_string()).unwrap();
                Ok(Credential { proof, expires, serial: 0 })
            })
        })
    };
    let now = Arc::clone(&clock);
    let cache = Cache::new("p", run, Box::new(move || now.load(SeqCst)));
    Plugin { cache, clock, runs, fails }
}

#[tokio::test]
async fn credentials_are_kept_exactly_as_long_as_the_rules_say() {
    let table: &[(&str, Option<i64>, &[Step])] = &[
        ("no expiration: to the end of the process", None, &[Request(1), Time(1_000_000), Request(1)]),
        ("no expiration: until a 401", None, &[Request(1), Refused, Request(2), Request(2)]),
        ("expiration: until that time", Some(10), &[Request(1), Time(9), Request(1), Time(10), Request(2)]),
        ("expiration: until a 401", Some(10), &[Request(1), Refused, Request(2), Time(9), Request(2)]),
        ("expired when it comes: once", Some(0), &[Request(1), Request(2), Request(3)]),
        ("expired long ago: once", Some(-5), &[Request(1), Request(2)]),
        (
            "a failure is not kept",
            None,
            &[Fails(true), Failure, Failure, Fails(false), Request(3), Request(3)],
        ),
        (
            "an old credential is not used where no new one comes",
            Some(10),
            &[Request(1), Time(10), Fails(true), Failure],
        ),
    ];
    for (rule, lifetime, steps) in table {
        let plugin = plugin(*lifetime);
        let mut last = None;
        for step in *steps {
            match step {
                Request(run) => {
                    let credential = plugin.cache.credential().await.unwrap();
                    assert!(
                        credential.proof == Proof::bearer(&run.to_string()).unwrap(),
                        "{rule}: {step:?} got {credential:?}"
                    );
                    last = Some(credential);
                }
                Failure => assert!(plugin.cache.credential().await.is_err(), "{rule}: {step:?}"),
                Time(now) => plugin.clock.store(*now, SeqCst),
                Refused => plugin.cache.refused(last.as_ref().unwrap()),
                Fails(fails) => plugin.fails.store(i64::from(*fails), SeqCst),
            }
        }
    }
}

#[tokio::test]
async fn a_hundred_requests_wait_for_one_run() {
    for (lifetime, fails) in [(None, 0), (Some(0), 0), (None, 1)] {
        let plugin = plugin(lifetime);
        plugin.fails.store(fails, SeqCst);
        let outcomes = join_all((0..100).map(|_| plugin.cache.credential())).await;
        assert_eq!(plugin.runs.load(SeqCst), 1, "{lifetime:?}");
        assert!(outcomes.iter().all(|outcome| outcome.is_err() == (fails == 1)), "{lifetime:?}");
    }
}

#[tokio::test]
async fn a_hundred_refusals_make_one_run() {
    let plugin = plugin(None);
    let first = plugin.cache.credential().await.unwrap();
    let again = join_all((0..100).map(|_| async {
        plugin.cache.refused(&first);
        plugin.cache.credential().await.unwrap().serial
    }));
    assert_eq!(again.await, [2; 100]);
    // A late refusal of the old one says nothing about the new one.
    plugin.cache.refused(&first);
    plugin.cache.credential().await.unwrap();
    assert_eq!(plugin.runs.load(SeqCst), 2);
}

#[tokio::test]
async fn a_run_goes_on_when_nobody_waits_any_more() {
    let plugin = plugin(None);
    let given_up = tokio::time::timeout(Duration::from_millis(1), plugin.cache.credential()).await;
    assert!(given_up.is_err());
    plugin.cache.credential().await.unwrap();
    assert_eq!(plugin.runs.load(SeqCst), 1);
}

#[test]
fn the_end_of_a_runtime_is_not_the_end_of_the_plugin() {
    let plugin = plugin(None);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(async {
        let given_up = tokio::time::timeout(Duration::from_millis(1), plugin.cache.credential()).await;
        assert!(given_up.is_err());
    });
    runtime().block_on(async { plugin.cache.credential().await.unwrap() });
    assert_eq!(plugin.runs.load(SeqCst), 2);
}
