//! Network storage: NFS, iSCSI, Fibre Channel, and cluster file systems.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
    rule,
};

use crate::{
    core::v1::{
        FCVolumeSource, FlexPersistentVolumeSource, FlockerVolumeSource, GlusterfsPersistentVolumeSource,
        ISCSIPersistentVolumeSource, NFSVolumeSource, QuobyteVolumeSource,
    },
    validators::volume_source::{iqn, option_keys},
};

/// The highest logical unit number.
const MAX_LUN: i32 = 255;
/// The maximum length of a Quobyte tenant, in bytes.
const MAX_TENANT: usize = 64;

/// The path is absolute.
pub fn nfs_source(value: &NFSVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !value.path.starts_with('/') {
        cx.push(FieldError::invalid(&path.field("path"), &value.path, "must be an absolute path"));
    }
}

/// Either target WWNs with a LUN, or WWIDs.
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
    if value.target_wwns.is_empty() {
        return;
    }
    match value.lun {
        None => {
            let detail = "lun is required if targetWWNs is specified";
            cx.push(FieldError::required(&path.field("lun"), detail));
        }
        Some(lun) => rule::between(lun, 0, MAX_LUN, &path.field("lun"), cx),
    }
}

/// Either a name or a UUID; the name has no slash.
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

/// The registry is a list of `host:port` pairs, and the tenant is not too long.
pub fn quobyte_source(value: &QuobyteVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = path.field("registry");
    if value.registry.is_empty() {
        cx.push(FieldError::required(&registry, PAIRS));
    } else if value.tenant.len() > MAX_TENANT {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        cx.push(FieldError::required(&path.field("tenant"), detail));
    } else {
        // Each invalid pair is an error of its own, though all have the same text.
        for _ in value.registry.split(',').filter(|pair| !is_host_and_port(pair)) {
            cx.push(FieldError::invalid(&registry, &value.registry, PAIRS));
        }
    }
    cx.arrange(path, &[Order::of("registry"), Order::of("tenant"), Order::of("volume")]);
}

/// Host and port with one colon between them; an IPv6 address is in brackets.
fn is_host_and_port(pair: &str) -> bool {
    match pair.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").is_some_and(|(_, port)| !port.contains([':', ']'])),
        None => {
            pair.split_once(':').is_some_and(|(host, port)| !host.contains(['[', ']']) && !port.contains(':'))
        }
    }
}

/// The namespace, if given, is valid.
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

/// iSCSI names are valid, and CHAP authentication has a secret.
pub fn iscsi_persistent_source(
    value: &ISCSIPersistentVolumeSource,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if !value.iqn.is_empty() {
        iscsi_name(&value.iqn, &path.field("iqn"), cx);
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
    if let Some(initiator) = &value.initiator_name {
        iscsi_name(initiator, &path.field("initiatorname"), cx);
    }
    cx.arrange(path, ISCSI);
}

const ISCSI: &[Order] = &[
    Order::of("targetPortal"),
    Order::of("targetportal"),
    Order::of("iqn"),
    Order::of("lun"),
    Order::of("secretRef"),
    Order::of("initiatorname"),
];

/// An iSCSI name; here all errors about it have the same text.
fn iscsi_name(name: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let had_error = cx.has_error_at(path);
    iqn(name, path, cx);
    if !had_error && cx.has_error_at(path) {
        cx.retract(path);
        cx.push(FieldError::invalid(path, name, "must be valid format"));
    }
}

/// The keys of options are not in the domains of the product.
pub fn flex_persistent_source(value: &FlexPersistentVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    option_keys(&value.options, &path.field("options"), cx);
}
