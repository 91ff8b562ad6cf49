//! The stored objects on which it depends who callers are and what they may do: whether they have changed.

use orch_api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use orch_registry::objects::Objects;
use orch_runtime::object::Kind;
use orch_storage::Following;

use super::{BOUND, resource_of};

/// Follows accounts, what their tokens and those of bootstrapping are bound to, roles and bindings, from now
/// on and as far as they are served.
pub fn standing(objects: &Objects) -> Following {
    let policies =
        [Role::RESOURCE, ClusterRole::RESOURCE, RoleBinding::RESOURCE, ClusterRoleBinding::RESOURCE];
    let all = BOUND.map(resource_of).into_iter().chain(policies);
    let served = all.filter_map(|def| objects.catalog().served(def));
    Following::begin(objects.storage(), served.map(|resource| resource.storage_name.clone()).collect()).0
}
