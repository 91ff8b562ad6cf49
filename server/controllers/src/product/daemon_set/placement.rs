//! On which nodes the pods of a daemon set belong: the node's name, its labels and its taints decide.
//!
//! Whether a node is unschedulable does not count, and neither do faults of a node that keep other pods away:
//! daemon pods tolerate them (`TOLERATED`).

use std::collections::BTreeMap;

use orch_api::core::v1::{
    NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration,
};
use orch_runtime::vocabulary::Vocabulary;

use super::view::{NODE_NAME, NodeView};

const NO_SCHEDULE: &str = "NoSchedule";
const NO_EXECUTE: &str = "NoExecute";
const EXISTS: &str = "Exists";

/// The taints that daemon pods tolerate, besides those that their template names. The names have the prefix
/// `node.<domain>/`.
const TOLERATED: &[(&str, &str)] = &[
    ("not-ready", NO_EXECUTE),
    ("unreachable", NO_EXECUTE),
    ("disk-pressure", NO_SCHEDULE),
    ("memory-pressure", NO_SCHEDULE),
    ("pid-pressure", NO_SCHEDULE),
    ("unschedulable", NO_SCHEDULE),
];

/// Tolerated by pods that use the network of their node.
const TOLERATED_ON_HOST_NETWORK: &[(&str, &str)] = &[("network-unavailable", NO_SCHEDULE)];

/// What becomes of a set's pods on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// One runs.
    Runs,
    /// None is started; one that runs may stay.
    Stays,
    /// None runs.
    Leaves,
    /// There is no such node any more.
    Gone,
}

/// Which nodes suit the pods of a set.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fit {
    /// The only node, where the template names one.
    node_name: String,
    labels: BTreeMap<String, String>,
    required: Option<NodeSelector>,
    tolerations: Vec<Toleration>,
    /// The taint that every new node gets: it is not ready.
    new_node: String,
}

impl Fit {
    /// Of pods with this specification, which has the tolerations of daemon pods.
    pub(super) fn of(spec: &PodSpec, vocabulary: &Vocabulary) -> Self {
        let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
        Fit {
            node_name: spec.node_name.clone(),
            labels: spec.node_selector.clone(),
            required: affinity
                .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.clone()),
            tolerations: spec.tolerations.clone(),
            new_node: taint_key(vocabulary, "not-ready"),
        }
    }

    /// What becomes of the pods on a node.
    pub(super) fn placement(&self, node: &NodeView) -> Placement {
        let is_named = self.node_name.is_empty() || *self.node_name == *node.name;
        let has_labels = self.labels.iter().all(|(key, value)| node.labels.get(key) == Some(value));
        if !is_named || !has_labels || !self.required.as_ref().is_none_or(|required| selects(required, node))
        {
            return Placement::Leaves;
        }
        let repelled_by = |effect: &str| {
            node.taints.iter().any(|taint| taint.effect == effect && !self.is_tolerated(taint))
        };
        if repelled_by(NO_EXECUTE) {
            Placement::Leaves
        } else if repelled_by(NO_SCHEDULE) {
            Placement::Stays
        } else {
            Placement::Runs
        }
    }

    /// The server taints each new node as not ready, and takes that back nowhere: without a controller of
    /// nodes it would keep all daemon pods away for good. A set runs on every node that it selects, so this
    /// one does not count.
    fn is_tolerated(&self, taint: &Taint) -> bool {
        let is_of_new_nodes = taint.key == self.new_node && taint.effect == NO_SCHEDULE;
        is_of_new_nodes || self.tolerations.iter().any(|toleration| tolerates(toleration, taint))
    }
}

/// Adds the tolerations of daemon pods.
pub(super) fn tolerate(spec: &mut PodSpec, vocabulary: &Vocabulary) {
    let of_network = if spec.host_network { TOLERATED_ON_HOST_NETWORK } else { &[] };
    for (name, effect) in TOLERATED.iter().chain(of_network) {
        let toleration = Toleration {
            key: taint_key(vocabulary, name),
            operator: EXISTS.to_owned(),
            effect: (*effect).to_owned(),
            ..Toleration::default()
        };
        // One of the template that means the same taint, but for a time only, is replaced.
        let same = |it: &Toleration| {
            it.key == toleration.key
                && it.effect == toleration.effect
                && it.operator == toleration.operator
                && it.value == toleration.value
        };
        match spec.tolerations.iter_mut().find(|it| same(it)) {
            Some(present) => *present = toleration,
            None => spec.tolerations.push(toleration),
        }
    }
}

