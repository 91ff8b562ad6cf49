//! What a daemon set says of its nodes.
//!
//! A node counts by its first pod: during a surge that is the old one, so the numbers never count a node
//! twice. Conditions are not written here; those that others set stay.

use orch_api::apps::v1::DaemonSetStatus;

use super::{
    placement::Placement,
    state::{NodeState, Rules},
};

/// The status of a set whose generation was looked at.
pub(super) fn observed(
    before: &DaemonSetStatus,
    generation: i64,
    nodes: &[NodeState],
    rules: &Rules,
) -> DaemonSetStatus {
    let [mut desired, mut current, mut misscheduled, mut ready, mut available, mut updated] = [0; 6];
    for node in nodes {
        let first = node.pods.first();
        match node.placement {
            Placement::Runs => {
                desired += 1;
                let Some(pod) = first else { continue };
                current += 1;
                ready += i32::from(pod.is_ready());
                available += i32::from(rules.is_available(pod));
                updated += i32::from(rules.is_updated(pod));
            }
            Placement::Stays | Placement::Leaves => misscheduled += i32::from(first.is_some()),
            Placement::Gone => {}
        }
    }
    DaemonSetStatus {
        desired_number_scheduled: desired,
        current_number_scheduled: current,
        number_misscheduled: misscheduled,
        number_ready: ready,
        number_available: available,
        number_unavailable: desired - available,
        updated_number_scheduled: updated,
        observed_generation: generation,
        ..before.clone()
    }
}
