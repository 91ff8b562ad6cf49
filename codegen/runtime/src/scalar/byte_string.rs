//! Bytes, written as standard base64 with padding.

use std::{
    fmt::{self, Debug, Display},
    ops::Deref,
    str::FromStr,
};

use base64::{
    DecodeError, Engine as _, alphabet,
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
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let decoded = if text.bytes().any(|byte| is_break(&byte)) {
            BASE64.decode(text.bytes().filter(|byte| !is_break(byte)).collect::<Vec<_>>())
        } else {
            BASE64.decode(text)
        };
        decoded.map(ByteString).map_err(|error| ScalarError::Base64 { at: offset(&error) })
    }
}

fn offset(error: &DecodeError) -> usize {
    match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => *at,
        // A group of four symbols is not complete; it begins at the last multiple of four.
        DecodeError::InvalidLength(len) => len / 4 * 4,
        DecodeError::InvalidPadding => 0,
    }
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
