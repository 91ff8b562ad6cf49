//! A server that is killed while its controllers work: after the next start each of them goes on, and what it
//! began comes to its end. (Garbage, daemon sets and volumes have tests of their own.)

use std::time::{Duration, Instant};

use orch_tests::{
    Client, TestServer,
    client::Answer,
    objects::{CONFIG_MAPS, NAMESPACES, SECRETS, config_map, namespace},
    rounds, seed,
};
use rand::RngExt;
use serde_json::{Value, json};

use crate::bootstrap_tokens;

const PATIENCE: Duration = Duration::from_mins(1);
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const ROLES: &str = "/apis/rbac.authorization.orch.io/v1/clusterroles";
const FLOW_SCHEMA: &str = "/apis/flowcontrol.apiserver.orch.io/v1/flowschemas/catch-all";
const LEVEL: &str = "/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations/catch-all";
const MIGRATIONS: &str = "/apis/storagemigration.orch.io/v1alpha1/storageversionmigrations";
const CLUSTER_INFO: &str = "/api/v1/namespaces/orch-public/configmaps/cluster-info";
const ROOT_CA: &str = "/api/v1/namespaces/default/configmaps/orch-root-ca.crt";
const OWN_SERVICE: &str = "/api/v1/namespaces/default/services/kubernetes";

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

/// Gives each controller something to do, and returns when nothing of it is known to be done.
async fn make_work(admin: &Client, round: usize) {
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
    let selector = json!({"matchLabels": {"part-of": format!("whole-{round}")}});
    let whole = json!({
        "metadata": {"name": format!("whole-{round}")},
        "aggregationRule": {"clusterRoleSelectors": [selector]},
    });
    let claim = json!({"metadata": {"name": format!("c{round}")}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    let volume = json!({"metadata": {"name": format!("v{round}")}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"},
        "storageClassName": "of-nobody",
    }});
    admin.post(CLAIMS, &claim).await.expect(201);
    admin.post(VOLUMES, &volume).await.expect(201);
    admin.post(ACCOUNTS, &json!({"metadata": {"name": format!("robot-{round}")}})).await.expect(201);
    let about = json!({"kind": "ConfigMap", "namespace": "default", "name": "a"});
    let event = json!({"metadata": {"name": format!("e{round}")}, "involvedObject": about});

    // From here on the server may be killed at any time, so each write is one that starts something.
    admin.delete(&format!("{NAMESPACES}/{doomed}")).await.expect(200);
    admin.post(ROLES, &whole).await.expect(201);
    admin.delete(&format!("{CLAIMS}/c{round}")).await.expect(200);
    admin.delete(&format!("{VOLUMES}/v{round}")).await.expect(200);
    let annotations = json!({"orch.io/service-account.name": format!("robot-{round}")});
    let metadata = json!({"name": format!("s{round}"), "annotations": annotations});
    admin
        .post(SECRETS, &json!({"metadata": metadata, "type": "orch.io/service-account-token"}))
        .await
        .expect(201);
    if let Some(before) = round.checked_sub(1) {
        admin.delete(&format!("{ACCOUNTS}/robot-{before}")).await.expect(200);
    }
    admin.post(EVENTS, &event).await.expect(201);
    for (id, expiration) in [("k", "2999-01-01T00:00:00Z"), ("o", "2020-01-01T00:00:00Z")] {
        let mut token = bootstrap_tokens::secret();
        let id = format!("tok{id}{round:02}");
        token["metadata"]["name"] = format!("bootstrap-token-{id}").into();
        token["stringData"]["token-id"] = id.into();
        token["stringData"]["expiration"] = expiration.into();
        token["stringData"]["usage-bootstrap-signing"] = "true".into();
        admin.post(bootstrap_tokens::SECRETS, &token).await.expect(201);
    }
    let resource = json!({"version": "v1", "resource": "configmaps"});
    let migration = json!({"metadata": {"name": format!("m{round}")}, "spec": {"resource": resource}});
    admin.post(MIGRATIONS, &migration).await.expect(201);
    let default_account = format!("{ACCOUNTS}/default");
    for path in
        [FLOW_SCHEMA, LEVEL, ROOT_CA, OWN_SERVICE, "/api/v1/namespaces/orch-node-lease", &default_account]
    {
        // It may be on its way already.
        admin.delete(path).await;
    }
}

/// Waits until all of that is done.
async fn until_done(admin: &Client, round: usize) {
    until_gone(admin, &format!("{NAMESPACES}/doomed-{round}")).await;
    let has_all_rules = |role: &Value| role["rules"].as_array().is_some_and(|rules| rules.len() == 5);
    until_is(admin, &format!("{ROLES}/whole-{round}"), "whole", has_all_rules).await;
    until_gone(admin, &format!("{CLAIMS}/c{round}")).await;
    until_gone(admin, &format!("{VOLUMES}/v{round}")).await;
    let is_filled = |secret: &Value| ["token", "ca.crt"].iter().all(|key| secret["data"][key].is_string());
    until_is(admin, &format!("{SECRETS}/s{round}"), "filled", is_filled).await;
    if let Some(before) = round.checked_sub(1) {
        until_gone(admin, &format!("{SECRETS}/s{before}")).await;
    }
    until_gone(admin, &format!("{EVENTS}/e{round}")).await;
    let signature = format!("jws-kubeconfig-tokk{round:02}");
    until_is(admin, CLUSTER_INFO, "signed", |map| map["data"][&signature].is_string()).await;
    until_gone(admin, &format!("{}/bootstrap-token-toko{round:02}", bootstrap_tokens::SECRETS)).await;
    let has_succeeded = |migration: &Value| {
        let conditions = migration["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|it| it["type"] == "Succeeded" && it["status"] == "True")
    };
    until_is(admin, &format!("{MIGRATIONS}/m{round}"), "carried out", has_succeeded).await;
    let is_alive = |object: &Value| object["metadata"]["deletionTimestamp"].is_null();
    let default_account = format!("{ACCOUNTS}/default");
    for path in
        [FLOW_SCHEMA, LEVEL, ROOT_CA, OWN_SERVICE, "/api/v1/namespaces/orch-node-lease", &default_account]
    {
        until_is(admin, path, "there again", is_alive).await;
    }
    // The namespace that came again has what every namespace has.
    let account = "/api/v1/namespaces/orch-node-lease/serviceaccounts/default";
    until_is(admin, account, "there again", is_alive).await;
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
        make_work(&server.admin(), round).await;
        tokio::time::sleep(Duration::from_micros(random.random_range(0..20_000))).await;
        server.kill().await;
        server.restart().await;
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
        .flag("--controllers=*,bootstrap-signer-controller,token-cleaner-controller")
        .flag(format!("--log-level=info,{}", filters.join(",")))
        .start()
        .await;
    let admin = server.admin();
    let ready = admin.get("/readyz?verbose").await.text();
    let names: Vec<&str> = ready
        .lines()
        .filter_map(|line| line.split_once("controller/")?.1.split_whitespace().next())
        .collect();
    assert!(names.len() >= 19, "{ready}");
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
