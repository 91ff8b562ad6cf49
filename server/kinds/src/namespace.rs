//! `Namespace`: a finalizer of its own in `spec`, a phase that follows the deletion, and a label with its
//! name.

use orch_api::core::v1::{Namespace, NamespacePhase};
use orch_machinery::meta::{Meta, MetaMut, field};
use orch_registry::behaviour::{Behaviour, Overruled, WriteInfo, as_sent};
use orch_runtime::{Tree, resource_def::FieldPath};

const TERMINATING: &str = "Terminating";
/// The path on which `spec.finalizers` is written, and nothing else is.
const FINALIZE: &str = "finalize";

pub(crate) struct NamespaceBehaviour;

impl Behaviour<Namespace> for NamespaceBehaviour {
    fn prepare(&self, namespace: &mut Namespace, old: Option<&Namespace>, write: &WriteInfo<'_>) {
        match old {
            None => {
                namespace.status.phase = Some(NamespacePhase::Active);
                let own = write.vocabulary.namespace_finalizer;
                if !namespace.spec.finalizers.iter().any(|name| name == own) {
                    namespace.spec.finalizers.push(own.to_owned());
                }
            }
            Some(old) if write.subresource != FINALIZE => {
                namespace.spec.finalizers.clone_from(&old.spec.finalizers);
            }
            Some(_) => {}
        }
        // The default. Where the namespace is being deleted, the status is refused for it.
        namespace.status.phase.get_or_insert(NamespacePhase::Active);
        let name = namespace.metadata.name.clone();
        if !name.is_empty() {
            namespace.metadata.labels.insert(write.vocabulary.label("metadata.name"), name);
        }
    }

    fn overruled(&self, sent: &Tree, _current: &Tree) -> Vec<Overruled> {
        vec![as_sent(sent, &["spec", "finalizers"])]
    }

    fn added_fields(&self) -> &'static [FieldPath] {
        &[&["spec", "finalizers"]]
    }

    fn may_be_removed(&self, tree: &Tree) -> bool {
        Meta::of(tree).deletion_timestamp().is_some()
            && tree.pointer("/spec/finalizers").and_then(Tree::as_array).is_none_or(Vec::is_empty)
    }

    fn is_deleted_in_steps(&self) -> bool {
        true
    }

    /// A namespace has no grace period, and its phase shows that it is being deleted.
    fn mark_deleted(&self, tree: &mut Tree) {
        MetaMut::of(tree).remove(field::DELETION_GRACE_PERIOD_SECONDS);
        if let Some(status) = tree.get_mut("status").and_then(Tree::as_object_mut) {
            status.insert("phase".to_owned(), TERMINATING.into());
        }
    }
}
