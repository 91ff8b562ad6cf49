//! The parts of pods and nodes that a daemon set looks at. They are read once for each state of an object and
//! kept with it.

use std::{collections::BTreeMap, sync::Arc};

use orch_api::{apps::v1::DaemonSet, core::v1::Taint};
use orch_registry::stored;
use orch_runtime::{Tree, object::Kind, scalar::Time, tree_reader};
use orch_storage::Object;
use serde::de::DeserializeOwned;

/// The field by which a node is selected.
pub(super) const NODE_NAME: &str = "metadata.name";

/// A node.
#[derive(Debug, Default, PartialEq)]
pub(super) struct NodeView {
    pub(super) name: Arc<str>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
}

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodView {
    pub(super) name: Arc<str>,
    pub(super) owned: OwnedView,
    /// The node that it is bound to or made for.
    pub(super) node: Option<Arc<str>>,
    pub(super) is_bound: bool,
    pub(super) phase: Phase,
    pub(super) readiness: Readiness,
    pub(super) created: Time,
    /// Whether it is being deleted without a grace period.
    pub(super) is_forced: bool,
}

/// What tells whose an object is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnedView {
    pub(super) uid: String,
    pub(super) labels: BTreeMap<String, String>,
    /// The uid of its controller.
    pub(super) controller: Option<String>,
    pub(super) is_terminating: bool,
}

/// How far a pod has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// It runs, or will.
    #[default]
    Live,
    Succeeded,
    Failed,
}

/// Whether a pod is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Readiness {
    #[default]
    NotReady,
    /// Since then, where that is known.
    Ready(Option<Time>),
}

impl PodView {
    pub(super) fn is_ready(&self) -> bool {
        self.readiness != Readiness::NotReady
    }

    /// Whether it has been ready for more than so many seconds. Stamps are whole seconds, so it may be told a
    /// second late, and never too early.
    pub(super) fn is_available(&self, min_ready_seconds: i32, now: Time) -> bool {
        match self.readiness {
            Readiness::NotReady => false,
            Readiness::Ready(_) if min_ready_seconds <= 0 => true,
            Readiness::Ready(since) => since
                .is_some_and(|since| becomes_available(since, min_ready_seconds) <= now.as_unix_seconds()),
        }
    }

    /// In how many seconds it becomes available, where time alone makes it so.
    pub(super) fn available_in(&self, min_ready_seconds: i32, now: Time) -> Option<u64> {
        let Readiness::Ready(Some(since)) = self.readiness else { return None };
        let left = becomes_available(since, min_ready_seconds) - now.as_unix_seconds();
        u64::try_from(left).ok().filter(|left| min_ready_seconds > 0 && *left > 0)
    }

    /// Whether it has ended and only its removal is left.
    pub(super) fn is_over(&self) -> bool {
        self.owned.is_terminating && self.phase != Phase::Live
    }
}

fn becomes_available(since: Time, min_ready_seconds: i32) -> i64 {
    since.as_unix_seconds() + i64::from(min_ready_seconds) + 1
}

/// A node as it is stored; `None` where it cannot be read.
pub(super) fn node_of(object: &Object) -> Option<&Arc<NodeView>> {
    struct Remembered(Option<Arc<NodeView>>);
    object.memo(|object| Remembered(read_node(object).map(Arc::new))).0.as_ref()
}

/// A pod as it is stored; `None` where it cannot be read, or where a controller of another kind has it: most
/// pods are of those, and nothing is kept with them.
pub(super) fn pod_of(object: &Object) -> Option<&Arc<PodView>> {
    struct Remembered(Option<Arc<PodView>>);
    object.memo(|object| Remembered(read_pod(object).map(Arc::new))).0.as_ref()
}

/// Whose an object is; `None` where it cannot be read.
pub(super) fn owned_of(object: &Object) -> Option<&OwnedView> {
    struct Remembered(Option<OwnedView>);
    object.memo(|object| Remembered(read_owned(object))).0.as_ref()
}

fn read_owned(object: &Object) -> Option<OwnedView> {
    let paths: &[&[&str]] = &[
        &["metadata", "uid"],
        &["metadata", "labels"],
        &["metadata", "ownerReferences"],
        &["metadata", "deletionTimestamp"],
    ];
    let [uid, labels, owners, deleted] = values(object, paths)?;
    Some(OwnedView {
        uid: read(uid),
        labels: read(labels),
        controller: owners.as_ref().and_then(controller_in),
        is_terminating: deleted.is_some(),
    })
}

fn read_node(object: &Object) -> Option<NodeView> {
    let paths: &[&[&str]] = &[&["metadata", "labels"], &["spec", "taints"]];
    let [labels, taints] = values(object, paths)?;
    Some(NodeView { name: Arc::clone(&object.key().name), labels: read(labels), taints: read(taints) })
}

fn read_pod(object: &Object) -> Option<PodView> {
    let paths: &[&[&str]] = &[
        &["metadata", "uid"],
        &["metadata", "labels"],
        &["metadata", "ownerReferences"],
        &["metadata", "creationTimestamp"],
        &["metadata", "deletionTimestamp"],
        &["metadata", "deletionGracePeriodSeconds"],
        &["spec", "nodeName"],
        &["spec", "affinity", "nodeAffinity"],
        &["status", "phase"],
        &["status", "conditions"],
    ];
    let [uid, labels, owners, created, deleted, grace, node, affinity, phase, conditions] =
        values(object, paths)?;
    if owners.as_ref().is_some_and(is_of_another_kind) {
        return None;
    }
    let bound: String = read(node);
    let is_bound = !bound.is_empty();
    let node = if is_bound { Some(bound) } else { affinity.as_ref().and_then(pinned_to) };
    Some(PodView {
        name: Arc::clone(&object.key().name),
        owned: OwnedView {
            uid: read(uid),
            labels: read(labels),
            controller: owners.as_ref().and_then(controller_in),
            is_terminating: deleted.is_some(),
        },
        node: node.map(Arc::from),
        is_bound,
        phase: match phase.as_ref().and_then(Tree::as_str) {
            Some("Succeeded") => Phase::Succeeded,
            Some("Failed") => Phase::Failed,
            _ => Phase::Live,
        },
        readiness: conditions.as_ref().map(readiness_in).unwrap_or_default(),
        created: read(created),
        is_forced: deleted.is_some() && grace.as_ref().and_then(Tree::as_i64) == Some(0),
    })
}

