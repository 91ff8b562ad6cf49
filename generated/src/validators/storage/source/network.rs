//! Storage behind a network: NFS, iSCSI, Fibre Channel and file systems of clusters.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::core::v1::{
    FCVolumeSource, FlexPersistentVolumeSource, FlockerVolumeSource, GlusterfsPersistentVolumeSource,
    ISCSIPersistentVolumeSource, NFSVolumeSource, QuobyteVolumeSource,
};

/// How qualified names of iSCSI begin.
const QUALIFIED_NAMES: [&str; 3] = ["iqn", "eui", "naa"];
/// The longest tenant of Quobyte, in bytes.
const MAX_TENANT: usize = 64;

/// The exported folder is named from the root.
pub fn nfs_source(value: &NFSVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !value.path.is_empty() && !value.path.starts_with('/') {
        cx.push(FieldError::invalid(&path.field("path"), &value.path, "must be an absolute path"));
    }
}

/// Targets with a unit, or world wide identifiers.
pub fn fc_source(value: &FCVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    let targets = path.field("targetWWNs");
    match (value.target_wwns.is_empty(), value.wwids.is_empty()) {
        (true, true) => {
            let detail = "must specify either targetWWNs or wwids, but not both";
            cx.push(FieldError::required(&targets, detail));
        }
        (false, false) => {
            let shown = Rendered(json(&value.target_wwns));
            let detail = "targetWWNs and wwids can not be specified simultaneously";
            cx.push(FieldError::invalid(&targets, &shown, detail));
        }
        _ => {}
    }
    if !value.target_wwns.is_empty() && value.lun.is_none() {
        cx.push(FieldError::required(&path.field("lun"), "lun is required if targetWWNs is specified"));
    }
}

/// A name or a UUID, and the name is no path.
pub fn flocker_source(value: &FlockerVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    match (value.dataset_name.is_empty(), value.dataset_uuid.is_empty()) {
        (true, true) => {
            cx.push(FieldError::required(path, "one of datasetName and datasetUUID is required"));
        }
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            cx.push(FieldError::invalid(path, "resource", detail));
        }
        _ => {}
    }
    if value.dataset_name.contains('/') {
        let at = path.field("datasetName");
        cx.push(FieldError::invalid(&at, &value.dataset_name, "must not contain '/'"));
    }
}

/// Every registry service has a port.
pub fn quobyte_source(value: &QuobyteVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = path.field("registry");
    if value.registry.is_empty() {
        cx.push(FieldError::required(&registry, PAIRS));
    } else if value.tenant.len() > MAX_TENANT {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        cx.push(FieldError::required(&path.field("tenant"), detail));
    } else if !value.registry.split(',').all(is_host_and_port) {
        cx.push(FieldError::invalid(&registry, &value.registry, PAIRS));
    }
}

/// Host and port with one colon between them; an IPv6 address stands in brackets.
fn is_host_and_port(pair: &str) -> bool {
    match pair.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").is_some_and(|(_, port)| !port.contains([':', ']'])),
        None => {
            pair.split_once(':').is_some_and(|(host, port)| !host.contains(['[', ']']) && !port.contains(':'))
        }
    }
}

/// A namespace that is given is one.
pub fn glusterfs_persistent_source(
    value: &GlusterfsPersistentVolumeSource,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let at = path.field("endpointsNamespace");
    match value.endpoints_namespace.as_deref() {
        None => {}
        Some("") => {
            let detail = "if the endpointnamespace is set, it must be a valid namespace name";
            cx.push(FieldError::invalid(&at, "", detail));
        }
        Some(namespace) => cx.invalid_all(&at, namespace, &constraint::dns_label(namespace)),
    }
}

/// Names are qualified as iSCSI does it, and authentication has a secret.
pub fn iscsi_persistent_source(
    value: &ISCSIPersistentVolumeSource,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if !value.iqn.is_empty() && !is_qualified(&value.iqn) {
        let detail = "must be valid format starting with iqn, eui, or naa";
        cx.push(FieldError::invalid(&path.field("iqn"), &value.iqn, detail));
    }
    let secret = path.field("secretRef");
    match &value.secret_ref {
        None if value.chap_auth_discovery || value.chap_auth_session => {
            cx.push(FieldError::required(&secret, ""));
        }
        Some(reference) if reference.name.is_empty() => {
            cx.push(FieldError::required(&secret.field("name"), ""));
        }
        _ => {}
    }
    if let Some(initiator) = value.initiator_name.as_deref().filter(|name| !is_qualified(name)) {
        cx.push(FieldError::invalid(&path.field("initiatorname"), initiator, "must be valid format"));
    }
}

fn is_qualified(name: &str) -> bool {
    QUALIFIED_NAMES.iter().any(|start| name.starts_with(start))
}

/// The product's own names are not for options.
pub fn flex_persistent_source(value: &FlexPersistentVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    let options = path.field("options");
    let own = [cx.vocabulary.label_domain, cx.vocabulary.group_suffix];
    for key in value.options.keys() {
        let domain = key.split_once('/').map_or(key.as_str(), |(domain, _)| domain).to_lowercase();
        let is_own =
            |own: &str| domain.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        if own.into_iter().any(is_own) {
            let detail = format!("{} and {} namespaces are reserved", own[0], own[1]);
            cx.push(FieldError::invalid(&options.key(key), key, &detail));
        }
    }
}
