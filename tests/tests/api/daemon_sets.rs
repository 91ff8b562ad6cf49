//! Daemon sets: the server runs a pod on every node of a set, and replaces pods within the limits.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use orch_tests::{
    TestServer,
    daemon_sets::{
        DAEMON_SETS as SETS, HASH, REVISIONS, history, is_rolled_out, rolling, set, until, with_image,
    },
    fleet::{Fleet, is_serving, node_of},
    objects::{name, names},
    rounds, seed,
};
use rand::RngExt;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";

fn named(prefix: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |number| format!("{prefix}{number:03}"))
}

/// The node of each pod of a list that is not being deleted, in order.
fn nodes_with_pods(pods: &Value) -> Vec<String> {
    let live = pods["items"].as_array().unwrap().iter();
    let mut nodes: Vec<String> = live
        .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
        .map(|pod| node_of(pod).to_owned())
        .collect();
    nodes.sort_unstable();
    nodes
}

#[tokio::test]
async fn every_node_that_is_selected_runs_a_pod() {
    let server = TestServer::start().await;
    let admin = server.admin();
    Fleet::register(&admin, named("n", 4)).await;
    let label = |value: &str| json!({"metadata": {"labels": {"disk": value}}});
    for node in ["n000", "n001", "n002"] {
        admin.merge(&format!("/api/v1/nodes/{node}"), &label("ssd")).await.expect(200);
    }
    let taint = json!({"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}});
    admin.merge("/api/v1/nodes/n002", &taint).await.expect(200);
    let cordon = json!({"spec": {"unschedulable": true}});
    admin.merge("/api/v1/nodes/n001", &cordon).await.expect(200);

    let mut fleet = Fleet::begin(server.admin(), "default").await;
    let mut wanted = set("one", &json!({}));
    wanted["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    let created = admin.post(SETS, &wanted).await.expect(201);
    let done = until(&admin, &mut fleet, |_| {}, is_rolled_out(2)).await;
    assert_eq!(done["status"]["numberMisscheduled"], 0);
    assert_eq!(done["status"].get("conditions"), None);
    let pods = admin.get(PODS).await.expect(200);
    assert_eq!(nodes_with_pods(&pods), ["n000", "n001"]);
    let pod = &pods["items"][0];
    let owner = json!([{
        "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": created["metadata"]["uid"],
        "controller": true, "blockOwnerDeletion": true,
    }]);
    assert_eq!(pod["metadata"]["ownerReferences"], owner);
    assert_eq!(pod["metadata"]["labels"]["pod-template-generation"], "1");
    let terms = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let by_name = json!([{"key": "metadata.name", "operator": "In", "values": [node_of(pod)]}]);
    assert_eq!(terms["nodeSelectorTerms"], json!([{"matchFields": by_name}]));
    let revisions = admin.get(REVISIONS).await.expect(200);
    let hash = &revisions["items"][0]["metadata"]["labels"][HASH];
    assert_eq!(names(&revisions), [format!("d-{}", hash.as_str().unwrap())]);
    assert_eq!(pod["metadata"]["labels"][HASH], *hash);

    // A node that comes to match gets one, one that no longer does loses its own.
    admin.merge("/api/v1/nodes/n003", &label("ssd")).await.expect(200);
    admin.merge("/api/v1/nodes/n000", &label("hdd")).await.expect(200);
    let is_moved = |status: &Value| is_rolled_out(2)(status) && status["numberMisscheduled"] == 0;
    until(&admin, &mut fleet, |_| {}, |status| is_moved(status) && status["currentNumberScheduled"] == 2)
        .await;
    while nodes_with_pods(&admin.get(PODS).await.expect(200)) != ["n001", "n003"] {
        fleet.step(|_| {}).await;
    }
    // A node that is gone cannot end its pods.
    admin.delete("/api/v1/nodes/n003").await.expect(200);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(1)).await;
    while fleet.pods.len() > 1 {
        fleet.step(|_| {}).await;
    }
    // Events tell of it.
    let events = admin.get("/api/v1/namespaces/default/events").await.expect(200);
    let told: BTreeSet<&str> =
        events["items"].as_array().unwrap().iter().filter_map(|event| event["reason"].as_str()).collect();
    assert!(told.is_superset(&["SuccessfulCreate", "SuccessfulDelete"].into()), "{told:?}");
}

#[tokio::test]
async fn a_rollout_stays_within_its_limits_on_every_event() {
    const NODES: usize = 100;
    const LIMIT: usize = 10;
    let server = TestServer::start().await;
    let admin = server.admin();
    Fleet::register(&admin, named("n", NODES)).await;
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    admin.post(SETS, &set("one", &rolling(&json!("10%"), &json!(0)))).await.expect(201);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(NODES)).await;

    let serving = |pods: &BTreeMap<String, Value>| {
        pods.values()
            .filter(|pod| is_serving(pod))
            .map(|pod| node_of(pod).to_owned())
            .collect::<BTreeSet<_>>()
    };
    let mut fewest = NODES;
    let without_surge = |pods: &BTreeMap<String, Value>| {
        fewest = fewest.min(serving(pods).len());
        assert!(pods.len() <= NODES, "there are {} pods", pods.len());
    };
    admin.merge(&format!("{SETS}/d"), &with_image("two")).await.expect(200);
    until(&admin, &mut fleet, without_surge, is_rolled_out(NODES)).await;
    assert_eq!(fewest, NODES - LIMIT);

    let (mut fewest, mut most) = (NODES, 0);
    let with_surge = |pods: &BTreeMap<String, Value>| {
        let live = pods.values().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        most = most.max(live.count());
        fewest = fewest.min(serving(pods).len());
    };
    let surge = rolling(&json!(0), &json!("10%"));
    admin.merge(&format!("{SETS}/d"), &json!({"spec": surge})).await.expect(200);
    admin.merge(&format!("{SETS}/d"), &with_image("three")).await.expect(200);
    until(&admin, &mut fleet, with_surge, is_rolled_out(NODES)).await;
    assert_eq!((fewest, most), (NODES, NODES + LIMIT));
}

#[tokio::test]
async fn a_set_goes_back_to_a_revision_and_forgets_the_oldest() {
    let server = TestServer::start().await;
    let admin = server.admin();
    Fleet::register(&admin, named("n", 2)).await;
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    admin.post(SETS, &set("one", &json!({"revisionHistoryLimit": 2}))).await.expect(201);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(2)).await;
    for image in ["two", "three"] {
        admin.merge(&format!("{SETS}/d"), &with_image(image)).await.expect(200);
        until(&admin, &mut fleet, |_| {}, is_rolled_out(2)).await;
    }
    let expected = [(1, "one"), (2, "two"), (3, "three")].map(|(number, image)| (number, image.to_owned()));
    assert_eq!(history(&admin).await, expected);

    let revisions = admin.get(REVISIONS).await.expect(200);
    let first = revisions["items"].as_array().unwrap().iter().find(|it| it["revision"] == 1).unwrap();
    let patch = first["data"].to_string();
    let back = admin.request(Method::PATCH, &format!("{SETS}/d"));
    back.body("application/strategic-merge-patch+json", patch).send().await.expect(200);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(2)).await;
    let expected = [(2, "two"), (3, "three"), (4, "one")].map(|(number, image)| (number, image.to_owned()));
    assert_eq!(history(&admin).await, expected);
    let pods = admin.get(PODS).await.expect(200);
    assert_eq!(pods["items"][0]["metadata"]["labels"][HASH], first["metadata"]["labels"][HASH]);

    admin.merge(&format!("{SETS}/d"), &with_image("four")).await.expect(200);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(2)).await;
    // The oldest goes when no pod has it any more, which the set sees at a later look.
    let mut kept = history(&admin).await;
    for _ in 0..200 {
        if kept.len() == 3 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        kept = history(&admin).await;
    }
    let expected = [(3, "three"), (4, "one"), (5, "four")].map(|(number, image)| (number, image.to_owned()));
    assert_eq!(kept, expected);
}

