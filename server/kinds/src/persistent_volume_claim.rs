//! `PersistentVolumeClaim`: its data source is in two fields that have to agree.

use orch_api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference,
};
use orch_registry::behaviour::{Behaviour, Overruled, WriteInfo, as_sent};
use orch_runtime::{Tree, resource_def::FieldPath, vocabulary::Vocabulary};

pub(crate) struct PersistentVolumeClaimBehaviour;

impl Behaviour<PersistentVolumeClaim> for PersistentVolumeClaimBehaviour {
    fn prepare(
        &self,
        claim: &mut PersistentVolumeClaim,
        old: Option<&PersistentVolumeClaim>,
        write: &WriteInfo<'_>,
    ) {
        let has_source = |claim: &PersistentVolumeClaim| {
            claim.spec.data_source.is_some() || claim.spec.data_source_ref.is_some()
        };
        if !old.is_some_and(has_source) && claim.spec.data_source_ref.is_none() {
            drop_unknown_source(&mut claim.spec, write.vocabulary);
        }
        match_sources(&mut claim.spec);
    }

    fn overruled(&self, sent: &Tree, _current: &Tree) -> Vec<Overruled> {
        vec![as_sent(sent, &["spec", "dataSource"]), as_sent(sent, &["spec", "dataSourceRef"])]
    }

    fn added_fields(&self) -> &'static [FieldPath] {
        &[&["spec", "dataSource"], &["spec", "dataSourceRef"]]
    }
}

/// Alone, `dataSource` takes claims and snapshots only; any other value is dropped without an error.
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

/// Copies the field that is set to the other one. Only `dataSourceRef` can name another namespace; then
/// `dataSource` stays empty.
fn match_sources(spec: &mut PersistentVolumeClaimSpec) {
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
        let write = WriteInfo { vocabulary: &KUBERNETES, subresource: "", now: Time::from_unix_seconds(0) };
        PersistentVolumeClaimBehaviour.prepare(&mut claim, (!is_new).then_some(&old), &write);
        let tree = serde_json::to_value(&claim.spec).unwrap();
        (tree["dataSource"].clone(), tree["dataSourceRef"].clone())
    }

    #[test]
    fn both_fields_have_the_same_data_source() {
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
}
