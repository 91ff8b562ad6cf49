//! The same objects in two versions at the same time, whichever of them is stored: every verb over a socket,
//! watches, two managers, and kubectl.

use http::Method;
use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
    objects::{names, version},
};
use serde_json::{Value, json};

use crate::program::{BETA, autoscaler, path, server_of};

const KEPT: &str = "example.orch.io/v1beta1-metrics";

/// 1.31 stores `v1beta1`, and 1.32 stores `v1`.
async fn servers() -> [TestServer; 2] {
    [server_of("1.31").flag(BETA).start().await, server_of("1.32").flag(BETA).start().await]
}

fn item(version: &str) -> String {
    format!("{}/a", path(version))
}

fn metric(name: &str) -> Value {
    json!({"name": name, "utilization": 50})
}

/// With the load that it looks at, as a version names that.
fn spec(version: &str, metrics: &[&str]) -> Value {
    let mut spec = json!({"scaleTargetRef": {"kind": "A", "name": "a"}, "maxReplicas": 3});
    match (version, metrics) {
        ("v1beta1", [first, ..]) => spec["metric"] = metric(first),
        ("v1", [_, ..]) => spec["metrics"] = metrics.iter().map(|name| metric(name)).collect(),
        _ => {}
    }
    spec
}

#[tokio::test]
async fn every_verb_works_in_both_versions() {
    for server in servers().await {
        let admin = server.admin();
        for (here, there) in [("v1", "v1beta1"), ("v1beta1", "v1")] {
            let mut watch = admin.watch(&format!("{}?watch=1", path(there))).await;
            let mut expected = spec(there, &["cpu"]);
            expected["minReplicas"] = 1.into();
            let created =
                admin.post(&path(here), &autoscaler(here, "a", spec(here, &["cpu"]))).await.expect(201);
            assert_eq!(created["apiVersion"], format!("example.orch.io/{here}"));
            let seen = watch.expect("ADDED").await;
            assert_eq!((&seen["spec"], version(&seen)), (&expected, version(&created)));
            assert_eq!(admin.get(&item(there)).await.expect(200), seen);

            let mut sent = created.clone();
            sent["spec"]["maxReplicas"] = 4.into();
            admin.put(&item(here), &sent).await.expect(200);
            assert_eq!(watch.expect("MODIFIED").await["spec"]["maxReplicas"], 4);
            admin.put(&item(there), &seen).await.refused(409, "Conflict");
            let field = if here == "v1" { "/spec/metrics/0/utilization" } else { "/spec/metric/utilization" };
            let patch = json!([{"op": "replace", "path": field, "value": 60}]);
            let patch = admin
                .request(Method::PATCH, &item(here))
                .body("application/json-patch+json", patch.to_string());
            patch.send().await.expect(200);
            let seen = watch.expect("MODIFIED").await;
            let field =
                if there == "v1" { "/spec/metrics/0/utilization" } else { "/spec/metric/utilization" };
            assert_eq!(seen.pointer(field), Some(&json!(60)));
            let status = json!({"status": {"replicas": 2}});
            admin.merge(&format!("{}/status", item(here)), &status).await.expect(200);
            assert_eq!(watch.expect("MODIFIED").await["status"]["replicas"], 2);

            // A field of the other version is unknown.
            let other = if here == "v1" { json!({"metric": metric("x")}) } else { json!({"metrics": []}) };
            let strict = format!("{}?fieldValidation=Strict", item(here));
            admin.merge(&strict, &json!({"spec": other})).await.refused(400, "BadRequest");
            let answer = admin.get(&path(here)).await;
            let warns = answer.header("warning").contains("use example.orch.io/v1 Autoscaler");
            assert_eq!(warns, here == "v1beta1", "{}", answer.header("warning"));
            let list = answer.expect(200);
            assert_eq!((names(&list), &list["apiVersion"]), (vec!["a"], &created["apiVersion"]));
            admin.request(Method::DELETE, &path(here)).send().await.expect(200);
            assert_eq!(watch.expect("DELETED").await["metadata"]["uid"], created["metadata"]["uid"]);
            admin.get(&item(there)).await.refused(404, "NotFound");
        }
    }
}

/// What the older version has no room for is kept beside the object, and survives a client that knows nothing
/// of it.
#[tokio::test]
async fn what_has_no_room_in_the_older_version_comes_back() {
    for server in servers().await {
        let admin = server.admin();
        admin.post(&path("v1"), &autoscaler("v1", "a", spec("v1", &["cpu", "memory"]))).await.expect(201);
        let mut old = admin.get(&item("v1beta1")).await.expect(200);
        assert_eq!(old["spec"]["metric"], metric("cpu"));
        assert!(old["metadata"]["annotations"][KEPT].is_string(), "{old}");
        old["spec"]["maxReplicas"] = 9.into();
        admin.put(&item("v1beta1"), &old).await.expect(200);
        let new = admin.get(&item("v1")).await.expect(200);
        assert_eq!(new["spec"]["metrics"], json!([metric("cpu"), metric("memory")]));
        assert_eq!((&new["spec"]["maxReplicas"], &new["metadata"]["annotations"]), (&json!(9), &Value::Null));
        // Who replaces the load in the older version means all of it.
        admin.merge(&item("v1beta1"), &json!({"spec": {"metric": metric("disk")}})).await.expect(200);
        let new = admin.get(&item("v1")).await.expect(200);
        assert_eq!(new["spec"]["metrics"], json!([metric("disk")]));
    }
}

