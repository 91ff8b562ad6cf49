//! Rules that volumes of pods share with storage: names of drivers, keys of options.

use std::collections::BTreeMap;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{FlexPersistentVolumeSource, FlexVolumeSource};

/// The maximum length of a driver name, in bytes.
const MAX_DRIVER_NAME: usize = 63;

/// The name of a CSI driver, where it is not a field of its own.
pub(super) fn csi_driver_name(name: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if name.is_empty() {
        cx.push(FieldError::required(path, ""));
    }
    if name.len() > MAX_DRIVER_NAME {
        cx.push(FieldError::too_long(path, MAX_DRIVER_NAME));
    }
    cx.invalid_all(path, name, &constraint::driver_name(name));
}

/// The keys of options are not in the domains of the product.
pub fn flex_persistent_source(value: &FlexPersistentVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    option_keys(&value.options, &path.field("options"), cx);
}

/// The same for volumes of pods.
pub fn flex_volume(value: &FlexVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    option_keys(&value.options, &path.field("options"), cx);
}

/// The keys of a driver's options are not in the domains of the product.
fn option_keys(options: &BTreeMap<String, String>, path: &Path<'_>, cx: &mut Validation<'_>) {
    let reserved = [cx.vocabulary.label_domain, cx.vocabulary.group_suffix];
    for key in options.keys() {
        if is_in_domain(&reserved, key) {
            let detail = format!("{} and {} namespaces are reserved", reserved[0], reserved[1]);
            cx.push(FieldError::invalid(&path.key(key), key, &detail));
        }
    }
}

/// Whether the domain of a key (the part before the slash) is one of `domains` or a subdomain of one.
fn is_in_domain(domains: &[&str], key: &str) -> bool {
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain).to_lowercase();
    let is_below =
        |own: &&str| domain.strip_suffix(*own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    domains.iter().any(is_below)
}
