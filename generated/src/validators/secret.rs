//! Secrets: data in other formats.

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation},
    path::Path,
};
use serde::de::IgnoredAny;

use crate::core::v1::Secret;

/// Values that are JSON or PEM by the type of the secret are read: Rust, because no expression reads them.
pub fn secret(value: &Secret, path: &Path<'_>, cx: &mut Validation<'_>) {
    let domain = cx.vocabulary.label_domain;
    match value.type_.strip_prefix(domain).and_then(|rest| rest.strip_prefix('/')) {
        Some("dockercfg") => json_object(value, ".dockercfg", &path.field("data"), cx),
        Some("dockerconfigjson") => json_object(value, ".dockerconfigjson", &path.field("data"), cx),
        Some("tls") => warn_of_missing_pem(value, cx),
        _ => {}
    }
}

/// Warns of a certificate or key that is not in PEM form. It is no error, because it can be filled in later.
/// Rust, because the bytes need not be text.
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

/// A value that is there is a JSON object or null. The error does not repeat the value. Rust, because no
/// expression reads JSON.
fn json_object(value: &Secret, key: &str, data: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(bytes) = value.data.get(key) else { return };
    // The value is not kept: a tree takes many times the memory of its text.
    let fault = match serde_json::from_slice::<IgnoredAny>(bytes) {
        Ok(_) if bytes.trim_ascii_start().starts_with(b"{") || bytes.trim_ascii() == b"null" => return,
        Ok(_) => "must be a JSON object",
        Err(_) => "must be valid JSON",
    };
    let hidden = Rendered("\"<secret contents redacted>\"".to_owned());
    cx.push(FieldError::invalid(&data.key(key), &hidden, fault));
}
