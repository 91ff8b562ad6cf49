//! Rules that no schema can state; schema files call these functions by name
//! (`x-orch-validator: config_map`).
//!
//! A function checks one value and reports each violation at its field. Functions whose names end in
//! `_update` compare a new value with the old one.
//!
//! Texts, paths and the order of errors are part of the API contract: `tests/tests/rules` and `tests/traces`
//! compare them. Some paths differ from the position of the value; a comment says so.

mod access_review;
mod cluster_role;
mod daemon_set;
mod flowcontrol;
mod pod;
mod secret;
mod storage;

pub use self::{
    access_review::{local_subject_access_review, self_subject_access_review, subject_access_review},
    cluster_role::aggregation_rule,
    daemon_set::{daemon_set_spec, revision_data},
    flowcontrol::{flow_schema, priority_level_configuration},
    pod::{
        claims_of_ephemeral_volumes, conflicting_ports, ended_containers, hidden_variables, label_keys,
        narrower_node_affinity, overlapping_files, pod_spec, pod_template_annotations, profiles_of_pod,
        profiles_of_template, projected, tolerations_again,
    },
    secret::secret,
    storage::{csi_node_spec_update, storage_class},
};
