//! The text form of certificates and keys (RFC 7468).

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The text of this DER; `label` says what it is, in capitals.
pub fn of(label: &str, der: &[u8]) -> String {
    let encoded = STANDARD.encode(der);
    let lines = encoded.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).expect("base64 is ASCII"));
    let body = lines.collect::<Vec<_>>().join("\n");
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}
