//! The priority of pods: what their class says, and nothing that they say themselves.

use orch_tests::TestServer;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const CLASSES: &str = "/apis/scheduling.orch.io/v1/priorityclasses";

fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "x:1"}]},
    });
    for (field, value) in spec.as_object().expect("a spec is an object") {
        pod["spec"][field] = value.clone();
    }
    pod
}

fn class(name: &str, value: i32, more: &Value) -> Value {
    let mut class = json!({
        "apiVersion": "scheduling.orch.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
        "value": value,
    });
    for (field, value) in more.as_object().expect("fields are an object") {
        class[field] = value.clone();
    }
    class
}

#[tokio::test]
async fn a_pod_has_the_priority_of_its_class() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let of = |pod: &Value| {
        ["priorityClassName", "priority", "preemptionPolicy"].map(|field| pod["spec"][field].clone())
    };
    let created = admin.post(PODS, &pod("without", &json!({}))).await.expect(201);
    assert_eq!(of(&created), [Value::Null, json!(0), json!("PreemptLowerPriority")]);
    for made in [
        class("high", 1000, &json!({"preemptionPolicy": "Never"})),
        class("usual", 10, &json!({"globalDefault": true})),
        class("usual-too", 20, &json!({"globalDefault": true})),
    ] {
        let made = admin.post(CLASSES, &made).await.expect(201);
        assert_eq!(made["metadata"]["generation"], 1);
    }
    let created = admin.post(PODS, &pod("named", &json!({"priorityClassName": "high"}))).await.expect(201);
    assert_eq!(of(&created), [json!("high"), json!(1000), json!("Never")]);
    // Of two defaults the less important one counts.
    let created = admin.post(PODS, &pod("usual", &json!({}))).await.expect(201);
    assert_eq!(of(&created), [json!("usual"), json!(10), json!("PreemptLowerPriority")]);
    // Pods keep their priority when their class is deleted.
    admin.delete(&format!("{CLASSES}/high")).await.expect(200);
    let changed = admin.merge(&format!("{PODS}/named"), &json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(of(&changed.expect(200)), [json!("high"), json!(1000), json!("Never")]);
}

#[tokio::test]
async fn a_pod_does_not_choose_its_priority() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CLASSES, &class("high", 1000, &json!({}))).await.expect(201);
    for (spec, message) in [
        (json!({"priorityClassName": "none"}), "no PriorityClass with name none was found"),
        (
            json!({"priority": 5}),
            "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 \
             from the given PriorityClass name",
        ),
        (
            json!({"priorityClassName": "high", "preemptionPolicy": "Never"}),
            "the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller \
             computed PreemptLowerPriority from the given PriorityClass name",
        ),
    ] {
        let refused = admin.post(PODS, &pod("p", &spec)).await.refused(403, "Forbidden");
        assert_eq!(refused, format!("pods \"p\" is forbidden: {message}"));
    }
    // A pod may repeat what its class says.
    let spec =
        json!({"priorityClassName": "high", "priority": 1000, "preemptionPolicy": "PreemptLowerPriority"});
    admin.post(PODS, &pod("p", &spec)).await.expect(201);
}
