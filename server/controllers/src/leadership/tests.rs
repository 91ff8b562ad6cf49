//! Several servers over one store, in virtual time: whatever happens to them, each write of the controller is
//! one of the server that holds the lease at that moment.

use std::collections::HashMap;

use orch_api::core::v1::ConfigMap;
use orch_registry::stored;
use orch_runtime::{Tree, object::Kind};
use orch_storage::EventKind;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::json;

use super::*;
use crate::{
    controller::{Action, Context, Controller},
    fixture::{Fixture, NAMESPACE},
    key::ObjectKey,
    product::system_namespaces,
    runner::Running,
};

const NAME: &str = "turns";
/// How long a turn takes, and how long after it the next one comes.
const TURN: Duration = Duration::from_millis(300);

/// Writes into each config map whose turn it was.
struct Turns(String);

impl Controller for Turns {
    type Resource = ConfigMap;

    fn name(&self) -> &'static str {
        NAME
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let maps = cx.served::<ConfigMap>()?;
        let Some(mut map) = cx.lookup(maps, key)? else { return Ok(Action::Done) };
        sleep(TURN).await;
        map.tree["data"] = json!({"by": self.0, "turn": now_text()});
        cx.client().update(maps, "", map.tree).await?;
        Ok(Action::Again(TURN))
    }
}

/// Something that is different each time.
fn now_text() -> String {
    format!("{:?}", Instant::now())
}

/// A server among others.
struct Server {
    fixture: Fixture,
    running: Running,
}

fn start(first: &Fixture, identity: &str) -> Server {
    let fixture = first.beside();
    let turns = Turns(identity.to_owned());
    let running = fixture.start_as(&Leadership::of(identity), vec![Box::new(turns)]);
    Server { fixture, running }
}

impl Server {
    async fn stop(self) {
        self.fixture.finish(self.running).await;
    }

    /// Nothing of it goes on, and nobody is told.
    fn kill(self) {
        drop(self.running);
    }
}

/// A store with some config maps, and no server yet.
async fn store() -> Fixture {
    let first = Fixture::new().await;
    system_namespaces::ensure(&first.client).await.unwrap();
    for name in ["a", "b", "c"] {
        first.create::<ConfigMap>(json!({"metadata": {"name": name, "namespace": NAMESPACE}})).await;
    }
    first
}

/// Whose turn it was last.
fn last_turn(first: &Fixture) -> String {
    let map = first.client.get(first.resource::<ConfigMap>(), NAMESPACE, "a").unwrap().tree;
    map["data"]["by"].as_str().unwrap_or_default().to_owned()
}

/// Holds every write of a turn against the lease at that revision. Returns how many turns each server had.
fn check(first: &Fixture) -> HashMap<String, usize> {
    let core = first.client.core();
    let mut events = Vec::new();
    let begin = Revision::FIRST;
    for resource in [first.resource::<ConfigMap>(), first.resource::<Lease>()] {
        let mut watch = core.storage().watch(&resource.storage_name, Scope::All, begin).unwrap();
        loop {
            let some = watch.take().unwrap();
            if some.is_empty() {
                break;
            }
            events.extend(some.into_iter().map(|event| (Arc::clone(resource), event)));
        }
    }
    events.sort_by_key(|(_, event)| event.revision());
    let (mut holder, mut turns) = (String::new(), HashMap::new());
    for (resource, event) in events {
        let tree = stored::tree_of(&resource, event.object()).unwrap();
        let text = |tree: &Tree| tree.as_str().unwrap_or_default().to_owned();
        if resource.def.kind == Lease::RESOURCE.kind {
            let is_there = event.kind() == EventKind::Put && &*event.key().name == NAME;
            holder = if is_there { text(&tree["spec"]["holderIdentity"]) } else { String::new() };
        } else if let Some(by) = tree["data"].get("by") {
            assert_eq!(text(by), holder, "at {}", event.revision());
            *turns.entry(text(by)).or_default() += 1;
        }
    }
    turns
}

#[tokio::test(start_paused = true)]
async fn one_server_runs_a_controller_and_the_next_follows_it() {
    let first = store().await;
    let one = start(&first, "one");
    first.until("one runs it", || last_turn(&first) == "one").await;
    let two = start(&first, "two");
    sleep(LEASE_DURATION * 3).await;
    assert_eq!(last_turn(&first), "one");
    assert!(!check(&first).contains_key("two"), "a lease that is renewed stays where it is");

    // Who stops gives the lease back.
    one.stop().await;
    let handed_over = first.until("two runs it", || last_turn(&first) == "two").await;
    assert!(handed_over < Duration::from_secs(2), "{handed_over:?}");

    // Who is killed does not.
    let three = start(&first, "three");
    sleep(LEASE_DURATION).await;
    two.kill();
    let handed_over = first.until("three runs it", || last_turn(&first) == "three").await;
    assert!(handed_over > RENEW_PERIOD && handed_over < LEASE_DURATION + TURN * 4, "{handed_over:?}");
    let lease = first.client.api::<Lease>().unwrap();
    let lease = lease.get(first.client.core().vocabulary().namespace_system, NAME).unwrap();
    assert_eq!(lease.spec.lease_transitions, Some(2));
    three.stop().await;
    assert_eq!(check(&first).len(), 3);
}

