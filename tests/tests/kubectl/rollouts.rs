//! `kubectl rollout` on daemon sets, which the server rolls out by itself.

use std::time::{Duration, Instant};

use orch_tests::{
    TestServer,
    daemon_sets::set,
    fleet::Fleet,
    kubectl::{Kubectl, is_installed},
};
use serde_json::json;
use tokio::task::JoinHandle;

/// Plays the machines of a server until the test ends.
async fn machines(server: &TestServer) -> JoinHandle<()> {
    Fleet::register(&server.admin(), ["a", "b"].map(str::to_owned)).await;
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    tokio::spawn(async move {
        loop {
            fleet.step(|_| {}).await;
        }
    })
}

/// Its pods and revisions go with a set, or stay and belong to the next one.
#[tokio::test]
async fn daemon_sets_are_deleted_with_their_pods_or_without() {
    if !is_installed("deletions of daemon sets") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let machines = machines(&server).await;
    std::fs::write(server.scratch_dir().join("set.json"), set("one", &json!({})).to_string()).unwrap();
    let kubectl = Kubectl { server: &server };
    let status = "rollout status ds/d --timeout=50s";
    let uids = "get pods,controllerrevisions -l app=a -o jsonpath={.items[*].metadata.uid}";
    kubectl.run("create -f set.json").await;
    kubectl.run(status).await;
    let before = kubectl.run(uids).await;
    assert_eq!(before.split_whitespace().count(), 3, "{before}");
    kubectl.shows("delete ds d --cascade=orphan", &["daemonset.apps \"d\" deleted"]).await;
    let owners = "get pods,controllerrevisions -l app=a -o jsonpath={.items[*].metadata.ownerReferences}";
    kubectl.prints(owners, "").await;
    kubectl.run("create -f set.json").await;
    kubectl.run(status).await;
    let set_uid = kubectl.run("get ds d -o jsonpath={.metadata.uid}").await;
    kubectl.prints(uids, &before).await;
    let owners = kubectl.run(&owners.replace("References}", "References[*].uid}")).await;
    assert_eq!(owners.split_whitespace().count(), 3, "{owners}");
    assert!(owners.split_whitespace().all(|uid| uid == set_uid), "{owners} are not {set_uid}");
    for how in ["foreground", "background"] {
        kubectl.shows(&format!("delete ds d --cascade={how}"), &["daemonset.apps \"d\" deleted"]).await;
        let begun = Instant::now();
        while !kubectl.run(uids).await.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(50), "{how}: pods are left");
        }
        kubectl.run("create -f set.json").await;
        kubectl.run(status).await;
    }
    machines.abort();
}

#[tokio::test]
async fn daemon_sets_are_rolled_out_and_back() {
    if !is_installed("rollouts of daemon sets") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let machines = machines(&server).await;
    std::fs::write(server.scratch_dir().join("set.json"), set("one", &json!({})).to_string()).unwrap();

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
