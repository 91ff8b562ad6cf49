//! PATCH: reading a patch of any kind, and what it makes of an object.

use orch_machinery::{
    json::{
        Limits,
        decode::{decode_any_strict, decode_tree},
    },
    negotiate::media_type,
    patch::{
        PatchError,
        json::{JsonPatch, JsonPatchLimits},
        merge,
        shown::listing,
        strategic,
    },
};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    path::Path,
};

use super::{
    Call, Reply,
    configuration::Configuration,
    current::{self, Current},
    metadata,
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
    /// What a manager wants, YAML or JSON: server-side apply.
    Apply,
}

/// Media type to kind of patch.
pub const PATCH_TYPES: &[(&str, PatchKind)] = &[
    ("application/apply-patch+yaml", PatchKind::Apply),
    ("application/json-patch+json", PatchKind::Json),
    ("application/merge-patch+json", PatchKind::Merge),
    ("application/strategic-merge-patch+json", PatchKind::Strategic),
];

/// A patch as it was sent.
#[derive(Debug)]
pub struct Patch {
    change: Change,
    /// What a strict reader would refuse in the patch itself.
    offences: Vec<String>,
}

#[derive(Debug)]
enum Change {
    Merge(Tree),
    Strategic(Tree),
    Json(JsonPatch),
}

/// Patches the object.
///
/// # Errors
/// 400 and 422 for patches that cannot be read or applied, 415 for other media types, and those of an update.
pub async fn patch(call: Call<'_>, content_type: &str, text: &[u8]) -> Result<Reply> {
    let kind = PATCH_TYPES
        .iter()
        .find(|(name, _)| *name == media_type(content_type))
        .map(|(_, kind)| *kind)
        .ok_or(ApiError::UnsupportedPatchType)?;
    let options = WriteOptions::parse_for_patch(call, kind)?;
    if kind != PatchKind::Apply && current::is_absent(call, &call.target.name) {
        // Whatever else is wrong with the patch, it is of nothing.
        return Err(ApiError::not_found(call.target.resource, &call.target.name));
    }
    let proposal = match kind {
        PatchKind::Apply => Proposal::Configuration(Configuration::read(call, text)?),
        PatchKind::Merge | PatchKind::Strategic | PatchKind::Json => {
            Proposal::Patch(Patch::read(kind, text)?)
        }
    };
    let mut warnings = Vec::new();
    let answer = update::apply(call, &proposal, &options, &mut warnings).await?;
    Ok(Reply { answer, warnings })
}

impl Patch {
    fn read(kind: PatchKind, text: &[u8]) -> Result<Self> {
        if kind == PatchKind::Json {
            let patch =
                JsonPatch::parse(text, &Limits::default(), &JsonPatchLimits::default()).map_err(refusal)?;
            return Ok(Patch { offences: patch.strict().collect(), change: Change::Json(patch) });
        }
        // Existing clients find the reason alone where the patch is a strategic one.
        let prefix = if kind == PatchKind::Strategic { "" } else { "error decoding patch: " };
        let document = decode_any_strict(text, &Limits::default())
            .map_err(|error| ApiError::BadRequest(format!("{prefix}{error}")))?;
        let offences = document.strict.iter().map(ToString::to_string).collect();
        let change = match kind {
            PatchKind::Strategic => Change::Strategic(with_whole_numbers(document.tree)),
            PatchKind::Merge | PatchKind::Json | PatchKind::Apply => Change::Merge(document.tree),
        };
        Ok(Patch { change, offences })
    }

    /// What the patch makes of the current object; read like a body, with unknown fields reported.
    ///
    /// # Errors
    /// 422 where the result is no object of the kind, or is not what a strict reader accepts, and what a patch of its
    /// kind may meet.
    pub fn apply(
        &self,
        call: Call<'_>,
        current: &Current,
        validation: FieldValidation,
        warnings: &mut Vec<String>,
    ) -> Result<Tree> {
        let def = call.target.resource.def.type_def;
        let patched = match &self.change {
            // Where nobody asks what is in the patch, a list is taken for the object that it would make.
            Change::Merge(document @ Tree::Array(_)) if validation == FieldValidation::Ignore => {
                let why = "couldn't get version/kind; json parse error: json: cannot unmarshal array into an object";
                return Err(self.bad_result(call, document, why));
            }
            Change::Merge(document) => merge::apply(&current.tree, document),
            Change::Strategic(document) => strategic::apply(&current.tree, document, def),
            Change::Json(patch) => patch.apply(&current.tree, &JsonPatchLimits::default()),
        }
        .map_err(refusal)?;
        check_kind(call, &patched).map_err(|why| self.bad_result(call, &patched, &why))?;
        let decoded = decode_tree(patched.clone(), def, &Limits::default())
            .map_err(|error| self.bad_result(call, &patched, &error.to_string()))?;
        metadata::check_times(&decoded.tree).map_err(|why| self.bad_result(call, &patched, &why))?;
        let found = decoded.strict.iter().map(ToString::to_string);
        let offences: Vec<String> = self.offences.iter().cloned().chain(found).collect();
        match validation {
            FieldValidation::Strict if !offences.is_empty() => {
                let why = format!("strict decoding error: {}", offences.join(", "));
                return Err(self.bad_result(call, &patched, &why));
            }
            FieldValidation::Warn => warnings.extend(offences),
            FieldValidation::Strict | FieldValidation::Ignore => {}
        }
        Ok(decoded.tree)
    }

    /// 422 on no kind and no name: what clients know for a patch whose result does not decode. They are shown the
    /// result, or the patch where it is a strategic one.
    fn bad_result(&self, call: Call<'_>, patched: &Tree, why: &str) -> ApiError {
        let shown = match &self.change {
            Change::Strategic(document) => listing(document),
            Change::Merge(_) | Change::Json(_) => patched.to_string(),
        };
        let mut cx = Validation::new(call.app.catalog.vocabulary);
        cx.push(FieldError::invalid(&Path::ROOT.field("patch"), &shown, why));
        ApiError::Invalid {
            group: String::new(),
            kind: String::new(),
            name: String::new(),
            errors: cx.into_errors(),
        }
    }
}

/// Beyond this a number with a point is not exact any more.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Existing clients may write `1.0` for a whole number in a strategic patch, and nowhere else.
fn with_whole_numbers(tree: Tree) -> Tree {
    match tree {
        Tree::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < LARGEST_WHOLE =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a whole number in the range of the type"
                )]
                Tree::from(value as i64)
            }
            _ => Tree::Number(number),
        },
        Tree::Array(items) => Tree::Array(items.into_iter().map(with_whole_numbers).collect()),
        Tree::Object(fields) => {
            Tree::Object(fields.into_iter().map(|(name, value)| (name, with_whole_numbers(value))).collect())
        }
        other => other,
    }
}

/// A patched object must still be an object of its kind.
fn check_kind(call: Call<'_>, patched: &Tree) -> Result<(), String> {
    let [kind, api_version] =
        ["kind", "apiVersion"].map(|name| patched.get(name).and_then(Tree::as_str).unwrap_or_default());
    let resource = call.target.resource;
    if [kind, api_version] == [resource.def.kind, resource.api_version.as_str()] {
        return Ok(());
    }
    Err(format!("{kind} \"{api_version}\" is no {} {}", resource.api_version, resource.def.kind))
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
