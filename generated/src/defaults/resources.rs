//! Amounts of resources: everywhere they are rounded up to thousandths when they are written.

use std::collections::BTreeMap;

use orch_runtime::scalar::Quantity;

use crate::core::v1::{
    ContainerStatus, NodeStatus, PersistentVolumeClaimStatus, PersistentVolumeSpec, ResourceRequirements,
    VolumeResourceRequirements,
};

/// Rounds what a container requests and may use.
pub fn resource_requirements(value: &mut ResourceRequirements) {
    round(&mut value.limits);
    round(&mut value.requests);
}

/// Rounds the sizes of a volume.
pub fn volume_resource_requirements(value: &mut VolumeResourceRequirements) {
    round(&mut value.limits);
    round(&mut value.requests);
}

/// Rounds what the node has set aside.
pub fn container_status(value: &mut ContainerStatus) {
    round(&mut value.allocated_resources);
}

/// Rounds what a node has, and what it has for pods.
pub fn node_status(value: &mut NodeStatus) {
    round(&mut value.capacity);
    round(&mut value.allocatable);
}

/// Rounds the size of a volume.
pub fn persistent_volume_spec(value: &mut PersistentVolumeSpec) {
    round(&mut value.capacity);
}

/// Rounds the size of a volume, and the size that it will have.
pub fn persistent_volume_claim_status(value: &mut PersistentVolumeClaimStatus) {
    round(&mut value.capacity);
    round(&mut value.allocated_resources);
}

/// Rounds each amount away from zero.
pub(super) fn round(amounts: &mut BTreeMap<String, Quantity>) {
    amounts.values_mut().for_each(Quantity::round_up_to_milli);
}
