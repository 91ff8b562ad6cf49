//! The priority of pods: what their class says, and nothing that they say themselves.

use std::time::Duration;

use orch_tests::{TestServer, objects::name};
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

#[tokio::test]
async fn the_classes_of_the_system_are_there_and_stay() {
    const SYSTEM: [(&str, i32); 2] =
        [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
    for vocabulary in ["orch", "kubernetes"] {
        let mut server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let classes = match vocabulary {
            "orch" => CLASSES.to_owned(),
            _ => CLASSES.replace("orch.io", "k8s.io"),
        };
        let list = admin.get(&classes).await.expect(200);
        let found: Vec<(&str, i64)> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|class| (name(class), class["value"].as_i64().unwrap()))
            .collect();
        assert_eq!(found, SYSTEM.map(|(name, value)| (name, i64::from(value))));
        // Pods of every namespace may name them.
        let spec = json!({"priorityClassName": "system-node-critical"});
        let pod = admin.post(PODS, &pod("p", &spec)).await.expect(201);
        assert_eq!(pod["spec"]["priority"], 2_000_001_000);
        for (name, _) in SYSTEM {
            let message = admin.delete(&format!("{classes}/{name}")).await.refused(403, "Forbidden");
            let expected =
                format!("\"{name}\" is forbidden: this is a system priority class and cannot be deleted");
            assert!(message.ends_with(&expected), "{message}");
        }
        // Together with others they can be deleted, and come again.
        let mut watch = admin.watch(&format!("{classes}?watch=1")).await;
        let uids: Vec<String> =
            list["items"].as_array().unwrap().iter().map(|it| it["metadata"]["uid"].to_string()).collect();
        admin.delete(&classes).await.expect(200);
        let again = async {
            let mut fresh = 0;
            while fresh < 2 {
                let event = watch.event().await;
                let uid = event["object"]["metadata"]["uid"].to_string();
                fresh += usize::from(event["type"] == "ADDED" && !uids.contains(&uid));
            }
        };
        tokio::time::timeout(Duration::from_mins(1), again).await.expect("they come again");
        // What people say about one stays.
        let item = format!("{classes}/system-node-critical");
        let described = json!({"description": "for the first ones"});
        let described = admin.merge(&item, &described).await.expect(200);
        server.kill().await;
        server.restart().await;
        assert_eq!(server.admin().get(&item).await.expect(200), described);
    }
}
