//! What is deleted because of its owners, as clients see it; and that a crash stops nothing of it.

use std::time::{Duration, Instant};

use http::Method;
use orch_tests::{
    Client, TestServer,
    objects::{CONFIG_MAPS, SECRETS, config_map, name, names},
    rounds, seed,
};
use rand::RngExt;
use serde_json::{Value, json};

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_mins(2);
/// Dependents in each round of the test with crashes.
const DEPENDENTS: usize = 60;
/// What one owner owns in the test of large numbers.
const MANY: usize = 2000;

/// The reference to an object that was answered.
fn owner(object: &Value, blocks: bool) -> Value {
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": name(object),
        "uid": object["metadata"]["uid"], "blockOwnerDeletion": blocks,
    })
}

fn secret(name: &str, owners: &[&Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "ownerReferences": owners}})
}

async fn delete(client: &Client, path: &str, policy: &str) -> Value {
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
    client.request(Method::DELETE, path).json(&options).send().await.expect(200)
}

/// The secrets that are left.
async fn left(client: &Client) -> usize {
    names(&client.get(SECRETS).await.expect(200)).len()
}

async fn until_gone(client: &Client, path: &str) {
    let begun = Instant::now();
    while client.get(path).await.status != 404 {
        assert!(begun.elapsed() < PATIENCE, "{path} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn until_left(client: &Client, count: usize) {
    let begun = Instant::now();
    loop {
        let left = left(client).await;
        if left == count {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{left} are left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn each_policy_ends_as_it_was_asked() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (policy, kept) in [("Background", 0), ("Foreground", 0), ("Orphan", 3)] {
        let created = admin.post(CONFIG_MAPS, &config_map("owner", "1")).await.expect(201);
        for number in 0..3 {
            let dependent = secret(&format!("s{number}"), &[&owner(&created, true)]);
            admin.post(SECRETS, &dependent).await.expect(201);
        }
        delete(&admin, &format!("{CONFIG_MAPS}/owner"), policy).await;
        until_gone(&admin, &format!("{CONFIG_MAPS}/owner")).await;
        until_left(&admin, kept).await;
        for item in admin.get(SECRETS).await.expect(200)["items"].as_array().unwrap() {
            assert_eq!(item["metadata"]["ownerReferences"], Value::Null, "{item}");
            admin.delete(&format!("{SECRETS}/{}", name(item))).await.expect(200);
        }
    }
}

/// Owners of several kinds and scopes, and dependents of a kind that is not the product's.
#[tokio::test]
async fn owners_may_be_of_any_kind_that_is_served() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let lease = json!({
        "apiVersion": "coordination.orch.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {},
    });
    let leases = "/apis/coordination.orch.io/v1/namespaces/default/leases";
    let lease = admin.post(leases, &lease).await.expect(201);
    let class = json!({
        "apiVersion": "scheduling.orch.io/v1", "kind": "PriorityClass", "metadata": {"name": "c"}, "value": 1,
    });
    let classes = "/apis/scheduling.orch.io/v1/priorityclasses";
    let class = admin.post(classes, &class).await.expect(201);
    let unknown = json!({"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "u"});
    for (name, owners) in [
        ("of-lease", vec![&owner(&lease, false)]),
        ("of-both", vec![&owner(&lease, false), &owner(&class, false)]),
        ("of-class", vec![&owner(&class, false)]),
        ("of-unknown", vec![&owner(&class, false), &unknown]),
    ] {
        admin.post(SECRETS, &secret(name, &owners)).await.expect(201);
    }
    admin.delete(&format!("{leases}/l")).await.expect(200);
    until_left(&admin, 3).await;
    admin.delete(&format!("{classes}/c")).await.expect(200);
    until_left(&admin, 1).await;
    assert_eq!(names(&admin.get(SECRETS).await.expect(200)), ["of-unknown"]);
}

/// A reference may name any version that is served, and any group of a kind that has two.
#[tokio::test]
async fn owners_may_be_named_by_another_version_than_the_stored_one() {
    let flag = "--runtime-config=flowcontrol.apiserver.orch.io/v1beta3";
    let server = TestServer::options().flag(flag).start().await;
    let admin = server.admin();
    let limited = json!({"limitResponse": {"type": "Reject"}});
    let level = json!({"metadata": {"name": "own"}, "spec": {"type": "Limited", "limited": limited}});
    let levels = "/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations";
    let mut level = admin.post(levels, &level).await.expect(201);
    let event = json!({
        "metadata": {"name": "told"}, "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
    });
    let events = "/api/v1/namespaces/default/events";
    let mut event = admin.post(events, &event).await.expect(201);
    level["apiVersion"] = json!("flowcontrol.apiserver.orch.io/v1beta3");
    event["apiVersion"] = json!("events.orch.io/v1");
    for (name, owners) in [
        ("of-level", vec![&owner(&level, true)]),
        ("of-event", vec![&owner(&event, true)]),
        ("of-both", vec![&owner(&level, true), &owner(&event, true)]),
    ] {
        admin.post(SECRETS, &secret(name, &owners)).await.expect(201);
    }
    delete(&admin, &format!("{levels}/own"), "Foreground").await;
    until_left(&admin, 2).await;
    until_gone(&admin, &format!("{levels}/own")).await;
    assert_eq!(names(&admin.get(SECRETS).await.expect(200)), ["of-both", "of-event"]);
    delete(&admin, &format!("{events}/told"), "Background").await;
    until_left(&admin, 0).await;
}

/// The server is killed while it works; what it began comes to its end after the next start.
#[tokio::test]
async fn a_crash_stops_no_deletion() {
    let mut random = seed::generator("garbage");
    let mut server = TestServer::start().await;
    for round in 0..rounds::of_kills(8) {
        let admin = server.admin();
        let created = admin.post(CONFIG_MAPS, &config_map("owner", "1")).await.expect(201);
        admin.post(CONFIG_MAPS, &config_map("other", "1")).await.expect(201);
        let other = admin.get(&format!("{CONFIG_MAPS}/other")).await.expect(200);
        for number in 0..DEPENDENTS {
            let dependent = secret(&format!("s{number}"), &[&owner(&created, number % 2 == 0)]);
            admin.post(SECRETS, &dependent).await.expect(201);
        }
        let both = [&owner(&created, true), &owner(&other, true)];
        admin.post(SECRETS, &secret("kept", &both)).await.expect(201);
        let policy = ["Foreground", "Background", "Orphan"][round % 3];
        delete(&admin, &format!("{CONFIG_MAPS}/owner"), policy).await;
        tokio::time::sleep(Duration::from_micros(random.random_range(0..40_000))).await;
        server.kill().await;
        server.restart().await;
        let admin = server.admin();
        until_gone(&admin, &format!("{CONFIG_MAPS}/owner")).await;
        until_left(&admin, if policy == "Orphan" { DEPENDENTS + 1 } else { 1 }).await;
        let kept = admin.get(&format!("{SECRETS}/kept")).await.expect(200);
        let begun = Instant::now();
        while admin.get(&format!("{SECRETS}/kept")).await.expect(200)["metadata"]["ownerReferences"]
            != json!([owner(&other, true)])
        {
            assert!(begun.elapsed() < PATIENCE, "{policy}: {kept}");
        }
        for path in [SECRETS, CONFIG_MAPS] {
            admin.delete(path).await.expect(200);
        }
        until_left(&admin, 0).await;
    }
}

/// Other requests go on while much is deleted.
#[tokio::test]
async fn much_garbage_keeps_nobody_waiting() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = admin.post(CONFIG_MAPS, &config_map("owner", "1")).await.expect(201);
    let reference = owner(&created, true);
    let writers = (0..8).map(|writer| {
        let (admin, reference) = (server.admin(), &reference);
        async move {
            for number in 0..MANY / 8 {
                admin.post(SECRETS, &secret(&format!("s{writer}-{number}"), &[reference])).await.expect(201);
            }
        }
    });
    futures_util::future::join_all(writers).await;
    delete(&admin, &format!("{CONFIG_MAPS}/owner"), "Foreground").await;
    let begun = Instant::now();
    let (mut slowest, mut answers) = (Duration::ZERO, 0);
    loop {
        let asked = Instant::now();
        let answer = admin.get(&format!("{CONFIG_MAPS}/owner")).await;
        slowest = slowest.max(asked.elapsed());
        if answer.status == 404 {
            break;
        }
        answers += 1;
        assert!(begun.elapsed() < PATIENCE, "{} are left", left(&admin).await);
    }
    println!(
        "{MANY} dependents in {:?}, {answers} answers meanwhile, the slowest {slowest:?}",
        begun.elapsed()
    );
    assert_eq!(left(&admin).await, 0);
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
}
