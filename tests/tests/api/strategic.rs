//! Strategic merge patches that make no sense: which refusal each gets.

use http::Method;
use orch_tests::{Answer, Client, TestServer};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";

fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "finalizers": ["example.com/x"]},
        "spec": {
            "containers": [{"name": "c", "image": "c:1", "env": [{"name": "A", "value": "1"}]}],
            "volumes": [{"name": "v", "emptyDir": {}}],
        },
    })
}

async fn patch(client: &Client, body: &Value) -> Answer {
    let request = client.request(Method::PATCH, &format!("{PODS}/a?dryRun=All"));
    request.body("application/strategic-merge-patch+json", body.to_string()).send().await
}

#[tokio::test]
async fn patches_that_make_no_sense_are_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = admin.post(PODS, &pod()).await.expect(201);
    let order = json!([{"name": "d"}]);
    let container = json!([{"name": "c", "image": "c:2"}]);
    let volume = json!({"name": "v", "$retainKeys": ["name"], "hostPath": {"path": "/x"}});
    for (body, code, part) in [
        // A fault without a message of its own is answered as a failure of the server.
        (json!({"spec": {"$patch": "sideways"}}), 500, "unknown patch type: sideways in map: "),
        (
            json!({"spec": {"containers": [{"name": "c", "$patch": "sideways"}]}}),
            500,
            "unknown patch type: sideways",
        ),
        (
            json!({"spec": {"$setElementOrder/containers": "c"}}),
            500,
            "expected a []interface {}, but received a string",
        ),
        (
            json!({"spec": {"containers": [{"image": "c:2"}]}}),
            500,
            "does not contain declared merge key: name",
        ),
        (
            json!({"spec": {"$setElementOrder/containers": order, "containers": container}}),
            500,
            "doesn't match $setElementOrder list",
        ),
        // Keys to keep are a list that names all that the patch sets.
        (json!({"spec": {"volumes": [volume]}}), 400, "invalid patch format of retainKeys"),
    ] {
        let status = patch(&admin, &body).await.expect(code);
        let message = status["message"].as_str().unwrap();
        assert!(message.contains(part), "{body}: {message}");
    }
    // Something else than a list of values to remove removes nothing.
    let nothing = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": "example.com/x"}});
    patch(&admin, &nothing).await.expect(200);
    assert_eq!(admin.get(&format!("{PODS}/a")).await.expect(200), created);
}
