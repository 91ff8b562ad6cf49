//! The product's admission plugins. Those that the reference has too have its names, so that operators find
//! them.

mod claim_resize;
mod default_storage_class;
mod default_toleration_seconds;
mod namespace_lifecycle;
mod node_restriction;
mod priority;
#[cfg(test)]
pub(crate) mod recipe;
mod role_escalation;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;

use orch_api::core::v1::PersistentVolumeClaim;
use orch_registry::admission::AdmissionRequest;
use orch_runtime::{
    object::Kind,
    resource_def::{ResourceDef, Verb},
    vocabulary::Vocabulary,
};

pub(crate) use self::{
    claim_resize::PersistentVolumeClaimResize, default_storage_class::DefaultStorageClass,
    default_toleration_seconds::DefaultTolerationSeconds, namespace_lifecycle::NamespaceLifecycle,
    node_restriction::NodeRestriction, priority::Priority, role_escalation::RoleEscalation,
    service_account::AccountsOfPods, storage_object_in_use_protection::StorageObjectInUseProtection,
    taint_nodes_by_condition::TaintNodesByCondition,
};

/// Whether a row of the resource table is that of the kind `T`.
fn is<T: Kind>(def: &ResourceDef) -> bool {
    std::ptr::eq(def, T::RESOURCE)
}

/// The object of a write of the kind `T` on its main path; `None` for all other writes.
fn written<'r, T: Kind>(request: &'r mut AdmissionRequest<'_>) -> Option<&'r mut T> {
    if !is::<T>(request.resource.def) || request.subresource.is_some() {
        return None;
    }
    request.object.as_deref_mut()?.as_any_mut().downcast_mut()
}

/// The object of a create of the kind `T`; `None` for all other writes.
fn created<'r, T: Kind>(request: &'r mut AdmissionRequest<'_>) -> Option<&'r mut T> {
    if request.operation == Verb::Create { written(request) } else { None }
}

/// The class that a claim names, where it names one: an old annotation, or the field. An empty name counts as
/// absent.
fn claim_class<'c>(claim: &'c PersistentVolumeClaim, vocabulary: &Vocabulary) -> Option<&'c str> {
    let annotation = format!("volume.beta.{}/storage-class", vocabulary.label_domain);
    let annotated = claim.metadata.annotations.get(&annotation).map(String::as_str);
    annotated.or(claim.spec.storage_class_name.as_deref())
}
