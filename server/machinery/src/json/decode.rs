//! Reads a document as a tree of a known type.
//!
//! One pass over the input does all of the reading: fields that the type does not have are dropped and
//! reported, duplicate names are reported and the last one wins, JSON types are checked, the depth is
//! limited, and `null` gets its meaning (an absent field, an empty map value). Whether a string is a valid
//! time or quantity is checked by the typed form; here it must only be a string.
//!
//! An escape of half a character (`\ud800` alone) is read as U+FFFD, as the reference does.
//!
//! Names are case-sensitive. Errors and reports have the words of the reference server.

mod location;
mod seed;
mod surrogates;

use std::{borrow::Cow, fmt};

use orch_runtime::{Tree, field_error::Shown as _, type_def::TypeDef};
use serde::de::{DeserializeSeed as _, Deserializer};

use self::{
    location::Location,
    seed::{Absent, Context, Target, TreeSeed},
};
use super::{
    Limits,
    budget::{Budget, Exceeded},
};

/// At most this many strict errors are kept for one document; more would only fill logs.
pub(crate) const MAX_STRICT_ERRORS: usize = 100;

/// No more are kept after this many bytes: a path can be as long as the document.
pub(crate) const MAX_STRICT_BYTES: usize = 64 * 1024;

/// A document that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The document without the fields that its type does not have.
    pub tree: Tree,
    /// What strict field validation refuses, in the order of the document, without duplicates, at most 100.
    pub strict: Vec<StrictError>,
}

/// A fault that is tolerated unless the client asks for strict field validation. `Display` writes `unknown
/// field "spec.foo"` or `duplicate field "metadata.name"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrictError {
    /// The type has no field at this path.
    Unknown(String),
    /// The name at this path occurs more than once in its object.
    Duplicate(String),
}

impl fmt::Display for StrictError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrictError::Unknown(path) => write!(out, "unknown field {}", path.shown()),
            StrictError::Duplicate(path) => write!(out, "duplicate field {}", path.shown()),
        }
    }
}

/// Why a document cannot be read. The text is meant for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text ends before the document does, or there is only white space.
    #[error("unexpected end of JSON input")]
    Empty,
    /// The text is not JSON, or is not UTF-8.
    #[error("{0}")]
    Syntax(String),
    /// Something follows the document.
    #[error("invalid character {} after top-level value", quoted(*.0))]
    TrailingData(char),
    /// Lists and objects are nested too deeply.
    #[error("exceeded max depth: lists and objects may be nested {} levels deep", .0 - 1)]
    TooDeep(usize),
    /// There are more values than a document may hold, or they would take too much memory.
    #[error(transparent)]
    TooLarge(#[from] Exceeded),
    /// A value of the wrong JSON type.
    #[error("json: cannot unmarshal {what}")]
    Type {
        /// Which value, and where.
        what: String,
        /// What the reference says of it where it reads the result of a strategic patch, which it does with
        /// another reader. Absent where that reader says the same.
        restored: Option<String>,
    },
}

impl DecodeError {
    /// Whether the text is no document at all, rather than one with wrong values.
    pub fn is_syntax(&self) -> bool {
        match self {
            Self::Empty | Self::Syntax(_) | Self::TrailingData(_) | Self::TooDeep(_) => true,
            Self::TooLarge(_) | Self::Type { .. } => false,
        }
    }
}

/// Reads a top-level object of type `def`. `apiVersion` and `kind` are kept besides the fields of the type.
pub fn decode(bytes: &[u8], def: &'static TypeDef, limits: &Limits) -> Result<Decoded, DecodeError> {
    read(bytes, Target::Root(def), *limits)
}

/// Reads a stored object of type `def`, in the form in which it is answered: what is written as null where it
/// is absent is there, also where an older build stored the object without it.
pub fn decode_stored(bytes: &[u8], def: &'static TypeDef) -> Result<Tree, DecodeError> {
    let limits = Limits::STORED;
    read_within(bytes, Target::Root(def), limits, Absent::Null, &mut Budget::of(limits))
        .map(|decoded| decoded.tree)
}

/// Reads a document without a type, such as a patch.
pub fn decode_any(bytes: &[u8], limits: &Limits) -> Result<Tree, DecodeError> {
    decode_any_strict(bytes, limits).map(|decoded| decoded.tree)
}

