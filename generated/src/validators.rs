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
mod controller_revision;
mod daemon_set;
mod disruption_budget;
mod event;
mod flowcontrol;
mod fractional_bytes;
mod int_or_percent;
mod label_selector;
mod lease;
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
mod token;
mod volume_source;

pub use orch_meta::validators::{
    condition_reason, finalizer_name, object_meta, object_meta_update, observed_generation,
};

pub use self::{
    access_review::{local_subject_access_review, self_subject_access_review, subject_access_review},
    config_map::{config_map, config_map_update},
    controller_revision::controller_revision,
    daemon_set::{
        daemon_set_spec, daemon_set_status_update, daemon_set_update_strategy, rolling_update_daemon_set,
    },
    disruption_budget::{pod_disruption_budget_spec, pod_disruption_budget_status},
    event::{event, reported_event, reported_event_update},
    flowcontrol::{flow_schema, priority_level_configuration},
    int_or_percent::int_or_percent,
    label_selector::label_selector,
    lease::lease_spec,
    migration::{migrated_resource, migration_status},
    namespace::namespace_finalizers,
    node::{node, node_update},
    pod::{
        POD_MAY_CHANGE, app_armor_profile, cinder, claim_template, container_port, csi_volume, data_key,
        dns_config, downward_api, env_from_sources, env_var, env_var_name, env_var_source, ephemeral_volume,
        file_mode, file_path, flex_volume, http_headers, iscsi, lifecycle_handler, node_labels,
        node_selector, node_selector_term, path_below, pod, pod_affinity_term, pod_annotations,
        pod_resource_claim, pod_security_context, pod_spec, pod_template, pod_template_annotations,
        pod_update, port_number_or_name, preferred_term, probe, projected, seccomp_profile, security_context,
        size_limit, storage_medium, storage_os, sysctl_name, toleration, topology_spread, volume, weight,
        windows_options,
    },
    priority_class::{priority_class, priority_class_update},
    rbac::{cluster_role, cluster_role_binding, role, role_binding},
    secret::{secret, secret_update},
    service::{service_spec, service_update},
    storage::{
        attachment_metadata, azure_disk_source, azure_file_persistent_source, cinder_persistent_source,
        class_name, csi_driver, csi_driver_spec, csi_driver_spec_update, csi_driver_token_requests,
        csi_node_spec, csi_node_spec_update, csi_persistent_source, fc_source, flex_persistent_source,
        flocker_source, glusterfs_persistent_source, host_path_source, inline_volume_spec,
        iscsi_persistent_source, nfs_source, node_name, persistent_volume, persistent_volume_claim,
        persistent_volume_claim_spec, persistent_volume_claim_status, persistent_volume_claim_update,
        persistent_volume_spec, persistent_volume_update, quantity_not_negative, quobyte_source,
        storage_class, storage_class_provisioner, storage_class_update, storageos_persistent_source,
        volume_attachment_source, volume_attributes_class_name, volume_node_affinity,
    },
    token::token_request_spec,
    volume_source::{csi_driver_name, iqn, path_without_backsteps},
};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

/// The limit for all values of a config map or secret together, in bytes.
pub const MAX_DATA_BYTES: usize = 1024 * 1024;

/// Checks a key of a config map or secret.
fn config_key(key: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    cx.invalid_all(path, key, &constraint::config_key(key));
}

/// Reports a field that has changed although `immutable` is true.
fn immutable_field(field: &str, changed: bool, path: &Path<'_>, cx: &mut Validation<'_>) {
    if changed {
        cx.push(FieldError::forbidden(&path.field(field), "field is immutable when `immutable` is set"));
    }
}
