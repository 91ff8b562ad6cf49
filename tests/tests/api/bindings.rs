//! Pods on their way to a node and off it: gates, bindings, and the grace period of a deletion.

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::version,
};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BINDINGS: &str = "/api/v1/namespaces/default/bindings";

async fn pod(admin: &Client, name: &str, spec: Value) -> Value {
    let mut pod = json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "annotations": {"kept": "yes"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    for (key, value) in spec.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    admin.post(PODS, &pod).await.expect(201)
}

fn binding(name: &str, node: &str) -> Value {
    json!({
        "kind": "Binding", "apiVersion": "v1",
        "metadata": {"name": name, "annotations": {"scheduler": "mine"}},
        "target": {"kind": "Node", "name": node},
    })
}

async fn bind(admin: &Client, name: &str, body: &Value) -> Answer {
    admin.post(&format!("{PODS}/{name}/binding"), body).await
}

#[tokio::test]
async fn a_pod_is_bound_to_a_node_once() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let before = pod(&admin, "p", json!({})).await;
    let dry_run = admin.post(&format!("{PODS}/p/binding?dryRun=All"), &binding("p", "n")).await.expect(201);
    assert_eq!([&dry_run["kind"], &dry_run["status"]], ["Status", "Success"]);
    assert_eq!(admin.get(&format!("{PODS}/p")).await.expect(200), before);

    let done = bind(&admin, "p", &binding("p", "n")).await.expect(201);
    assert_eq!([&done["kind"], &done["status"]], ["Status", "Success"]);
    let bound = admin.get(&format!("{PODS}/p")).await.expect(200);
    assert_eq!(bound["spec"]["nodeName"], "n");
    assert_eq!(bound["metadata"]["annotations"], json!({"kept": "yes", "scheduler": "mine"}));
    let condition = &bound["status"]["conditions"][0];
    assert_eq!([&condition["type"], &condition["status"]], ["PodScheduled", "True"]);
    assert!(condition["lastTransitionTime"].is_string());
    assert_eq!(bound["metadata"]["managedFields"], before["metadata"]["managedFields"]);
    let selected = admin.get(&format!("{PODS}?fieldSelector=spec.nodeName%3Dn")).await.expect(200);
    assert_eq!(selected["items"].as_array().map(Vec::len), Some(1));

    let message = bind(&admin, "p", &binding("p", "n")).await.refused(409, "Conflict");
    let expected = "Operation cannot be fulfilled on pods/binding \"p\": \
                    pod p is already assigned to node \"n\"";
    assert_eq!(message, expected);
    bind(&admin, "none", &binding("none", "n")).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_binding_can_be_created_by_itself() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = pod(&admin, "p", json!({})).await;
    let mut wrong = binding("p", "n");
    wrong["metadata"]["uid"] = "other".into();
    bind(&admin, "p", &wrong).await.refused(409, "Conflict");
    // What is created by itself has no uid yet: the one that is sent counts for nothing.
    wrong["metadata"]["resourceVersion"] = "1".into();
    admin.post(BINDINGS, &wrong).await.refused(409, "Conflict");
    wrong["metadata"]["resourceVersion"] = version(&created).into();
    admin.post(BINDINGS, &wrong).await.expect(201);
    assert_eq!(admin.get(&format!("{PODS}/p")).await.expect(200)["spec"]["nodeName"], "n");
    admin.get(BINDINGS).await.refused(405, "MethodNotAllowed");
    admin.post(BINDINGS, &binding("none", "n")).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_binding_that_makes_no_sense_is_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    pod(&admin, "p", json!({})).await;
    let message = bind(&admin, "p", &binding("q", "n")).await.refused(400, "BadRequest");
    assert_eq!(message, "name in URL does not match name in Binding object");
    for (path, value) in [("/target/kind", "Pod"), ("/target/name", "")] {
        let mut body = binding("p", "n");
        *body.pointer_mut(path).unwrap() = value.into();
        let message = bind(&admin, "p", &body).await.refused(422, "Invalid");
        assert!(message.contains(&path[1..].replace('/', ".")), "{message}");
    }
    let mut body = binding("p", "n");
    body.as_object_mut().unwrap().remove("target");
    bind(&admin, "p", &body).await.refused(422, "Invalid");
    let unnamed = admin.post(BINDINGS, &binding("", "n")).await.refused(400, "BadRequest");
    assert_eq!(unnamed, "Name parameter required.");
    let mut body = binding("p", "n");
    body["kind"] = "Pod".into();
    bind(&admin, "p", &body).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn a_gate_keeps_a_pod_from_its_node() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let gated = pod(&admin, "p", json!({"schedulingGates": [{"name": "wait"}]})).await;
    let condition = &gated["status"]["conditions"][0];
    let found = [&condition["type"], &condition["status"], &condition["reason"], &condition["message"]];
    let message = "Scheduling is blocked due to non-empty scheduling gates";
    assert_eq!(found, ["PodScheduled", "False", "SchedulingGated", message]);
    let message = bind(&admin, "p", &binding("p", "n")).await.refused(409, "Conflict");
    assert!(message.ends_with("pod p has non-empty .spec.schedulingGates"), "{message}");
    admin.merge(&format!("{PODS}/p"), &json!({"spec": {"schedulingGates": null}})).await.expect(200);
    bind(&admin, "p", &binding("p", "n")).await.expect(201);
    let bound = admin.get(&format!("{PODS}/p")).await.expect(200);
    let conditions = bound["status"]["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 1);
    assert_eq!((&conditions[0]["status"], conditions[0].get("reason")), (&json!("True"), None));
}

#[tokio::test]
async fn a_bound_pod_is_given_time_and_another_deletion_shortens_it() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{PODS}/p");
    let delete = async |options: Value| admin.request(Method::DELETE, &item).json(&options).send().await;

    // Without a node there is nobody to wait for.
    pod(&admin, "p", json!({})).await;
    delete(json!({})).await.expect(200);
    admin.get(&item).await.refused(404, "NotFound");

    pod(&admin, "p", json!({"terminationGracePeriodSeconds": 60})).await;
    bind(&admin, "p", &binding("p", "n")).await.expect(201);
    let mut watch = admin.watch(&format!("{PODS}?watch=1&resourceVersion=0")).await;
    watch.expect("ADDED").await;
    let going = delete(json!({})).await.expect(200);
    assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 60);
    assert_eq!(watch.expect("MODIFIED").await, going);
    // The same again, or longer, changes nothing.
    assert_eq!(delete(json!({})).await.expect(200), going);
    assert_eq!(delete(json!({"gracePeriodSeconds": 90})).await.expect(200), going);
    let sooner = delete(json!({"gracePeriodSeconds": 5})).await.expect(200);
    assert_eq!(sooner["metadata"]["deletionGracePeriodSeconds"], 5);
    assert!(
        sooner["metadata"]["deletionTimestamp"].as_str() < going["metadata"]["deletionTimestamp"].as_str()
    );
    assert_eq!(watch.expect("MODIFIED").await, sooner);
    bind(&admin, "p", &binding("p", "m")).await.refused(409, "Conflict");
    // The node has ended it.
    delete(json!({"gracePeriodSeconds": 0})).await.expect(200);
    watch.expect("MODIFIED").await;
    watch.expect("DELETED").await;
    admin.get(&item).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_negative_grace_period_is_stored_as_what_it_counts_as() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = pod(&admin, "p", json!({"terminationGracePeriodSeconds": -1})).await;
    assert_eq!(created["spec"]["terminationGracePeriodSeconds"], 1);
    // The client that sent it may send it again.
    let mut again = created.clone();
    again["spec"]["terminationGracePeriodSeconds"] = (-1).into();
    let changed = admin.put(&format!("{PODS}/p"), &again).await.expect(200);
    assert_eq!(version(&changed), version(&created));
    bind(&admin, "p", &binding("p", "n")).await.expect(201);
    let going = admin.delete(&format!("{PODS}/p")).await.expect(200);
    assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 1);
}
