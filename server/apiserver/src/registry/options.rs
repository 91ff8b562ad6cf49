//! The options of writes, from the query or from a `DeleteOptions` body, checked as clients expect.

use orch_api::meta::v1::{DELETE_OPTIONS_TYPE, DeleteOptions};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation, is_printable},
    path::Path,
    vocabulary::Vocabulary,
};

use super::{Call, body, body_format::Body, patch::PatchKind};
use crate::{
    error::{ApiError, Result},
    feature_gates::UNSAFE_DELETION,
    query::Query,
};

/// The longest name of a field manager, in bytes.
const MAX_MANAGER: usize = 128;

/// The option that has objects removed which cannot be read.
const IGNORES_READ_ERRORS: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// What to do about unknown and duplicate fields in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drop them.
    Ignore,
    /// Drop them and warn.
    Warn,
    /// Refuse the body.
    Strict,
}

/// Options of create, update and patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Do everything but store.
    pub dry_run: bool,
    /// Who is recorded as the owner of the fields that the write sets.
    pub field_manager: String,
    /// What to do about unknown fields.
    pub field_validation: FieldValidation,
}

impl WriteOptions {
    /// Reads the options of a write; `kind` is that of the options object in errors: `CreateOptions`.
    ///
    /// # Errors
    /// 422 naming every wrong option.
    pub fn parse(call: Call<'_>, kind: &str) -> Result<Self> {
        WriteOptions::read(call, kind, Validation::new(call.app.catalog.vocabulary))
    }

    /// Reads the options of a patch: an apply needs a field manager, and nothing else can be forced.
    ///
    /// # Errors
    /// As [`parse`](WriteOptions::parse).
    pub fn parse_for_patch(call: Call<'_>, kind: PatchKind) -> Result<Self> {
        let mut cx = Validation::new(call.app.catalog.vocabulary);
        if kind == PatchKind::Apply {
            if call.query.text("fieldManager").is_empty() {
                let path = Path::ROOT.field("fieldManager");
                cx.push(FieldError::required(&path, "is required for apply patch"));
            }
        } else if call.query.optional_flag("force").is_some() {
            let path = Path::ROOT.field("force");
            cx.push(FieldError::forbidden(&path, "may not be specified for non-apply patch"));
        }
        WriteOptions::read(call, "PatchOptions", cx)
    }

    fn read(call: Call<'_>, kind: &str, mut cx: Validation<'_>) -> Result<Self> {
        let (query, vocabulary) = (call.query, call.app.catalog.vocabulary);
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        check_field_manager(query.text("fieldManager"), &mut cx);
        check_dry_run(&dry_run, &mut cx);
        let field_validation = match query.text("fieldValidation") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let path = Path::ROOT.field("fieldValidation");
                cx.push(FieldError::not_supported(&path, other, &["", "Ignore", "Strict", "Warn"]));
                FieldValidation::Warn
            }
        };
        refuse(cx, kind, vocabulary)?;
        let field_manager = match query.text("fieldManager") {
            "" => manager_of_agent(call.user_agent),
            named => named.to_owned(),
        };
        Ok(WriteOptions { dry_run: !dry_run.is_empty(), field_manager, field_validation })
    }

    /// For writes that the server does by itself.
    pub fn internal() -> Self {
        WriteOptions {
            dry_run: false,
            field_manager: env!("CARGO_PKG_NAME").to_owned(),
            field_validation: FieldValidation::Ignore,
        }
    }
}

/// A client that names no manager is known by the part of its user agent before the first slash.
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

/// What happens to dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted before it.
    Foreground,
    /// They are deleted after it.
    Background,
    /// They stay, without the owner reference.
    Orphan,
}

/// Options of delete and deletecollection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletionOptions {
    /// Do everything but store.
    pub dry_run: bool,
    /// The uid that the object must have.
    pub uid: Option<String>,
    /// The version that the object must have.
    pub resource_version: Option<String>,
    /// What happens to dependents; `None` where the client does not say.
    pub propagation: Option<Propagation>,
    /// How many seconds the object is given to end by itself; `None` where the client does not say.
    pub grace_period: Option<i64>,
    /// Whether an object that cannot be read is removed all the same.
    pub ignores_read_errors: bool,
    /// Whether the client says in the old way that dependents go: it is told when the object stays for now.
    pub expects_removal: bool,
}

impl DeletionOptions {
    /// Reads the body, or the query where there is no body.
    ///
    /// # Errors
    /// 400 for a body that is no JSON object or of another kind, or a query value of a wrong type;
    /// 422 for options that contradict each other or do not exist.
    pub fn parse(call: Call<'_>, body: &Body) -> Result<Self> {
        let options = if body.bytes.is_empty() { from_query(call.query)? } else { from_body(call, body)? };
        DeletionOptions::check(call, options)
    }

    /// Options that came in another object.
    ///
    /// # Errors
    /// 422 for options that contradict each other or do not exist.
    pub fn check(call: Call<'_>, mut options: DeleteOptions) -> Result<Self> {
        let vocabulary = call.app.catalog.vocabulary;
        if !call.app.feature_gates.is_on(&UNSAFE_DELETION) {
            options.ignore_store_read_error_with_cluster_breaking_potential = None;
        }
        let mut cx = Validation::new(vocabulary);
        let dry_run: Vec<&str> = options.dry_run.iter().map(String::as_str).collect();
        check_dry_run(&dry_run, &mut cx);
        let propagation = check_propagation(&options, &mut cx);
        check_forced(&options, &mut cx);
        refuse(cx, "DeleteOptions", vocabulary)?;
        let preconditions = options.preconditions.unwrap_or_default();
        Ok(DeletionOptions {
            dry_run: !options.dry_run.is_empty(),
            uid: preconditions.uid,
            resource_version: preconditions.resource_version,
            propagation,
            grace_period: options.grace_period_seconds,
            ignores_read_errors: options.ignore_store_read_error_with_cluster_breaking_potential
                == Some(true),
            expects_removal: options.orphan_dependents == Some(false),
        })
    }

