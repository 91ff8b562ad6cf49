//! Defaults that no schema can state; schema files call these functions by name
//! (`x-orch-defaulter: volume`).

pub mod image;
mod node;
mod pod;
mod service;

pub use self::{
    node::node_status,
    pod::{container, ephemeral_container, image_volume, pod, pod_spec, volume},
    service::service_spec,
};
