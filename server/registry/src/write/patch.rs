//! Patches of all kinds but apply: reading them, and applying them to an object.

use orch_machinery::{
    json::{
        Limits,
        decode::{DecodeError, StrictError, decode_any_strict, decode_tree},
    },
    media_type::PatchKind,
    meta::{self, field::MANAGED_FIELDS},
    patch::{
        PatchError,
        json::{JsonPatch, JsonPatchLimits},
        merge, outcome,
        shown::listing,
        strategic,
    },
    scalars,
};
use orch_runtime::{
    Tree, TreeMap,
    field_error::{FieldError, Validation},
    path::Path,
    type_def::TypeDef,
};

use super::{
    attempt::Attempt,
    body::{self, unreadable},
    expected::Expected,
    names,
};
use crate::{
    error::{ApiError, Result},
    options::FieldValidation,
    spelling::Spelling,
};

/// A patch as it was sent.
#[derive(Debug)]
pub struct Patch {
    content: Content,
    /// Unknown and duplicate fields in the patch itself.
    offences: Vec<String>,
}

#[derive(Debug)]
enum Content {
    Merge(Tree),
    Strategic(Tree),
    Json(JsonPatch),
}

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// 400 for text that is not a patch of the kind, 413 for one with too many operations or values.
    pub fn read(kind: PatchKind, text: &[u8], validation: FieldValidation) -> Result<Self> {
        // Where unknown fields are ignored, the reference reads patches only to apply them, and says less.
        let is_checked = validation != FieldValidation::Ignore;
        if kind == PatchKind::Json {
            let parse = if is_checked { JsonPatch::parse } else { JsonPatch::parse_unchecked };
            let patch = parse(text, &Limits::default(), &JsonPatchLimits::default()).map_err(refusal)?;
            return Ok(Patch { offences: patch.strict().collect(), content: Content::Json(patch) });
        }
        let is_unchecked_merge = kind == PatchKind::Merge && !is_checked;
        // For a strategic patch the reference answers without the prefix.
        let prefix = if kind == PatchKind::Strategic { "" } else { "error decoding patch: " };
        let document = decode_any_strict(text, &Limits::default()).map_err(|error| {
            unreadable(&error, |_| match &error {
                _ if is_unchecked_merge => no_merge_patch(),
                error => ApiError::BadRequest(format!("{prefix}{error}")),
            })
        })?;
        if is_unchecked_merge && !document.tree.is_object() && !document.tree.is_array() {
            return Err(no_merge_patch());
        }
        let offences = document.strict.iter().map(ToString::to_string).collect();
        let content = match kind {
            PatchKind::Strategic => Content::Strategic(with_whole_numbers(document.tree)),
            PatchKind::Merge | PatchKind::Json | PatchKind::Apply => Content::Merge(document.tree),
        };
        Ok(Patch { content, offences })
    }

    /// Puts the groups that it names into the server's spelling.
    pub fn respell(&mut self, spelling: &Spelling) {
        match &mut self.content {
            Content::Merge(document) | Content::Strategic(document) => spelling.read(document),
            Content::Json(patch) => {
                for (path, value) in patch.values_mut() {
                    spelling.read_at(path, value);
                }
            }
        }
    }

    /// Applies the patch to the current object. The result is decoded like a body, and unknown fields are
    /// reported.
    ///
    /// # Errors
    /// 422 where the result is not an object of the kind, 400 where it has unknown fields and validation is
    /// strict; 400, 413 and 422 of patches that cannot be applied.
    pub fn apply(&self, attempt: Attempt<'_>, current: &Tree) -> Result<Tree> {
        let Attempt { cx, target, options } = attempt;
        let (def, validation) = (target.body_type(), options.field_validation);
        let expected = Expected::of(cx.core.catalog(), target);
        // Where unknown fields are ignored, the reference reports a list as a result that cannot be decoded.
        if let Content::Merge(document @ Tree::Array(_)) = &self.content
            && validation == FieldValidation::Ignore
            && let Err(mismatch) = expected.check(document)
        {
            return Err(self.bad_result(attempt, document, mismatch.why()));
        }
        // An error shows the result, which is made again for it: a copy would cost every patch its memory.
        let bad_result = |why: &str| match self.result(current, def) {
            Ok(patched) => self.bad_result(attempt, &patched, why),
            Err(error) => error,
        };
        let mut patched = self.result(current, def)?;
        if !matches!(self.content, Content::Strategic(_)) {
            expected.check(&patched).map_err(|why| self.bad_result(attempt, &patched, why.why()))?;
            if Tree::is_null(&patched["apiVersion"]) || patched["apiVersion"] == "" {
                return self.without_version(attempt, &patched);
            }
        }
        let owners = leave_out_owners(current, &mut patched);
        let mut decoded = decode_tree(patched, def, &Limits::default())
            .map_err(|error| unreadable(&error, |why| bad_result(&self.words(&error).unwrap_or(why))))?;
        scalars::check(&decoded.tree, def).map_err(|why| bad_result(&why))?;
        self.report(attempt, decoded.strict.iter().map(ToString::to_string))?;
        meta::set_type(&mut decoded.tree, expected.kind, &expected.api_version);
        if let Some(owners) = owners {
            decoded.tree["metadata"][MANAGED_FIELDS] = owners;
        }
        Ok(decoded.tree)
    }

    /// Reports unknown and duplicate fields of the patch, and those that its result has.
    fn report(&self, attempt: Attempt<'_>, found: impl Iterator<Item = String>) -> Result<()> {
        let Attempt { cx, target, options } = attempt;
        let offences: Vec<String> = self.offences.iter().cloned().chain(found).collect();
        match options.field_validation {
            FieldValidation::Strict if !offences.is_empty() => {
                return Err(body::refused_strictly(cx, target, &offences));
            }
            FieldValidation::Warn => cx.warn_all(offences),
            FieldValidation::Strict | FieldValidation::Ignore => {}
        }
        Ok(())
    }

    /// The reference decodes a result without `apiVersion` into its internal type, whose fields have other
    /// names. So nothing is left of it, and the patch fails because the name is missing.
    fn without_version(&self, attempt: Attempt<'_>, patched: &Tree) -> Result<Tree> {
        let fields = patched.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let unknown = fields.filter(|name| !matches!(*name, "kind" | "apiVersion"));
        self.report(attempt, unknown.map(|name| StrictError::Unknown(name.to_owned()).to_string()))?;
        let nothing = Tree::Object(TreeMap::new());
        names::check_name(attempt.target, &nothing).map(|()| nothing)
    }

    /// The current object after the patch.
    fn result(&self, current: &Tree, def: &'static TypeDef) -> Result<Tree> {
        match &self.content {
            Content::Merge(document) => merge::apply(current, document),
            Content::Strategic(document) => strategic::apply(current, document, def),
            Content::Json(patch) => patch.apply(current, &JsonPatchLimits::default()),
        }
        .map_err(refusal)
    }

    /// What a result that does not decode is called, where the reference reads the result of this kind of
    /// patch in another way than a body.
    fn words(&self, error: &DecodeError) -> Option<String> {
        match (&self.content, error) {
            (Content::Strategic(_), DecodeError::Type { restored, .. }) => restored.clone(),
            _ => None,
        }
    }

    /// 422 on no kind and no name: what the reference answers to a patch whose result does not decode. It
    /// shows the result, or the patch where it is a strategic one.
    fn bad_result(&self, attempt: Attempt<'_>, patched: &Tree, why: &str) -> ApiError {
        let shown = match &self.content {
            Content::Strategic(document) => listing(document),
            Content::Merge(document) => outcome(patched, attempt.target.body_type(), document),
            Content::Json(patch) => outcome(patched, attempt.target.body_type(), &patch.passed(patched)),
        };
        let mut violations = Validation::new(attempt.cx.core.vocabulary());
        violations.push(FieldError::invalid(&Path::ROOT.field("patch"), &shown, why));
        ApiError::Invalid {
            group: String::new(),
            kind: String::new(),
            name: String::new(),
            errors: violations.into_errors(),
        }
    }
}

/// Beyond this a floating-point number does not represent every whole number.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// `1.0` counts as a whole number in a strategic patch, and nowhere else, as in the reference.
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

fn no_merge_patch() -> ApiError {
    ApiError::BadRequest("Invalid JSON Patch".to_owned())
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

/// Takes the managed fields out of a result where the patch has left them as they were: they are not of the
/// values that a client may send.
fn leave_out_owners(current: &Tree, patched: &mut Tree) -> Option<Tree> {
    let before = current.get("metadata")?.get(MANAGED_FIELDS)?;
    let metadata = patched.get_mut("metadata")?.as_object_mut()?;
    if metadata.get(MANAGED_FIELDS) == Some(before) { metadata.remove(MANAGED_FIELDS) } else { None }
}
