//! `PersistentVolumeClaim`: a finalizer that keeps a claim while pods use it, and one data source in two fields.

use orch_api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference,
};
use orch_runtime::{Tree, object::ApiObject, resource_def::FieldPath, vocabulary::Vocabulary};

use super::{Change, Hooks, add_finalizer};

pub(super) struct PersistentVolumeClaimHooks;

impl Hooks for PersistentVolumeClaimHooks {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, change: &Change<'_>) {
        let Some(claim) = object.as_any_mut().downcast_mut::<PersistentVolumeClaim>() else { return };
        if old.is_none() {
            add_finalizer(&mut claim.metadata.finalizers, finalizer(change.vocabulary));
            drop_unknown_source(&mut claim.spec, change.vocabulary);
        }
        agree_on_source(&mut claim.spec);
    }

    fn added_fields(&self) -> &'static [FieldPath] {
        &[&["metadata", "finalizers"], &["spec", "dataSource"], &["spec", "dataSourceRef"]]
    }
}

/// Keeps a claim from going while pods use it.
pub fn finalizer(vocabulary: &Vocabulary) -> String {
    vocabulary.label("pvc-protection")
}

/// Whether a pod that is not finished has the claim among its volumes.
pub fn uses(pod: &Tree, claim: &str) -> bool {
    let phase = pod.pointer("/status/phase").and_then(Tree::as_str);
    let is_finished = matches!(phase, Some("Succeeded" | "Failed"));
    let volumes = pod.pointer("/spec/volumes").and_then(Tree::as_array).into_iter().flatten();
    let mut names = volumes.filter_map(|volume| {
        let named = volume.pointer("/persistentVolumeClaim/claimName").and_then(Tree::as_str);
        match (named, volume.get("ephemeral")) {
            (Some(name), _) => Some(name.to_owned()),
            // The claim of an ephemeral volume is called after its pod.
            (None, Some(_)) => {
                let part = |pointer| pod.pointer(pointer).and_then(Tree::as_str).unwrap_or_default();
                let volume = volume.get("name").and_then(Tree::as_str).unwrap_or_default();
                Some(format!("{}-{volume}", part("/metadata/name")))
            }
            (None, None) => None,
        }
    });
    !is_finished && names.any(|name| name == claim)
}

/// The older field takes claims and snapshots only; anything else in it has always been dropped.
fn drop_unknown_source(spec: &mut PersistentVolumeClaimSpec, vocabulary: &Vocabulary) {
    let snapshots = format!("snapshot.storage.{}", vocabulary.group_suffix);
    let is_known = |source: &TypedLocalObjectReference| match source.api_group.as_deref().unwrap_or_default()
    {
        "" => source.kind == "PersistentVolumeClaim",
        group => group == snapshots && source.kind == "VolumeSnapshot",
    };
    if spec.data_source.as_ref().is_some_and(|source| !is_known(source)) {
        spec.data_source = None;
    }
}

/// Whichever of the two fields is given, the other says the same; only the newer one can name another namespace.
fn agree_on_source(spec: &mut PersistentVolumeClaimSpec) {
    match (&spec.data_source, &spec.data_source_ref) {
        (Some(source), None) => {
            spec.data_source_ref = Some(TypedObjectReference {
                api_group: source.api_group.clone(),
                kind: source.kind.clone(),
                name: source.name.clone(),
                namespace: None,
            });
        }
        (None, Some(reference)) if reference.namespace.as_deref().unwrap_or_default().is_empty() => {
            spec.data_source = Some(TypedLocalObjectReference {
                api_group: reference.api_group.clone(),
                kind: reference.kind.clone(),
                name: reference.name.clone(),
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use orch_api::KUBERNETES;
    use orch_runtime::scalar::Time;
    use serde_json::{Value, json};

    use super::*;

    fn sources(spec: &Value, is_new: bool) -> (Value, Value) {
        let mut claim: PersistentVolumeClaim = serde_json::from_value(json!({"spec": spec})).unwrap();
        let old = claim.clone();
        let change = Change { vocabulary: &KUBERNETES, subresource: "", now: Time::from_unix_seconds(0) };
        PersistentVolumeClaimHooks.prepare(&mut claim, (!is_new).then_some(&old as &dyn ApiObject), &change);
        assert_eq!(claim.metadata.finalizers.is_empty(), !is_new);
        let tree = serde_json::to_value(&claim.spec).unwrap();
        (tree["dataSource"].clone(), tree["dataSourceRef"].clone())
    }

    #[test]
    fn the_two_data_sources_say_the_same() {
        let claim = json!({"apiGroup": null, "kind": "PersistentVolumeClaim", "name": "o"});
        let snapshot = json!({"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "o"});
        let other = json!({"apiGroup": "example.com", "kind": "Image", "name": "o"});
        let null = Value::Null;
        for same in [&claim, &snapshot] {
            assert_eq!(sources(&json!({"dataSource": same}), true), (same.clone(), same.clone()));
            assert_eq!(sources(&json!({"dataSourceRef": same}), true), (same.clone(), same.clone()));
        }
        assert_eq!(sources(&json!({"dataSource": other}), true), (null.clone(), null.clone()));
        assert_eq!(sources(&json!({"dataSource": other}), false), (other.clone(), other.clone()));
        let mut foreign = claim;
        foreign["namespace"] = json!("n");
        assert_eq!(sources(&json!({"dataSourceRef": foreign}), true), (null, foreign));
    }

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
            assert_eq!(uses(&pod(phase), claim), expected, "{phase} {claim}");
        }
    }
}
