//! The scheduler and the controller manager of a cluster: their identities may do what these programs do, and
//! no more.

use http::Method;
use orch_tests::{
    TestServer,
    authority::Authority,
    objects::{NAMESPACES, SECRETS, version},
};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const LEASES: &str = "/apis/coordination.orch.io/v1/namespaces/orch-system/leases";

/// A method, a path, a body, and the code of the answer.
type Row = (Method, String, Value, u16);

fn event() -> Value {
    json!({
        "metadata": {"generateName": "e"}, "type": "Normal", "reason": "Tested",
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
    })
}

/// How a part holds its lease, and that it does not see that of another.
fn of_lease(name: &str) -> Vec<Row> {
    let lease = |holder: &str| json!({"metadata": {"name": name}, "spec": {"holderIdentity": holder}});
    let own = format!("{LEASES}/{name}");
    vec![
        (Method::POST, LEASES.to_owned(), lease("a"), 201),
        (Method::GET, own.clone(), Value::Null, 200),
        (Method::PUT, own, lease("b"), 200),
    ]
}

fn of_scheduler() -> Vec<Row> {
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    let condition = json!([{"type": "PodScheduled", "status": "True"}]);
    vec![
        (Method::GET, "/api/v1/pods".to_owned(), Value::Null, 200),
        (Method::GET, "/api/v1/pods?watch=1&timeoutSeconds=1".to_owned(), Value::Null, 200),
        (Method::GET, "/api/v1/nodes?watch=1&timeoutSeconds=1".to_owned(), Value::Null, 200),
        (Method::GET, "/apis/storage.orch.io/v1/csinodes".to_owned(), Value::Null, 200),
        (Method::GET, "/api/v1/persistentvolumeclaims".to_owned(), Value::Null, 200),
        (Method::POST, format!("{PODS}/p/binding"), binding, 201),
        (Method::PATCH, format!("{PODS}/p/status"), json!({"status": {"conditions": condition}}), 200),
        (Method::POST, EVENTS.to_owned(), event(), 201),
        (Method::GET, SECRETS.to_owned(), Value::Null, 403),
        (Method::PATCH, "/api/v1/nodes/n".to_owned(), json!({"metadata": {"labels": {"a": "b"}}}), 403),
    ]
}

fn of_controller_manager() -> Vec<Row> {
    let pod = json!({"metadata": {"name": "q"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    vec![
        (Method::GET, "/api/v1/pods".to_owned(), Value::Null, 200),
        (Method::GET, "/api/v1/nodes?watch=1&timeoutSeconds=1".to_owned(), Value::Null, 200),
        (Method::GET, "/api/v1/secrets?watch=1&timeoutSeconds=1".to_owned(), Value::Null, 200),
        (Method::GET, "/apis/apps/v1/daemonsets".to_owned(), Value::Null, 200),
        (Method::POST, ACCOUNTS.to_owned(), json!({"metadata": {"name": "robot"}}), 201),
        (Method::POST, format!("{ACCOUNTS}/robot/token"), json!({}), 201),
        (Method::POST, EVENTS.to_owned(), event(), 201),
        (Method::POST, PODS.to_owned(), pod, 403),
        (Method::DELETE, format!("{PODS}/p"), Value::Null, 403),
    ]
}

#[tokio::test]
async fn parts_of_the_cluster_do_their_work_and_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("cluster");
    let file = authority.write(directory.path(), "cluster.pem");
    let server = TestServer::options().flag(format!("--client-ca-file={}", file.display())).start().await;
    let admin = server.admin();
    while admin.get(&format!("{NAMESPACES}/orch-system")).await.status != 200 {
        tokio::task::yield_now().await;
    }
    admin.post("/api/v1/nodes", &json!({"metadata": {"name": "n"}})).await.expect(201);
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    admin.post(PODS, &pod).await.expect(201);
    for (name, rows) in
        [("kube-scheduler", of_scheduler()), ("kube-controller-manager", of_controller_manager())]
    {
        let part = authority.client(&server, &format!("system:{name}"), None);
        let mut last = Value::Null;
        for (method, path, mut body, expected) in rows.into_iter().chain(of_lease(name)) {
            let row = format!("{name}: {method} {path}");
            let media_type =
                if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
            if method == Method::PUT {
                body["metadata"]["resourceVersion"] = version(&last).into();
            }
            let mut request = part.request(method, &path);
            if !body.is_null() {
                request = request.body(media_type, body.to_string());
            }
            let answer = request.send().await;
            assert_eq!(answer.status, expected, "{row}: {}", answer.text());
            last = serde_json::from_slice(&answer.body).unwrap_or_default();
        }
    }
}
