//! Network volumes of pods: fields that depend on each other, and names with a format of their own.

use std::sync::LazyLock;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    rule::Pattern,
};

use super::volume::named_reference;
use crate::core::v1::{FlexVolumeSource, ISCSIVolumeSource, StorageOSVolumeSource};

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

/// CHAP authentication needs a secret.
pub fn iscsi(value: &ISCSIVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if (value.chap_auth_discovery || value.chap_auth_session) && value.secret_ref.is_none() {
        cx.push(FieldError::required(&path.field("secretRef"), ""));
    }
}

/// Whether the domain of a key (the part before the slash) is one of `domains` or a subdomain of one.
pub(in crate::validators) fn is_in_domain(domains: &[&str], key: &str) -> bool {
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain).to_lowercase();
    let is_below =
        |own: &&str| domain.strip_suffix(*own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    domains.iter().any(is_below)
}

/// The keys of options are not in the domains of the product.
pub fn flex_volume(value: &FlexVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    let options = path.field("options");
    let reserved = [cx.vocabulary.label_domain, cx.vocabulary.group_suffix];
    for key in value.options.keys() {
        if is_in_domain(&reserved, key) {
            let detail = format!("{} and {} namespaces are reserved", reserved[0], reserved[1]);
            cx.push(FieldError::invalid(&options.key(key), key, &detail));
        }
    }
}

/// The reference to the secret has a name.
pub fn storage_os(value: &StorageOSVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    named_reference(value.secret_ref.as_ref(), &path.field("secretRef"), cx);
}
