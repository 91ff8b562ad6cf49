//! The object in a request's body: decoded, of the right kind, for the right place.

use std::{borrow::Cow, fmt::Write as _};

use orch_machinery::{
    body::BodyError,
    json::{Limits, decode::DecodeError},
    meta,
};
use orch_runtime::{Tree, resource_def::BodyKind, type_def::TypeDef};

use super::place;
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
    let expected = Expected::of(target);
    let read = (body.reader)(&body.bytes, expected.type_def, &Limits::default());
    let mut read = read.map_err(|error| match error.exceeded() {
        Some(exceeded) => ApiError::TooLarge(exceeded.to_string()),
        None => expected.unreadable(&error, &body.bytes),
    })?;
    respell(cx, &expected, &mut read.tree);
    place::check_times(&read.tree).map_err(|why| expected.cannot_be_handled(&why))?;
    expected.check(&read.tree)?;
    meta::set_type(&mut read.tree, expected.kind, &expected.api_version);
    match validation {
        FieldValidation::Strict if !read.strict.is_empty() => {
            return Err(refused_strictly(target, &read.strict));
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

/// 413 for a document that exceeds a limit, and what `other` makes of any other error.
pub fn unreadable(error: &DecodeError, other: impl FnOnce(String) -> ApiError) -> ApiError {
    match error {
        DecodeError::TooLarge(exceeded) => ApiError::TooLarge(exceeded.to_string()),
        error => other(error.to_string()),
    }
}

/// 400 for a document with unknown or duplicate fields, where validation is strict. It names all of them.
pub fn refused_strictly(target: &Target<'_>, offences: &[String]) -> ApiError {
    Expected::of(target).cannot_be_handled(&format!("strict decoding error: {}", offences.join(", ")))
}

/// What kind of object a body must hold.
pub(super) struct Expected<'c> {
    pub(super) kind: &'static str,
    version: &'static str,
    pub(super) api_version: Cow<'c, str>,
    pub(super) type_def: &'static TypeDef,
}

impl<'c> Expected<'c> {
    pub(super) fn of(target: &'c Target<'_>) -> Self {
        let resource = target.resource;
        match target.subresource.and_then(|subresource| subresource.body) {
            Some(BodyKind { group, version, kind, type_def }) => {
                let api_version = resource.vocabulary.api_version(group, version);
                Expected { kind, version, api_version: Cow::Owned(api_version), type_def }
            }
            None => Expected {
                kind: resource.def.kind,
                version: resource.def.version,
                api_version: Cow::Borrowed(&resource.api_version),
                type_def: resource.def.type_def,
            },
        }
    }

    /// Absent kind and version are those of the endpoint; others are refused.
    fn check(&self, tree: &Tree) -> Result<()> {
        let text = |name: &str| tree.get(name).and_then(Tree::as_str).unwrap_or_default();
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        if !api_version.is_empty() && api_version != self.api_version {
            return Err(ApiError::BadRequest(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({})",
                self.api_version
            )));
        }
        if !kind.is_empty() && kind != self.kind {
            return Err(ApiError::BadRequest(format!(
                "{kind} in version \"{}\" cannot be handled as a {}",
                self.version, self.kind
            )));
        }
        Ok(())
    }

    fn unreadable(&self, error: &BodyError, bytes: &[u8]) -> ApiError {
        let BodyError::NoDocument(why) = error else { return self.cannot_be_handled(&error.to_string()) };
        let (kind, begin) = (self.kind, beginning(bytes));
        ApiError::BadRequest(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({begin})"
        ))
    }

    fn cannot_be_handled(&self, why: &str) -> ApiError {
        let Expected { kind, version, .. } = self;
        ApiError::BadRequest(format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"))
    }
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
