//! Rules that no schema can state; schema files call these functions by name
//! (`x-orch-validator: config_map`).
//!
//! A function checks one value and reports each violation at its field. Functions whose names end in
//! `_update` compare a new value with the old one.
//!
//! Texts, paths and the order of errors are part of the API contract: `tests/tests/rules` and `tests/traces`
//! compare them. Some paths differ from the position of the value; a comment says so.

mod access_review;
mod config_map;
mod daemon_set;
mod disruption_budget;
mod event;
mod flowcontrol;
mod fractional_bytes;
mod int_or_percent;
mod label_selector;
mod migration;
mod namespace;
mod node;
mod node_label;
mod pod;
mod priority_class;
mod rbac;
mod secret;
mod service;
mod storage;
mod volume_source;

pub use orch_meta::validators::{
    condition_reason, finalizer_name, object_meta, object_meta_update, observed_generation,
};

pub use self::{
    access_review::{local_subject_access_review, self_subject_access_review, subject_access_review},
    config_map::config_map,
    daemon_set::{
        daemon_set_spec, daemon_set_status_update, daemon_set_update_strategy, rolling_update_daemon_set,
    },
    disruption_budget::{pod_disruption_budget_spec, pod_disruption_budget_status},
    event::{event, reported_event, reported_event_update},
    flowcontrol::{flow_schema, priority_level_configuration},
    int_or_percent::int_or_percent,
    label_selector::label_selector,
    migration::migration_status,
    namespace::namespace_finalizers,
    node::{node, node_update},
    pod::{
        POD_MAY_CHANGE, dns_config, downward_api, env_var, env_var_source, pod, pod_affinity_term,
        pod_annotations, pod_spec, pod_template, pod_template_annotations, pod_update, port_number_or_name,
        projected, topology_spread, volume, windows_options,
    },
    priority_class::priority_class,
    rbac::{cluster_role, cluster_role_binding, role, role_binding},
    secret::secret,
    service::{service_spec, service_update},
    storage::{
        attachment_metadata, class_name, csi_driver, csi_driver_token_requests, csi_node_spec,
        csi_node_spec_update, inline_volume_spec, persistent_volume, persistent_volume_claim,
        persistent_volume_claim_spec, persistent_volume_claim_status, persistent_volume_claim_update,
        persistent_volume_spec, persistent_volume_update, storage_class, volume_attachment_source,
    },
    volume_source::{flex_persistent_source, flex_volume},
};

/// The limit for all values of a config map or secret together, in bytes.
pub const MAX_DATA_BYTES: usize = 1024 * 1024;
