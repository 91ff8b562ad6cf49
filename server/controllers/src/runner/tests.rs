//! A controller that does as it is told, and when it is run.

use std::{collections::HashMap, sync::Mutex};

use futures_util::future::BoxFuture;
use orch_api::core::v1::{ConfigMap, Secret};
use orch_registry::{
    catalog::Catalog,
    error::{ResourceName, Result},
};
use orch_runtime::object::Kind;
use orch_storage::{Revision, StoreError};
use serde_json::json;

use super::*;
use crate::{
    controller::Controller,
    fixture::{Fixture, NAMESPACE},
    key::ObjectKey,
    source::KeySource,
    trigger::Trigger,
};

/// What was seen of the work at one key.
#[derive(Default)]
struct Work {
    begun: Vec<Instant>,
    is_going_on: bool,
}

type Seen = Arc<Mutex<HashMap<String, Work>>>;

/// Tells what becomes of the n-th run at a key, counted from 1.
type Script = fn(&str, usize) -> Result<Action>;

struct Scripted {
    seen: Seen,
    takes: Duration,
    script: Script,
    workers: usize,
    triggers: fn() -> Vec<Trigger>,
}

impl Controller for Scripted {
    type Resource = ConfigMap;

    fn name(&self) -> &'static str {
        "scripted"
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn also_watches(&self) -> Vec<Trigger> {
        (self.triggers)()
    }

    async fn reconcile(&self, key: &ObjectKey, _: &Context) -> Result<Action> {
        let name = key.name.to_string();
        {
            let mut seen = self.seen.lock().unwrap();
            let work = seen.entry(name.clone()).or_default();
            assert!(!work.is_going_on, "two workers at {name}");
            work.is_going_on = true;
            work.begun.push(Instant::now());
        }
        tokio::time::sleep(self.takes).await;
        let runs = {
            let mut seen = self.seen.lock().unwrap();
            let work = seen.get_mut(&name).unwrap();
            work.is_going_on = false;
            work.begun.len()
        };
        (self.script)(&name, runs)
    }
}

const DONE: Script = |_, _| Ok(Action::Done);

fn scripted(takes: Duration, script: Script) -> (Scripted, Seen) {
    let seen = Seen::default();
    (Scripted { seen: Arc::clone(&seen), takes, script, workers: 4, triggers: Vec::new }, seen)
}

fn runs(seen: &Seen, name: &str) -> usize {
    seen.lock().unwrap().get(name).map_or(0, |work| work.begun.len())
}