#[tokio::test]
async fn pods_come_and_go_by_their_labels_and_failed_ones_are_replaced() {
    let server = TestServer::start().await;
    let admin = server.admin();
    Fleet::register(&admin, named("n", 2)).await;
    // Before the set exists: a pod that it selects, and one that another controller has.
    let mut orphan = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "orphan", "labels": {"app": "a"}},
        "spec": {"nodeName": "n000", "containers": [{"name": "c", "image": "zero"}]},
    });
    admin.post(PODS, &orphan).await.expect(201);
    orphan["metadata"]["name"] = "foreign".into();
    orphan["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "another", "controller": true,
    }]);
    admin.post(PODS, &orphan).await.expect(201);
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    admin.post(SETS, &set("one", &json!({"updateStrategy": {"type": "OnDelete"}}))).await.expect(201);
    let is_full = |status: &Value| status["numberAvailable"] == 2;
    let taken = until(&admin, &mut fleet, |_| {}, is_full).await;
    assert_eq!(taken["status"]["updatedNumberScheduled"], 1, "the pod that was taken is older");
    let orphan = admin.get(&format!("{PODS}/orphan")).await.expect(200);
    assert_eq!(orphan["metadata"]["ownerReferences"][0]["uid"], taken["metadata"]["uid"]);

    // It is let go when it is not selected any more, and another takes its place.
    let relabel = json!({"metadata": {"labels": {"app": "b"}}});
    admin.merge(&format!("{PODS}/orphan"), &relabel).await.expect(200);
    until(&admin, &mut fleet, |_| {}, |status| status["updatedNumberScheduled"] == 2 && is_full(status))
        .await;
    let orphan = admin.get(&format!("{PODS}/orphan")).await.expect(200);
    assert_eq!(orphan["metadata"].get("ownerReferences"), None);
    assert!(fleet.pods.contains_key("foreign"));

    // A pod that fails is replaced, and the one after it a second later.
    fleet.broken.insert("n001".to_owned());
    let of_set = |pod: &&Value| node_of(pod) == "n001" && pod["metadata"]["generateName"] == "d-";
    let running = name(fleet.pods.values().find(of_set).unwrap()).to_owned();
    let failed = json!({"status": {"phase": "Failed", "conditions": null}});
    admin.merge(&format!("{PODS}/{running}/status"), &failed).await.expect(200);
    let mut seen = BTreeSet::new();
    while seen.len() < 3 {
        fleet.step(|pods| seen.extend(pods.values().filter(of_set).map(|pod| name(pod).to_owned()))).await;
    }
    fleet.broken.clear();
    until(&admin, &mut fleet, |_| {}, is_full).await;
    let events = admin.get("/api/v1/namespaces/default/events").await.expect(200);
    let warned =
        events["items"].as_array().unwrap().iter().find(|event| event["reason"] == "FailedDaemonPod");
    assert_eq!(warned.expect("a warning")["type"], "Warning");
}

