//! Rules of pods that no schema can state, one file per part of a pod.

mod annotations;
mod container;
mod env;
mod object;
mod order;
mod projected;
mod resources;
mod scheduling;
mod spec;
mod status;
mod volume;
mod warnings;
mod windows;

pub use self::{
    env::env_var_source,
    object::{POD_MAY_CHANGE, pod, pod_annotations, pod_update},
    projected::{downward_api_file, projected},
    spec::{pod_spec, pod_template, pod_template_annotations},
    volume::volume,
};
