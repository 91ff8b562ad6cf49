//! Role bindings: the group of what they refer to, which clients leave out.

use std::borrow::Cow;

use orch_runtime::vocabulary::Vocabulary;

use crate::rbac::v1::{ClusterRoleBinding, ROLE_BINDING_RESOURCE, RoleBinding, RoleRef, Subject};

/// `kind` of a subject that is a user.
pub const SUBJECT_USER: &str = "User";
/// `kind` of a subject that is a group.
pub const SUBJECT_GROUP: &str = "Group";
/// `kind` of a subject that is a service account.
pub const SUBJECT_SERVICE_ACCOUNT: &str = "ServiceAccount";

/// The group of roles, and of subjects that are no service accounts.
pub fn group(vocabulary: &Vocabulary) -> Cow<'static, str> {
    vocabulary.group(ROLE_BINDING_RESOURCE.group)
}

impl RoleBinding {
    /// Names the groups of the role and of the subjects where the client did not.
    pub fn fill_groups(&mut self, vocabulary: &Vocabulary) {
        fill(&mut self.role_ref, &mut self.subjects, vocabulary);
    }
}

impl ClusterRoleBinding {
    /// Names the groups of the role and of the subjects where the client did not.
    pub fn fill_groups(&mut self, vocabulary: &Vocabulary) {
        fill(&mut self.role_ref, &mut self.subjects, vocabulary);
    }
}

fn fill(role_ref: &mut RoleRef, subjects: &mut [Subject], vocabulary: &Vocabulary) {
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
