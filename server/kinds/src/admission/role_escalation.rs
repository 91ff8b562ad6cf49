//! `RoleEscalation`: nobody gives away permissions that they do not have.
//!
//! Whoever writes a role needs every permission in it, and whoever writes a binding every permission of the
//! role that it refers to: in the namespace, or everywhere for cluster roles and cluster role bindings. A
//! role that collects rules by labels can come to hold any permission, so it takes all of them to write one.
//! The verb `escalate` on the role, and `bind` on the role of a binding, lift this; so does the group
//! `system:masters`. It is no plugin that operators can turn off.

use std::sync::Arc;

use orch_api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding, RoleRef};
use orch_auth::{
    answer::Answer,
    authorization::Authorization,
    authorizer::{Attributes, Authorizer, ResourceTarget, Target},
    rbac::{authorizer::Rbac, policy::PolicyRule},
    user::{GROUP_MASTERS, UserInfo},
};
use orch_meta::meta::v1::ObjectMeta;
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    catalog::ServedResource,
    error::{ApiError, ResourceName},
};
use orch_runtime::{field_error::Shown as _, object::Kind};

use super::is;
use crate::{
    name_parameter,
    sources::policies::{role_name, rules},
};

/// What is told to whoever may not write a role that collects rules.
const NEEDS_EVERYTHING: &str = "must have cluster-admin privileges to use the aggregationRule";

/// See the module.
pub(crate) struct RoleEscalation {
    /// Says what somebody has.
    pub rbac: Arc<Rbac>,
    /// Says whether somebody may do `escalate` and `bind`.
    pub authorization: Arc<Authorization>,
}

/// What a write gives away.
enum Given {
    /// The rules of a role.
    Rules {
        rules: Vec<PolicyRule>,
        /// Whether the role collects rules, or did.
        collects: bool,
    },
    /// The role that a binding refers to.
    Role(RoleRef),
}

/// Who writes what.
struct Write<'a> {
    user: &'a UserInfo,
    resource: &'a ServedResource,
    namespace: &'a str,
    name: &'a str,
    name_in_path: &'a str,
}

impl AdmissionPlugin for RoleEscalation {
    fn name(&self) -> &'static str {
        "RoleEscalation"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        if request.user.in_group(GROUP_MASTERS) {
            return Answer::Ready(Ok(()));
        }
        let Some(given) = given(request) else { return Answer::Ready(Ok(())) };
        let AdmissionRequest { user, resource, namespace, name, name_in_path, .. } = request;
        let write = Write { user, resource, namespace, name, name_in_path };
        Answer::Later(Box::pin(async move {
            match given {
                Given::Rules { rules, collects } => self.check_rules(&write, &rules, collects).await,
                Given::Role(role) => self.check_role(&write, &role).await,
            }
        }))
    }
}

impl RoleEscalation {
    async fn check_rules(
        &self,
        write: &Write<'_>,
        rules: &[PolicyRule],
        collects: bool,
    ) -> Result<(), ApiError> {
        let (plural, name) = (write.resource.def.plural, write.name_in_path);
        if self.may(write, "escalate", plural, name).await {
            return Ok(());
        }
        let refusal = |why: &str| ApiError::not_admitted(write.resource, write.name, why);
        self.check_granted(write, rules).await.map_err(|why| refusal(&why))?;
        if collects {
            let everything = self.check_granted(write, &everything()).await;
            everything.map_err(|_| refusal(NEEDS_EVERYTHING))?;
        }
        Ok(())
    }

    async fn check_role(&self, write: &Write<'_>, role: &RoleRef) -> Result<(), ApiError> {
        let plural =
            if role.kind == Role::RESOURCE.kind { Role::RESOURCE } else { ClusterRole::RESOURCE }.plural;
        if self.may(write, "bind", plural, &role.name).await {
            return Ok(());
        }
        check_reference(role, write.namespace)?;
        let Some(rules) = self.rbac.rules_of_role(&role_name(role, write.namespace)) else {
            let resource = ResourceName::of(write.resource);
            return Err(ApiError::NotFound { resource, name: role.name.clone() });
        };
        let Write { user, resource, namespace, .. } = write;
        let granted = self.rbac.check_role_granted(user, namespace, &rules, resource.def.plural).await;
        granted.map_err(|why| ApiError::not_admitted(write.resource, write.name, &why))
    }

    /// Whether the writer has all these permissions.
    async fn check_granted(
        &self,
        write: &Write<'_>,
        rules: impl IntoIterator<Item = &PolicyRule>,
    ) -> Result<(), String> {
        self.rbac.check_granted(write.user, write.namespace, rules, write.resource.def.plural).await
    }

