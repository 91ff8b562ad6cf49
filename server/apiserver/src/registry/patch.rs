//! PATCH: reading a patch of any kind, and what it makes of an object.

use orch_machinery::{
    json::{
        Limits,
        decode::{decode_any, decode_tree},
    },
    negotiate::media_type,
    patch::{
        PatchError,
        json::{JsonPatch, JsonPatchLimits},
        merge, strategic,
    },
};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    path::Path,
};

use super::{
    Call, Reply, body,
    current::Current,
    options::{FieldValidation, WriteOptions},
    update::{self, Proposal},
};
use crate::error::{ApiError, Result};

/// The kinds of patches, by media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// RFC 7386.
    Merge,
    /// A merge that knows how lists of the kind are identified.
    Strategic,
    /// RFC 6902.
    Json,
}

/// Media type to kind of patch.
pub const PATCH_TYPES: &[(&str, PatchKind)] = &[
    ("application/json-patch+json", PatchKind::Json),
    ("application/merge-patch+json", PatchKind::Merge),
    ("application/strategic-merge-patch+json", PatchKind::Strategic),
];

/// A patch as it was sent.
#[derive(Debug)]
pub enum Patch {
    /// RFC 7386.
    Merge(Tree),
    /// With the lists of the kind.
    Strategic(Tree),
    /// RFC 6902.
    Json(JsonPatch),
}

/// Patches the object.
///
/// # Errors
/// 400 and 422 for patches that cannot be read or applied, 415 for other media types, and those of an update.
pub async fn patch(call: Call<'_>, content_type: &str, text: &[u8]) -> Result<Reply> {
    let patch = Patch::read(content_type, text)?;
    let options = WriteOptions::parse(call, "PatchOptions")?;
    check_force(call)?;
    let mut warnings = Vec::new();
    let answer = update::apply(call, &Proposal::Patch(patch), &options, &mut warnings).await?;
    Ok(Reply { answer, warnings })
}

impl Patch {
    /// Reads a patch of the kind that the media type names. Unknown members of operations are reported like unknown
    /// fields of a body.
    fn read(content_type: &str, text: &[u8]) -> Result<Self> {
        let kind = PATCH_TYPES
            .iter()
            .find(|(name, _)| *name == media_type(content_type))
            .map(|(_, kind)| *kind)
            .ok_or(ApiError::UnsupportedPatchType)?;
        if kind == PatchKind::Json {
            let patch = JsonPatch::parse(text, &Limits::default(), &JsonPatchLimits::default());
            return patch.map(Patch::Json).map_err(refusal);
        }
        let document = decode_any(text, &Limits::default())
            .map_err(|error| ApiError::BadRequest(format!("error decoding patch: {error}")))?;
        Ok(if kind == PatchKind::Merge { Patch::Merge(document) } else { Patch::Strategic(document) })
    }

    /// What the patch makes of the current object; read like a body, with unknown fields reported.
    pub fn apply(
        &self,
        call: Call<'_>,
        current: &Current,
        validation: FieldValidation,
        warnings: &mut Vec<String>,
    ) -> Result<Tree> {
        let patched = match self {
            Patch::Merge(document) => merge::apply(&current.tree, document),
            Patch::Strategic(document) => {
                strategic::apply(&current.tree, document, call.target.resource.def.type_def)
            }
            Patch::Json(patch) => patch.apply(&current.tree, &JsonPatchLimits::default()),
        };
        read_result(call, &patched.map_err(refusal)?, validation, warnings)
    }
}

/// A patched object must still be an object of its kind.
fn read_result(
    call: Call<'_>,
    patched: &Tree,
    validation: FieldValidation,
    warnings: &mut Vec<String>,
) -> Result<Tree> {
    let kept =
        ["kind", "apiVersion"].map(|name| patched.get(name).and_then(Tree::as_str).unwrap_or_default());
    let resource = call.target.resource;
    if kept != [resource.def.kind, resource.api_version.as_str()] {
        let why = format!("{} \"{}\" is no {} {}", kept[0], kept[1], resource.api_version, resource.def.kind);
        return Err(unreadable_result(call, patched, &why));
    }
    let decoded = body::check(
        call,
        decode_tree(patched.clone(), resource.def.type_def, &Limits::default()),
        validation,
    )
    .map_err(|error| match error {
        ApiError::BadRequest(why) => unreadable_result(call, patched, &why),
        other => other,
    })?;
    warnings.extend(decoded.warnings);
    Ok(decoded.tree)
}

/// 422 on no kind and no name: what clients know for a patch whose result does not decode.
fn unreadable_result(call: Call<'_>, patched: &Tree, why: &str) -> ApiError {
    let mut cx = Validation::new(call.app.catalog.vocabulary);
    cx.push(FieldError::invalid(&Path::ROOT.field("patch"), &patched.to_string(), why));
    ApiError::Invalid {
        group: String::new(),
        kind: String::new(),
        name: String::new(),
        errors: cx.into_errors(),
    }
}

fn refusal(error: PatchError) -> ApiError {
    match error {
        PatchError::Malformed(message) => ApiError::BadRequest(message),
        PatchError::NotApplicable(cause) => ApiError::Unprocessable(cause),
        PatchError::TooLarge(message) => ApiError::TooLarge(message),
        PatchError::TooManyOperations { .. } => ApiError::TooLarge(error.to_string()),
        PatchError::Contradiction(message) => ApiError::Unclassified(message),
    }
}

/// `force` belongs to server-side apply alone.
fn check_force(call: Call<'_>) -> Result<()> {
    if call.query.optional_flag("force").is_none() {
        return Ok(());
    }
    let vocabulary = call.app.catalog.vocabulary;
    let mut cx = Validation::new(vocabulary);
    cx.push(FieldError::forbidden(&Path::ROOT.field("force"), "may not be specified for non-apply patch"));
    Err(ApiError::Invalid {
        group: vocabulary.meta_group(),
        kind: "PatchOptions".to_owned(),
        name: String::new(),
        errors: cx.into_errors(),
    })
}