/// Requires the node of that name, and nothing else of the node.
pub(super) fn pin(spec: &mut PodSpec, node: &str) {
    let name = NodeSelectorRequirement {
        key: NODE_NAME.to_owned(),
        operator: "In".to_owned(),
        values: vec![node.to_owned()],
    };
    let term = NodeSelectorTerm { match_fields: vec![name], ..NodeSelectorTerm::default() };
    let affinity = spec.affinity.get_or_insert_default().node_affinity.get_or_insert_default();
    affinity.required_during_scheduling_ignored_during_execution =
        Some(NodeSelector { node_selector_terms: vec![term] });
}

fn taint_key(vocabulary: &Vocabulary, name: &str) -> String {
    format!("node.{}", vocabulary.label(name))
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    (toleration.effect.is_empty() || toleration.effect == taint.effect)
        && (toleration.key.is_empty() || toleration.key == taint.key)
        && match toleration.operator.as_str() {
            EXISTS => true,
            "" | "Equal" => toleration.value == taint.value,
            _ => false,
        }
}

/// One of the terms has to be met; a term without requirements is met by no node.
fn selects(selector: &NodeSelector, node: &NodeView) -> bool {
    let is_met = |term: &NodeSelectorTerm| {
        let is_empty = term.match_expressions.is_empty() && term.match_fields.is_empty();
        let label = |it: &NodeSelectorRequirement| meets(it, node.labels.get(&it.key).map(String::as_str));
        let field = |it: &NodeSelectorRequirement| it.key == NODE_NAME && meets(it, Some(&node.name));
        !is_empty && term.match_expressions.iter().all(label) && term.match_fields.iter().all(field)
    };
    selector.node_selector_terms.iter().any(is_met)
}

