//! A server that is killed while its controllers work: after the next start each of them goes on, and what it
//! began comes to its end. (Garbage, daemon sets and volumes have tests of their own.)

use std::time::{Duration, Instant};

use http::Method;
use orch_tests::{
    Client, TestServer,
    client::{Answer, ClientError},
    objects::{CONFIG_MAPS, NAMESPACES, SECRETS, config_map, namespace},
    rounds, seed,
};
use rand::{RngExt, seq::SliceRandom};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::bootstrap_tokens;

const PATIENCE: Duration = Duration::from_mins(1);
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const ROLES: &str = "/apis/rbac.authorization.orch.io/v1/clusterroles";
const MIGRATIONS: &str = "/apis/storagemigration.orch.io/v1alpha1/storageversionmigrations";
const CLASSES: &str = "/apis/scheduling.orch.io/v1/priorityclasses";
const CLUSTER_INFO: &str = "/api/v1/namespaces/orch-public/configmaps/cluster-info";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Objects that the server makes again.
const KEPT: [&str; 7] = [
    "/apis/flowcontrol.apiserver.orch.io/v1/flowschemas/catch-all",
    "/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations/catch-all",
    "/api/v1/namespaces/default/configmaps/orch-root-ca.crt",
    "/api/v1/namespaces/default/services/kubernetes",
    "/api/v1/namespaces/orch-node-lease",
    "/api/v1/namespaces/default/serviceaccounts/default",
    "/api/v1/namespaces/orch-node-lease/serviceaccounts/default",
];

/// The server makes these again too; only together with others they can be deleted.
const CLASSES_OF_SYSTEM: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

/// The reclaim policies that are tried.
const RECLAIMED: [&str; 2] = ["Delete", "Retain"];
/// Pods that are deleted in each round. None has a node, so each goes at once, in two writes.
const PODS_OF_A_ROUND: usize = 6;
/// How long after a trigger the server is killed, at the latest: a few of them later.
const LONGEST_MICROS: u64 = 10_000;

/// Waits until a GET has an answer that is wanted.
async fn until(admin: &Client, path: &str, what: &str, is_wanted: impl Fn(&Answer) -> bool) {
    let begun = Instant::now();
    loop {
        let answer = admin.get(path).await;
        if is_wanted(&answer) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{path} is never {what}: {answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn until_gone(admin: &Client, path: &str) {
    until(admin, path, "gone", |answer| answer.status == 404).await;
}

/// Waits until an object is there and is wanted.
async fn until_is(admin: &Client, path: &str, what: &str, is_wanted: impl Fn(&Value) -> bool) {
    until(admin, path, what, |answer| answer.status == 200 && is_wanted(&answer.json())).await;
}

/// A write that gives controllers something to do.
enum Trigger {
    Create(String, Value),
    Delete(String),
}

impl Trigger {
    /// Sends it, unless it has been carried out. A deletion that has begun is the server's business.
    async fn send(&self, admin: &Client) -> Result<(), ClientError> {
        let (answer, wanted): (Answer, &[u16]) = match self {
            Trigger::Create(collection, object) => {
                (admin.request(Method::POST, collection).json(object).try_send().await?, &[201, 409])
            }
            Trigger::Delete(path) => {
                let found = admin.request(Method::GET, path).try_send().await?;
                if found.status == 404 || !found.json()["metadata"]["deletionTimestamp"].is_null() {
                    return Ok(());
                }
                (admin.request(Method::DELETE, path).try_send().await?, &[200, 404, 409])
            }
        };
        assert!(wanted.contains(&answer.status), "{answer:?}");
        Ok(())
    }
}

/// Sends triggers until the server is gone, and tells which one is next: how many were answered.
async fn send(admin: &Client, triggers: &[Trigger], next: impl Fn(usize)) -> usize {
    for (index, trigger) in triggers.iter().enumerate() {
        next(index);
        if trigger.send(admin).await.is_err() {
            return index;
        }
    }
    triggers.len()
}

/// A volume of a class, with what a claim leaves of it.
fn volume(name: &str, class: &str, policy: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"},
        "storageClassName": class, "persistentVolumeReclaimPolicy": policy,
    }})
}

fn claim(name: &str, class: Option<&str>) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": class,
    }})
}

