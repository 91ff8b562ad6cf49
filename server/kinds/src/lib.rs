//! What the product's kinds do besides what their schemas say. Everything is registered through the public
//! traits of `orch-registry`, as the kinds of a user's own server are: no other crate knows that these kinds
//! are special.
//!
//! - [`behaviours`]: steps of a write and of a deletion; each file of a kind holds those of that kind;
//! - [`admission()`]: rules that look at other objects, and fields that the server adds to new objects;
//! - [`guard`]: who may write which roles and bindings;
//! - [`operations()`]: sub-resources that do something, and kinds that are questions (reviews);
//! - `selectors`: selectors of reviews, for authorizers;
//! - [`sources`]: the stored objects that authentication looks up;
//! - [`token_secret`]: secrets with tokens of service accounts, for authentication and controllers alike;
//! - [`volume_protection`]: when volumes and claims are in use, for admission and controllers alike.

// What is awaited in place is moved about with every request: larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

mod admission;
#[cfg(test)]
mod behaviour_recipe;
mod controller_revision;
mod csi_driver;
mod daemon_set;
pub mod default_class;
mod flow_schema;
mod gated_pods;
mod name_parameter;
mod namespace;
mod node;
mod operations;
mod persistent_volume;
mod persistent_volume_claim;
mod pod;
mod priority_class;
mod reviews;
mod role_binding;
mod secret;
mod selectors;
mod service;
mod service_account;
pub mod sources;
mod status_alone;
#[cfg(test)]
mod testing;
pub mod token_secret;
pub mod volume_protection;

use std::sync::Arc;

use arc_swap::ArcSwap;
use orch_api::{
    apps::v1::{ControllerRevision, DaemonSet},
    authentication::{v1 as authentication_v1, v1alpha1, v1beta1},
    authorization::v1::{
        LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview,
    },
    core::v1::{
        Binding, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service,
        ServiceAccount,
    },
    flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration},
    rbac::v1::{ClusterRoleBinding, RoleBinding},
    scheduling::v1::PriorityClass,
    storage::v1::{CSIDriver, VolumeAttachment},
    storagemigration::v1alpha1::StorageVersionMigration,
};
use orch_auth::{
    authentication::Authentication, authorization::Authorization, rbac::authorizer::Rbac,
    service_account::TokenIssuer,
};
use orch_registry::{
    admission::AdmissionPlugin, behaviour::Behaviours, operation::Operations, ranges::Ranges,
};

/// The resource whose objects are secret: keys of the server are sealed as they are, where they are kept.
pub const SECRETS: &str = "secrets";

/// The other parts of the server that operations and reviews use.
#[derive(Clone)]
pub struct Services {
    /// Decides what users may do.
    pub authorization: Arc<Authorization>,
    /// Finds out who a credential belongs to. It is replaced when its files change.
    pub authentication: Arc<ArcSwap<Authentication>>,
    /// Issues tokens of service accounts.
    pub tokens: Arc<TokenIssuer>,
}

/// Registers what kinds do when their objects are written and deleted. Services get something of `ranges`.
pub fn behaviours(ranges: &Ranges, behaviours: &mut Behaviours) {
    behaviours.register::<Namespace>(namespace::NamespaceBehaviour);
    behaviours.register::<Node>(node::NodeBehaviour);
    behaviours.register::<PersistentVolume>(persistent_volume::PersistentVolumeBehaviour);
    behaviours.register::<PersistentVolumeClaim>(persistent_volume_claim::PersistentVolumeClaimBehaviour);
    behaviours.register::<Pod>(pod::PodBehaviour);
    behaviours.register::<Secret>(secret::SecretBehaviour);
    behaviours.register::<Service>(service::ServiceBehaviour::new(ranges.clone()));
    behaviours.register::<ServiceAccount>(service_account::ServiceAccountBehaviour);
    behaviours.register::<DaemonSet>(daemon_set::DaemonSetBehaviour);
    behaviours.register::<FlowSchema>(flow_schema::FlowSchemaBehaviour);
    behaviours.register::<PriorityLevelConfiguration>(status_alone::StatusAlone);
    behaviours.register::<StorageVersionMigration>(status_alone::StatusAlone);
    behaviours.register::<VolumeAttachment>(status_alone::StatusAlone);
    behaviours.register::<RoleBinding>(role_binding::BindingBehaviour);
    behaviours.register::<ClusterRoleBinding>(role_binding::BindingBehaviour);
    behaviours.register::<ControllerRevision>(controller_revision::ControllerRevisionBehaviour);
    behaviours.register::<PriorityClass>(priority_class::PriorityClassBehaviour);
    behaviours.register::<CSIDriver>(csi_driver::CsiDriverBehaviour);
}

/// Registers who performs operations and who answers reviews.
pub fn operations(services: &Services, operations: &mut Operations) {
    let Services { authorization, authentication, tokens } = services.clone();
    operations.register::<Pod>("binding", operations::Bind);
    operations.register::<Binding>("", operations::Bind);
    operations.register::<Pod>("eviction", operations::Eviction);
    operations.register::<ServiceAccount>("token", operations::Token::new(Arc::clone(&tokens)));

    let access = reviews::Access::new(authorization);
    operations.register_review::<SubjectAccessReview>(access.clone());
    operations.register_review::<LocalSubjectAccessReview>(access.clone());
    operations.register_review::<SelfSubjectAccessReview>(access.clone());
    operations.register_review::<SelfSubjectRulesReview>(access);
    operations.register_review::<authentication_v1::SelfSubjectReview>(reviews::Caller);
    operations.register_review::<v1beta1::SelfSubjectReview>(reviews::Caller);
    operations.register_review::<v1alpha1::SelfSubjectReview>(reviews::Caller);
    let token_owner = reviews::TokenOwner::new(authentication, tokens);
    operations.register_review::<authentication_v1::TokenReview>(token_owner);
}

/// The plugin that keeps callers from giving away permissions that they do not have. Operators cannot turn it
/// off.
pub fn guard(rbac: Arc<Rbac>, authorization: Arc<Authorization>) -> Box<dyn AdmissionPlugin> {
    Box::new(admission::RoleEscalation { rbac, authorization })
}

/// The admission plugins, in the order in which the reference runs those of the same names.
pub fn admission() -> Vec<Box<dyn AdmissionPlugin>> {
    vec![
        Box::new(admission::NamespaceLifecycle),
        Box::new(admission::AccountsOfPods),
        Box::new(admission::NodeRestriction),
        Box::new(admission::TaintNodesByCondition),
        Box::new(admission::Priority),
        Box::new(admission::DefaultTolerationSeconds),
        Box::new(admission::DefaultStorageClass),
        Box::new(admission::StorageObjectInUseProtection),
        Box::new(admission::PersistentVolumeClaimResize),
    ]
}
