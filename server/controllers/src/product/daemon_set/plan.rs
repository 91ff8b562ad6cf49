//! What a daemon set does next: on which nodes it starts pods, and which pods it deletes.
//!
//! First every node gets its pod and loses those that it should not have; only when nothing of that is left
//! are pods replaced by newer ones ([`rolling`]). So a plan never counts on what another plan still does.

use std::sync::Arc;

use super::{
    placement::Placement,
    rolling,
    state::{NodeState, Plan, Rules, Why},
    view::{Phase, PodView},
};

/// The plan of a set. `wait` is asked once for each pod that has failed, with its node: for how many seconds
/// its replacement still has to wait.
pub(super) fn plan(nodes: &[NodeState], rules: &Rules, mut wait: impl FnMut(&str) -> Option<u64>) -> Plan {
    let mut plan = Plan::default();
    for node in nodes {
        match node.placement {
            Placement::Runs => fill(node, rules, &mut wait, &mut plan),
            Placement::Stays => {
                clear(node, rules, &mut wait, &mut plan);
            }
            Placement::Leaves => {
                let left = node.pods.iter().filter(|pod| !pod.owned.is_terminating);
                left.for_each(|pod| plan.delete(pod, Why::Misplaced));
            }
            Placement::Gone => {}
        }
    }
    if plan.create.is_empty() && plan.delete.is_empty() {
        rolling::replace(nodes, rules, &mut plan);
    }
    for node in nodes.iter().filter(|node| node.placement == Placement::Gone) {
        node.pods.iter().filter(|pod| !pod.is_forced).for_each(|pod| plan.delete(pod, Why::NodeGone));
    }
    let live = nodes.iter().flat_map(|node| &node.pods).filter(|pod| !pod.owned.is_terminating);
    for seconds in live.filter_map(|pod| pod.available_in(rules.min_ready_seconds, rules.now)) {
        plan.comes_again(seconds);
    }
    plan
}

/// A node that should run a pod.
fn fill(node: &NodeState, rules: &Rules, wait: &mut impl FnMut(&str) -> Option<u64>, plan: &mut Plan) {
    let is_cleared = clear(node, rules, wait, plan);
    // A pod that is going keeps its place, unless a second one may run beside it.
    let has_room = node.pods.is_empty() || (rules.strategy.may_surge() && is_cleared);
    if has_room {
        plan.create.push(Arc::clone(&node.name));
    }
}

/// Deletes the pods that have ended and those that are too many. Says whether no pod stays.
fn clear(
    node: &NodeState,
    rules: &Rules,
    wait: &mut impl FnMut(&str) -> Option<u64>,
    plan: &mut Plan,
) -> bool {
    let mut live = Vec::new();
    let mut waits = false;
    for pod in node.pods.iter().filter(|pod| !pod.owned.is_terminating) {
        match pod.phase {
            Phase::Live => live.push(pod),
            Phase::Succeeded => plan.delete(pod, Why::Succeeded),
            Phase::Failed => match wait(&node.name) {
                None => plan.delete(pod, Why::Failed),
                Some(seconds) => {
                    plan.comes_again(seconds);
                    waits = true;
                }
            },
        }
    }
    if rules.strategy.may_surge() {
        keep_two(&live, rules, plan);
    } else {
        live.iter().skip(1).for_each(|pod| plan.delete(pod, Why::Extra));
    }
    live.is_empty() && !waits
}

/// With surge a node may have two pods: the oldest that is up to date, while it is not available, and the
/// oldest that is not, while it is ready.
fn keep_two(live: &[&Arc<PodView>], rules: &Rules, plan: &mut Plan) {
    let (updated, old): (Vec<&Arc<PodView>>, Vec<&Arc<PodView>>) =
        live.iter().copied().partition(|pod| rules.is_updated(pod));
    for pod in updated.iter().skip(1).chain(old.iter().skip(1)) {
        plan.delete(pod, Why::Extra);
    }
    if let ([updated, ..], [old, ..]) = (updated.as_slice(), old.as_slice())
        && (!old.is_ready() || rules.is_available(updated))
    {
        plan.delete(old, Why::Outdated);
    }
}