/// Like [`decode_any`], and reports duplicate names.
pub fn decode_any_strict(bytes: &[u8], limits: &Limits) -> Result<Decoded, DecodeError> {
    read(bytes, Target::Any, *limits)
}

/// Like [`decode_any`], for a part of another document: it spends the budget of that one.
pub(crate) fn decode_embedded(
    bytes: &[u8],
    limits: &Limits,
    budget: &mut Budget,
) -> Result<Tree, DecodeError> {
    read_within(bytes, Target::Any, *limits, Absent::LeftOut, budget).map(|decoded| decoded.tree)
}

/// Reads a tree, such as the result of a patch, as if it were a document: unknown fields are dropped and
/// reported (in the order of names), types are checked, `null` gets its meaning.
pub fn decode_tree(tree: Tree, def: &'static TypeDef, limits: &Limits) -> Result<Decoded, DecodeError> {
    walk(tree, Target::Root(def), *limits, Absent::LeftOut, &mut Budget::of(*limits))
}

/// What sources of other formats are told of a field of bytes: its text is base64.
pub(crate) const BASE64_TEXT: &str = "base64";

/// Reads a document of another format: an object of type `def`, or anything where there is none.
pub(crate) fn decode_from<'de, D: Deserializer<'de>>(
    source: D,
    def: Option<&'static TypeDef>,
    limits: &Limits,
) -> Result<Decoded, DecodeError> {
    let target = def.map_or(Target::Any, Target::Root);
    walk(source, target, *limits, Absent::LeftOut, &mut Budget::of(*limits))
}

fn read(bytes: &[u8], target: Target, limits: Limits) -> Result<Decoded, DecodeError> {
    read_within(bytes, target, limits, Absent::LeftOut, &mut Budget::of(limits))
}

fn read_within(
    bytes: &[u8],
    target: Target,
    limits: Limits,
    absent: Absent,
    budget: &mut Budget,
) -> Result<Decoded, DecodeError> {
    let text = document(bytes)?;
    let mut source = serde_json::Deserializer::from_str(&text);
    let decoded = walk(&mut source, target, limits, absent, budget)?;
    match source.end() {
        Ok(()) => Ok(decoded),
        Err(error) => Err(trailing(&text, &error)),
    }
}

/// The text of a document. All of it is checked, because skipped values are not checked otherwise.
fn document(bytes: &[u8]) -> Result<Cow<'_, str>, DecodeError> {
    if bytes.trim_ascii().is_empty() {
        return Err(DecodeError::Empty);
    }
    str::from_utf8(bytes)
        .map(surrogates::replaced)
        .map_err(|error| DecodeError::Syntax(format!("invalid UTF-8 at offset {}", error.valid_up_to())))
}

fn walk<'de, D>(
    source: D,
    target: Target,
    limits: Limits,
    absent: Absent,
    budget: &mut Budget,
) -> Result<Decoded, DecodeError>
where
    D: Deserializer<'de>,
{
    let mut cx = Context::new(limits, absent, *budget);
    let result = TreeSeed { target, cx: &mut cx, at: &Location::ROOT }.deserialize(source);
    *budget = cx.budget;
    match (result, cx.error) {
        (_, Some(error)) => Err(error),
        (Ok(tree), None) => Ok(Decoded { tree, strict: cx.strict }),
        (Err(error), None) => Err(syntax(&error.to_string(), limits)),
    }
}

fn syntax(message: &str, limits: Limits) -> DecodeError {
    // The JSON parser has its own depth limit for values that are skipped or read without a type. It means
    // the same.
    if message.starts_with("recursion limit exceeded") {
        return DecodeError::TooDeep(limits.effective_depth());
    }
    if message.starts_with("EOF while parsing") {
        return DecodeError::Empty;
    }
    DecodeError::Syntax(message.to_owned())
}

fn trailing(text: &str, error: &serde_json::Error) -> DecodeError {
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let rest = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
    match rest.chars().next() {
        Some(first) => DecodeError::TrailingData(first),
        None => DecodeError::Syntax(error.to_string()),
    }
}

fn quoted(ch: char) -> String {
    if ch == '\'' { r"'\''".to_owned() } else { format!("'{ch}'") }
}

#[cfg(test)]
mod tests;
