//! Evictions: a pod goes when its disruption budget allows that, and the budget counts it.

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

#[tokio::test]
async fn a_pod_that_no_budget_covers_goes() {
    let server = TestServer::start().await;
    let admin = server.admin();
    running_pod(&admin, "p", true).await;
    let dry_run = json!({"deleteOptions": {"dryRun": ["All"]}});
    succeeded(&evict(&admin, "p", &dry_run).await);
    let other = json!({"deleteOptions": {"preconditions": {"uid": "another"}}});
    evict(&admin, "p", &other).await.refused(409, "Conflict");
    let pod = admin.get(&format!("{PODS}/p")).await.expect(200);
    assert!(pod["metadata"].get("deletionTimestamp").is_none());
    assert_eq!(pod["status"]["conditions"].as_array().unwrap().len(), 1);
    succeeded(&evict(&admin, "p", &json!({})).await);
    // The machine that runs it is given time to end it.
    let going = admin.get(&format!("{PODS}/p")).await.expect(200);
    assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 30);
    let condition = &going["status"]["conditions"][1];
    assert_eq!([&condition["type"], &condition["reason"]], ["DisruptionTarget", "EvictionByEvictionAPI"]);
    succeeded(&evict(&admin, "p", &json!({"deleteOptions": {"gracePeriodSeconds": 0}})).await);
    admin.get(&format!("{PODS}/p")).await.refused(404, "NotFound");
    evict(&admin, "p", &json!({})).await.refused(404, "NotFound");
    // What older tools send is read too.
    running_pod(&admin, "q", true).await;
    succeeded(&evict(&admin, "q", &json!({"apiVersion": "policy/v1beta1", "kind": "Eviction"})).await);
    let newer = json!({"apiVersion": "policy/v2", "kind": "Eviction"});
    evict(&admin, "q", &newer).await.refused(400, "BadRequest");
    admin.get(&format!("{PODS}/p/eviction")).await.refused(405, "MethodNotAllowed");
    let elsewhere = "/api/v1/namespaces/missing/pods/p/eviction";
    let message = admin.post(elsewhere, &eviction("p", &json!({}))).await.refused(404, "NotFound");
    assert_eq!(message, r#"namespaces "missing" not found"#);
}

#[tokio::test]
async fn a_budget_counts_evictions_until_it_is_used_up() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["p", "q", "r"] {
        running_pod(&admin, name, true).await;
    }
    let generation =
        budget(&admin, "b", json!({"matchLabels": {"app": "a"}})).await["metadata"]["generation"].clone();
    let early = evict(&admin, "p", &json!({})).await;
    let message = early.refused(429, "TooManyRequests");
    assert_eq!(message, "Cannot evict pod as it would violate the pod's disruption budget.");
    assert_eq!(early.header("retry-after"), "10");
    let cause = &early.json()["details"]["causes"][0];
    assert_eq!(cause["reason"], "DisruptionBudget");
    assert_eq!(cause["message"], "The disruption budget b is still being processed by the server.");

    let status = json!({
        "observedGeneration": generation, "disruptionsAllowed": 1, "desiredHealthy": 2, "currentHealthy": 3,
        "expectedPods": 3,
    });
    told(&admin, "b", status).await;
    let dry_run = admin.post(&format!("{PODS}/p/eviction?dryRun=All"), &eviction("p", &json!({}))).await;
    succeeded(&dry_run);
    let before = admin.get(&format!("{BUDGETS}/b")).await.expect(200);
    assert_eq!(before["status"]["disruptionsAllowed"], 1);
    succeeded(&evict(&admin, "p", &json!({})).await);
    let after = admin.get(&format!("{BUDGETS}/b")).await.expect(200);
    assert_eq!(after["status"]["disruptionsAllowed"], 0);
    assert!(after["status"]["disruptedPods"]["p"].is_string());
    // Managers own the fields that they wrote; the field in which the server counts has no owner.
    assert_eq!(after["metadata"]["managedFields"], before["metadata"]["managedFields"]);

    let refused = evict(&admin, "q", &json!({})).await;
    refused.refused(429, "TooManyRequests");
    assert_eq!(refused.header("retry-after"), "");
    let cause = &refused.json()["details"]["causes"][0];
    assert_eq!(cause["message"], "The disruption budget b needs 2 healthy pods and has 3 currently");
    assert!(admin.get(&format!("{PODS}/q")).await.expect(200)["metadata"].get("deletionTimestamp").is_none());
    // A pod that is terminating already is not counted again.
    succeeded(&evict(&admin, "p", &json!({"deleteOptions": {"gracePeriodSeconds": 0}})).await);
}

