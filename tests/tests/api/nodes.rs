//! What a node may do: what it reads, and what it writes of other objects.

use orch_tests::{Client, TestServer};
use serde_json::{Value, json};

const NODES: &str = "/api/v1/nodes";
const PODS: &str = "/api/v1/namespaces/default/pods";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

/// Two nodes, and a pod on each of them: `own` on that of the token, `other` on the other one. They use a
/// claim and an account.
async fn fill(admin: &Client) {
    for node in ["one", "two"] {
        admin.post(NODES, &json!({"metadata": {"name": node}})).await.expect(201);
    }
    let claim = json!({"metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}});
    admin.post(CLAIMS, &claim).await.expect(201);
    admin.post(ACCOUNTS, &json!({"metadata": {"name": "robot"}})).await.expect(201);
    for (pod, node) in [("own", "one"), ("other", "two")] {
        let pod = json!({"metadata": {"name": pod}, "spec": {
            "nodeName": node, "serviceAccountName": "robot", "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}});
        admin.post(PODS, &pod).await.expect(201);
    }
}

#[tokio::test]
async fn a_node_reads_itself_and_its_pods_where_selectors_are_seen() {
    for gate in [false, true] {
        let flag = format!("--feature-gates=AuthorizeWithSelectors={gate}");
        let server = TestServer::options().flag(flag).start().await;
        let (admin, node) = (server.admin(), server.user("node"));
        fill(&admin).await;
        let unselected = "can only list/watch pods with spec.nodeName field selector";
        let unrelated = "no relationship found between node 'one' and this object";
        for (path, refusal) in [
            (format!("{PODS}/own"), None),
            (format!("{PODS}/other"), Some(unrelated)),
            (PODS.to_owned(), Some(unselected)),
            ("/api/v1/pods?fieldSelector=spec.nodeName%3Done".to_owned(), None),
            ("/api/v1/pods?fieldSelector=spec.nodeName%3Dtwo".to_owned(), Some(unselected)),
            ("/api/v1/pods?watch=1&timeoutSeconds=1&fieldSelector=spec.nodeName%3Done".to_owned(), None),
            (format!("{PODS}?fieldSelector=metadata.name%3Down"), None),
            (format!("{NODES}/one"), None),
            (format!("{NODES}?fieldSelector=metadata.name%3Done"), None),
            (format!("{NODES}/two"), Some("node 'one' cannot read 'two', only its own Node object")),
            (NODES.to_owned(), Some("node 'one' cannot read all nodes, only its own Node object")),
        ] {
            let answer = node.get(&path).await;
            match refusal.filter(|_| gate) {
                None => assert_eq!(answer.status, 200, "{gate} {path}: {}", answer.text()),
                Some(refusal) => {
                    let message = answer.refused(403, "Forbidden");
                    assert!(message.ends_with(&format!(": {refusal}")), "{path}: {message}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_node_writes_what_is_about_its_pods_alone() {
    let server = TestServer::start().await;
    let (admin, node) = (server.admin(), server.user("node"));
    fill(&admin).await;
    let refused = |message: String, why: &str| assert!(message.contains(why), "{message}");

    let status = format!("{CLAIMS}/c/status");
    node.merge(&status, &json!({"status": {"capacity": {"storage": "2Gi"}}})).await.expect(200);
    for change in [json!({"status": {"phase": "Lost"}}), json!({"metadata": {"labels": {"a": "b"}}})] {
        let message = node.merge(&status, &change).await.refused(403, "Forbidden");
        let why = "node \"one\" is not allowed to update fields other than status.quantity and \
                   status.conditions";
        refused(message, why);
    }

    let mut uids = Vec::new();
    for pod in ["own", "other"] {
        uids.push(admin.get(&format!("{PODS}/{pod}")).await.expect(200)["metadata"]["uid"].clone());
    }
    let token = |pod: &str, uid: &Value| {
        let reference = json!({"kind": "Pod", "apiVersion": "v1", "name": pod, "uid": uid});
        json!({"spec": {"boundObjectRef": reference}})
    };
    let path = format!("{ACCOUNTS}/robot/token");
    node.post(&path, &token("own", &uids[0])).await.expect(201);
    for (body, why) in [
        (json!({}), "node requested token not bound to a pod"),
        (token("other", &uids[1]), "node requested token bound to a pod scheduled on a different node"),
        (token("own", &uids[1]), "does not match the UID in record"),
    ] {
        refused(node.post(&path, &body).await.refused(403, "Forbidden"), why);
    }

    let evicted = |pod: &str| json!({"metadata": {"name": pod}});
    let foreign = node.post(&format!("{PODS}/other/eviction"), &evicted("other")).await;
    let why = "node one can only evict pods with spec.nodeName set to itself";
    refused(foreign.refused(403, "Forbidden"), why);
    node.post(&format!("{PODS}/own/eviction"), &evicted("own")).await.expect(201);
}
