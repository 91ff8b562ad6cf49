//! `RoleBinding` and `ClusterRoleBinding`: the groups of what they refer to are filled in, and the role never
//! changes.

use orch_api::rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef};
use orch_registry::behaviour::{Behaviour, WriteInfo};
use orch_runtime::{
    field_error::{FieldError, Rendered, Shown},
    object::Kind,
    path::Path,
    vocabulary::Vocabulary,
};

/// What both kinds of bindings have.
pub(crate) trait Binding: Kind {
    fn fill_groups(&mut self, vocabulary: &Vocabulary);
    fn role_ref(&self) -> &RoleRef;
}

impl Binding for RoleBinding {
    fn fill_groups(&mut self, vocabulary: &Vocabulary) {
        RoleBinding::fill_groups(self, vocabulary);
    }

    fn role_ref(&self) -> &RoleRef {
        &self.role_ref
    }
}

impl Binding for ClusterRoleBinding {
    fn fill_groups(&mut self, vocabulary: &Vocabulary) {
        ClusterRoleBinding::fill_groups(self, vocabulary);
    }

    fn role_ref(&self) -> &RoleRef {
        &self.role_ref
    }
}

/// The behaviour of both kinds.
pub(crate) struct BindingBehaviour;

impl<T: Binding> Behaviour<T> for BindingBehaviour {
    fn prepare(&self, binding: &mut T, _old: Option<&T>, write: &WriteInfo<'_>) {
        binding.fill_groups(write.vocabulary);
    }

    /// Rust, because nothing else is judged then, and the answer is 400.
    fn refuse_change(&self, binding: &T, old: &T) -> Option<FieldError> {
        let is_changed = binding.role_ref() != old.role_ref();
        is_changed.then(|| {
            let RoleRef { api_group, kind, name } = binding.role_ref();
            let [api_group, kind, name] = [api_group, kind, name].map(Shown::shown);
            let shown = format!("rbac.RoleRef{{APIGroup:{api_group}, Kind:{kind}, Name:{name}}}");
            let shown = Rendered(shown);
            FieldError::invalid(&Path::ROOT.field("roleRef"), &shown, "cannot change roleRef")
        })
    }
}
