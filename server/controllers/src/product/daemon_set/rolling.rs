//! Replaces pods by pods of the newest template, within the limits of the set.
//!
//! Without surge, old pods are deleted while the number of nodes without an available pod stays below the
//! limit; their nodes then get new ones. An old pod that is not available serves nobody, so it goes at once.
//!
//! With surge, new pods are started beside old ones that are available, up to the limit. An old pod goes when
//! the new one beside it is available. Where the old pod is not available, the new one is started at once,
//! whatever the limit.

use std::sync::Arc;

use super::{
    placement::Placement,
    state::{NodeState, Plan, Rules, Strategy, Why, share},
    view::PodView,
};

/// The pods of a node that stay.
enum OnNode<'n> {
    None,
    Updated(&'n Arc<PodView>),
    Old(&'n Arc<PodView>),
    Both { updated: &'n Arc<PodView>, old: &'n Arc<PodView> },
}

/// Adds the next replacements to a plan that has nothing else to do.
pub(super) fn replace(nodes: &[NodeState], rules: &Rules, plan: &mut Plan) {
    let Strategy::Rolling { max_unavailable, max_surge } = &rules.strategy else { return };
    let desired = nodes.iter().filter(|node| node.placement == Placement::Runs).count();
    let (unavailable, surge) = (share(max_unavailable, desired), share(max_surge, desired));
    if surge > 0 {
        surge_by(surge, desired, nodes, rules, plan);
    } else {
        // A set that allows neither makes progress all the same.
        delete_up_to(unavailable.max(1), nodes, rules, plan);
    }
}

/// Deletes old pods that are not available, and available ones up to the limit.
fn delete_up_to(limit: usize, nodes: &[NodeState], rules: &Rules, plan: &mut Plan) {
    let mut unavailable = 0;
    let mut candidates = Vec::new();
    for (node, pods) in placed(nodes, rules) {
        match pods {
            // A node that only keeps what it has is owed no pod.
            OnNode::None if node.placement == Placement::Runs => unavailable += 1,
            OnNode::None => {}
            OnNode::Both { .. } => unavailable += 1,
            OnNode::Updated(pod) => unavailable += usize::from(!rules.is_available(pod)),
            OnNode::Old(pod) if rules.is_available(pod) => candidates.push(pod),
            OnNode::Old(pod) => {
                // Its node is without a pod either way, and counts as such from the next plan on.
                unavailable += 1;
                plan.delete(pod, Why::Outdated);
            }
        }
    }
    candidates
        .into_iter()
        .take(limit.saturating_sub(unavailable))
        .for_each(|pod| plan.delete(pod, Why::Outdated));
}

/// Starts new pods beside old ones, and deletes the old ones that are not needed any more.
fn surge_by(limit: usize, desired: usize, nodes: &[NodeState], rules: &Rules, plan: &mut Plan) {
    let (mut surging, mut available) = (0, 0);
    let mut candidates = Vec::new();
    let mut to_leave = Vec::new();
    for (node, pods) in placed(nodes, rules) {
        let serving = match pods {
            OnNode::None => continue,
            OnNode::Updated(pod) | OnNode::Old(pod) | OnNode::Both { old: pod, .. } => pod,
        };
        let is_serving = rules.is_available(serving);
        available += usize::from(is_serving);
        match pods {
            OnNode::None | OnNode::Updated(_) => {}
            OnNode::Old(pod) => match (node.placement == Placement::Runs, is_serving) {
                (true, true) => candidates.push(&node.name),
                (true, false) => plan.create.push(Arc::clone(&node.name)),
                (false, true) => to_leave.push(pod),
                (false, false) => plan.delete(pod, Why::Outdated),
            },
            OnNode::Both { updated, old } if !is_serving || rules.is_available(updated) => {
                plan.delete(old, Why::Outdated);
            }
            OnNode::Both { .. } => surging += 1,
        }
    }
    // Where no new pod will come beside it, an old one goes only when there are enough without it.
    to_leave
        .into_iter()
        .take(available.saturating_sub(desired))
        .for_each(|pod| plan.delete(pod, Why::Outdated));
    let room = limit.saturating_sub(surging);
    plan.create.extend(candidates.into_iter().take(room).map(Arc::clone));
}

/// The nodes that may have pods, with those that stay.
fn placed<'n>(nodes: &'n [NodeState], rules: &Rules) -> impl Iterator<Item = (&'n NodeState, OnNode<'n>)> {
    let placed = nodes.iter().filter(|node| matches!(node.placement, Placement::Runs | Placement::Stays));
    placed.map(move |node| (node, on_node(node, rules)))
}

/// There is one pod at most of either kind: plans that have anything to replace find no others.
fn on_node<'n>(node: &'n NodeState, rules: &Rules) -> OnNode<'n> {
    let mut live = node.pods.iter().filter(|pod| !pod.owned.is_terminating);
    let updated = live.clone().find(|pod| rules.is_updated(pod));
    let old = live.find(|pod| !rules.is_updated(pod));
    match (updated, old) {
        (None, None) => OnNode::None,
        (Some(updated), None) => OnNode::Updated(updated),
        (None, Some(old)) => OnNode::Old(old),
        (Some(updated), Some(old)) => OnNode::Both { updated, old },
    }
}
