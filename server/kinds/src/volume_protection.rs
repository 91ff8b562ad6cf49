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

/// Whether the pod has not ended and has the claim of this name among its volumes. Both are in the same
/// namespace.
pub fn pod_uses_claim(pod: &Tree, claim: &str) -> bool {
    let has_ended = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
    let volumes = pod.pointer("/spec/volumes").and_then(Tree::as_array).into_iter().flatten();
    let mut names = volumes.filter_map(|volume| {
        let named = volume.pointer("/persistentVolumeClaim/claimName").and_then(Tree::as_str);
        match (named, volume.get("ephemeral")) {
            (Some(name), _) => Some(name.to_owned()),
            // The claim of an ephemeral volume is named after the pod and the volume.
            (None, Some(_)) => Some(format!("{}-{}", text(pod, "/metadata/name"), text(volume, "/name"))),
            (None, None) => None,
        }
    });
    !has_ended && names.any(|name| name == claim)
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
        for (phase, claim, expected) in [
            ("Running", "c", true),
            ("Pending", "p-b", true),
            ("Running", "p-d", false),
            ("Running", "a", false),
            ("Succeeded", "c", false),
            ("Failed", "p-b", false),
        ] {
            assert_eq!(pod_uses_claim(&pod(phase), claim), expected, "{phase} {claim}");
        }
    }

    #[test]
    fn volumes_are_in_use_while_they_are_bound() {
        for (phase, expected) in [("Bound", true), ("Released", false)] {
            assert_eq!(is_volume_bound(&json!({"status": {"phase": phase}})), expected, "{phase}");
        }
    }
}
