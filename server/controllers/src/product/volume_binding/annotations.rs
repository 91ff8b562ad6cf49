//! The annotations in which binders keep what they did, by the names of the reference.

use orch_meta::meta::v1::ObjectMeta;
use orch_runtime::vocabulary::Vocabulary;

/// Of a claim: it was bound once.
pub(super) const BIND_COMPLETED: &str = "bind-completed";
/// Of a claim or a volume: people did not ask for just this other one.
pub(super) const BOUND_BY_CONTROLLER: &str = "bound-by-controller";
/// Of a volume: who made it, and deletes it.
pub(super) const PROVISIONED_BY: &str = "provisioned-by";

/// Of a claim: the program that is to make a volume for it. Such programs wait for one of the two.
const PROVISIONER: [&str; 2] = ["volume", "volume.beta"];

pub(super) fn has(metadata: &ObjectMeta, name: &str, vocabulary: &Vocabulary) -> bool {
    metadata.annotations.contains_key(&key(name, vocabulary))
}

pub(super) fn set(metadata: &mut ObjectMeta, name: &str, vocabulary: &Vocabulary) {
    metadata.annotations.insert(key(name, vocabulary), "yes".to_owned());
}

pub(super) fn remove(metadata: &mut ObjectMeta, name: &str, vocabulary: &Vocabulary) {
    metadata.annotations.remove(&key(name, vocabulary));
}

/// Whether somebody has chosen the node of the pod that uses a claim first.
pub(super) fn has_node(metadata: &ObjectMeta, vocabulary: &Vocabulary) -> bool {
    metadata.annotations.contains_key(&format!("volume.{}", vocabulary.label("selected-node")))
}

/// Asks a program to make a volume for a claim. Says whether that is news.
pub(super) fn set_provisioner(metadata: &mut ObjectMeta, name: &str, vocabulary: &Vocabulary) -> bool {
    let mut is_news = false;
    for prefix in PROVISIONER {
        let key = format!("{prefix}.{}", vocabulary.label("storage-provisioner"));
        let before = metadata.annotations.insert(key, name.to_owned());
        is_news |= before.as_deref() != Some(name);
    }
    is_news
}

fn key(name: &str, vocabulary: &Vocabulary) -> String {
    format!("pv.{}", vocabulary.label(name))
}