/// Makes what the triggers of a round need; the triggers.
async fn prepare(admin: &Client, round: usize) -> Vec<Trigger> {
    let doomed = format!("doomed-{round}");
    admin.post(NAMESPACES, &namespace(&doomed)).await.expect(201);
    for number in 0..20 {
        let map = config_map(&format!("m{number}"), "1");
        admin.post(&format!("{NAMESPACES}/{doomed}/configmaps"), &map).await.expect(201);
    }
    for part in 0..5 {
        let labels = json!({"part-of": format!("whole-{round}")});
        let rule = json!({"apiGroups": [""], "resources": [format!("things-{part}")], "verbs": ["get"]});
        let metadata = json!({"name": format!("part-{round}-{part}"), "labels": labels});
        admin.post(ROLES, &json!({"metadata": metadata, "rules": [rule]})).await.expect(201);
    }
    admin.post(CLAIMS, &claim(&format!("c{round}"), None)).await.expect(201);
    admin.post(VOLUMES, &volume(&format!("v{round}"), "of-nobody", "Retain")).await.expect(201);
    for policy in RECLAIMED {
        let name = format!("{}-{round}", policy.to_lowercase());
        admin.post(VOLUMES, &volume(&name, &name, policy)).await.expect(201);
        admin.post(CLAIMS, &claim(&name, Some(&name))).await.expect(201);
        for collection in [CLAIMS, VOLUMES] {
            let is_bound = |object: &Value| object["status"]["phase"] == "Bound";
            until_is(admin, &format!("{collection}/{name}"), "bound", is_bound).await;
        }
    }
    for number in 0..PODS_OF_A_ROUND {
        let spec = json!({"containers": [{"name": "c", "image": "i"}]});
        let pod = json!({"metadata": {"name": format!("p{round}-{number}")}, "spec": spec});
        admin.post(PODS, &pod).await.expect(201);
    }
    admin.post(ACCOUNTS, &json!({"metadata": {"name": format!("robot-{round}")}})).await.expect(201);
    triggers(round)
}

/// What starts something; the server may be killed between any two of them, and within each.
fn triggers(round: usize) -> Vec<Trigger> {
    use Trigger::{Create, Delete};
    let create = |collection: &str, object: Value| Create(collection.to_owned(), object);
    let selector = json!({"matchLabels": {"part-of": format!("whole-{round}")}});
    let whole = json!({
        "metadata": {"name": format!("whole-{round}")},
        "aggregationRule": {"clusterRoleSelectors": [selector]},
    });
    let annotations = json!({"orch.io/service-account.name": format!("robot-{round}")});
    let metadata = json!({"name": format!("s{round}"), "annotations": annotations});
    let about = json!({"kind": "ConfigMap", "namespace": "default", "name": "a"});
    let event = json!({"metadata": {"name": format!("e{round}")}, "involvedObject": about});
    let resource = json!({"version": "v1", "resource": "configmaps"});
    let migration = json!({"metadata": {"name": format!("m{round}")}, "spec": {"resource": resource}});
    let mut triggers = vec![
        Delete(format!("{NAMESPACES}/doomed-{round}")),
        create(ROLES, whole),
        Delete(format!("{CLAIMS}/c{round}")),
        Delete(format!("{VOLUMES}/v{round}")),
        create(SECRETS, json!({"metadata": metadata, "type": "orch.io/service-account-token"})),
        create(EVENTS, event),
        create(MIGRATIONS, migration),
    ];
    triggers.extend(RECLAIMED.map(|policy| Delete(format!("{CLAIMS}/{}-{round}", policy.to_lowercase()))));
    triggers.extend((0..PODS_OF_A_ROUND).map(|number| Delete(format!("{PODS}/p{round}-{number}"))));
    triggers.extend(round.checked_sub(1).map(|before| Delete(format!("{ACCOUNTS}/robot-{before}"))));
    for (id, expiration) in [("k", "2999-01-01T00:00:00Z"), ("o", "2020-01-01T00:00:00Z")] {
        let mut token = bootstrap_tokens::secret();
        let id = token_id(id, round);
        token["metadata"]["name"] = format!("bootstrap-token-{id}").into();
        token["stringData"]["token-id"] = id.into();
        token["stringData"]["expiration"] = expiration.into();
        token["stringData"]["usage-bootstrap-signing"] = "true".into();
        triggers.push(create(bootstrap_tokens::SECRETS, token));
    }
    triggers.extend(KEPT.map(|path| Delete(path.to_owned())));
    triggers.push(Delete(CLASSES.to_owned()));
    triggers
}

/// The id of a token: six characters, different in each round.
fn token_id(kind: &str, round: usize) -> String {
    format!("t{kind}{round:04}")
}

