//! Namespaces with content as `kubectl` deletes them, and events as it shows them.

use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};
use serde_json::json;

#[tokio::test]
async fn a_namespace_goes_with_its_content() {
    if !is_installed("namespaces with content") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let kubectl = Kubectl { server: &server };
    kubectl.run("create namespace team").await;
    let held = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "held", "namespace": "team", "finalizers": ["example.com/hold"]},
    });
    std::fs::write(server.scratch_dir().join("held.json"), held.to_string()).unwrap();
    kubectl.run("create -f held.json").await;
    kubectl.run("create configmap free -n team").await;
    kubectl.run("create secret generic s -n team").await;
    kubectl.run("delete ns team --wait=false").await;
    let remaining = "wait ns/team --for=condition=NamespaceFinalizersRemaining --timeout=50s";
    kubectl.run(remaining).await;
    kubectl.shows("get ns team", &["Terminating"]).await;
    let conditions =
        ["SomeFinalizersRemain", "example.com/hold in 1 resource instances", "configmaps. has 1"];
    kubectl.shows("describe ns team", &conditions).await;
    kubectl.fails("get configmap free -n team", &["NotFound"]).await;
    kubectl.fails("create configmap late -n team", &["is forbidden", "being terminated"]).await;
    // When what holds it is gone, so is the namespace, without a wait.
    let release = r#"patch configmap held -n team --type=merge -p={"metadata":{"finalizers":null}}"#;
    kubectl.run(release).await;
    kubectl.run("wait ns/team --for=delete --timeout=50s").await;
    // One with content and nothing that holds it: the command waits for the end.
    kubectl.run("create namespace team").await;
    kubectl.run("create configmap free -n team").await;
    kubectl.prints("delete ns team", r#"namespace "team" deleted"#).await;
    kubectl.fails("get configmap free -n team", &["NotFound"]).await;
}

#[tokio::test]
async fn events_are_shown_in_both_groups() {
    if !is_installed("events") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let kubectl = Kubectl { server: &server };
    kubectl.run("create configmap c").await;
    let uid = kubectl.run("get configmap c -o jsonpath={.metadata.uid}").await;
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"},
        "regarding": {
            "apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "c", "uid": uid,
        },
        "eventTime": "2026-11-20T15:14:00.000001Z", "reportingController": "example.com/c",
        "reportingInstance": "i", "action": "Look", "reason": "Seen", "type": "Warning",
        "note": "it was seen",
    });
    std::fs::write(server.scratch_dir().join("event.json"), event.to_string()).unwrap();
    kubectl.run("create -f event.json").await;
    let row = ["Warning", "Seen", "configmap/c", "it was seen"];
    for line in ["get events", "get events.events.k8s.io", "events --for configmap/c"] {
        let row =
            if line.starts_with("events") { ["Warning", "Seen", "ConfigMap/c", "it was seen"] } else { row };
        kubectl.shows(line, &row).await;
    }
    kubectl.shows("describe configmap c", &["Warning", "Seen", "example.com/c", "it was seen"]).await;
    kubectl
        .shows("get events.events.k8s.io e -o yaml", &["note: it was seen", "apiVersion: events.k8s.io/v1"])
        .await;
    kubectl.shows("get events e -o yaml", &["message: it was seen", "apiVersion: v1"]).await;
    kubectl.run("delete events.events.k8s.io e").await;
    kubectl.fails("get events e", &["NotFound"]).await;
}