#[tokio::test]
async fn managers_in_two_versions_conflict_in_their_own_names() {
    for server in servers().await {
        let admin = server.admin();
        let apply = async |version: &str, manager: &str, max: i32, query: &str| {
            let spec = json!({"scaleTargetRef": {"kind": "A", "name": "a"}, "maxReplicas": max});
            let path = format!("{}?fieldManager={manager}{query}", item(version));
            let body = autoscaler(version, "a", spec).to_string();
            admin.request(Method::PATCH, &path).body("application/apply-patch+yaml", body).send().await
        };
        apply("v1beta1", "old", 3, "").await.expect(201);
        apply("v1", "new", 3, "").await.expect(200);
        for (version, manager, other) in [("v1", "new", "old"), ("v1beta1", "old", "new")] {
            let message = apply(version, manager, 4, "").await.refused(409, "Conflict");
            assert!(message.contains(&format!("conflict with \"{other}\"")), "{message}");
            assert!(message.contains(".spec.maxReplicas"), "{message}");
        }
        let forced = apply("v1", "new", 4, "&force=true").await.expect(200);
        let entries = forced["metadata"]["managedFields"].as_array().unwrap();
        for (manager, version, owns) in [("old", "v1beta1", false), ("new", "v1", true)] {
            let entry = entries.iter().find(|entry| entry["manager"] == manager).unwrap();
            assert_eq!(entry["apiVersion"], format!("example.orch.io/{version}"));
            assert_eq!(entry["fieldsV1"]["f:spec"]["f:maxReplicas"].is_object(), owns, "{entry}");
        }
    }
}

#[tokio::test]
async fn kubectl_works_in_either_version() {
    if !is_installed("a kind in two versions") {
        return;
    }
    for server in servers().await {
        let kubectl = Kubectl { server: &server };
        let manifest = autoscaler("v1", "a", spec("v1", &["cpu", "memory"]));
        std::fs::write(server.scratch_dir().join("a.json"), manifest.to_string()).unwrap();
        kubectl
            .prints("apply --server-side -f a.json", "autoscaler.example.orch.io/a serverside-applied")
            .await;
        kubectl
            .prints("get autoscalers.v1.example.orch.io a -o jsonpath={.spec.metrics[1].name}", "memory")
            .await;
        let explain = "explain autoscaler.spec.metrics --api-version=example.orch.io/v1";
        kubectl.shows(explain, &["VERSION:", "v1", "utilization"]).await;
        // It tells the warnings of the older version.
        for (line, expected) in [
            (
                "get autoscalers.v1beta1.example.orch.io a -o jsonpath={.apiVersion}{.spec.metric.name}",
                "example.orch.io/v1beta1cpu",
            ),
            ("get autoscalers.v1beta1.example.orch.io", "NAME"),
            (
                "patch autoscalers.v1beta1.example.orch.io a --type=merge -p {\"spec\":{\"maxReplicas\":7}}",
                "patched",
            ),
            ("explain autoscaler.spec.metric --api-version=example.orch.io/v1beta1", "utilization"),
        ] {
            let (success, text) = kubectl.output(line).await;
            assert!(success && text.contains(expected), "kubectl {line}\n{text}");
            let is_asked = !line.starts_with("explain");
            assert_eq!(
                text.contains("Warning: example.orch.io/v1beta1 Autoscaler is deprecated"),
                is_asked,
                "{text}"
            );
        }
        kubectl
            .prints(
                "get autoscalers.v1.example.orch.io a -o jsonpath={.spec.maxReplicas}{.spec.metrics[1].name}",
                "7memory",
            )
            .await;
        let old = autoscaler(
            "v1beta1",
            "a",
            json!({"scaleTargetRef": {"kind": "A", "name": "a"}, "maxReplicas": 8}),
        );
        std::fs::write(server.scratch_dir().join("old.json"), old.to_string()).unwrap();
        let apply = "apply --server-side --field-manager=old -f old.json";
        kubectl.fails(apply, &["conflict with \"kubectl-patch\"", ".spec.maxReplicas"]).await;
        let (success, text) = kubectl.output(&format!("{apply} --force-conflicts")).await;
        assert!(success, "{text}");
        kubectl.prints("get autoscalers.v1.example.orch.io a -o jsonpath={.spec.maxReplicas}", "8").await;
    }
}
