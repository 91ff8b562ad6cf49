//! Rules of pods that no schema can state, one file per part of a pod.

mod annotations;
mod container;
mod env;
mod network_volume;
mod node_selector;
mod object;
mod order;
mod paths;
mod port;
mod probe;
mod projected;
mod resources;
mod scheduling;
mod security;
mod spec;
mod status;
mod volume;
mod warnings;
mod windows;

pub use self::{
    env::{data_key, env_from_sources, env_var, env_var_name, env_var_source},
    network_volume::{flex_volume, iscsi, storage_os},
    node_selector::{node_selector, node_selector_term, preferred_term},
    object::{POD_MAY_CHANGE, pod, pod_annotations, pod_update},
    paths::{file_mode, file_path, path_below},
    port::{container_port, port_number_or_name},
    probe::{http_headers, lifecycle_handler, probe},
    projected::{downward_api, projected},
    scheduling::{node_labels, pod_affinity_term, toleration, topology_spread, weight},
    security::{app_armor_profile, pod_security_context, seccomp_profile, security_context, sysctl_name},
    spec::{dns_config, pod_resource_claim, pod_spec, pod_template, pod_template_annotations},
    volume::{cinder, claim_template, csi_volume, ephemeral_volume, size_limit, storage_medium, volume},
    windows::windows_options,
};
