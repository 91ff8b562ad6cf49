//! The options of writes, as clients send them in queries and `DeleteOptions`.

use orch_meta::meta::v1::DeleteOptions;
use orch_runtime::{
    field_error::{FieldError, Rendered, Shown, Validation},
    path::Path,
    vocabulary::Vocabulary,
};

use crate::{
    error::{ApiError, Result},
    feature_gates::{FeatureGates, UNSAFE_DELETION},
};

/// The option of DELETE that removes an object whose stored form cannot be read.
pub const IGNORES_READ_ERRORS: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

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
    /// For writes of the server itself, with this field manager.
    pub fn internal(field_manager: &str) -> Self {
        WriteOptions {
            dry_run: false,
            field_manager: field_manager.to_owned(),
            field_validation: FieldValidation::Ignore,
        }
    }
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
    /// The grace period in seconds; `None` where the client does not say.
    pub grace_period: Option<i64>,
    /// Whether an object that cannot be read is removed without any check.
    pub ignores_read_errors: bool,
    /// Whether the client uses the deprecated `orphanDependents: false`. Then the answer is 202 where the
    /// object stays for now.
    pub expects_removal: bool,
}

impl DeletionOptions {
    /// Checks the options that a client sent.
    ///
    /// # Errors
    /// 422 for options that contradict each other or do not exist.
    pub fn check(vocabulary: &Vocabulary, gates: &FeatureGates, mut options: DeleteOptions) -> Result<Self> {
        if !gates.is_on(&UNSAFE_DELETION) {
            options.ignore_store_read_error_with_cluster_breaking_potential = None;
        }
        let mut violations = Validation::new(vocabulary);
        check_propagation(&options, &mut violations);
        let dry_run: Vec<&str> = options.dry_run.iter().map(String::as_str).collect();
        check_dry_run(&dry_run, &mut violations);
        check_forced(&options, &mut violations);
        refuse(violations, "DeleteOptions", vocabulary)?;
        Ok(Self::unchecked(options))
    }

    /// The options as they are taken before they are checked. A policy that does not exist is none.
    pub fn unchecked(options: DeleteOptions) -> Self {
        let propagation = propagation(&options);
        let preconditions = options.preconditions.unwrap_or_default();
        DeletionOptions {
            dry_run: !options.dry_run.is_empty(),
            uid: preconditions.uid,
            resource_version: preconditions.resource_version,
            propagation,
            grace_period: options.grace_period_seconds,
            ignores_read_errors: options.ignore_store_read_error_with_cluster_breaking_potential
                == Some(true),
            expects_removal: options.orphan_dependents == Some(false),
        }
    }

    /// The same for a collection: an object that cannot be read can only be removed by its name.
    ///
    /// # Errors
    /// As [`check`](DeletionOptions::check).
    pub fn for_collection(self, vocabulary: &Vocabulary) -> Result<Self> {
        let mut violations = Validation::new(vocabulary);
        if self.ignores_read_errors {
            let path = Path::ROOT.field(IGNORES_READ_ERRORS);
            let detail = "is not allowed with DELETECOLLECTION, try again after removing the option";
            violations.push(FieldError::invalid(&path, &true, detail));
        }
        refuse(violations, "DeleteOptions", vocabulary)?;
        Ok(self)
    }
}

fn check_propagation(options: &DeleteOptions, violations: &mut Validation<'_>) {
    let path = Path::ROOT.field("propagationPolicy");
    let Some(policy) = options.propagation_policy.as_deref() else { return };
    if options.orphan_dependents.is_some() {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        violations.push(FieldError::invalid(&path, policy, detail));
    }
    if !matches!(policy, "Foreground" | "Background" | "Orphan") {
        let supported = ["Foreground", "Background", "Orphan", "nil"];
        violations.push(FieldError::not_supported(&path, policy, &supported));
    }
}

fn propagation(options: &DeleteOptions) -> Option<Propagation> {
    match (options.orphan_dependents, options.propagation_policy.as_deref()) {
        (Some(true), _) | (None, Some("Orphan")) => Some(Propagation::Orphan),
        (Some(false), _) | (None, Some("Background")) => Some(Propagation::Background),
        (None, Some("Foreground")) => Some(Propagation::Foreground),
        (None, _) => None,
    }
}

/// The option to remove an unreadable object cannot be combined with others.
fn check_forced(options: &DeleteOptions, violations: &mut Validation<'_>) {
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
        violations.push(FieldError::invalid(&path, &true, &format!("cannot be set together with .{name}")));
    }
}

/// The only value of `dryRun` is `All`. The error shows all values, as the reference prints a list.
pub fn check_dry_run(values: &[&str], violations: &mut Validation<'_>) {
    let path = Path::ROOT.field("dryRun");
    if values.iter().any(|value| *value != "All") {
        let shown: Vec<String> = values.iter().map(Shown::shown).collect();
        let shown = Rendered(format!("[]string{{{}}}", shown.join(", ")));
        violations.push(FieldError::not_supported(&path, &shown, &["All"]));
    }
}

/// Refuses options where violations were found, with all of them. `kind` is the kind of the options:
/// `CreateOptions`.
///
/// # Errors
/// 422.
pub fn refuse(violations: Validation<'_>, kind: &str, vocabulary: &Vocabulary) -> Result<()> {
    if violations.is_empty() {
        return Ok(());
    }
    Err(ApiError::Invalid {
        group: vocabulary.meta_group(),
        kind: kind.to_owned(),
        name: String::new(),
        errors: violations.into_errors(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchecked_options_have_a_policy_where_it_exists() {
        for (orphan, policy, expected) in [
            (None, None, None),
            (None, Some("bad"), None),
            (None, Some("Foreground"), Some(Propagation::Foreground)),
            (Some(true), None, Some(Propagation::Orphan)),
            (Some(false), Some("Orphan"), Some(Propagation::Background)),
        ] {
            let options = DeletionOptions::unchecked(DeleteOptions {
                orphan_dependents: orphan,
                propagation_policy: policy.map(str::to_owned),
                ..DeleteOptions::default()
            });
            assert_eq!(options.propagation, expected, "{orphan:?} {policy:?}");
        }
    }
}
