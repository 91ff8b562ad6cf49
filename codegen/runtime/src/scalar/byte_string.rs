//! Bytes, written as standard base64 with padding.

use std::{
    fmt::{self, Debug, Display},
    ops::Deref,
    str::FromStr,
};

use base64::{
    Engine as _, alphabet,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ScalarError, TextVisitor};
use crate::field_error::Shown;

/// Padding is needed. Spare bits in the last symbol are not looked at: clients send what other decoders take.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Bytes, often secret: they are not shown in debug output, nor in messages.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(pub Vec<u8>);

impl FromStr for ByteString {
    type Err = ScalarError;

    /// Line breaks inside the text are skipped.
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let decoded = if text.bytes().any(is_line_break) {
            BASE64.decode(text.bytes().filter(|byte| !is_line_break(*byte)).collect::<Vec<_>>())
        } else {
            BASE64.decode(text)
        };
        decoded.map(ByteString).map_err(|_| ScalarError::Base64 { at: first_fault(text) })
    }
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Where a text stops being base64: the first byte that cannot stand at its place, or the beginning of a
/// group of four that is not complete.
fn first_fault(text: &str) -> usize {
    let mut symbols = text.bytes().enumerate().filter(|(_, byte)| !is_line_break(*byte));
    let (mut group, mut filled) = (0, 0);
    while let Some((at, byte)) = symbols.next() {
        match byte {
            // Padding fills the group, and nothing follows it.
            b'=' if filled >= 2 => {
                if filled == 2 {
                    match symbols.next() {
                        Some((_, b'=')) => {}
                        Some(_) => return at,
                        None => return text.len(),
                    }
                }
                return symbols.next().map_or(text.len(), |(at, _)| at);
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                group = if filled == 0 { at } else { group };
                filled = (filled + 1) % 4;
            }
            _ => return at,
        }
    }
    group
}

impl Display for ByteString {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&base64::display::Base64Display::new(&self.0, &BASE64), out)
    }
}

impl Debug for ByteString {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ByteString({} bytes)", self.0.len())
    }
}

impl Shown for ByteString {
    fn shown(&self) -> String {
        format!("<{} bytes>", self.0.len())
    }
}

impl Deref for ByteString {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for ByteString {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for ByteString {
    fn from(bytes: Vec<u8>) -> Self {
        ByteString(bytes)
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        ByteString(bytes.to_vec())
    }
}

impl Serialize for ByteString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteString {
    /// `null` is no bytes.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = TextVisitor {
            expecting: "a base64 string",
            parse: ByteString::from_str,
            null: Some(ByteString::default),
        };
        deserializer.deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn reads_what_common_decoders_read() {
        let table = [
            ("", ""),
            ("YQ==", "a"),
            ("YWI=", "ab"),
            ("YWJj", "abc"),
            ("YW\nI=", "ab"),
            ("\r\nYWI=\n", "ab"),
            ("YQ=\n=", "a"),
            ("YR==", "a"),
        ];
        for (text, bytes) in table {
            assert_eq!(text.parse::<ByteString>().unwrap().as_ref(), bytes.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn names_the_byte_that_does_not_belong() {
        let table = [
            ("Y", 0),
            ("YQ", 0),
            ("YWJjYQ", 4),
            ("=", 0),
            ("Y===", 1),
            ("YQ=", 3),
            ("YQ===", 4),
            ("YQ==YQ==", 4),
            ("YQ=Q", 2),
            ("YWI=\nx", 5),
            ("Y W I=", 1),
            ("not base64!", 3),
            ("YWJj\nZGV!", 8),
            ("-_-_", 0),
            ("abé!", 2),
        ];
        for (text, at) in table {
            assert_eq!(text.parse::<ByteString>(), Err(ScalarError::Base64 { at }), "{text:?}");
        }
        assert_eq!("a".parse::<ByteString>().unwrap_err().to_string(), "illegal base64 data at input byte 0");
    }

    #[test]
    fn on_the_wire_null_is_empty() {
        assert_eq!(serde_json::from_value::<ByteString>(json!(null)).unwrap(), ByteString::default());
        assert_eq!(serde_json::to_value(ByteString::from(&b"ab"[..])).unwrap(), json!("YWI="));
        assert_eq!(serde_json::to_value(ByteString::default()).unwrap(), json!(""));
        assert!(serde_json::from_value::<ByteString>(json!(1)).is_err());
    }

    #[test]
    fn the_content_does_not_leak() {
        let secret = ByteString::from(b"hunter2".to_vec());
        for text in [format!("{secret:?}"), format!("{secret:#?}"), secret.shown()] {
            assert!(!text.contains("hunter2") && !text.contains(&secret.to_string()), "{text}");
            assert!(text.contains("7 bytes"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(bytes: Vec<u8>) {
            let value = ByteString(bytes);
            prop_assert_eq!(value.to_string().parse::<ByteString>(), Ok(value));
        }

        #[test]
        fn a_fault_is_inside_the_text(text in "[A-Ca-c0-1+/=\n é]{0,12}") {
            if let Err(ScalarError::Base64 { at }) = text.parse::<ByteString>() {
                prop_assert!(at <= text.len() && text.is_char_boundary(at));
            }
        }
    }
}
