//! `Node`: it is created with its status, its range of pod addresses is in two fields, and settings
//! are no longer taken.

use orch_api::core::v1::{Node, NodeSpec};
use orch_registry::behaviour::{Behaviour, WriteInfo};

pub(crate) struct NodeBehaviour;

impl Behaviour<Node> for NodeBehaviour {
    fn prepare(&self, node: &mut Node, old: Option<&Node>, _write: &WriteInfo<'_>) {
        match_ranges(&mut node.spec);
        // Nodes find their settings elsewhere since release 1.24. What is stored of them can be kept.
        if old.is_none_or(|old| old.spec.config_source.is_none()) {
            node.spec.config_source = None;
        }
        if old.is_none_or(|old| old.status.config.is_none()) {
            node.status.config = None;
        }
        // The feature is off by default. The node itself tells of it later, with its status.
        if old.is_none() {
            node.status.features = None;
        }
    }

    fn keeps_sent_status(&self) -> bool {
        true
    }
}

/// Makes `podCIDR` the first of `podCIDRs`; where they differ, `podCIDR` counts.
fn match_ranges(spec: &mut NodeSpec) {
    match spec.pod_cidrs.first() {
        Some(first) if spec.pod_cidr.is_empty() => spec.pod_cidr.clone_from(first),
        Some(first) if *first == spec.pod_cidr => {}
        _ if spec.pod_cidr.is_empty() => {}
        _ => spec.pod_cidrs = vec![spec.pod_cidr.clone()],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_not_taken_any_more() {
        let node = |spec: &str, status: &str| Node {
            spec: serde_json::from_str(spec).unwrap(),
            status: serde_json::from_str(status).unwrap(),
            ..Node::default()
        };
        let sent = node(r#"{"configSource": {}}"#, r#"{"nodeInfo": {}, "config": {"error": "e"}}"#);
        let now = orch_runtime::scalar::Time::from_unix_seconds(0);
        let write = WriteInfo { vocabulary: &orch_api::KUBERNETES, subresource: "", now };
        for (old, is_kept) in [(None, false), (Some(Node::default()), false), (Some(sent.clone()), true)] {
            let mut new = sent.clone();
            NodeBehaviour.prepare(&mut new, old.as_ref(), &write);
            assert_eq!((new.spec.config_source.is_some(), new.status.config.is_some()), (is_kept, is_kept));
        }
    }

    #[test]
    fn both_fields_have_the_same_range() {
        for (single, list, expected) in [
            ("", json!([]), json!(["", []])),
            ("a", json!([]), json!(["a", ["a"]])),
            ("", json!(["a", "b"]), json!(["a", ["a", "b"]])),
            ("a", json!(["a", "b"]), json!(["a", ["a", "b"]])),
            ("c", json!(["a", "b"]), json!(["c", ["c"]])),
        ] {
            let mut spec = serde_json::from_value(json!({"podCIDR": single, "podCIDRs": list})).unwrap();
            match_ranges(&mut spec);
            assert_eq!(json!([spec.pod_cidr, spec.pod_cidrs]), expected);
            let matched = spec.clone();
            match_ranges(&mut spec);
            assert_eq!(spec, matched);
        }
    }
}