    /// Whether the writer has a verb for a role.
    async fn may(&self, write: &Write<'_>, verb: &str, resource: &str, name: &str) -> bool {
        let target = ResourceTarget {
            group: &write.resource.group,
            version: "*",
            resource,
            subresource: "",
            namespace: write.namespace,
            name,
            ..ResourceTarget::default()
        };
        let attributes = Attributes { user: write.user, verb, target: Target::Resource(target) };
        self.authorization.authorize(&attributes).resolve().await.is_allowed()
    }
}

/// Checks that a reference can lead to a role: the binding is not validated yet.
///
/// # Errors
/// 400 for a kind that is not a role (of which the reference says 500), without a namespace or a name,
/// and for a name that no role can have.
fn check_reference(role: &RoleRef, namespace: &str) -> Result<(), ApiError> {
    let is_local = role.kind == Role::RESOURCE.kind;
    if !is_local && role.kind != ClusterRole::RESOURCE.kind {
        let kind = role.kind.shown();
        return Err(ApiError::BadRequest(format!("unsupported role reference kind: {kind}")));
    }
    if is_local && namespace.is_empty() {
        return Err(ApiError::BadRequest("Namespace parameter required.".to_owned()));
    }
    name_parameter::check(&role.name)
}

/// What a create or an update gives away; `None` for all other writes, and for one that changes only what the
/// object's removal needs.
fn given(request: &mut AdmissionRequest<'_>) -> Option<Given> {
    let def = request.resource.def;
    if is::<Role>(def) {
        let (role, _) = change::<Role>(request)?;
        return Some(Given::Rules { rules: rules(role.rules.clone()), collects: false });
    }
    if is::<ClusterRole>(def) {
        let (role, old) = change::<ClusterRole>(request)?;
        let collects = |role: &ClusterRole| {
            role.aggregation_rule.as_ref().is_some_and(|rule| !rule.cluster_role_selectors.is_empty())
        };
        let collects = collects(role) || old.is_some_and(collects);
        return Some(Given::Rules { rules: rules(role.rules.clone()), collects });
    }
    if is::<RoleBinding>(def) {
        return Some(Given::Role(change::<RoleBinding>(request)?.0.role_ref.clone()));
    }
    if is::<ClusterRoleBinding>(def) {
        return Some(Given::Role(change::<ClusterRoleBinding>(request)?.0.role_ref.clone()));
    }
    None
}

/// The written object and the one that is stored.
fn change<'r, T: Kind + Clone + PartialEq + HasMetadata>(
    request: &'r mut AdmissionRequest<'_>,
) -> Option<(&'r T, Option<&'r T>)> {
    let object = request.object.as_deref_mut()?.as_any_mut().downcast_mut::<T>()?;
    let old = request.old.and_then(|old| old.as_any().downcast_ref::<T>());
    if old.is_some_and(|old| is_only_about_removal(object, old)) {
        return None;
    }
    Some((object, old))
}

/// Whether two states differ in nothing but owners, finalizers and what the server keeps: whoever cleans up
/// need not have the permissions of the role.
fn is_only_about_removal<T: Clone + PartialEq + HasMetadata>(object: &T, old: &T) -> bool {
    let mut same = object.clone();
    let (metadata, old_metadata) = (same.metadata_mut(), old.metadata());
    metadata.owner_references.clone_from(&old_metadata.owner_references);
    metadata.finalizers.clone_from(&old_metadata.finalizers);
    metadata.managed_fields.clone_from(&old_metadata.managed_fields);
    metadata.resource_version.clone_from(&old_metadata.resource_version);
    metadata.generation.clone_from(&old_metadata.generation);
    same == *old
}

trait HasMetadata {
    fn metadata(&self) -> &ObjectMeta;
    fn metadata_mut(&mut self) -> &mut ObjectMeta;
}

macro_rules! has_metadata {
    ($($kind:ty),*) => {$(
        impl HasMetadata for $kind {
            fn metadata(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    )*};
}

has_metadata!(Role, ClusterRole, RoleBinding, ClusterRoleBinding);

/// Every permission that there is.
fn everything() -> [PolicyRule; 2] {
    let all = || vec!["*".to_owned()];
    [
        PolicyRule { verbs: all(), groups: all(), resources: all(), ..PolicyRule::default() },
        PolicyRule { verbs: all(), paths: all(), ..PolicyRule::default() },
    ]
}
