//! Defaults that depend on several fields; schema files call these functions by name
//! (`x-orch-defaulter: persistent_volume`).

mod daemon_set;
mod pod;
mod resources;
mod service;
mod storage;

pub use self::{
    daemon_set::daemon_set_update_strategy,
    pod::{container, ephemeral_container, image_volume, pod, pod_spec, volume},
    resources::{
        container_status, node_status, persistent_volume_claim_status, persistent_volume_spec,
        resource_requirements, volume_resource_requirements,
    },
    service::{load_balancer_ingress, service_port, service_spec},
    storage::{persistent_volume, persistent_volume_claim},
};
