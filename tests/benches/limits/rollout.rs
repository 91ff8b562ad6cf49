//! A daemon set on many nodes: how soon each has its pod, and how soon a new template is everywhere. The
//! limits of the set hold after every event.

use std::{collections::BTreeMap, time::Instant};

use orch_tests::{
    Client, TestServer,
    fleet::{Fleet, is_serving},
};
use serde_json::{Value, json};

use crate::report::{Report, Wanted};

const SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";

/// So many nodes, which are played one action at a time.
const NODES: usize = 500;
/// So many of them may be without a pod that serves: 10%.
const UNAVAILABLE: usize = NODES / 10;

pub async fn measure(report: &mut Report) {
    let server = TestServer::start().await;
    let admin = server.admin();
    Fleet::register(&admin, (0..NODES).map(|number| format!("n{number:03}"))).await;
    let mut fleet = Fleet::begin(server.admin(), "default").await;
    let set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": template("one")},
        },
    });
    let begun = Instant::now();
    admin.post(SETS, &set).await.expect(201);
    everywhere(&admin, &mut fleet, "one", |_| {}).await;
    report.time("500 nodes run a daemon set", begun.elapsed(), Wanted::AtMost(10_000.0));
    let begun = Instant::now();
    let change = json!({"spec": {"template": {"spec": template("two")}}});
    admin.merge(&format!("{SETS}/d"), &change).await.expect(200);
    let mut fewest = NODES;
    let within_limits = |pods: &BTreeMap<String, Value>| {
        fewest = fewest.min(pods.values().filter(|pod| is_serving(pod)).count());
        assert!(fewest >= NODES - UNAVAILABLE && pods.len() <= NODES, "{fewest} of {} serve", pods.len());
    };
    everywhere(&admin, &mut fleet, "two", within_limits).await;
    assert_eq!(fewest, NODES - UNAVAILABLE, "as many at a time as may be");
    report.time("500 nodes roll over, 10% at a time", begun.elapsed(), Wanted::AtMost(20_000.0));
}

fn template(image: &str) -> Value {
    json!({"containers": [{"name": "c", "image": image}]})
}

/// Plays the nodes until each has an available pod with this image, as the set and the pods say, and looks at
/// the pods after every event.
async fn everywhere(
    admin: &Client,
    fleet: &mut Fleet,
    image: &str,
    mut look: impl FnMut(&BTreeMap<String, Value>),
) {
    let mut watch = admin.watch(&format!("{SETS}?watch=1")).await;
    let mut is_everywhere = false;
    let is_new = |pod: &&Value| is_serving(pod) && pod["spec"]["containers"][0]["image"] == image;
    // The pods are told beside the set, and may be behind it.
    while !is_everywhere || fleet.pods.values().filter(is_new).count() < NODES {
        tokio::select! {
            event = fleet.event() => fleet.take(event, &mut look).await,
            event = watch.event() => {
                let (metadata, status) = (&event["object"]["metadata"], &event["object"]["status"]);
                let counts = ["updatedNumberScheduled", "numberAvailable"].map(|field| &status[field]);
                let is_observed = metadata["generation"] == status["observedGeneration"];
                is_everywhere = is_observed && counts == [NODES; 2];
            }
        }
    }
}
