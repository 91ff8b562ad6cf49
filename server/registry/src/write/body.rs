//! The object in a request's body: decoded, of the right kind, for the right place.

use std::fmt::Write as _;

use orch_machinery::{
    body::BodyError,
    json::{
        Limits,
        decode::{DecodeError, decode_any},
    },
    meta, scalars, yaml,
};
use orch_runtime::Tree;

use super::{
    expected::{Expected, Mismatch},
    place,
};
use crate::{
    context::RequestContext,
    error::{ApiError, Result},
    options::FieldValidation,
    request::{Body, Target},
};

/// Decodes a body for the kind of the endpoint, which a sub-resource may have of its own. Unknown and
/// duplicate fields become warnings where `validation` says so.
///
/// # Errors
/// 400 for what is no document of its media type, or no object, for wrong types, another kind or version,
/// and, where `validation` is strict, for unknown and duplicate fields, all of them named; 413 for too many
/// values.
pub fn decode(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    body: &Body,
    validation: FieldValidation,
) -> Result<Tree> {
    decode_older(cx, target, body, validation, &[])
}

/// The same, for a body that may also be of these versions of its group.
///
/// # Errors
/// As of [`decode`].
pub fn decode_older(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    body: &Body,
    validation: FieldValidation,
    older: &'static [&'static str],
) -> Result<Tree> {
    let mut expected = Expected::of(cx.core.catalog(), target);
    expected.older = older;
    let read = (body.reader)(&body.bytes, expected.type_def, &Limits::default());
    let mut read = read.map_err(|error| refusal(cx, &expected, &error, &body.bytes))?;
    respell(cx, &expected, &mut read.tree);
    expected.check(&read.tree).map_err(|mismatch| expected.refusal(mismatch, || beginning(&body.bytes)))?;
    place::check_times(&read.tree)
        .and_then(|()| check_texts(&expected, &read.tree))
        .map_err(|why| expected.cannot_be_handled(&why))?;
    meta::set_type(&mut read.tree, expected.kind, &expected.api_version);
    match validation {
        FieldValidation::Strict if !read.strict.is_empty() => {
            // The reader of YAML tells all that it found as one error.
            let duplicates: Vec<String> = read.strict.drain(..read.duplicates).collect();
            if !duplicates.is_empty() {
                let all = duplicates.join("\n  ");
                read.strict.insert(0, format!("yaml: unmarshal errors:\n  {all}"));
            }
            return Err(refused_strictly(cx, target, &read.strict));
        }
        FieldValidation::Warn => cx.warn_all(read.strict),
        FieldValidation::Strict | FieldValidation::Ignore => {}
    }
    Ok(read.tree)
}

/// Puts a body into the server's spelling of groups, where the path or the body itself has another one.
fn respell(cx: &RequestContext<'_>, expected: &Expected<'_>, tree: &mut Tree) {
    let sent = meta::api_version(tree);
    if cx.spelling().is_none()
        && !sent.is_empty()
        && sent != expected.api_version
        && let Some(spelling) = cx.core.catalog().spelling_of(sent)
    {
        cx.spells(spelling);
    }
    if let Some(spelling) = cx.spelling() {
        spelling.read(tree);
    }
}

/// Checks texts that stand for something else. The typed object never has those that this path does not
/// write, and is made of the others only when the stored object has been looked at: too late for the answer.
fn check_texts(expected: &Expected<'_>, tree: &Tree) -> Result<(), String> {
    scalars::check_fields(tree, expected.type_def, |name| name != "metadata")
}

/// Why a body cannot be read: 413 where it exceeds a limit. What is of another kind is told so, whatever else
/// is wrong with it.
fn refusal(cx: &RequestContext<'_>, expected: &Expected<'_>, error: &BodyError, bytes: &[u8]) -> ApiError {
    if let Some(exceeded) = error.exceeded() {
        return ApiError::TooLarge(exceeded.to_string());
    }
    let mismatch = match error {
        BodyError::NoDocument(why) => Some(Mismatch::Unrecognized(why.clone())),
        BodyError::Text(_) => untyped(bytes).and_then(|mut tree| {
            respell(cx, expected, &mut tree);
            expected.check(&tree).err()
        }),
        BodyError::Protobuf(_) => None,
    };
    match mismatch {
        Some(mismatch) => expected.refusal(mismatch, || beginning(bytes)),
        None => expected.cannot_be_handled(&error.to_string()),
    }
}

/// A body in JSON or YAML, whatever it holds.
fn untyped(bytes: &[u8]) -> Option<Tree> {
    let limits = Limits::default();
    let json = decode_any(bytes, &limits).ok();
    json.or_else(|| yaml::decode(bytes, &limits).ok().map(|document| document.tree))
}

/// 413 for a document that exceeds a limit, and what `other` makes of any other error.
pub fn unreadable(error: &DecodeError, other: impl FnOnce(String) -> ApiError) -> ApiError {
    match error {
        DecodeError::TooLarge(exceeded) => ApiError::TooLarge(exceeded.to_string()),
        error => other(error.to_string()),
    }
}

/// 400 for a document with unknown or duplicate fields, where validation is strict. It names all of them.
pub fn refused_strictly(cx: &RequestContext<'_>, target: &Target<'_>, offences: &[String]) -> ApiError {
    Expected::of(cx.core.catalog(), target)
        .cannot_be_handled(&format!("strict decoding error: {}", offences.join(", ")))
}

/// How a body begins, for a message: as text where it looks like JSON, in hexadecimal digits otherwise.
fn beginning(bytes: &[u8]) -> String {
    const SHOWN: usize = 30;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let text = match shown.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(shown).into_owned(),
        Some(_) => shown.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    };
    if bytes.len() > SHOWN { text + " ..." } else { text }
}
