//! `Node`: it is created with its status, and its range of pod addresses is in two fields.

use orch_api::core::v1::{Node, NodeSpec};
use orch_registry::behaviour::{Behaviour, WriteInfo};

pub(crate) struct NodeBehaviour;

impl Behaviour<Node> for NodeBehaviour {
    fn prepare(&self, node: &mut Node, _old: Option<&Node>, _write: &WriteInfo<'_>) {
        match_ranges(&mut node.spec);
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