/// Waits until all of that is done.
async fn until_done(admin: &Client, round: usize) {
    until_gone(admin, &format!("{NAMESPACES}/doomed-{round}")).await;
    let has_all_rules = |role: &Value| role["rules"].as_array().is_some_and(|rules| rules.len() == 5);
    until_is(admin, &format!("{ROLES}/whole-{round}"), "whole", has_all_rules).await;
    until_gone(admin, &format!("{CLAIMS}/c{round}")).await;
    until_gone(admin, &format!("{VOLUMES}/v{round}")).await;
    until_gone(admin, &format!("{VOLUMES}/delete-{round}")).await;
    let is_released = |volume: &Value| volume["status"]["phase"] == "Released";
    until_is(admin, &format!("{VOLUMES}/retain-{round}"), "released", is_released).await;
    for number in 0..PODS_OF_A_ROUND {
        until_gone(admin, &format!("{PODS}/p{round}-{number}")).await;
    }
    let is_filled = |secret: &Value| ["token", "ca.crt"].iter().all(|key| secret["data"][key].is_string());
    until_is(admin, &format!("{SECRETS}/s{round}"), "filled", is_filled).await;
    if let Some(before) = round.checked_sub(1) {
        until_gone(admin, &format!("{SECRETS}/s{before}")).await;
    }
    until_gone(admin, &format!("{EVENTS}/e{round}")).await;
    let signature = format!("jws-kubeconfig-{}", token_id("k", round));
    until_is(admin, CLUSTER_INFO, "signed", |map| map["data"][&signature].is_string()).await;
    let expired = token_id("o", round);
    until_gone(admin, &format!("{}/bootstrap-token-{expired}", bootstrap_tokens::SECRETS)).await;
    let has_succeeded = |migration: &Value| {
        let conditions = migration["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|it| it["type"] == "Succeeded" && it["status"] == "True")
    };
    until_is(admin, &format!("{MIGRATIONS}/m{round}"), "carried out", has_succeeded).await;
    let is_alive = |object: &Value| object["metadata"]["deletionTimestamp"].is_null();
    let classes = CLASSES_OF_SYSTEM.map(|name| format!("{CLASSES}/{name}"));
    for path in KEPT.into_iter().chain(classes.iter().map(String::as_str)) {
        until_is(admin, path, "there again", is_alive).await;
    }
}

#[tokio::test]
async fn every_controller_goes_on_after_power_cuts() {
    let mut random = seed::generator("power cuts");
    let mut server = TestServer::options()
        .publish_authority()
        .flag("--controllers=*,bootstrap-signer-controller,token-cleaner-controller")
        .flag("--runtime-config=storagemigration.orch.io/v1alpha1=true")
        .flag("--event-ttl=3s")
        .start()
        .await;
    let info = json!({"metadata": {"name": "cluster-info"}, "data": {"kubeconfig": "k"}});
    let public = "/api/v1/namespaces/orch-public/configmaps";
    server.admin().post(public, &info).await.expect(201);
    for round in 0..rounds::of_kills(8) {
        let admin = server.admin();
        let mut triggers = prepare(&admin, round).await;
        // In turn, each trigger is the last one before the power is cut, after some of the others.
        let chosen = triggers.remove(round % triggers.len());
        triggers.shuffle(&mut random);
        let (last, reached) = (random.random_range(0..=triggers.len()), Notify::new());
        triggers.insert(last, chosen);
        let delay = Duration::from_micros(random.random_range(0..LONGEST_MICROS));
        let next = |index| {
            if index == last {
                reached.notify_one();
            }
        };
        let killed = async {
            reached.notified().await;
            tokio::time::sleep(delay).await;
            server.kill().await;
        };
        let (answered, ()) = tokio::join!(send(&admin, &triggers, next), killed);
        println!("round {round}: killed after {answered} of {} triggers", triggers.len());
        server.restart().await;
        // Those that the server has answered hold.
        let rest = &triggers[answered..];
        assert_eq!(send(&server.admin(), rest, |_| {}).await, rest.len());
        until_done(&server.admin(), round).await;
    }
    // Whatever was not to go is still there.
    server.admin().get(CONFIG_MAPS).await.expect(200);
    server.admin().get(CLUSTER_INFO).await.expect(200);
}

/// Whoever looks for a controller finds it by the same name in probes, metrics and the log.
#[tokio::test]
async fn every_controller_is_seen() {
    let watched = ["namespace", "serviceaccount-controller", "root-ca-certificate-publisher-controller"];
    let filters = watched.map(|name| format!("[controller{{name={name}}}]=debug"));
    let server = TestServer::options()
        .publish_authority()
        .flag("--controllers=*,bootstrapsigner,tokencleaner")
        .flag(format!("--log-level=info,{}", filters.join(",")))
        .start()
        .await;
    let admin = server.admin();
    let ready = admin.get("/readyz?verbose").await.text();
    let names: Vec<&str> = ready
        .lines()
        .filter_map(|line| line.split_once("controller/")?.1.split_whitespace().next())
        .collect();
    assert!(names.len() >= 20, "{ready}");
    let metrics = admin.get("/metrics").await.text();
    for name in &names {
        for metric in ["workqueue_depth", "workqueue_retries_total", "workqueue_work_duration_seconds_count"]
        {
            let series = format!("{metric}{{name=\"{name}\"}}");
            assert!(metrics.contains(&series), "{series}:\n{metrics}");
        }
    }
    // A namespace is work for these, and each says so under its name.
    admin.post(NAMESPACES, &namespace("seen")).await.expect(201);
    for name in watched {
        assert!(names.contains(&name), "{names:?}");
        server.logged(&format!("controller=\"{name}\" key=")).await;
    }
}

/// All of them at once, and one level for all others beside it or not.
#[tokio::test]
async fn controllers_are_seen_without_a_name() {
    for levels in ["[controller]=debug", "warn,[controller]=debug"] {
        let server = TestServer::options().flag(format!("--log-level={levels}")).start().await;
        server.admin().post(NAMESPACES, &namespace("seen")).await.expect(201);
        for name in ["namespace", "serviceaccount-controller"] {
            server.logged(&format!("controller=\"{name}\" key=")).await;
        }
    }
}