/// The times between the runs at a key.
fn pauses(seen: &Seen, name: &str) -> Vec<Duration> {
    let seen = seen.lock().unwrap();
    seen[name].begun.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

async fn create(fixture: &Fixture, name: &str) {
    fixture.create::<ConfigMap>(json!({"metadata": {"name": name, "namespace": NAMESPACE}})).await;
}

async fn change(fixture: &Fixture, name: &str, value: &str) {
    fixture.change::<ConfigMap>((NAMESPACE, name), "", |tree| tree["data"] = json!({"value": value})).await;
}

#[tokio::test(start_paused = true)]
async fn every_object_is_looked_at_first_and_then_what_changes() {
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    create(&fixture, "b").await;
    let (controller, seen) = scripted(Duration::ZERO, DONE);
    let (running, monitor) = fixture.start(vec![Box::new(controller)]);
    assert_eq!(monitor.health("scripted").unwrap_err(), "the controller scripted does not watch");
    fixture.settle().await;
    assert_eq!(monitor.health("scripted"), Ok(()));
    assert_eq!((runs(&seen, "a"), runs(&seen, "b")), (1, 1));
    change(&fixture, "b", "1").await;
    create(&fixture, "c").await;
    fixture.settle().await;
    assert_eq!((runs(&seen, "a"), runs(&seen, "b"), runs(&seen, "c")), (1, 2, 1));
    fixture.delete::<ConfigMap>((NAMESPACE, "a")).await;
    fixture.settle().await;
    assert_eq!(runs(&seen, "a"), 2);
    let stats = &monitor.stats()[0];
    assert_eq!((stats.reconciles, stats.retries, stats.depth), (5, 0, 0));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn changes_during_the_work_are_one_more_run() {
    const TAKES: Duration = Duration::from_secs(30);
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (controller, seen) = scripted(TAKES, DONE);
    let (running, monitor) = fixture.start(vec![Box::new(controller)]);
    fixture.settle().await;
    for value in ["1", "2", "3"] {
        change(&fixture, "a", value).await;
        fixture.settle().await;
    }
    // More than there are workers, beside the one that is busy.
    for name in ["b", "c", "d", "e"] {
        create(&fixture, name).await;
    }
    fixture.settle().await;
    assert_eq!(monitor.stats()[0].depth, 1);
    assert_eq!(monitor.remark("scripted"), "", "that is soon");
    let all = ["a", "b", "c", "d", "e"].map(|name| runs(&seen, name));
    assert_eq!(all, [1, 1, 1, 1, 0], "the others do not wait for the first");
    fixture.until("it lags", || !monitor.remark("scripted").is_empty()).await;
    assert_eq!(monitor.remark("scripted"), "lags, 1 keys wait, the first for 10 s");
    tokio::time::sleep(TAKES * 4).await;
    assert_eq!(monitor.remark("scripted"), "");
    let all = ["a", "b", "c", "d", "e"].map(|name| runs(&seen, name));
    assert_eq!(all, [2, 1, 1, 1, 1]);
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_controller_has_as_many_workers_as_it_says() {
    const TAKES: Duration = Duration::from_secs(30);
    let fixture = Fixture::new().await;
    let names: Vec<String> = (0..10).map(|number| format!("m{number}")).collect();
    for name in &names {
        create(&fixture, name).await;
    }
    let (controller, seen) = scripted(TAKES, DONE);
    let (running, _) = fixture.start(vec![Box::new(Scripted { workers: 7, ..controller })]);
    let all = || names.iter().map(|name| runs(&seen, name)).sum::<usize>();
    fixture.settle().await;
    assert_eq!(all(), 7);
    tokio::time::sleep(TAKES).await;
    assert_eq!(all(), 10);
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn failures_are_tried_again_later_and_later() {
    let fixture = Fixture::new().await;
    create(&fixture, "bad").await;
    let (controller, seen) = scripted(Duration::ZERO, |name, runs| {
        if name == "bad" && runs < 12 { Err(ApiError::UnknownResource) } else { Ok(Action::Done) }
    });
    let (running, monitor) = fixture.start(vec![Box::new(controller)]);
    fixture.until("it fails", || monitor.stats()[0].failing == 1).await;
    assert_eq!(monitor.remark("scripted"), "1 keys fail");
    create(&fixture, "good").await;
    fixture.settle().await;
    assert_eq!(runs(&seen, "good"), 1);
    fixture.until("it succeeds", || runs(&seen, "bad") == 12).await;
    let mut longest = Duration::from_millis(5);
    for pause in pauses(&seen, "bad") {
        // Timers are good for a millisecond.
        assert!((longest / 2..=longest + Duration::from_millis(1)).contains(&pause), "{pause:?} {longest:?}");
        longest *= 2;
    }
    fixture.settle().await;
    let stats = &monitor.stats()[0];
    assert_eq!((stats.reconciles, stats.retries, stats.panics, stats.failing), (13, 11, 0, 0));
    assert_eq!(monitor.health("scripted"), Ok(()), "a bad object is no bad controller");
    fixture.finish(running).await;
}

/// However many there are, the next try is near, and nobody counts it as failing.
#[tokio::test(start_paused = true)]
async fn lost_races_are_tried_again_soon() {
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (controller, seen) = scripted(Duration::ZERO, |name, runs| {
        let resource = ResourceName { group: String::new(), resource: "configmaps".to_owned() };
        let name = name.to_owned();
        match runs {
            20 => Ok(Action::Done),
            run if run % 2 == 0 => Err(ApiError::NotFound { resource, name }),
            _ => Err(ApiError::Conflict { resource, name, cause: String::new() }),
        }
    });
    let (running, monitor) = fixture.start(vec![Box::new(controller)]);
    let took = fixture.until("it succeeds", || runs(&seen, "a") == 20).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    let stats = &monitor.stats()[0];
    assert_eq!((stats.retries, stats.failing), (19, 0));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure() {
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (controller, seen) = scripted(Duration::ZERO, |_, runs| match runs {
        1 => panic!("so it was told"),
        _ => Ok(Action::Done),
    });
    let (running, monitor) = fixture.start(vec![Box::new(controller)]);
    fixture.until("it runs again", || runs(&seen, "a") == 2).await;
    fixture.settle().await;
    let stats = &monitor.stats()[0];
    assert_eq!((stats.reconciles, stats.retries, stats.panics, stats.failing), (2, 1, 1, 0));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_key_runs_again_when_it_asked_to() {
    const LATER: Duration = Duration::from_secs(30);
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (controller, seen) = scripted(Duration::ZERO, |_, _| Ok(Action::Again(LATER)));
    let (running, _) = fixture.start(vec![Box::new(controller)]);
    fixture.until("it runs again", || runs(&seen, "a") == 3).await;
    for pause in pauses(&seen, "a") {
        assert!((LATER..LATER * 2).contains(&pause), "{pause:?}");
    }
    fixture.finish(running).await;
}

/// A controller that cannot begin.
struct Stuck;

impl AnyController for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn is_served(&self, _: &Catalog) -> bool {
        true
    }

    fn begin(&self, _: &Client) -> std::result::Result<Box<dyn KeySource>, StoreError> {
        Err(StoreError::Expired { asked: Revision::new(1), oldest: Revision::new(2) })
    }

    fn reconcile<'a>(&'a self, _: &'a Key, _: &'a Context) -> BoxFuture<'a, Result<Action>> {
        unreachable!("it finds no keys")
    }
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_cannot_begin_holds_up_no_other() {
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (controller, seen) = scripted(Duration::ZERO, DONE);
    let (running, monitor) = fixture.start(vec![Box::new(Stuck), Box::new(controller)]);
    fixture.settle().await;
    assert_eq!(runs(&seen, "a"), 1);
    assert_eq!(monitor.health("stuck").unwrap_err(), "the controller stuck does not watch");
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_after_the_end() {
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (controller, seen) = scripted(Duration::from_hours(1), DONE);
    let (running, _) = fixture.start(vec![Box::new(controller)]);
    fixture.settle().await;
    assert!(seen.lock().unwrap()["a"].is_going_on);
    assert_eq!(fixture.finish(running).await, Duration::ZERO);
    assert_eq!(Arc::strong_count(&seen), 1, "the controller is gone");
}

#[tokio::test(start_paused = true)]
async fn a_closed_store_ends_controllers_too() {
    let fixture = Fixture::new().await;
    let (controller, _) = scripted(Duration::ZERO, DONE);
    let (running, _) = fixture.start(vec![Box::new(controller)]);
    fixture.settle().await;
    fixture.client.core().storage().shutdown().await.unwrap();
    running.ended().await;
}

#[tokio::test(start_paused = true)]
async fn who_missed_events_lists_again() {
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (controller, seen) = scripted(Duration::ZERO, DONE);
    let (running, monitor) = fixture.start(vec![Box::new(controller)]);
    fixture.settle().await;
    // Nothing here waits, so that nobody sees the events before they are forgotten.
    create(&fixture, "b").await;
    let storage = fixture.client.core().storage();
    storage.compact(storage.current_revision()).await.unwrap();
    fixture.settle().await;
    assert_eq!((runs(&seen, "a"), runs(&seen, "b")), (2, 1));
    assert_eq!(monitor.health("scripted"), Ok(()));
    create(&fixture, "c").await;
    fixture.settle().await;
    assert_eq!((runs(&seen, "a"), runs(&seen, "c")), (2, 1));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_watching_loop_begins_it_anew() {
    let fixture = Fixture::new().await;
    create(&fixture, "a").await;
    let (mut controller, seen) = scripted(Duration::ZERO, DONE);
    controller.triggers = || {
        vec![Trigger::new(Secret::RESOURCE, |change| match change.after {
            Some(secret) if &*secret.key().name == "bad" => panic!("so it was told"),
            _ => vec![ObjectKey::new(NAMESPACE, "a")],
        })]
    };
    let (running, monitor) = fixture.start(vec![Box::new(controller)]);
    let secret = |name: &str| json!({"metadata": {"name": name, "namespace": NAMESPACE}});
    fixture.create::<Secret>(secret("good")).await;
    fixture.settle().await;
    assert_eq!((runs(&seen, "a"), monitor.stats()[0].restarts), (1, 0), "it was there before the list");
    fixture.create::<Secret>(secret("better")).await;
    fixture.settle().await;
    assert_eq!(runs(&seen, "a"), 2);
    fixture.create::<Secret>(secret("bad")).await;
    fixture.settle().await;
    assert!(monitor.health("scripted").is_err());
    fixture.until("it watches again", || monitor.health("scripted").is_ok()).await;
    assert_eq!(monitor.stats()[0].restarts, 1);
    fixture.create::<Secret>(secret("best")).await;
    fixture.settle().await;
    assert_eq!(runs(&seen, "a"), 4, "once for the list, once for the secret");
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn owners_hear_of_what_they_own() {
    let fixture = Fixture::new().await;
    let (mut controller, seen) = scripted(Duration::ZERO, DONE);
    controller.triggers = || vec![Trigger::owner::<ConfigMap, Secret>()];
    let (running, _) = fixture.start(vec![Box::new(controller)]);
    fixture.settle().await;
    let owner = |api_version: &str, kind: &str, name: &str| {
        let uid = format!("u-{kind}-{name}");
        json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid})
    };
    let owners = json!([
        owner("v1", "ConfigMap", "a"),
        owner("v1", "Pod", "b"),
        owner("example.com/v1", "ConfigMap", "c")
    ]);
    let metadata = json!({"name": "s", "namespace": NAMESPACE, "ownerReferences": owners});
    fixture.create::<Secret>(json!({"metadata": metadata})).await;
    fixture.settle().await;
    assert_eq!(["a", "b", "c", "d"].map(|name| runs(&seen, name)), [1, 0, 0, 0]);
    fixture
        .change::<Secret>((NAMESPACE, "s"), "", |secret| {
            secret["metadata"]["ownerReferences"] = json!([owner("v1", "ConfigMap", "d")]);
        })
        .await;
    fixture.settle().await;
    assert_eq!(["a", "b", "c", "d"].map(|name| runs(&seen, name)), [2, 0, 0, 1], "old and new owners");
    fixture.delete::<Secret>((NAMESPACE, "s")).await;
    fixture.settle().await;
    assert_eq!(["a", "b", "c", "d"].map(|name| runs(&seen, name)), [2, 0, 0, 2]);
    fixture.finish(running).await;
}
