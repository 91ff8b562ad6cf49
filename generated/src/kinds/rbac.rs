//! Role bindings: API groups of references, which clients may leave out.

use std::borrow::Cow;

use orch_runtime::vocabulary::Vocabulary;

use crate::rbac::v1::{ClusterRoleBinding, ROLE_BINDING_RESOURCE, RoleBinding, RoleRef, Subject};

/// `kind` of a subject that is a user.
pub const SUBJECT_USER: &str = "User";
/// `kind` of a subject that is a group.
pub const SUBJECT_GROUP: &str = "Group";
/// `kind` of a subject that is a service account.
pub const SUBJECT_SERVICE_ACCOUNT: &str = "ServiceAccount";

/// The API group of roles, users and groups.
pub fn group(vocabulary: &Vocabulary) -> Cow<'static, str> {
    vocabulary.group(ROLE_BINDING_RESOURCE.group)
}

impl RoleBinding {
    /// Fills in the API groups of the role and the subjects where they are empty.
    pub fn fill_groups(&mut self, vocabulary: &Vocabulary) {
        fill_in(&mut self.role_ref, &mut self.subjects, vocabulary);
    }
}

impl ClusterRoleBinding {
    /// Fills in the API groups of the role and the subjects where they are empty.
    pub fn fill_groups(&mut self, vocabulary: &Vocabulary) {
        fill_in(&mut self.role_ref, &mut self.subjects, vocabulary);
    }
}

fn fill_in(role_ref: &mut RoleRef, subjects: &mut [Subject], vocabulary: &Vocabulary) {
    let group = group(vocabulary);
    if role_ref.api_group.is_empty() {
        role_ref.api_group = group.to_string();
    }
    for subject in subjects.iter_mut().filter(|subject| subject.api_group.is_empty()) {
        if matches!(subject.kind.as_str(), SUBJECT_USER | SUBJECT_GROUP) {
            subject.api_group = group.to_string();
        }
    }
}
