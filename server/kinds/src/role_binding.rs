//! Role bindings of both scopes: the groups of what they refer to, and that the role never changes.

use std::marker::PhantomData;

use orch_api::rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef};
use orch_runtime::{
    field_error::{FieldError, Rendered, json},
    object::{ApiObject, Kind},
    path::Path,
    vocabulary::Vocabulary,
};

use super::{Change, Hooks};

/// What both kinds of bindings have.
pub(super) trait Binding: Kind {
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

pub(super) struct BindingHooks<T>(PhantomData<fn() -> T>);

impl<T> BindingHooks<T> {
    pub(super) const NEW: Self = BindingHooks(PhantomData);
}

impl<T: Binding> Hooks for BindingHooks<T> {
    fn prepare(&self, object: &mut dyn ApiObject, _old: Option<&dyn ApiObject>, change: &Change<'_>) {
        if let Some(binding) = object.as_any_mut().downcast_mut::<T>() {
            binding.fill_groups(change.vocabulary);
        }
    }

    fn bad_change(&self, object: &dyn ApiObject, old: &dyn ApiObject) -> Option<FieldError> {
        let (new, old) = (object.as_any().downcast_ref::<T>()?, old.as_any().downcast_ref::<T>()?);
        let changed = new.role_ref() != old.role_ref();
        changed.then(|| {
            let shown = Rendered(json(new.role_ref()));
            FieldError::invalid(&Path::ROOT.field("roleRef"), &shown, "cannot change roleRef")
        })
    }
}
