//! Conditions of pods that the server sets itself.

use orch_runtime::Tree;
use serde_json::json;

/// Sets a condition of a pod: it replaces the one of its type. Where the status stays, so does the time at
/// which it last changed.
pub(super) fn set(pod: &mut Tree, mut condition: Tree) {
    let conditions = pod
        .as_object_mut()
        .and_then(|pod| pod.entry("status").or_insert_with(|| json!({})).as_object_mut())
        .and_then(|status| status.entry("conditions").or_insert_with(|| json!([])).as_array_mut());
    let Some(conditions) = conditions else { return };
    match conditions.iter_mut().find(|known| known["type"] == condition["type"]) {
        None => conditions.push(condition),
        Some(known) => {
            if known["status"] == condition["status"] {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = condition;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_time_while_it_holds() {
        // (what the pod has, the expected transition time)
        for (known, expected) in [
            (json!([]), "now"),
            (json!([{"type": "Ready", "status": "True", "lastTransitionTime": "then"}]), "now"),
            (json!([{"type": "Target", "status": "False", "lastTransitionTime": "then"}]), "now"),
            (json!([{"type": "Target", "status": "True", "lastTransitionTime": "then"}]), "then"),
        ] {
            let mut pod = json!({"status": {"conditions": known}});
            set(&mut pod, json!({"type": "Target", "status": "True", "lastTransitionTime": "now"}));
            let conditions = pod["status"]["conditions"].as_array().unwrap();
            let found: Vec<&Tree> = conditions.iter().filter(|one| one["type"] == "Target").collect();
            assert_eq!(found.len(), 1);
            let found = (&found[0]["status"], &found[0]["lastTransitionTime"]);
            assert_eq!(found, (&json!("True"), &json!(expected)));
        }
        let mut empty = json!({});
        set(&mut empty, json!({"type": "Target"}));
        assert_eq!(empty, json!({"status": {"conditions": [{"type": "Target"}]}}));
    }
}
