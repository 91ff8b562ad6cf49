//! `ServiceAccount`: of the secrets that it may use only the names are kept, and one annotation is going out of use.

use orch_api::core::v1::{ObjectReference, ServiceAccount};
use orch_runtime::{field_error::Validation, object::ApiObject, path::Path};

use super::{Change, Hooks};

const ENFORCE_MOUNTABLE: &str = "enforce-mountable-secrets";

pub(super) struct ServiceAccountHooks;

impl Hooks for ServiceAccountHooks {
    fn prepare(&self, object: &mut dyn ApiObject, _old: Option<&dyn ApiObject>, _change: &Change<'_>) {
        let Some(account) = object.as_any_mut().downcast_mut::<ServiceAccount>() else { return };
        for secret in &mut account.secrets {
            *secret =
                ObjectReference { name: std::mem::take(&mut secret.name), ..ObjectReference::default() };
        }
    }

    /// Whoever sets the annotation is warned, not whoever leaves it where it is.
    fn validate(
        &self,
        object: &dyn ApiObject,
        old: Option<&dyn ApiObject>,
        change: &Change<'_>,
        cx: &mut Validation<'_>,
    ) {
        let key = change.vocabulary.label(ENFORCE_MOUNTABLE);
        let has = |object: &dyn ApiObject| {
            let account = object.as_any().downcast_ref::<ServiceAccount>();
            account.is_some_and(|account| account.metadata.annotations.contains_key(&key))
        };
        if has(object) && !old.is_some_and(has) {
            let metadata = Path::ROOT.field("metadata");
            let text =
                "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
            cx.warn(&metadata.field("annotations").key(&key), text);
        }
    }
}
