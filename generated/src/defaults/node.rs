//! Nodes: what is available for pods.

use crate::core::v1::NodeStatus;

/// Where a node does not say what is available for pods, everything is.
pub fn node_status(status: &mut NodeStatus) {
    if status.allocatable.is_empty() {
        status.allocatable.clone_from(&status.capacity);
    }
}
