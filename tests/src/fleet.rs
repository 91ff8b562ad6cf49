//! Machines that do not exist: nodes, and what runs on each of them, played over the API.
//!
//! A fleet follows the pods of one namespace. On every event it lets the test look, and then does what the
//! machine of that pod would do: a pod that is bound starts and becomes ready, one that is being deleted
//! ends.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::{Value, json};

use crate::client::{Client, Watch};

const NODES: &str = "/api/v1/nodes";

/// The node that a pod is made for, in its affinity.
const MADE_FOR: &str = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution\
    /nodeSelectorTerms/0/matchFields/0/values/0";

/// See the module.
pub struct Fleet {
    client: Client,
    path: String,
    watch: Watch,
    /// The pods of the namespace by name, as the last events told them.
    pub pods: BTreeMap<String, Value>,
    /// The nodes on which pods fail.
    pub broken: BTreeSet<String>,
    /// Whether no pod starts any more.
    pub stuck: bool,
    /// Whether it is the scheduler too: pods that wait for one are bound to the nodes that they are made for.
    pub schedules: bool,
}

impl Fleet {
    /// Makes nodes of these names.
    pub async fn register(client: &Client, names: impl IntoIterator<Item = String>) {
        for name in names {
            let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
            client.post(NODES, &node).await.expect(201);
        }
    }

    /// Follows the pods of a namespace.
    pub async fn begin(client: Client, namespace: &str) -> Self {
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let list = client.get(&path).await.expect(200);
        let version = list["metadata"]["resourceVersion"].as_str().expect("lists have versions");
        let watch = client.watch(&format!("{path}?watch=1&resourceVersion={version}")).await;
        let items = list["items"].as_array().expect("a list has items").clone();
        let pods: BTreeMap<String, Value> =
            items.into_iter().map(|pod| (crate::objects::name(&pod).to_owned(), pod)).collect();
        let broken = BTreeSet::new();
        let fleet = Fleet { client, path, watch, pods, broken, stuck: false, schedules: false };
        for pod in fleet.pods.values() {
            fleet.act(pod).await;
        }
        fleet
    }

    /// Waits for the next event, and does what the machine of its pod does, after the test has looked.
    pub async fn step(&mut self, look: impl FnOnce(&BTreeMap<String, Value>)) {
        let event = self.event().await;
        self.take(event, look).await;
    }

    /// The next event; nothing is lost where the wait for it is given up.
    pub async fn event(&mut self) -> Value {
        self.watch.event().await
    }

    /// Does what the machine of an event's pod does, after the test has looked.
    pub async fn take(&mut self, mut event: Value, look: impl FnOnce(&BTreeMap<String, Value>)) {
        let pod = event["object"].take();
        let name = crate::objects::name(&pod).to_owned();
        if event["type"] == "DELETED" {
            self.pods.remove(&name);
            look(&self.pods);
        } else {
            self.pods.insert(name, pod.clone());
            look(&self.pods);
            self.act(&pod).await;
        }
    }

    async fn act(&self, pod: &Value) {
        let node = node_of(pod);
        let path = format!("{}/{}", self.path, crate::objects::name(pod));
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            // Somebody else may have been faster.
            let end = self.client.request(Method::DELETE, &format!("{path}?gracePeriodSeconds=0"));
            end.send().await;
        } else if node.is_empty() {
            self.schedule(pod, &path).await;
        } else if pod["status"]["phase"] == "Pending" && !self.stuck {
            let status = if self.broken.contains(node) {
                json!({"phase": "Failed", "reason": "Broken"})
            } else {
                json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
            };
            self.client.merge(&format!("{path}/status"), &json!({"status": status})).await;
        }
    }

    /// Binds a pod that waits for a scheduler, where the fleet is that too.
    async fn schedule(&self, pod: &Value, path: &str) {
        let Some(node) = pod.pointer(MADE_FOR).filter(|_| self.schedules) else { return };
        let target = json!({"kind": "Node", "name": node});
        let binding = json!({"metadata": {"name": crate::objects::name(pod)}, "target": target});
        self.client.post(&format!("{path}/binding"), &binding).await;
    }
}

/// The node that a pod is bound to; empty where there is none.
pub fn node_of(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

/// Whether a pod is ready and is to stay.
pub fn is_serving(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    pod["metadata"]["deletionTimestamp"].is_null()
        && conditions.clone().any(|it| it["type"] == "Ready" && it["status"] == "True")
}
