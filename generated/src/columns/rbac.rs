//! Role bindings: the role, and the subjects by kind.

use orch_runtime::{Tree, resource_def::CellContext};

use super::text;
use crate::kinds::rbac::{SUBJECT_GROUP, SUBJECT_SERVICE_ACCOUNT, SUBJECT_USER};

/// `ClusterRole/view`.
pub fn bound_role(binding: &Tree, _: &CellContext<'_>) -> Tree {
    format!("{}/{}", text(binding, "/roleRef/kind"), text(binding, "/roleRef/name")).into()
}

/// The names of the users.
pub fn bound_users(binding: &Tree, _: &CellContext<'_>) -> Tree {
    subjects(binding, SUBJECT_USER, |subject| text(subject, "/name").to_owned())
}

/// The names of the groups.
pub fn bound_groups(binding: &Tree, _: &CellContext<'_>) -> Tree {
    subjects(binding, SUBJECT_GROUP, |subject| text(subject, "/name").to_owned())
}

/// The service accounts: `namespace/name`.
pub fn bound_service_accounts(binding: &Tree, _: &CellContext<'_>) -> Tree {
    subjects(binding, SUBJECT_SERVICE_ACCOUNT, |subject| {
        format!("{}/{}", text(subject, "/namespace"), text(subject, "/name"))
    })
}

fn subjects(binding: &Tree, kind: &str, cell: impl Fn(&Tree) -> String) -> Tree {
    let all = binding.get("subjects").and_then(Tree::as_array).map_or(&[][..], Vec::as_slice);
    let of_kind = all.iter().filter(|subject| text(subject, "/kind") == kind);
    of_kind.map(cell).collect::<Vec<_>>().join(", ").into()
}
