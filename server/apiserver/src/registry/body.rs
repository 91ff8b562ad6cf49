//! The object in a request's body: decoded, of the right kind, for the right place.

use std::borrow::Cow;

use orch_machinery::{
    json::{
        Limits,
        decode::{self, Decoded},
    },
    meta, protobuf, yaml,
};
use orch_runtime::{Tree, TreeMap, resource_def::BodyKind, type_def::TypeDef};

use super::{
    Call,
    body_format::{Body, BodyFormat},
    metadata,
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

/// Decodes a body for the kind of the endpoint, which is the sub-resource's own where it has one.
///
/// # Errors
/// 400 for text that is no JSON object, wrong types, another kind or version, and, where `validation` is strict,
/// for unknown and duplicate fields, all of them named.
pub fn decode(call: Call<'_>, body: &Body, validation: FieldValidation) -> Result<Submitted> {
    let expected = Expected::of(call);
    let (mut tree, offences) =
        read(body, expected.type_def).map_err(|why| expected.cannot_be_handled(&why))?;
    metadata::check_times(&tree).map_err(|why| expected.cannot_be_handled(&why))?;
    expected.check(&tree)?;
    meta::set_type(&mut tree, expected.kind, &expected.api_version);
    let warnings = match validation {
        FieldValidation::Strict if !offences.is_empty() => {
            let all = format!("strict decoding error: {}", offences.join(", "));
            return Err(expected.cannot_be_handled(&all));
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
        // To existing clients `null` is an object without fields.
        BodyFormat::Json if body.bytes.trim_ascii() == b"null" => {
            Ok((Tree::Object(TreeMap::new()), Vec::new()))
        }
        BodyFormat::Json => {
            decode::decode(&body.bytes, def, &limits).map(told).map_err(|error| error.to_string())
        }
        BodyFormat::Yaml => {
            let mut document = yaml::decode(&body.bytes, &limits).map_err(|error| error.to_string())?;
            if document.tree.is_null() {
                document.tree = Tree::Object(TreeMap::new());
            }
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

/// What kind of object a body must hold.
struct Expected<'c> {
    kind: &'static str,
    version: &'static str,
    api_version: Cow<'c, str>,
    type_def: &'static TypeDef,
}

impl<'c> Expected<'c> {
    fn of(call: Call<'c>) -> Self {
        let resource = call.target.resource;
        match call.target.subresource.and_then(|subresource| subresource.body) {
            Some(BodyKind { group, version, kind, type_def }) => {
                let api_version = call.app.catalog.vocabulary.api_version(group, version);
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

    fn cannot_be_handled(&self, why: &str) -> ApiError {
        let Expected { kind, version, .. } = self;
        ApiError::BadRequest(format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"))
    }
}
