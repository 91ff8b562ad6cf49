//! Storage version migrations: the resource and the state.

use orch_runtime::{Tree, resource_def::CellContext};

use super::{items, text};

const CONDITIONS: &[&str] = &["Running", "Succeeded", "Failed"];

/// The resource that is migrated: `leases.coordination.k8s.io`.
pub fn migration_resource(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let resource = text(tree, "/spec/resource/resource");
    match text(tree, "/spec/resource/group") {
        "" => resource.into(),
        group => format!("{resource}.{group}").into(),
    }
}

/// The type of the condition that is `True`; `Unknown` if there is none.
pub fn migration_status(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let mut holding = items(tree, "/status/conditions")
        .filter(|condition| text(condition, "/status") == "True")
        .map(|condition| text(condition, "/type"));
    holding.find(|kind| CONDITIONS.contains(kind)).unwrap_or("Unknown").into()
}

#[cfg(test)]
mod tests {
    use orch_runtime::scalar::Time;
    use serde_json::json;

    use super::*;
    use crate::KUBERNETES;

    #[test]
    fn cells() {
        let context = CellContext { vocabulary: &KUBERNETES, now: Time::from_unix_seconds(0) };
        let conditions = json!([
            {"type": "Running", "status": "False"}, {"type": "Other", "status": "True"},
            {"type": "Failed", "status": "True"},
        ]);
        let mut migration =
            json!({"spec": {"resource": {"resource": "pods"}}, "status": {"conditions": conditions}});
        assert_eq!(migration_resource(&migration, &context), "pods");
        assert_eq!(migration_status(&migration, &context), "Failed");
        migration["spec"]["resource"]["group"] = json!("example.com");
        assert_eq!(migration_resource(&migration, &context), "pods.example.com");
        assert_eq!(migration_status(&json!({}), &context), "Unknown");
    }
}
