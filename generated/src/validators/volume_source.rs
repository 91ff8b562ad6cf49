//! Rules that volumes of pods share with storage: names of drivers, paths, iSCSI names, keys of options.

use std::{collections::BTreeMap, sync::LazyLock};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    rule::Pattern,
};

/// The maximum length of a driver name, in bytes.
const MAX_DRIVER_NAME: usize = 63;

/// The name of a CSI driver is a DNS subdomain in letters of either case, of at most 63 bytes.
pub fn csi_driver_name(name: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if name.is_empty() {
        cx.push(FieldError::required(path, ""));
    }
    if name.len() > MAX_DRIVER_NAME {
        cx.push(FieldError::too_long(path, MAX_DRIVER_NAME));
    }
    cx.invalid_all(path, name, &constraint::dns_subdomain(&name.to_lowercase()));
}

/// No part of a path is `..`.
pub fn path_without_backsteps(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.split('/').any(|part| part == "..") {
        cx.push(FieldError::invalid(path, value, "must not contain '..'"));
    }
}

/// An iSCSI name of type `iqn`, `eui` (RFC 3720) or `naa` (RFC 3980).
pub fn iqn(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_correct = match value.get(..3) {
        Some("iqn") => IQN.is_match(value),
        Some("eui") => EUI.is_match(value),
        Some("naa") => NAA.is_match(value),
        _ => {
            let detail = "must be valid format starting with iqn, eui, or naa";
            return cx.push(FieldError::invalid(path, value, detail));
        }
    };
    if !is_correct {
        cx.push(FieldError::invalid(path, value, "must be valid format"));
    }
}

/// `iqn.2001-04.com.example:storage`, `eui.02004567A425678D`, `naa.52004567BA64678D52004567BA64678D`
static IQN: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new(r"iqn\.[0-9]{4}-[0-9]{2}\.[0-9A-Za-z.-]+:[^,;*&$|\s]+$"));
static EUI: LazyLock<Pattern> = LazyLock::new(|| Pattern::new("^eui.[0-9A-Za-z]{16}$"));
static NAA: LazyLock<Pattern> = LazyLock::new(|| Pattern::new("^naa.[0-9A-Za-z]{32}$"));

/// The keys of a driver's options are not in the domains of the product.
pub(super) fn option_keys(options: &BTreeMap<String, String>, path: &Path<'_>, cx: &mut Validation<'_>) {
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
