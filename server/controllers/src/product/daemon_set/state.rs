//! What plans are made from, and plans.

use std::sync::Arc;

use orch_api::apps::v1::DaemonSetUpdateStrategy;
use orch_runtime::scalar::{IntOrString, Time};

use super::{placement::Placement, view::PodView};

const ON_DELETE: &str = "OnDelete";

/// A node, and the pods of the set that are on it or made for it.
#[derive(Debug)]
pub(super) struct NodeState {
    pub(super) name: Arc<str>,
    pub(super) placement: Placement,
    /// Without those that are over, unless the node is gone. Bound ones first, then older ones.
    pub(super) pods: Vec<Arc<PodView>>,
}

/// What the plan of a set depends on, besides its nodes.
#[derive(Debug)]
pub(super) struct Rules {
    /// The value of the label that new pods get.
    pub(super) hash: String,
    /// Other values that mean the same template: of revisions that another controller made.
    pub(super) twins: Vec<String>,
    pub(super) min_ready_seconds: i32,
    pub(super) strategy: Strategy,
    pub(super) now: Time,
}

/// What is to be done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The nodes that get a pod.
    pub(super) create: Vec<Arc<str>>,
    pub(super) delete: Vec<(Arc<PodView>, Why)>,
    /// When time alone changes the plan: in how many seconds at the latest.
    pub(super) again_in: Option<u64>,
}

/// Why a pod is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It has failed: another one takes its place.
    Failed,
    /// It has ended, which a daemon should not.
    Succeeded,
    /// The node has another one.
    Extra,
    /// The node should not run it.
    Misplaced,
    /// Its node is gone, and with it whoever would end the pod.
    NodeGone,
    /// A newer one replaces it.
    Outdated,
}

/// Label of pods and revisions: which template a pod was made from.
pub(super) const HASH_LABEL: &str = "controller-revision-hash";

impl Rules {
    pub(super) fn is_updated(&self, pod: &PodView) -> bool {
        let label = pod.owned.labels.get(HASH_LABEL);
        label.is_some_and(|label| *label == self.hash || self.twins.contains(label))
    }

    pub(super) fn is_available(&self, pod: &PodView) -> bool {
        pod.is_available(self.min_ready_seconds, self.now)
    }
}

/// How pods are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// When somebody deletes them.
    OnDelete,
    Rolling {
        max_unavailable: IntOrString,
        max_surge: IntOrString,
    },
}

impl Strategy {
    pub(super) fn of(spec: &DaemonSetUpdateStrategy) -> Self {
        if spec.type_ == ON_DELETE {
            return Strategy::OnDelete;
        }
        let limits = spec.rolling_update.clone().unwrap_or_default();
        Strategy::Rolling {
            max_unavailable: limits.max_unavailable.unwrap_or(IntOrString::Int(1)),
            max_surge: limits.max_surge.unwrap_or_default(),
        }
    }

    /// Whether a node may have two pods for a while.
    pub(super) fn may_surge(&self) -> bool {
        match self {
            Strategy::OnDelete => false,
            Strategy::Rolling { max_surge, .. } => share(max_surge, 1) > 0,
        }
    }
}

/// A number, or the part of all nodes that a percentage means, rounded up.
pub(super) fn share(limit: &IntOrString, nodes: usize) -> usize {
    let nodes = i32::try_from(nodes).unwrap_or(i32::MAX);
    limit.scaled_value(nodes, true).ok().and_then(|share| usize::try_from(share).ok()).unwrap_or_default()
}

impl Plan {
    pub(super) fn delete(&mut self, pod: &Arc<PodView>, why: Why) {
        self.delete.push((Arc::clone(pod), why));
    }

    pub(super) fn comes_again(&mut self, seconds: u64) {
        self.again_in = Some(self.again_in.map_or(seconds, |earlier| earlier.min(seconds)));
    }
}

/// Puts pods in the order in which those of a node are looked at.
pub(super) fn sort(pods: &mut [Arc<PodView>]) {
    pods.sort_by(|a, b| (!a.is_bound, a.created, &a.name).cmp(&(!b.is_bound, b.created, &b.name)));
}
