//! `Node`: a machine tells its status when it joins, is not ready at first, and has its range of addresses in two fields.

use orch_api::core::v1::{Node, NodeSpec, Taint};
use orch_runtime::object::ApiObject;

use super::{Change, Hooks};

const NO_SCHEDULE: &str = "NoSchedule";

pub(super) struct NodeHooks;

impl Hooks for NodeHooks {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, change: &Change<'_>) {
        let Some(node) = object.as_any_mut().downcast_mut::<Node>() else { return };
        agree_on_range(&mut node.spec);
        if old.is_none() {
            let key = format!("node.{}", change.vocabulary.label("not-ready"));
            if !node.spec.taints.iter().any(|taint| taint.key == key && taint.effect == NO_SCHEDULE) {
                node.spec.taints.push(Taint { key, effect: NO_SCHEDULE.to_owned(), ..Taint::default() });
            }
        }
    }

    fn keeps_given_status(&self) -> bool {
        true
    }
}

/// The single field is the first of the list; where they differ, the single one counts.
fn agree_on_range(spec: &mut NodeSpec) {
    match spec.pod_cidrs.first() {
        Some(first) if spec.pod_cidr.is_empty() => spec.pod_cidr.clone_from(first),
        Some(first) if *first == spec.pod_cidr => {}
        _ if spec.pod_cidr.is_empty() => {}
        _ => spec.pod_cidrs = vec![spec.pod_cidr.clone()],
    }
}

#[cfg(test)]
mod tests {
    use orch_api::KUBERNETES;
    use orch_runtime::scalar::Time;
    use serde_json::json;

    use super::*;

    #[test]
    fn ranges_agree_and_new_nodes_are_not_ready() {
        let change = Change { vocabulary: &KUBERNETES, subresource: "", now: Time::from_unix_seconds(0) };
        for (single, list, expected) in [
            ("", json!([]), json!(["", []])),
            ("a", json!([]), json!(["a", ["a"]])),
            ("", json!(["a", "b"]), json!(["a", ["a", "b"]])),
            ("a", json!(["a", "b"]), json!(["a", ["a", "b"]])),
            ("c", json!(["a", "b"]), json!(["c", ["c"]])),
        ] {
            let spec = json!({"podCIDR": single, "podCIDRs": list});
            let mut node: Node = serde_json::from_value(json!({"spec": spec})).unwrap();
            NodeHooks.prepare(&mut node, None, &change);
            assert_eq!(json!([node.spec.pod_cidr, node.spec.pod_cidrs]), expected);
            assert_eq!(node.spec.taints.len(), 1);
            assert_eq!(node.spec.taints[0].key, "node.kubernetes.io/not-ready");
            let old = node.clone();
            NodeHooks.prepare(&mut node, Some(&old), &change);
            assert_eq!(node, old);
        }
    }
}
