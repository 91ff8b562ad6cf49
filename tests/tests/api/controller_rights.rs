//! Controllers act as accounts with roles: what they may not do they do not do, and that is seen in the log
//! and in the metrics.

use std::time::{Duration, Instant};

use orch_tests::{
    TestServer,
    client::Client,
    objects::{NAMESPACES, namespace},
};
use serde_json::json;

const BINDINGS: &str = "/apis/rbac.authorization.orch.io/v1/clusterrolebindings";
const BINDING: &str = "system:controller:service-account-controller";
const REFUSED: &str =
    r#"User "system:serviceaccount:orch-system:service-account-controller" cannot create resource"#;
const FAILING: &str = r#"workqueue_failing{name="serviceaccount-controller"} 1"#;

/// Waits until a GET is answered so.
async fn until(client: &Client, path: &str, status: u16) {
    let start = Instant::now();
    while client.get(path).await.status != status {
        assert!(start.elapsed() < Duration::from_mins(2), "{path} is not {status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn account_of(namespace: &str) -> String {
    format!("{NAMESPACES}/{namespace}/serviceaccounts/default")
}

#[tokio::test]
async fn a_controller_whose_binding_is_gone_is_refused_until_it_is_back() {
    let server = TestServer::start().await;
    let admin = server.admin();
    until(&admin, &account_of("default"), 200).await;
    let mut binding = admin.get(&format!("{BINDINGS}/{BINDING}")).await.expect(200);
    admin.delete(&format!("{BINDINGS}/{BINDING}")).await.expect(200);
    admin.post(NAMESPACES, &namespace("late")).await.expect(201);
    server.logged("service-account-controller").await;
    assert_eq!(admin.get(&account_of("late")).await.status, 404);
    let start = Instant::now();
    while !admin.get("/metrics").await.text().contains(FAILING) {
        assert!(start.elapsed() < Duration::from_mins(1), "{FAILING} is not in the metrics");
    }
    assert_eq!(admin.get("/readyz").await.text(), "ok");

    binding["metadata"] = json!({"name": BINDING});
    admin.post(BINDINGS, &binding).await.expect(201);
    until(&admin, &account_of("late"), 200).await;
    let log = server.log().replace('\\', "");
    assert!(log.contains(REFUSED), "{log}");
}

/// As with the reference: what the server does by itself goes on, its controllers are refused and try again.
#[tokio::test]
async fn where_everything_is_denied_the_server_starts_and_its_controllers_are_refused() {
    let server = TestServer::options().flag("--authorization-mode=AlwaysDeny").start().await;
    let admin = server.admin();
    until(&admin, &format!("{NAMESPACES}/orch-system"), 200).await;
    until(&admin, &format!("{NAMESPACES}/default/services/kubernetes"), 200).await;
    server.logged("service-account-controller").await;
    assert_eq!(admin.get(&account_of("default")).await.status, 404);
    assert_eq!(admin.get("/readyz").await.text(), "ok");
}
