//! `ServiceAccount`: only the names of its secrets are kept, and one annotation is deprecated.

use orch_api::core::v1::{ObjectReference, ServiceAccount};
use orch_registry::behaviour::{Behaviour, Overruled, WriteInfo, as_sent};
use orch_runtime::{Tree, field_error::Validation, path::Path};

/// The annotation that lets pods use only the secrets that their account lists.
pub(crate) const ENFORCE_MOUNTABLE: &str = "enforce-mountable-secrets";

pub(crate) struct ServiceAccountBehaviour;

impl Behaviour<ServiceAccount> for ServiceAccountBehaviour {
    fn prepare(&self, account: &mut ServiceAccount, _old: Option<&ServiceAccount>, _write: &WriteInfo<'_>) {
        for secret in &mut account.secrets {
            *secret =
                ObjectReference { name: std::mem::take(&mut secret.name), ..ObjectReference::default() };
        }
    }

    fn overruled(&self, sent: &Tree, _current: &Tree) -> Vec<Overruled> {
        vec![as_sent(sent, &["secrets"])]
    }

    /// Warns a client that sets the deprecated annotation, but not one that leaves it: Rust, because a rule
    /// that new objects are judged by does not see the object before.
    fn validate(
        &self,
        account: &ServiceAccount,
        old: Option<&ServiceAccount>,
        write: &WriteInfo<'_>,
        violations: &mut Validation<'_>,
    ) {
        let key = write.vocabulary.label(ENFORCE_MOUNTABLE);
        let has = |account: &ServiceAccount| account.metadata.annotations.contains_key(&key);
        if has(account) && !old.is_some_and(has) {
            let metadata = Path::ROOT.field("metadata");
            let text =
                "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
            violations.warn(&metadata.field("annotations").key(&key), text);
        }
    }
}
