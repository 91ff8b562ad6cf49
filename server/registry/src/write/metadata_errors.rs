//! Which errors of metadata are told: `metadataRules` of a kind.
//!
//! In the reference some kinds have no rules of their own for metadata. Those that all kinds have are then
//! judged after the kind has judged a new object, and so only if it finds nothing.

use orch_runtime::{field_error::FieldError, resource_def::MetadataRules};

/// Takes back what the metadata of the kind need not keep, and what is not told beside other errors.
pub fn told(rules: MetadataRules, is_new: bool, mut errors: Vec<FieldError>) -> Vec<FieldError> {
    if rules != MetadataRules::All {
        errors.retain(|error| !is_finalizer(error));
    }
    if rules == MetadataRules::Afterwards && is_new && !errors.iter().all(is_metadata) {
        errors.retain(|error| !is_metadata(error));
    }
    errors
}

/// A finalizer without a domain that is no standard one; only kinds check for that.
pub fn is_finalizer(error: &FieldError) -> bool {
    error.field.starts_with("metadata.finalizers[")
}

/// Something in the object's own metadata.
pub fn is_metadata(error: &FieldError) -> bool {
    error.field.strip_prefix("metadata").is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use MetadataRules::{Afterwards, All, Common};
    use orch_runtime::path::Path;

    use super::*;

    #[test]
    fn kinds_leave_rules_for_metadata_out_or_tell_them_alone() {
        let told = |rules, is_new, fields: &[&str]| {
            let error = |field: &&str| FieldError {
                field: (*field).to_owned(),
                ..FieldError::required(&Path::ROOT, "")
            };
            let told = told(rules, is_new, fields.iter().map(error).collect());
            told.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        let all = ["metadata.labels", "metadata.finalizers[0]", "metadata.finalizers", "spec"];
        assert_eq!(told(All, true, &all), all);
        assert_eq!(told(Common, true, &all), ["metadata.labels", "metadata.finalizers", "spec"]);
        assert_eq!(told(Afterwards, true, &all), ["spec"]);
        assert_eq!(told(Afterwards, true, &all[..3]), ["metadata.labels", "metadata.finalizers"]);
        assert_eq!(told(Afterwards, false, &all), told(Common, false, &all));
    }
}