/// The values at some paths of an object.
fn values<const N: usize>(object: &Object, paths: &[&[&str]]) -> Option<[Option<Tree>; N]> {
    stored::values_at(object.value().ok()?, paths).ok()?.try_into().ok()
}

/// What is absent or of another type counts as empty.
fn read<T: Default + DeserializeOwned>(value: Option<Tree>) -> T {
    value.and_then(|value| tree_reader::read(value).ok()).unwrap_or_default()
}

/// The uid of the controller, among all owners.
fn controller_in(owners: &Tree) -> Option<String> {
    let owner = owners.as_array()?.iter().find(|owner| owner["controller"] == true)?;
    owner["uid"].as_str().map(str::to_owned)
}

/// Whether a controller that is no daemon set has the object.
fn is_of_another_kind(owners: &Tree) -> bool {
    let mut owners = owners.as_array().into_iter().flatten();
    owners.any(|owner| owner["controller"] == true && owner["kind"] != DaemonSet::RESOURCE.kind)
}

/// The only node by name that the required affinity of a pod leaves.
fn pinned_to(affinity: &Tree) -> Option<String> {
    let terms = affinity.pointer("/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms")?;
    let fields = terms.as_array()?.iter().filter_map(|term| term["matchFields"].as_array()).flatten();
    let mut named = fields.filter(|field| field["key"] == NODE_NAME && field["operator"] == "In");
    match named.next()?["values"].as_array()?.as_slice() {
        [name] => name.as_str().map(str::to_owned),
        _ => None,
    }
}

fn readiness_in(conditions: &Tree) -> Readiness {
    let conditions = conditions.as_array().into_iter().flatten();
    let mut ready = conditions.filter(|condition| condition["type"] == "Ready");
    match ready.next() {
        Some(ready) if ready["status"] == "True" => {
            let since = ready["lastTransitionTime"].as_str().and_then(|text| text.parse().ok());
            Readiness::Ready(since)
        }
        _ => Readiness::NotReady,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_are_available_when_they_have_been_ready_for_long_enough() {
        let at = Time::from_unix_seconds;
        for (readiness, min_ready, now, available, in_seconds) in [
            (Readiness::NotReady, 0, 100, false, None),
            (Readiness::Ready(None), 0, 100, true, None),
            (Readiness::Ready(None), 5, 100, false, None),
            (Readiness::Ready(Some(at(100))), 0, 100, true, None),
            (Readiness::Ready(Some(at(100))), 5, 100, false, Some(6)),
            (Readiness::Ready(Some(at(100))), 5, 105, false, Some(1)),
            (Readiness::Ready(Some(at(100))), 5, 106, true, None),
            // A clock that runs ahead.
            (Readiness::Ready(Some(at(200))), 5, 100, false, Some(106)),
        ] {
            let pod = PodView { readiness, ..PodView::default() };
            let found = (pod.is_available(min_ready, at(now)), pod.available_in(min_ready, at(now)));
            assert_eq!(found, (available, in_seconds), "{readiness:?} {min_ready} {now}");
        }
    }

    #[test]
    fn pods_of_other_controllers_are_told_by_their_kind() {
        for (controller, kind, expected) in
            [(true, "DaemonSet", false), (true, "ReplicaSet", true), (false, "ReplicaSet", false)]
        {
            let owners =
                json!([{"controller": false, "kind": "X"}, {"controller": controller, "kind": kind}]);
            assert_eq!(is_of_another_kind(&owners), expected, "{owners}");
        }
    }

    #[test]
    fn pods_are_pinned_by_the_name_of_a_node() {
        let pin = |field| {
            let terms = json!([{"matchExpressions": []}, {"matchFields": [field]}]);
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}})
        };
        for (field, expected) in [
            (json!({"key": NODE_NAME, "operator": "In", "values": ["a"]}), Some("a")),
            (json!({"key": NODE_NAME, "operator": "In", "values": ["a", "b"]}), None),
            (json!({"key": NODE_NAME, "operator": "NotIn", "values": ["a"]}), None),
            (json!({"key": "other", "operator": "In", "values": ["a"]}), None),
        ] {
            assert_eq!(pinned_to(&pin(field.clone())).as_deref(), expected, "{field}");
        }
        assert_eq!(pinned_to(&json!({})), None);
    }

    #[test]
    fn conditions_say_since_when_a_pod_is_ready() {
        let since = "2026-01-01T00:00:00Z";
        let ready = |status: &str| json!([{"type": "Ready", "status": status, "lastTransitionTime": since}]);
        assert_eq!(readiness_in(&ready("True")), Readiness::Ready(since.parse().ok()));
        assert_eq!(readiness_in(&ready("False")), Readiness::NotReady);
        assert_eq!(readiness_in(&json!([{"type": "Ready", "status": "True"}])), Readiness::Ready(None));
        assert_eq!(readiness_in(&json!([])), Readiness::NotReady);
    }
}