#[tokio::test]
async fn unhealthy_pods_follow_the_policy_and_two_budgets_are_one_too_many() {
    let server = TestServer::start().await;
    let admin = server.admin();
    running_pod(&admin, "sick", false).await;
    let generation = budget(&admin, "b", json!({})).await["metadata"]["generation"].clone();
    let short = json!({
        "observedGeneration": generation, "disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 1,
    });
    told(&admin, "b", short.clone()).await;
    evict(&admin, "sick", &json!({})).await.refused(429, "TooManyRequests");
    let policy = json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}});
    admin.merge(&format!("{BUDGETS}/b"), &policy).await.expect(200);
    succeeded(&evict(&admin, "sick", &json!({})).await);

    running_pod(&admin, "spare", false).await;
    let policy = json!({"spec": {"unhealthyPodEvictionPolicy": null}});
    admin.merge(&format!("{BUDGETS}/b"), &policy).await.expect(200);
    told(
        &admin,
        "b",
        json!({"observedGeneration": 9, "disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 2}),
    )
    .await;
    succeeded(&evict(&admin, "spare", &json!({})).await);

    running_pod(&admin, "p", true).await;
    budget(&admin, "c", json!({"matchLabels": {"app": "a"}})).await;
    let twice = evict(&admin, "p", &json!({})).await;
    let message = twice.refused(500, "");
    assert_eq!(
        message,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    );
}

#[tokio::test]
async fn many_evictions_take_no_more_than_the_budget_has() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let names: Vec<String> = (0..12).map(|n| format!("p{n}")).collect();
    for name in &names {
        running_pod(&admin, name, true).await;
    }
    let generation = budget(&admin, "b", json!({})).await["metadata"]["generation"].clone();
    told(&admin, "b", json!({"observedGeneration": generation, "disruptionsAllowed": 5})).await;
    let evictions = names.iter().map(|name| {
        let (admin, name) = (admin.clone(), name.clone());
        tokio::spawn(async move { evict(&admin, &name, &json!({})).await.status })
    });
    let mut codes = Vec::new();
    for eviction in evictions.collect::<Vec<_>>() {
        codes.push(eviction.await.unwrap());
    }
    let count = |code| codes.iter().filter(|&&other| other == code).count();
    assert_eq!((count(201), count(429)), (5, 7), "{codes:?}");
    let budget = admin.get(&format!("{BUDGETS}/b")).await.expect(200);
    assert_eq!(budget["status"]["disruptedPods"].as_object().unwrap().len(), 5);
}

fn eviction(name: &str, with: &Value) -> Value {
    let mut eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    for (field, value) in with.as_object().unwrap() {
        eviction[field] = value.clone();
    }
    eviction
}

async fn evict(admin: &Client, name: &str, with: &Value) -> Answer {
    admin.post(&format!("{PODS}/{name}/eviction"), &eviction(name, with)).await
}

fn succeeded(answer: &Answer) {
    let expected =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    assert_eq!(answer.expect(201), expected);
}

/// A pod of the application `a` that runs on a machine.
async fn running_pod(admin: &Client, name: &str, ready: bool) {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "x:1"}]},
    });
    admin.post(PODS, &pod).await.expect(201);
    let status = json!({"status": {"phase": "Running", "conditions": [{
        "type": "Ready", "status": if ready { "True" } else { "False" },
    }]}});
    admin.merge(&format!("{PODS}/{name}/status"), &status).await.expect(200);
}

async fn budget(admin: &Client, name: &str, selector: Value) -> Value {
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"minAvailable": 2, "selector": selector},
    });
    admin.post(BUDGETS, &budget).await.expect(201)
}

/// Writes a budget's status, as the controller does that counts its pods.
async fn told(admin: &Client, name: &str, status: Value) {
    let path = format!("{BUDGETS}/{name}/status");
    let body = json!({"status": status}).to_string();
    admin.request(Method::PATCH, &path).body("application/merge-patch+json", body).send().await.expect(200);
}
