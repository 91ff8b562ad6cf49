//! Secrets: total size, and the keys that well-known types require.

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation},
    path::Path,
};
use serde::de::IgnoredAny;

use super::MAX_DATA_BYTES;
use crate::core::v1::Secret;

/// The total size is limited, and the keys that the type requires exist.
pub fn secret(value: &Secret, path: &Path<'_>, cx: &mut Validation<'_>) {
    let data = path.field("data");
    if value.data.values().map(|bytes| bytes.len()).sum::<usize>() > MAX_DATA_BYTES {
        cx.push(FieldError::too_long(&data, MAX_DATA_BYTES));
    }
    let domain = cx.vocabulary.label_domain;
    let known_type = value.type_.strip_prefix(domain).and_then(|rest| rest.strip_prefix('/'));
    let has = |key: &str| value.data.contains_key(key);
    match known_type {
        Some("service-account-token") => service_account_name(value, path, cx),
        Some("dockercfg") => json_object(value, ".dockercfg", &data, cx),
        Some("dockerconfigjson") => json_object(value, ".dockerconfigjson", &data, cx),
        Some("basic-auth") if !has("username") && !has("password") => {
            required(&["username", "password"], &data, cx);
        }
        Some("ssh-auth") if value.data.get("ssh-privatekey").is_none_or(|key| key.is_empty()) => {
            required(&["ssh-privatekey"], &data, cx);
        }
        Some("tls") => {
            let missing: Vec<&str> = ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)).collect();
            required(&missing, &data, cx);
            warn_of_missing_pem(value, cx);
        }
        _ => {}
    }
}

/// Warns of a certificate or key that is not in PEM form. It is no error, because it can be filled in later.
fn warn_of_missing_pem(value: &Secret, cx: &mut Validation<'_>) {
    let lacks_pem = |key: &str| {
        let bytes: &[u8] = value.data.get(key).map_or(&[], |bytes| bytes);
        !String::from_utf8_lossy(bytes).contains("-----BEGIN ")
    };
    let part = [("tls.crt", "certificate"), ("tls.key", "key")].into_iter().find(|(key, _)| lacks_pem(key));
    if let Some((_, name)) = part {
        cx.warn(&Path::ROOT, format_args!("tls: failed to find any PEM data in {name} input"));
    }
}

/// A token secret names its service account in an annotation.
fn service_account_name(value: &Secret, path: &Path<'_>, cx: &mut Validation<'_>) {
    let key = cx.vocabulary.label("service-account.name");
    if value.metadata.annotations.get(&key).is_none_or(String::is_empty) {
        cx.push(FieldError::required(&path.field("metadata").field("annotations").key(&key), ""));
    }
}

/// The value exists and is a JSON object or null. The error does not repeat the value.
fn json_object(value: &Secret, key: &str, data: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(bytes) = value.data.get(key) else { return required(&[key], data, cx) };
    // The value is not kept: a tree takes many times the memory of its text.
    let fault = match serde_json::from_slice::<IgnoredAny>(bytes) {
        Ok(_) if bytes.trim_ascii_start().starts_with(b"{") || bytes.trim_ascii() == b"null" => return,
        Ok(_) => "must be a JSON object",
        Err(_) => "must be valid JSON",
    };
    let hidden = Rendered("\"<secret contents redacted>\"".to_owned());
    cx.push(FieldError::invalid(&data.key(key), &hidden, fault));
}

fn required(keys: &[&str], data: &Path<'_>, cx: &mut Validation<'_>) {
    for key in keys {
        cx.push(FieldError::required(&data.key(key), ""));
    }
}
