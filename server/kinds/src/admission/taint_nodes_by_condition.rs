//! `TaintNodesByCondition`: a new node is not ready, and no pods are placed on it until it is.

use orch_api::core::v1::{Node, Taint};
use orch_auth::answer::Answer;
use orch_registry::admission::{AdmissionPlugin, AdmissionRequest, Admitted};
use orch_runtime::{resource_def::ResourceDef, vocabulary::Vocabulary};

use super::{created, is};

const NO_SCHEDULE: &str = "NoSchedule";

pub(crate) struct TaintNodesByCondition;

impl AdmissionPlugin for TaintNodesByCondition {
    fn name(&self) -> &'static str {
        "TaintNodesByCondition"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let vocabulary = request.resource.vocabulary;
        if let Some(node) = created(request) {
            taint(node, vocabulary);
        }
        Answer::Ready(Ok(()))
    }

    fn adds_items(&self, def: &ResourceDef) -> bool {
        is::<Node>(def)
    }
}

fn taint(node: &mut Node, vocabulary: &Vocabulary) {
    let key = format!("node.{}", vocabulary.label("not-ready"));
    let taints = &mut node.spec.taints;
    if !taints.iter().any(|taint| taint.key == key && taint.effect == NO_SCHEDULE) {
        taints.push(Taint { key, effect: NO_SCHEDULE.to_owned(), ..Taint::default() });
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::Tree;
    use serde_json::json;

    use super::*;
    use crate::testing::TestServer;

    #[tokio::test]
    async fn new_nodes_are_not_ready() {
        let server = TestServer::start().await;
        let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
        let mut node = json!({"metadata": {"name": "plain"}});
        let plain = server.create::<Node>("", node.clone()).await.unwrap();
        assert_eq!(plain["spec"]["taints"], json!([taint]));
        node["metadata"]["name"] = "tainted".into();
        node["spec"]["taints"] = json!([taint]);
        let tainted = server.create::<Node>("", node).await.unwrap();
        assert_eq!(tainted["spec"]["taints"], json!([taint]));
        let ready = |tree: &mut Tree| tree["spec"]["taints"] = json!([]);
        let ready = server.update::<Node>("", "", "plain", ready).await.unwrap();
        assert_eq!(ready["spec"].get("taints"), None);
    }
}