/// Somebody takes the lease away, or removes it, while a turn is going on: it is not written.
#[tokio::test(start_paused = true)]
async fn who_lost_the_lease_writes_nothing() {
    let first = store().await;
    let one = start(&first, "one");
    let two = start(&first, "two");
    first.until("somebody runs it", || !last_turn(&first).is_empty()).await;
    let namespace = first.client.core().vocabulary().namespace_system;
    let mut random = StdRng::seed_from_u64(7);
    for round in 0..40 {
        sleep(Duration::from_millis(random.random_range(0..20_000))).await;
        match round % 4 {
            0 => first.delete::<Lease>((namespace, NAME)).await,
            1 => {
                let annotate = |lease: &mut Tree| {
                    lease["metadata"]["labels"] = json!({"round": round.to_string()});
                };
                first.change::<Lease>((namespace, NAME), "", annotate).await;
            }
            _ => {
                let seize = |lease: &mut Tree| lease["spec"]["holderIdentity"] = json!("somebody else");
                first.change::<Lease>((namespace, NAME), "", seize).await;
            }
        }
    }
    sleep(LEASE_DURATION * 2).await;
    let turns = check(&first);
    assert!(turns.values().sum::<usize>() > 40, "{turns:?}");
    one.stop().await;
    two.stop().await;
}

/// The fence is in the store: a server that does not know yet that it lost the lease cannot write.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_stopped_for_a_while_changes_nothing() {
    let first = store().await;
    let client = first.client.clone();
    let candidate = Leadership::of("sleeper").candidate(&client, NAME).unwrap();
    candidate.acquire().await;
    let sleeper = client.clone().behind(candidate.fence());
    let maps = first.resource::<ConfigMap>();
    let write = async |client: &Client, value: &str| {
        let mut map = client.get(maps, NAMESPACE, "a").unwrap().tree;
        map["data"] = json!({"value": value});
        client.update(maps, "", map).await
    };
    write(&sleeper, "awake").await.unwrap();
    // Nobody renews. Another server waits for the lease to end, and takes it.
    let other = Leadership::of("other").candidate(&client, NAME).unwrap();
    let begun = Instant::now();
    other.acquire().await;
    assert_eq!(begun.elapsed(), LEASE_DURATION);
    assert!(candidate.fence().is_held(), "it does not know");
    assert!(matches!(write(&sleeper, "asleep").await, Err(ApiError::Conflict { .. })));
    write(&client.clone().behind(other.fence()), "other").await.unwrap();
    let delete = sleeper.delete(maps, NAMESPACE, "a", orch_registry::options::DeletionOptions::default());
    assert!(delete.await.is_err());
    // Nor can it remove what is stored of kinds that are not served.
    let current = client.get(maps, NAMESPACE, "a").unwrap();
    let remove = async |client: &Client| {
        let body = stored::encode_body(maps, &current.tree, None, false).unwrap();
        client.remove_stored(current.object.key().clone(), current.revision(), body).await
    };
    assert!(matches!(remove(&sleeper).await, Err(ApiError::Unavailable(_))));
    // As soon as it looks, it knows.
    candidate.keep().await;
    assert!(matches!(write(&sleeper, "late").await, Err(ApiError::Unavailable(_))));
    assert_eq!(first.client.get(maps, NAMESPACE, "a").unwrap().tree["data"]["value"], "other");
    remove(&client.clone().behind(other.fence())).await.unwrap();
    assert!(!first.exists::<ConfigMap>((NAMESPACE, "a")));
}

/// Servers come, stop and are killed by chance; there always is one that runs it in the end.
#[tokio::test(start_paused = true)]
async fn servers_come_and_go() {
    let seed: u64 = rand::rng().random();
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let first = store().await;
    let mut servers: Vec<Server> = Vec::new();
    let mut started = 0;
    for _ in 0..30 {
        let roll = random.random_range(0..3);
        if servers.is_empty() || (roll == 0 && servers.len() < 4) {
            started += 1;
            servers.push(start(&first, &format!("server-{started}")));
        } else {
            let server = servers.swap_remove(random.random_range(0..servers.len()));
            if roll == 1 { server.stop().await } else { server.kill() }
        }
        sleep(Duration::from_millis(random.random_range(0..8000))).await;
        // Before history forgets it.
        check(&first);
    }
    let last = start(&first, "last");
    for server in servers {
        server.kill();
    }
    first.until("the last one runs it", || last_turn(&first) == "last").await;
    check(&first);
    last.stop().await;
}
