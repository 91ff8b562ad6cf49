//! Kinds whose status path changes the status only, and no metadata.

use orch_registry::behaviour::Behaviour;
use orch_runtime::{object::Kind, resource_def::FieldPath};

/// The metadata that clients can write, or else could ask to change, which would be refused.
pub(crate) const WRITABLE_METADATA: &[FieldPath] = &[
    &["metadata", "annotations"],
    &["metadata", "deletionGracePeriodSeconds"],
    &["metadata", "deletionTimestamp"],
    &["metadata", "finalizers"],
    &["metadata", "generateName"],
    &["metadata", "labels"],
    &["metadata", "ownerReferences"],
];

/// The behaviour of such a kind.
pub(crate) struct StatusAlone;

impl<T: Kind> Behaviour<T> for StatusAlone {
    fn kept_metadata(&self, subresource: &str) -> &'static [FieldPath] {
        if subresource == "status" { WRITABLE_METADATA } else { &[] }
    }
}
