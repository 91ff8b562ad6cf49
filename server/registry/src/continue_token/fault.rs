//! What is wrong with a text that is no continue token, in the words of the reference. Its tokens are JSON in
//! base64; those of this server are not, so what looks like one of ours has no fault that could be told.

use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use orch_runtime::{Tree, field_error::Shown as _};

use super::FORM;

/// As in the reference, bits behind the last byte do not matter.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// For a token of another list, and where nothing more precise is known.
pub const OF_ANOTHER_LIST: &str = "it was not given out for this list";

/// Why a text cannot be a token of any list.
pub fn fault(token: &str) -> Option<String> {
    match LENIENT.decode(token) {
        Err(_) => Some(format!("illegal base64 data at input byte {}", first_fault(token))),
        Ok(bytes) if bytes.first() == Some(&FORM) => None,
        Ok(bytes) => Some(json_fault(&bytes)),
    }
}

/// The index of the first byte outside of the alphabet. Without one the length is wrong, and the reference
/// names the last byte.
fn first_fault(token: &str) -> usize {
    let is_of_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let fault = token.bytes().position(|byte| !is_of_alphabet(byte));
    fault.unwrap_or_else(|| token.len().saturating_sub(1))
}

fn json_fault(bytes: &[u8]) -> String {
    let Some(first) = bytes.iter().copied().find(|byte| !b" \t\r\n".contains(byte)) else {
        return "unexpected end of JSON input".to_owned();
    };
    if !b"{[\"-tfn".contains(&first) && !first.is_ascii_digit() {
        let shown = char::from(first).to_string().shown();
        return format!("invalid character '{}' looking for beginning of value", shown.trim_matches('"'));
    }
    match serde_json::from_slice::<Tree>(bytes) {
        Ok(token) if token.is_object() => content_fault(&token),
        _ => OF_ANOTHER_LIST.to_owned(),
    }
}

/// A token as the reference makes them was not made by this server.
fn content_fault(token: &Tree) -> String {
    let text = |name: &str| token.get(name).and_then(Tree::as_str).unwrap_or_default();
    let version = text("v");
    if !(version.starts_with("meta.") && version.ends_with("/v1")) {
        return format!("server does not recognize this encoded version {version}");
    }
    if token.get("rv").and_then(Tree::as_i64).unwrap_or_default() == 0 {
        return format!("incorrect encoded start resourceVersion (version {version})");
    }
    if text("start").is_empty() {
        return format!("encoded start key empty (version {version})");
    }
    OF_ANOTHER_LIST.to_owned()
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

    use super::{OF_ANOTHER_LIST, fault};

    #[test]
    fn what_is_no_token_is_told_in_the_words_of_the_reference() {
        for (token, expected) in [
            ("x", "illegal base64 data at input byte 0"),
            ("%%%", "illegal base64 data at input byte 0"),
            ("not a token", "illegal base64 data at input byte 3"),
            ("invalid-token", "illegal base64 data at input byte 12"),
            ("bad", "invalid character 'm' looking for beginning of value"),
            ("garbage", "invalid character '\\u0081' looking for beginning of value"),
            ("e30", "server does not recognize this encoded version "),
        ] {
            assert_eq!(fault(token).as_deref(), Some(expected), "{token}");
        }
    }

    #[test]
    fn tokens_of_the_reference_are_read_as_far_as_they_are_wrong() {
        for (json, expected) in [
            (r#"{"v":"x","rv":1,"start":"a"}"#, "server does not recognize this encoded version x"),
            (
                r#"{"v":"meta.k8s.io/v1","rv":0,"start":"a"}"#,
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (r#"{"v":"meta.k8s.io/v1","rv":1}"#, "encoded start key empty (version meta.k8s.io/v1)"),
            (r#"{"v":"meta.k8s.io/v1","rv":1,"start":"a"}"#, OF_ANOTHER_LIST),
            (" ", "unexpected end of JSON input"),
            ("1", OF_ANOTHER_LIST),
        ] {
            assert_eq!(fault(&BASE64_URL_SAFE_NO_PAD.encode(json)).as_deref(), Some(expected), "{json}");
        }
    }
}
