//! The object in a request's body: decoded, of the right kind, for the right place.

use orch_machinery::{
    json::{
        Limits,
        decode::{self, Decoded},
    },
    protobuf, yaml,
};
use orch_runtime::{Tree, type_def::TypeDef};

use super::{
    Call,
    body_format::{Body, BodyFormat},
    options::FieldValidation,
};
use crate::{
    error::{ApiError, Result},
    request_info::Target,
};

/// An object as a client sent it.
#[derive(Debug)]
pub struct Submitted {
    /// Its structural form, with `kind` and `apiVersion` of the endpoint.
    pub tree: Tree,
    /// Unknown and duplicate fields, where the client wants to hear of them.
    pub warnings: Vec<String>,
}

/// Decodes a body for the kind of the endpoint.
///
/// # Errors
/// 400 for text that is no JSON object, wrong types, another kind or version, and, where `validation` is strict,
/// for unknown and duplicate fields, all of them named.
pub fn decode(call: Call<'_>, body: &Body, validation: FieldValidation) -> Result<Submitted> {
    let (mut tree, offences) =
        read(body, call.target.resource.def.type_def).map_err(|why| cannot_be_handled(call.target, &why))?;
    check_kind(call.target, &tree)?;
    set_kind(call.target, &mut tree);
    let warnings = match validation {
        FieldValidation::Strict if !offences.is_empty() => {
            let all = format!("strict decoding error: {}", offences.join(", "));
            return Err(cannot_be_handled(call.target, &all));
        }
        FieldValidation::Warn => offences,
        FieldValidation::Strict | FieldValidation::Ignore => Vec::new(),
    };
    Ok(Submitted { tree, warnings })
}

/// The object of a body of any format, and what a strict reader would refuse in it.
///
/// # Errors
/// Why the body cannot be read.
pub fn read(body: &Body, def: &'static TypeDef) -> Result<(Tree, Vec<String>), String> {
    let limits = Limits::default();
    let told = |decoded: Decoded| (decoded.tree, decoded.strict.iter().map(ToString::to_string).collect());
    match body.format {
        BodyFormat::Json => {
            decode::decode(&body.bytes, def, &limits).map(told).map_err(|error| error.to_string())
        }
        BodyFormat::Yaml => {
            let document = yaml::decode(&body.bytes, &limits).map_err(|error| error.to_string())?;
            let decoded =
                decode::decode_tree(document.tree, def, &limits).map_err(|error| error.to_string())?;
            let (tree, unknown): (Tree, Vec<String>) = told(decoded);
            Ok((tree, [document.duplicates, unknown].concat()))
        }
        // Unknown fields of this form are skipped by its own rules, never reported.
        BodyFormat::Protobuf => protobuf::decode(&body.bytes, def, &limits)
            .map(|tree| (tree, Vec::new()))
            .map_err(|error| error.to_string()),
    }
}

/// Writes the endpoint's kind and version into a tree.
pub fn set_kind(target: &Target<'_>, tree: &mut Tree) {
    if let Some(fields) = tree.as_object_mut() {
        fields.insert("kind".to_owned(), target.resource.def.kind.into());
        fields.insert("apiVersion".to_owned(), target.resource.api_version.as_str().into());
    }
}

/// Absent kind and version are those of the endpoint; others are refused.
fn check_kind(target: &Target<'_>, tree: &Tree) -> Result<()> {
    let text = |name: &str| tree.get(name).and_then(Tree::as_str).unwrap_or_default();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let resource = target.resource;
    if !api_version.is_empty() && api_version != resource.api_version {
        return Err(ApiError::BadRequest(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            resource.api_version
        )));
    }
    if !kind.is_empty() && kind != resource.def.kind {
        return Err(ApiError::BadRequest(format!(
            "{kind} in version \"{}\" cannot be handled as a {}",
            resource.def.version, resource.def.kind
        )));
    }
    Ok(())
}

fn cannot_be_handled(target: &Target<'_>, why: &str) -> ApiError {
    let def = target.resource.def;
    ApiError::BadRequest(format!(
        "{0} in version \"{1}\" cannot be handled as a {0}: {why}",
        def.kind, def.version
    ))
}
