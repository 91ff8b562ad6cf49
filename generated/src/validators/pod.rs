//! Rules of pods that no schema can state, one file per part of a pod.

mod claims;
mod profiles;
mod projected;
mod resources;
mod scheduling;
mod spec;
mod status;
mod warnings;

pub use self::{
    claims::claims_of_ephemeral_volumes,
    profiles::{profiles_of_pod, profiles_of_template},
    projected::projected,
    scheduling::{label_keys, narrower_node_affinity},
    spec::{pod_spec, pod_template_annotations, tolerations_again},
    status::ended_containers,
    warnings::{conflicting_ports, hidden_variables, overlapping_files},
};
