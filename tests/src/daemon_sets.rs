//! Daemon sets of tests: how they are made and changed, and when they are rolled out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{client::Client, fleet::Fleet};

/// The collection of daemon sets of the namespace that every server has.
pub const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";

/// The collection of revisions there.
pub const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

/// The label that leads from a pod to its revision.
pub const HASH: &str = "controller-revision-hash";

/// A set whose pods have an image, with these fields in its specification.
pub fn set(image: &str, more: &Value) -> Value {
    let containers = json!([{"name": "c", "image": image}]);
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers}},
        },
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        set["spec"][field] = value.clone();
    }
    set
}

/// The field that says how many pods may be missing, or be too many, while a set rolls out.
pub fn rolling(max_unavailable: &Value, max_surge: &Value) -> Value {
    let limits = json!({"maxUnavailable": max_unavailable, "maxSurge": max_surge});
    json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits}})
}

/// The change of a set's template to another image.
pub fn with_image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})
}

/// What the fleet does until the status of the set is as a test wants it, for the newest generation.
pub async fn until(
    admin: &Client,
    fleet: &mut Fleet,
    mut look: impl FnMut(&BTreeMap<String, Value>),
    is_wanted: impl Fn(&Value) -> bool,
) -> Value {
    let mut watch = admin.watch(&format!("{DAEMON_SETS}?watch=1")).await;
    loop {
        tokio::select! {
            // In this order the fleet has heard of every pod that the status counts.
            biased;
            event = fleet.event() => fleet.take(event, &mut look).await,
            event = watch.event() => {
                let set = &event["object"];
                let is_observed = set["metadata"]["generation"] == set["status"]["observedGeneration"];
                if is_observed && is_wanted(&set["status"]) {
                    return set.clone();
                }
            }
        }
    }
}

/// Every node has an available pod of the newest template.
pub fn is_rolled_out(nodes: usize) -> impl Fn(&Value) -> bool {
    move |status| {
        let count = |field: &str| status[field].as_u64().unwrap_or_default() as usize;
        ["desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable"].map(count) == [nodes; 3]
    }
}

/// The revisions of the set by number, with the images that they bring back.
pub async fn history(admin: &Client) -> Vec<(i64, String)> {
    let revisions = admin.get(REVISIONS).await.expect(200);
    let image = |it: &Value| it["data"]["spec"]["template"]["spec"]["containers"][0]["image"].clone();
    let entry = |it: &Value| {
        let number = it["revision"].as_i64().expect("it is a number");
        (number, image(it).as_str().expect("it is a text").to_owned())
    };
    let mut history: Vec<_> =
        revisions["items"].as_array().expect("a list has items").iter().map(entry).collect();
    history.sort_unstable();
    history
}
