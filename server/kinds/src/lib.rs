//! Behaviour of single kinds: what is not data.
//!
//! A kind without an entry here has none, and most have none. Each file under `kinds/` holds one.

mod csi_driver;
mod daemon_set;
mod namespace;
mod node;
pub mod operations;
pub mod persistent_volume;
pub mod persistent_volume_claim;
mod pod;
pub mod reviews;
mod role_binding;
mod secret;
pub mod service;
mod service_account;

use orch_api::rbac::v1::{ClusterRoleBinding, RoleBinding};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    object::ApiObject,
    resource_def::{FieldPath, ResourceDef},
    scalar::Time,
    vocabulary::Vocabulary,
};

use crate::app::App;

/// The write that a hook is part of.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The product words in force.
    pub vocabulary: &'a Vocabulary,
    /// `""` for the main path.
    pub subresource: &'a str,
    /// The time of the write.
    pub now: Time,
}

/// What a kind adds to the steps of a write. Every step has a default that does nothing.
pub trait Hooks: Send + Sync {
    /// Looks at a new object with the others in view, and fills in what depends on them.
    ///
    /// # Errors
    /// Why it is not admitted, which is 403.
    fn admit(&self, _app: &App, _object: &mut dyn ApiObject) -> Result<(), String> {
        Ok(())
    }

    /// Adjusts an object before defaults are filled; `old` is absent on create.
    fn prepare(&self, _object: &mut dyn ApiObject, _old: Option<&dyn ApiObject>, _change: &Change<'_>) {}

    /// Reports violations that need the old object, the path or the vocabulary.
    fn validate(
        &self,
        _object: &dyn ApiObject,
        _old: Option<&dyn ApiObject>,
        _change: &Change<'_>,
        _cx: &mut Validation<'_>,
    ) {
    }

    /// Whether objects of the kind get something that no other has: while one is made, others wait.
    fn allocates(&self) -> bool {
        false
    }

    /// Gives a correct object what the server has to give; called when nobody else is given anything until it is stored.
    fn allocate(
        &self,
        _app: &App,
        _object: &mut dyn ApiObject,
        _old: Option<&dyn ApiObject>,
        _cx: &mut Validation<'_>,
    ) {
    }

    /// A change that is no valid request at all: it is answered with 400 and this fault alone.
    fn bad_change(&self, _object: &dyn ApiObject, _old: &dyn ApiObject) -> Option<FieldError> {
        None
    }

    /// Fields that [`prepare`](Hooks::prepare) sets on this path: no manager comes to own them.
    fn own_fields(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }

    /// Metadata that a write on this path leaves alone, whatever a client sends.
    fn kept_metadata(&self, _subresource: &str) -> &'static [FieldPath] {
        &[]
    }

    /// Fields that [`prepare`](Hooks::prepare) adds to a new object: a client owns them only if it gives them itself.
    fn added_fields(&self) -> &'static [FieldPath] {
        &[]
    }

    /// Whether a create keeps the status that the client gives.
    fn keeps_given_status(&self) -> bool {
        false
    }

    /// Whether an object without finalizers may go; consulted for a first DELETE and whenever an update leaves an object
    /// that is being deleted without finalizers.
    fn may_be_removed(&self, _tree: &Tree) -> bool {
        true
    }

    /// Whether the server relies on the object, so that nobody may delete it.
    fn is_protected(&self, _name: &str, _vocabulary: &Vocabulary) -> bool {
        false
    }

    /// How many seconds an object is given to end by itself when it is deleted; `asked` is what the client wants.
    /// None for a kind whose objects do not end by themselves.
    fn grace_period(&self, _tree: &Tree, _asked: Option<i64>) -> Option<i64> {
        None
    }

    /// Adjusts an object that stays for now while it is being deleted.
    fn mark_deleted(&self, _tree: &mut Tree) {}

    /// Annotations that stand in for a field: only the whole object has them, tables and metadata alone do not.
    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What clients can write in metadata.
const WRITABLE_METADATA: &[FieldPath] = &[
    &["metadata", "annotations"],
    &["metadata", "finalizers"],
    &["metadata", "generateName"],
    &["metadata", "labels"],
    &["metadata", "ownerReferences"],
];

struct NoHooks;

impl Hooks for NoHooks {}

/// Kinds whose status path writes the status and nothing else.
struct StatusAlone;

impl Hooks for StatusAlone {
    fn kept_metadata(&self, subresource: &str) -> &'static [FieldPath] {
        if subresource == "status" { WRITABLE_METADATA } else { &[] }
    }
}

/// The hooks of a kind.
pub fn hooks(def: &ResourceDef) -> &'static dyn Hooks {
    // Groups go by their first word: what follows is a matter of vocabulary.
    match (def.group.split('.').next().unwrap_or_default(), def.kind) {
        ("", "Namespace") => &namespace::NamespaceHooks,
        ("", "Node") => &node::NodeHooks,
        ("", "Pod") => &pod::PodHooks,
        ("", "PersistentVolume") => &persistent_volume::PersistentVolumeHooks,
        ("", "PersistentVolumeClaim") => &persistent_volume_claim::PersistentVolumeClaimHooks,
        ("", "Secret") => &secret::SecretHooks,
        ("", "Service") => &service::ServiceHooks,
        ("", "ServiceAccount") => &service_account::ServiceAccountHooks,
        ("apps", "DaemonSet") => &daemon_set::DaemonSetHooks,
        ("flowcontrol", "FlowSchema" | "PriorityLevelConfiguration")
        | ("storagemigration", "StorageVersionMigration") => &StatusAlone,
        ("rbac", "RoleBinding") => &role_binding::BindingHooks::<RoleBinding>::NEW,
        ("rbac", "ClusterRoleBinding") => &role_binding::BindingHooks::<ClusterRoleBinding>::NEW,
        ("storage", "CSIDriver") => &csi_driver::CsiDriverHooks,
        _ => &NoHooks,
    }
}

/// Adds a finalizer that is not there yet.
fn add_finalizer(finalizers: &mut Vec<String>, finalizer: String) {
    if !finalizers.contains(&finalizer) {
        finalizers.push(finalizer);
    }
}
