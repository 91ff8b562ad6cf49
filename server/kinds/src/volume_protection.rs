//! Protection of storage that is in use: a finalizer keeps a volume while a claim is bound to it, and a claim
//! while pods use it.
//!
//! Admission adds the finalizers to new objects. A controller removes them from objects that are being
//! deleted and no longer in use.

use orch_runtime::{Tree, vocabulary::Vocabulary};

/// The finalizer of volumes.
pub fn volume_finalizer(vocabulary: &Vocabulary) -> String {
    vocabulary.label("pv-protection")
}

/// The finalizer of claims.
pub fn claim_finalizer(vocabulary: &Vocabulary) -> String {
    vocabulary.label("pvc-protection")
}

/// Whether a claim is bound to the volume.
pub fn is_volume_bound(volume: &Tree) -> bool {
    volume.pointer("/status/phase").and_then(Tree::as_str) == Some("Bound")
}

/// The names of the claims among the volumes of a pod, which are in its namespace. A pod that has ended uses
/// none.
pub fn claims_used_by_pod(pod: &Tree) -> Vec<String> {
    if matches!(text(pod, "/status/phase"), "Succeeded" | "Failed") {
        return Vec::new();
    }
    let volumes = pod.pointer("/spec/volumes").and_then(Tree::as_array).into_iter().flatten();
    let claims =
        volumes.filter_map(|volume| match (volume.get("persistentVolumeClaim"), volume.get("ephemeral")) {
            (Some(claim), _) => Some(text(claim, "/claimName").to_owned()),
            // The claim of an ephemeral volume is named after the pod and the volume.
            (None, Some(_)) => Some(format!("{}-{}", text(pod, "/metadata/name"), text(volume, "/name"))),
            (None, None) => None,
        });
    claims.collect()
}

fn text<'t>(tree: &'t Tree, pointer: &str) -> &'t str {
    tree.pointer(pointer).and_then(Tree::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_use_the_claims_of_their_volumes() {
        let pod = |phase: &str| {
            json!({
                "metadata": {"name": "p"}, "status": {"phase": phase},
                "spec": {"volumes": [
                    {"name": "a", "persistentVolumeClaim": {"claimName": "c"}},
                    {"name": "b", "ephemeral": {}}, {"name": "d", "emptyDir": {}},
                ]},
            })
        };
        for (phase, expected) in
            [("Running", &["c", "p-b"][..]), ("Pending", &["c", "p-b"]), ("Succeeded", &[]), ("Failed", &[])]
        {
            assert_eq!(claims_used_by_pod(&pod(phase)), expected, "{phase}");
        }
    }

    #[test]
    fn volumes_are_in_use_while_they_are_bound() {
        for (phase, expected) in [("Bound", true), ("Released", false)] {
            assert_eq!(is_volume_bound(&json!({"status": {"phase": phase}})), expected, "{phase}");
        }
    }
}
