//! `kubectl rollout` on daemon sets, which the server rolls out by itself.

use orch_tests::{
    TestServer,
    fleet::Fleet,
    kubectl::{Kubectl, is_installed},
};
use serde_json::json;

#[tokio::test]
async fn daemon_sets_are_rolled_out_and_back() {
    if !is_installed("rollouts of daemon sets") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let admin = server.admin();
    Fleet::register(&admin, ["a", "b"].map(str::to_owned)).await;
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    let machines = tokio::spawn(async move {
        loop {
            fleet.step(|_| {}).await;
        }
    });
    let set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "c", "image": "one"}]},
            },
        },
    });
    std::fs::write(server.scratch_dir().join("set.json"), set.to_string()).unwrap();

    let kubectl = Kubectl { server: &server };
    let done = ["daemon set \"d\" successfully rolled out"];
    kubectl.prints("create -f set.json", "daemonset.apps/d created").await;
    kubectl.shows("rollout status ds/d --timeout=50s", &done).await;
    kubectl.prints("set image ds/d c=two", "daemonset.apps/d image updated").await;
    kubectl.shows("rollout status ds/d --timeout=50s", &done).await;
    kubectl.shows("rollout history ds/d", &["REVISION", "\n1 ", "\n2 "]).await;
    kubectl.shows("rollout history ds/d --revision=1", &["Image:\tone"]).await;
    kubectl.prints("rollout undo ds/d", "daemonset.apps/d rolled back").await;
    kubectl.shows("rollout status ds/d --timeout=50s", &done).await;
    kubectl.prints("get ds d -o jsonpath={..image}", "one").await;
    kubectl.shows("rollout history ds/d", &["\n2 ", "\n3 "]).await;
    kubectl.prints("rollout restart ds/d", "daemonset.apps/d restarted").await;
    kubectl.shows("rollout status ds/d --timeout=50s", &done).await;
    kubectl.shows("get ds d --no-headers", &["2 ", "<none>"]).await;
    let events = ["SuccessfulCreate", "daemonset-controller", "Created pod: d-", "Deleted pod: d-"];
    kubectl.shows("describe ds d", &events).await;
    machines.abort();
}