    /// Reads the options of a DELETE of a collection: what cannot be read must be named to be removed.
    ///
    /// # Errors
    /// As [`parse`](DeletionOptions::parse).
    pub fn parse_for_collection(call: Call<'_>, body: &Body) -> Result<Self> {
        let options = DeletionOptions::parse(call, body)?;
        let mut cx = Validation::new(call.app.catalog.vocabulary);
        if options.ignores_read_errors {
            let path = Path::ROOT.field(IGNORES_READ_ERRORS);
            let detail = "is not allowed with DELETECOLLECTION, try again after removing the option";
            cx.push(FieldError::invalid(&path, &true, detail));
        }
        refuse(cx, "DeleteOptions", call.app.catalog.vocabulary)?;
        Ok(options)
    }
}

/// The options may call themselves by any version that is served, or by none.
fn from_body(call: Call<'_>, body: &Body) -> Result<DeleteOptions> {
    let unreadable = |error: &dyn std::fmt::Display| {
        ApiError::BadRequest(format!("the body is no DeleteOptions: {error}"))
    };
    let (tree, _) = body::read(body, &DELETE_OPTIONS_TYPE).map_err(|error| unreadable(&error))?;
    let text = |name: &str| tree.get(name).and_then(Tree::as_str).unwrap_or_default();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let known = |version: &str| {
        let own = version
            .strip_suffix("/v1")
            .is_some_and(|group| call.app.meta_groups().contains(&group.to_owned()));
        own || call.app.catalog.group_versions.iter().any(|served| served.api_version == version)
    };
    if !matches!(kind, "" | "DeleteOptions") || !(api_version.is_empty() || known(api_version)) {
        let message = format!("no kind \"{kind}\" is registered for version \"{api_version}\"");
        return Err(ApiError::BadRequest(message));
    }
    serde_json::from_value(tree).map_err(|error| unreadable(&error))
}

fn from_query(query: &Query) -> Result<DeleteOptions> {
    Ok(DeleteOptions {
        dry_run: query.all("dryRun").map(str::to_owned).collect(),
        grace_period_seconds: query.integer("gracePeriodSeconds")?,
        orphan_dependents: query.optional_flag("orphanDependents"),
        propagation_policy: query.get("propagationPolicy").filter(|text| !text.is_empty()).map(str::to_owned),
        ignore_store_read_error_with_cluster_breaking_potential: query.optional_flag(IGNORES_READ_ERRORS),
        ..DeleteOptions::default()
    })
}

fn check_propagation(options: &DeleteOptions, cx: &mut Validation<'_>) -> Option<Propagation> {
    let path = Path::ROOT.field("propagationPolicy");
    let policy = options.propagation_policy.as_deref();
    if let (Some(policy), Some(_)) = (policy, options.orphan_dependents) {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        cx.push(FieldError::invalid(&path, policy, detail));
    }
    match (policy, options.orphan_dependents) {
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
        (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
        (None, None) => None,
        (Some(other), _) => {
            let supported = ["Foreground", "Background", "Orphan", "nil"];
            cx.push(FieldError::not_supported(&path, other, &supported));
            None
        }
    }
}

/// Removing what cannot be read goes with no other option.
fn check_forced(options: &DeleteOptions, cx: &mut Validation<'_>) {
    if options.ignore_store_read_error_with_cluster_breaking_potential != Some(true) {
        return;
    }
    let others = [
        (!options.dry_run.is_empty(), "dryRun"),
        (options.propagation_policy.is_some(), "propagationPolicy"),
        (options.orphan_dependents.is_some(), "orphanDependents"),
        (options.grace_period_seconds.is_some(), "gracePeriodSeconds"),
        (options.preconditions.is_some(), "preconditions"),
    ];
    let path = Path::ROOT.field(IGNORES_READ_ERRORS);
    for (_, name) in others.iter().filter(|(is_set, _)| *is_set) {
        cx.push(FieldError::invalid(&path, &true, &format!("cannot be set together with .{name}")));
    }
}

fn check_dry_run(values: &[&str], cx: &mut Validation<'_>) {
    let path = Path::ROOT.field("dryRun");
    if let Some(wrong) = values.iter().find(|value| **value != "All") {
        cx.push(FieldError::not_supported(&path, *wrong, &["All"]));
    }
}

/// At most 128 bytes, printable.
fn check_field_manager(manager: &str, cx: &mut Validation<'_>) {
    let path = Path::ROOT.field("fieldManager");
    if manager.len() > MAX_MANAGER {
        cx.push(FieldError::too_long(&path, MAX_MANAGER));
    }
    for (position, ch) in manager.char_indices().filter(|(_, ch)| !is_printable(*ch)) {
        let detail = format!("invalid character U+{:04X} (at position {position})", ch as u32);
        cx.push(FieldError::invalid(&path, manager, &detail));
    }
}

fn refuse(cx: Validation<'_>, kind: &str, vocabulary: &Vocabulary) -> Result<()> {
    if cx.is_empty() {
        return Ok(());
    }
    Err(ApiError::Invalid {
        group: vocabulary.meta_group(),
        kind: kind.to_owned(),
        name: String::new(),
        errors: cx.into_errors(),
    })
}