#[tokio::test]
async fn a_name_that_is_taken_makes_another() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(SETS, &set("one", &json!({}))).await.expect(201);
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    until(&admin, &mut fleet, |_| {}, |_| true).await;
    let revisions = admin.get(REVISIONS).await.expect(200);
    let taken = names(&revisions)[0].to_owned();
    // The same name, in other hands.
    admin.delete(&format!("{SETS}/d?propagationPolicy=Background")).await.expect(200);
    admin.request(Method::DELETE, &format!("{REVISIONS}/{taken}")).send().await;
    let other = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": taken},
        "data": {"other": "data"}, "revision": 1,
    });
    admin.post(REVISIONS, &other).await.expect(201);
    admin.post(SETS, &set("one", &json!({}))).await.expect(201);
    let set = until(&admin, &mut fleet, |_| {}, |status| status["collisionCount"] == 1).await;
    assert_eq!(set["status"]["observedGeneration"], 1);
    let revisions = admin.get(REVISIONS).await.expect(200);
    assert_eq!(names(&revisions).len(), 2);
}

/// Killed in the middle, it goes on where it was: nothing is done twice, and the limits hold.
#[tokio::test]
async fn a_rollout_goes_on_after_power_cuts() {
    const NODES: usize = 12;
    let mut random = seed::generator("rollout");
    let mut server = TestServer::start().await;
    let admin = server.admin();
    Fleet::register(&admin, named("n", NODES)).await;
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    admin.post(SETS, &set("zero", &rolling(&json!(3), &json!(0)))).await.expect(201);
    until(&admin, &mut fleet, |_| {}, is_rolled_out(NODES)).await;
    let rounds = rounds::of_kills(8);
    for round in 0..rounds {
        admin.merge(&format!("{SETS}/d"), &with_image(&format!("image-{round}"))).await.expect(200);
        let look = |pods: &BTreeMap<String, Value>| {
            let serving = pods.values().filter(|pod| is_serving(pod)).count();
            assert!(serving >= NODES - 3 && pods.len() <= NODES, "{serving} of {}", pods.len());
        };
        for _ in 0..random.random_range(1..3 * NODES) {
            fleet.step(look).await;
        }
        server.kill().await;
        server.restart().await;
        fleet = Fleet::begin(server.admin(), "default").await;
        look(&fleet.pods);
        until(&admin, &mut fleet, look, is_rolled_out(NODES)).await;
    }
    let revisions = admin.get(REVISIONS).await.expect(200);
    // The current one, and as many older ones as are kept.
    assert_eq!(names(&revisions).len(), 1 + rounds.min(10));
}
