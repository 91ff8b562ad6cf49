//! Namespace: a finalizer of its own in `spec`, a phase that follows the deletion, a label with its name, and three
//! names that cannot be deleted.

use orch_api::core::v1::{Namespace, NamespacePhase};
use orch_machinery::meta::{self, Meta};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    object::ApiObject,
    path::Path,
    resource_def::FieldPath,
    text_enum::TextEnum,
    vocabulary::Vocabulary,
};

use super::{Change, Hooks};

const ACTIVE: &str = "Active";
const TERMINATING: &str = "Terminating";

pub(super) struct NamespaceHooks;

impl Hooks for NamespaceHooks {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, change: &Change<'_>) {
        let Some(namespace) = object.as_any_mut().downcast_mut::<Namespace>() else { return };
        let old = old.and_then(|old| old.as_any().downcast_ref::<Namespace>());
        match old {
            None => {
                namespace.status.phase = Some(NamespacePhase::Active);
                let own = change.vocabulary.namespace_finalizer;
                if !namespace.spec.finalizers.iter().any(|name| name == own) {
                    namespace.spec.finalizers.push(own.to_owned());
                }
            }
            Some(old) if change.subresource != "finalize" => {
                namespace.spec.finalizers.clone_from(&old.spec.finalizers);
            }
            Some(_) => {}
        }
        let name = namespace.metadata.name.clone();
        if !name.is_empty() {
            namespace.metadata.labels.insert(change.vocabulary.label("metadata.name"), name);
        }
    }

    fn validate(
        &self,
        object: &dyn ApiObject,
        old: Option<&dyn ApiObject>,
        change: &Change<'_>,
        cx: &mut Validation<'_>,
    ) {
        let Some(namespace) = object.as_any().downcast_ref::<Namespace>() else { return };
        if old.is_some() && change.subresource == "status" {
            validate_phase(namespace, cx);
        }
    }

    fn own_fields(&self, subresource: &str) -> &'static [FieldPath] {
        if subresource == "finalize" { &[] } else { &[&["spec", "finalizers"]] }
    }

    fn may_be_removed(&self, tree: &Tree) -> bool {
        Meta::of(tree).deletion_timestamp().is_some()
            && tree.pointer("/spec/finalizers").and_then(Tree::as_array).is_none_or(Vec::is_empty)
    }

    fn is_protected(&self, name: &str, vocabulary: &Vocabulary) -> bool {
        name == "default" || name == vocabulary.namespace_system || name == vocabulary.namespace_public
    }

    /// A namespace has no grace period, and its phase tells that it goes.
    fn mark_deleted(&self, tree: &mut Tree) {
        meta::metadata_mut(tree).remove("deletionGracePeriodSeconds");
        if let Some(status) = tree.get_mut("status").and_then(Tree::as_object_mut) {
            status.insert("phase".to_owned(), TERMINATING.into());
        }
    }
}

/// The phase says the same as the deletion timestamp. The field's odd spelling is what clients know.
fn validate_phase(namespace: &Namespace, cx: &mut Validation<'_>) {
    let status = Path::ROOT.field("status");
    let path = status.field("Phase");
    let phase = namespace.status.phase.as_ref().map_or("", TextEnum::as_str);
    if namespace.metadata.deletion_timestamp.is_some() {
        if phase != TERMINATING {
            let detail = "may only be 'Terminating' if `deletionTimestamp` is not empty";
            cx.push(FieldError::invalid(&path, phase, detail));
        }
    } else if phase != ACTIVE {
        let detail = "may only be 'Active' if `deletionTimestamp` is empty";
        cx.push(FieldError::invalid(&path, phase, detail));
    }
}
