//! The annotations in which binders keep what they did, by the names of the reference.

use orch_meta::meta::v1::ObjectMeta;
use orch_runtime::vocabulary::Vocabulary;

/// Of a claim: it was bound once.
pub(super) const BIND_COMPLETED: &str = "bind-completed";
/// Of a claim or a volume: people did not ask for just this other one.
pub(super) const BOUND_BY_CONTROLLER: &str = "bound-by-controller";
/// Of a volume: who made it, and deletes it.
pub(super) const PROVISIONED_BY: &str = "provisioned-by";

pub(super) fn has(metadata: &ObjectMeta, name: &str, vocabulary: &Vocabulary) -> bool {
    metadata.annotations.contains_key(&key(name, vocabulary))
}

pub(super) fn set(metadata: &mut ObjectMeta, name: &str, vocabulary: &Vocabulary) {
    metadata.annotations.insert(key(name, vocabulary), "yes".to_owned());
}

pub(super) fn remove(metadata: &mut ObjectMeta, name: &str, vocabulary: &Vocabulary) {
    metadata.annotations.remove(&key(name, vocabulary));
}

fn key(name: &str, vocabulary: &Vocabulary) -> String {
    format!("pv.{}", vocabulary.label(name))
}
