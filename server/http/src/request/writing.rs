//! Requests that write: their options, from the query.

use bytes::Bytes;
use http::header;
use orch_machinery::media_type::{MediaTypes, PatchKind, PatchType};
use orch_registry::{
    error::{ApiError, Result},
    options::{FieldValidation, WriteOptions, check_dry_run, refuse},
    request::{Body, CreateRequest, PatchRequest, Target, UpdateRequest},
};
use orch_runtime::{
    field_error::{FieldError, Validation, is_printable},
    path::Path,
    vocabulary::Vocabulary,
};

use super::RequestHead;

/// The longest name of a field manager, in bytes.
const MAX_MANAGER: usize = 128;

/// A POST, with its body.
///
/// # Errors
/// 422 naming every wrong option.
pub fn create<'r>(head: &RequestHead<'_>, target: Target<'r>, body: Body) -> Result<CreateRequest<'r>> {
    let vocabulary = target.resource.vocabulary;
    let options = options(head, vocabulary, "CreateOptions", Validation::new(vocabulary))?;
    Ok(CreateRequest { target, body, options })
}

/// A PUT, with its body.
///
/// # Errors
/// As [`create`].
pub fn update<'r>(head: &RequestHead<'_>, target: Target<'r>, body: Body) -> Result<UpdateRequest<'r>> {
    let vocabulary = target.resource.vocabulary;
    let options = options(head, vocabulary, "UpdateOptions", Validation::new(vocabulary))?;
    Ok(UpdateRequest { target, body, options })
}

/// A PATCH, with its body. An apply needs a field manager; only an apply can have `force`.
///
/// # Errors
/// 415 for an unknown kind of patch, and those of [`create`].
pub fn patch<'r>(
    head: &RequestHead<'_>,
    target: Target<'r>,
    media_types: &MediaTypes,
    bytes: Bytes,
) -> Result<PatchRequest<'r>> {
    let patch_type = media_types.patch(head.header(header::CONTENT_TYPE));
    let &PatchType { kind, syntax, .. } = patch_type.ok_or(ApiError::UnsupportedPatchType)?;
    let vocabulary = target.resource.vocabulary;
    let mut violations = Validation::new(vocabulary);
    if kind == PatchKind::Apply {
        if head.query.text("fieldManager").is_empty() {
            let path = Path::ROOT.field("fieldManager");
            violations.push(FieldError::required(&path, "is required for apply patch"));
        }
    } else if head.query.optional_flag("force").is_some() {
        let path = Path::ROOT.field("force");
        violations.push(FieldError::forbidden(&path, "may not be specified for non-apply patch"));
    }
    let options = options(head, vocabulary, "PatchOptions", violations)?;
    Ok(PatchRequest { target, kind, syntax, bytes, force: head.query.flag("force"), options })
}

/// The options of a write; `kind` is that of the options object in errors.
fn options(
    head: &RequestHead<'_>,
    vocabulary: &Vocabulary,
    kind: &str,
    mut violations: Validation<'_>,
) -> Result<WriteOptions> {
    let query = head.query;
    let dry_run: Vec<&str> = query.all("dryRun").collect();
    check_field_manager(query.text("fieldManager"), &mut violations);
    check_dry_run(&dry_run, &mut violations);
    let field_validation = match query.text("fieldValidation") {
        "" | "Warn" => FieldValidation::Warn,
        "Ignore" => FieldValidation::Ignore,
        "Strict" => FieldValidation::Strict,
        other => {
            let path = Path::ROOT.field("fieldValidation");
            violations.push(FieldError::not_supported(&path, other, &["", "Ignore", "Strict", "Warn"]));
            FieldValidation::Warn
        }
    };
    refuse(violations, kind, vocabulary)?;
    let field_manager = match query.text("fieldManager") {
        "" => manager_of_agent(&head.user_agent()),
        named => named.to_owned(),
    };
    Ok(WriteOptions { dry_run: !dry_run.is_empty(), field_manager, field_validation })
}

/// The field manager of a client that names none: its user agent, up to the first slash.
fn manager_of_agent(user_agent: &str) -> String {
    let name = user_agent.split('/').next().unwrap_or_default();
    let mut manager = String::new();
    for ch in name.chars().filter(|ch| is_printable(*ch)) {
        if manager.len() + ch.len_utf8() > MAX_MANAGER {
            break;
        }
        manager.push(ch);
    }
    manager
}

/// At most 128 bytes, printable.
fn check_field_manager(manager: &str, violations: &mut Validation<'_>) {
    let path = Path::ROOT.field("fieldManager");
    if manager.len() > MAX_MANAGER {
        violations.push(FieldError::too_long(&path, MAX_MANAGER));
    }
    for (position, ch) in manager.char_indices().filter(|(_, ch)| !is_printable(*ch)) {
        let detail = format!("invalid character U+{:04X} (at position {position})", ch as u32);
        violations.push(FieldError::invalid(&path, manager, &detail));
    }
}
