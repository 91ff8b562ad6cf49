//! Which errors of an update are told, how often, and in which order.
//!
//! The reference checks metadata for all kinds, then lets the kind check. Most kinds check metadata again,
//! and some check their whole object twice. Each check tells what it finds, so clients read some causes
//! several times. Here each rule runs once; what it finds is told as often, and in the order, that the kind's
//! `updateChecks` say.

use orch_runtime::{field_error::FieldError, resource_def::UpdateCheck};

use super::metadata_errors::{is_finalizer, is_metadata};

/// What is checked on an update of a sub-resource: the rest of the object stays as it is.
pub const OF_SUBRESOURCES: &[UpdateCheck] =
    &[UpdateCheck::Metadata, UpdateCheck::Fields, UpdateCheck::Change];

/// What the rules have found.
pub struct Found {
    /// Faults of `generateName` in an object of any kind.
    pub base: Vec<FieldError>,
    /// Faults of `generateName` in an object of this kind.
    pub base_of_kind: Vec<FieldError>,
    /// Forbidden changes of metadata.
    pub metadata: Vec<FieldError>,
    /// Faults of the new object, those of its metadata first.
    pub object: Vec<FieldError>,
    /// Other forbidden changes.
    pub change: Vec<FieldError>,
}

impl Found {
    /// All errors in the order in which they are told.
    pub fn told(&self, checks: &[UpdateCheck]) -> Vec<FieldError> {
        let Found { base, base_of_kind, metadata, object, change } = self;
        // What every kind's metadata is checked for: by itself, and as a change.
        let mut told = base.clone();
        told.extend(matching(object, |error| part(error) != Part::Other));
        told.extend(metadata.iter().cloned().chain(matching(object, is_checked_again)));
        for check in checks {
            match check {
                UpdateCheck::Metadata => {
                    told.extend(metadata.iter().cloned().chain(matching(object, is_checked_again)));
                    told.extend(matching(object, is_finalizer));
                }
                UpdateCheck::Rules => told.extend(base_of_kind.iter().chain(object).cloned()),
                UpdateCheck::Fields => told.extend(matching(object, |error| !is_metadata(error))),
                UpdateCheck::Change => told.extend(change.iter().cloned()),
            }
        }
        told
    }
}

fn matching(
    errors: &[FieldError],
    is_meant: impl Fn(&FieldError) -> bool,
) -> impl Iterator<Item = FieldError> {
    errors.iter().filter(move |error| is_meant(error)).cloned()
}

/// The part of metadata that an error is about, as far as all kinds are checked for it.
#[derive(PartialEq)]
enum Part {
    /// Labels, annotations, owners: checked again with each change.
    Described,
    /// What only the object by itself is checked for.
    Alone,
    /// Nothing that all kinds are checked for.
    Other,
}

fn part(error: &FieldError) -> Part {
    match error.field.as_str() {
        "metadata.labels" | "metadata.annotations" => Part::Described,
        "metadata.generation" | "metadata.finalizers" => Part::Alone,
        field if field.starts_with("metadata.ownerReferences") => Part::Described,
        _ => Part::Other,
    }
}

fn is_checked_again(error: &FieldError) -> bool {
    part(error) == Part::Described
}

#[cfg(test)]
mod tests {
    use UpdateCheck::{Change, Fields, Metadata, Rules};
    use orch_runtime::{field_error::Reason, path::Path};

    use super::*;

    /// The fields that are told of, where each rule finds something.
    fn told(checks: &[UpdateCheck]) -> Vec<String> {
        let errors = |fields: &[&str]| {
            let error = |field: &&str| FieldError {
                field: (*field).to_owned(),
                reason: Reason::Invalid,
                body: FieldError::required(&Path::ROOT, "").body,
            };
            fields.iter().map(error).collect::<Vec<_>>()
        };
        let found = Found {
            base: errors(&["metadata.generateName"]),
            base_of_kind: errors(&["metadata.generateName of the kind"]),
            metadata: errors(&["metadata.uid"]),
            object: errors(&["metadata.labels", "metadata.finalizers", "metadata.finalizers[0]", "spec"]),
            change: errors(&["spec.changed"]),
        };
        found.told(checks).into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn metadata_is_told_for_all_kinds_first() {
        let common = [
            "metadata.generateName",
            "metadata.labels",
            "metadata.finalizers",
            "metadata.uid",
            "metadata.labels",
        ];
        assert_eq!(told(&[]), common);
        let all = [
            &common[..],
            &["metadata.uid", "metadata.labels", "metadata.finalizers[0]"],
            &["metadata.generateName of the kind"],
            &["metadata.labels", "metadata.finalizers", "metadata.finalizers[0]", "spec"],
            &["spec.changed"],
        ];
        assert_eq!(told(&[Metadata, Rules, Change]), all.concat());
        assert_eq!(told(&[Fields, Fields, Change])[common.len()..], ["spec", "spec", "spec.changed"]);
    }
}
