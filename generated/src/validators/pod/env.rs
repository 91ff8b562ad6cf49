//! Environment variables, and the fields and resources that the downward API exposes.

use std::{borrow::Cow, sync::LazyLock};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    scalar::Quantity,
};

use crate::core::v1::{EnvVarSource, ObjectFieldSelector, ResourceFieldSelector};

/// Where the downward API exposes a value; each has its own list of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownwardApi {
    /// In environment variables.
    Environment,
    /// In files of a volume.
    Files,
}

impl DownwardApi {
    fn allowed_fields(self) -> &'static [&'static str] {
        match self {
            DownwardApi::Environment => &[
                "metadata.name",
                "metadata.namespace",
                "metadata.uid",
                "spec.nodeName",
                "spec.serviceAccountName",
                "status.hostIP",
                "status.hostIPs",
                "status.podIP",
                "status.podIPs",
            ],
            DownwardApi::Files => &[
                "metadata.annotations",
                "metadata.labels",
                "metadata.name",
                "metadata.namespace",
                "metadata.uid",
            ],
        }
    }
}

/// All field labels of a pod.
const FIELD_LABELS: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.phase",
    "status.podIP",
    "status.podIPs",
];

/// The resources that can be exposed, besides huge pages.
const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const HUGE_PAGES: &[&str] = &["limits.hugepages-", "requests.hugepages-"];

/// The field or resource can be exposed in a variable.
pub fn env_var_source(value: &EnvVarSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(field) = &value.field_ref {
        field_selector(field, DownwardApi::Environment, &path.field("fieldRef"), cx);
    }
    if let Some(resource) = &value.resource_field_ref {
        resource_selector(resource, DownwardApi::Environment, &path.field("resourceFieldRef"), cx);
    }
}

/// The field of the pod can be exposed.
pub(super) fn field_selector(
    value: &ObjectFieldSelector,
    target: DownwardApi,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let at = path.field("fieldPath");
    let field = value.field_path.as_str();
    if field.is_empty() {
        return cx.push(FieldError::required(&at, ""));
    }
    if let Some((map, key)) = subscript(field) {
        let faults = match map {
            "metadata.annotations" => constraint::qualified_name(&key.to_lowercase()),
            "metadata.labels" => constraint::qualified_name(key),
            _ => return cx.push(FieldError::invalid(path, map, "does not support subscript")),
        };
        return cx.invalid_all(path, key, &faults);
    }
    if value.api_version != "v1" {
        let detail = format!("error converting fieldPath: unsupported pod version: {}", value.api_version);
        return cx.push(FieldError::invalid(&at, field, &detail));
    }
    // `spec.host` is the old name of the field.
    let field: Cow<'_, str> = if field == "spec.host" { "spec.nodeName".into() } else { field.into() };
    if !FIELD_LABELS.contains(&field.as_ref()) {
        let detail = format!("error converting fieldPath: field label not supported: {field}");
        cx.push(FieldError::invalid(&at, field.as_ref(), &detail));
    } else if !target.allowed_fields().contains(&field.as_ref()) {
        cx.push(FieldError::not_supported(&at, field.as_ref(), target.allowed_fields()));
    }
}

/// Splits `metadata.labels['key']` into `metadata.labels` and `key`.
fn subscript(field: &str) -> Option<(&str, &str)> {
    let (map, key) = field.strip_suffix("']")?.split_once("['")?;
    (!map.is_empty()).then_some((map, key))
}

/// The resource can be exposed, and the divisor fits it.
pub(super) fn resource_selector(
    value: &ResourceFieldSelector,
    target: DownwardApi,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let resource = value.resource.as_str();
    let at = path.field("resource");
    if target == DownwardApi::Files && value.container_name.is_empty() {
        cx.push(FieldError::required(&path.field("containerName"), ""));
    } else if resource.is_empty() {
        cx.push(FieldError::required(&at, ""));
    } else if !RESOURCES.contains(&resource) && !HUGE_PAGES.iter().any(|prefix| resource.starts_with(prefix))
    {
        cx.push(FieldError::not_supported(&at, resource, RESOURCES));
    }
    let Some(divisor) = value.divisor.as_ref().filter(|divisor| !divisor.is_zero()) else { return };
    let detail = match resource.split_once('.').map_or("", |(_, name)| name) {
        "cpu" if !CPU_UNITS.contains(divisor) => {
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned()
        }
        name if name.starts_with("hugepages-") => byte_units("hugepages", divisor),
        "ephemeral-storage" => byte_units("local ephemeral storage", divisor),
        "memory" => byte_units("memory", divisor),
        _ => String::new(),
    };
    if !detail.is_empty() {
        cx.push(FieldError::invalid(&path.field("divisor"), resource, &detail));
    }
}

/// The error for a divisor of a resource in bytes; empty if the divisor is valid.
fn byte_units(resource: &str, divisor: &Quantity) -> String {
    if BYTE_UNITS.contains(divisor) {
        return String::new();
    }
    format!("only divisor's values {} are supported with the {resource} resource", BYTE_UNIT_NAMES.join(", "))
}

static CPU_UNITS: LazyLock<Vec<Quantity>> = LazyLock::new(|| quantities(&["1m", "1"]));
static BYTE_UNITS: LazyLock<Vec<Quantity>> = LazyLock::new(|| quantities(BYTE_UNIT_NAMES));
const BYTE_UNIT_NAMES: &[&str] =
    &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

fn quantities(texts: &[&str]) -> Vec<Quantity> {
    texts.iter().map(|text| text.parse().expect("a quantity of this file")).collect()
}
