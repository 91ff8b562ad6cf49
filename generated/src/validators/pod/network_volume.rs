//! Volumes of storage systems in the network: fields that depend on each other, and names of a form of their own.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use super::volume::named;
use crate::core::v1::{FlexVolumeSource, ISCSIVolumeSource, StorageOSVolumeSource};

/// A qualified name of iSCSI.
pub fn iqn(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_correct = match value.get(..3) {
        Some("iqn") => is_iqn(value),
        Some("eui") => is_eui(value),
        Some("naa") => is_naa(value),
        _ => {
            let detail = "must be valid format starting with iqn, eui, or naa";
            return cx.push(FieldError::invalid(path, value, detail));
        }
    };
    if !is_correct {
        cx.push(FieldError::invalid(path, value, "must be valid format"));
    }
}

/// `iqn.2001-04.com.example:storage`
fn is_iqn(value: &str) -> bool {
    let Some((date, rest)) = value.strip_prefix("iqn.").and_then(|rest| rest.split_at_checked(7)) else {
        return false;
    };
    let is_date = date.bytes().enumerate().all(
        |(index, byte)| {
            if index == 4 { byte == b'-' } else { byte.is_ascii_digit() }
        },
    );
    let mut rest = rest.strip_prefix('.').unwrap_or_default().splitn(2, ':');
    let is_domain = rest.next().is_some_and(|domain| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        domain.ends_with(|last: char| last.is_ascii_alphanumeric()) && domain.bytes().all(is_allowed)
    });
    is_date
        && is_domain
        && rest.next().is_none_or(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// `eui.02004567A425678D`
fn is_eui(value: &str) -> bool {
    has_hex(value, "eui.", &[16])
}

/// `naa.52004567BA64678D`
fn is_naa(value: &str) -> bool {
    has_hex(value, "naa.", &[16, 32])
}

fn has_hex(value: &str, prefix: &str, lengths: &[usize]) -> bool {
    value.strip_prefix(prefix).is_some_and(|digits| {
        lengths.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// CHAP needs a secret.
pub fn iscsi(value: &ISCSIVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if (value.chap_auth_discovery || value.chap_auth_session) && value.secret_ref.is_none() {
        cx.push(FieldError::required(&path.field("secretRef"), ""));
    }
}

/// Options leave the names of the product alone.
pub fn flex_volume(value: &FlexVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    let options = path.field("options");
    let reserved = [cx.vocabulary.label_domain, cx.vocabulary.group_suffix];
    for key in value.options.keys() {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        let is_below = |reserved: &str| {
            domain.strip_suffix(reserved).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if reserved.into_iter().any(is_below) {
            cx.push(FieldError::invalid(&options.key(key), key, "must not use reserved namespaces"));
        }
    }
}

/// The secret has a name.
pub fn storage_os(value: &StorageOSVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    named(value.secret_ref.as_ref(), &path.field("secretRef"), cx);
}