/// Whether a label or field meets a requirement.
fn meets(requirement: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let is_listed = value.is_some_and(|value| requirement.values.iter().any(|listed| listed == value));
    let compared = |is_met: fn(i64, i64) -> bool| match (value, requirement.values.as_slice()) {
        (Some(value), [bound]) => {
            matches!((value.parse(), bound.parse()), (Ok(value), Ok(bound)) if is_met(value, bound))
        }
        _ => false,
    };
    match requirement.operator.as_str() {
        "In" => is_listed,
        "NotIn" => !is_listed,
        EXISTS => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compared(|value, bound| value > bound),
        "Lt" => compared(|value, bound| value < bound),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use orch_api::ORCH;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn node(labels: &Value, taints: &Value) -> NodeView {
        NodeView {
            name: "a".into(),
            labels: from_value(labels.clone()).unwrap(),
            taints: from_value(taints.clone()).unwrap(),
        }
    }

    fn spec(fields: Value) -> PodSpec {
        let mut spec: PodSpec = from_value(fields).unwrap();
        tolerate(&mut spec, &ORCH);
        spec
    }

    fn placement(fields: Value, node: &NodeView) -> Placement {
        Fit::of(&spec(fields), &ORCH).placement(node)
    }

    #[test]
    fn names_and_labels_select_nodes() {
        let node = node(&json!({"disk": "ssd", "cores": "8"}), &json!([]));
        let terms = |terms: Value| {
            let required = json!({"nodeSelectorTerms": terms});
            let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": required});
            json!({"affinity": {"nodeAffinity": affinity}})
        };
        let one = |kind: &str, key: &str, operator: &str, values: Value| {
            terms(json!([{kind: [{"key": key, "operator": operator, "values": values}]}]))
        };
        let label = |key: &str, operator: &str, values: Value| one("matchExpressions", key, operator, values);
        let field = |operator: &str, values: Value| one("matchFields", NODE_NAME, operator, values);
        for (fields, runs) in [
            (json!({}), true),
            (json!({"nodeName": "a"}), true),
            (json!({"nodeName": "b"}), false),
            (json!({"nodeSelector": {"disk": "ssd"}}), true),
            (json!({"nodeSelector": {"disk": "ssd", "gpu": "yes"}}), false),
            (label("disk", "In", json!(["hdd", "ssd"])), true),
            (label("disk", "NotIn", json!(["ssd"])), false),
            (label("gpu", "NotIn", json!(["yes"])), true),
            (label("disk", "Exists", json!([])), true),
            (label("disk", "DoesNotExist", json!([])), false),
            (label("cores", "Gt", json!(["7"])), true),
            (label("cores", "Gt", json!(["8"])), false),
            (label("cores", "Lt", json!(["9"])), true),
            (label("disk", "Lt", json!(["9"])), false),
            (field("In", json!(["a"])), true),
            (field("NotIn", json!(["a"])), false),
            (one("matchFields", "metadata.uid", "In", json!(["a"])), false),
            (terms(json!([{}])), false),
            (
                terms(json!([
                    {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]},
                    {"matchExpressions": [{"key": "disk", "operator": "Exists"}]},
                ])),
                true,
            ),
        ] {
            let expected = if runs { Placement::Runs } else { Placement::Leaves };
            assert_eq!(placement(fields.clone(), &node), expected, "{fields}");
        }
    }

    #[test]
    fn taints_keep_pods_away() {
        let taint = |key: &str, effect: &str| json!({"key": key, "value": "v", "effect": effect});
        let tolerating = |toleration: Value| json!({"tolerations": [toleration]});
        for (fields, taint, expected) in [
            (json!({}), taint("k", "NoExecute"), Placement::Leaves),
            (json!({}), taint("k", "NoSchedule"), Placement::Stays),
            (json!({}), taint("k", "PreferNoSchedule"), Placement::Runs),
            (json!({}), taint("node.orch.io/not-ready", "NoExecute"), Placement::Runs),
            (json!({}), taint("node.orch.io/not-ready", "NoSchedule"), Placement::Runs),
            (json!({}), taint("node.orch.io/unreachable", "NoExecute"), Placement::Runs),
            (json!({}), taint("node.orch.io/unschedulable", "NoSchedule"), Placement::Runs),
            (json!({}), taint("node.orch.io/network-unavailable", "NoSchedule"), Placement::Stays),
            (
                json!({"hostNetwork": true}),
                taint("node.orch.io/network-unavailable", "NoSchedule"),
                Placement::Runs,
            ),
            (tolerating(json!({"operator": "Exists"})), taint("k", "NoExecute"), Placement::Runs),
            (
                tolerating(json!({"key": "k", "operator": "Exists", "effect": "NoSchedule"})),
                taint("k", "NoExecute"),
                Placement::Leaves,
            ),
            (tolerating(json!({"key": "k", "value": "v"})), taint("k", "NoSchedule"), Placement::Runs),
            (tolerating(json!({"key": "k", "value": "w"})), taint("k", "NoSchedule"), Placement::Stays),
        ] {
            let found = placement(fields.clone(), &node(&json!({}), &json!([taint])));
            assert_eq!(found, expected, "{fields} {taint}");
        }
    }

    #[test]
    fn pods_are_pinned_and_tolerate_what_the_template_does_not_say() {
        let toleration = json!({
            "key": "node.orch.io/not-ready", "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": 5,
        });
        let preferred = json!([{"weight": 1, "preference": {"matchExpressions": []}}]);
        let affinity = json!({"preferredDuringSchedulingIgnoredDuringExecution": preferred});
        let mut spec = spec(json!({"tolerations": [toleration], "affinity": {"nodeAffinity": affinity}}));
        assert_eq!(spec.tolerations.len(), TOLERATED.len());
        assert_eq!(spec.tolerations[0].toleration_seconds, None);
        pin(&mut spec, "n");
        let affinity = spec.affinity.unwrap().node_affinity.unwrap();
        assert_eq!(affinity.preferred_during_scheduling_ignored_during_execution.len(), 1);
        let required = affinity.required_during_scheduling_ignored_during_execution.unwrap();
        let named = |name: &str| NodeView { name: name.into(), ..NodeView::default() };
        assert!(selects(&required, &named("n")) && !selects(&required, &named("m")));
    }
}
