//! Checks over the whole registry: objects keep every field, and references between published schemas
//! resolve.

use std::collections::BTreeSet;

use orch_api::core::v1::PERSISTENT_VOLUME_SPEC_TYPE;
use orch_runtime::{
    Tree,
    resource_def::ResourceDef,
    type_def::{Shape, TypeDef},
};
use serde_json::{Value, json};

fn resource(kind: &str) -> &'static ResourceDef {
    kinds().find(|resource| resource.kind == kind).expect("the kind is registered")
}

fn kinds() -> impl Iterator<Item = &'static ResourceDef> {
    orch_api::registry().iter().flat_map(|group_version| group_version.resources).copied()
}

/// Metadata with every field set.
fn metadata() -> Value {
    json!({
        "name": "a", "generateName": "a-", "namespace": "n", "selfLink": "/old", "uid": "u",
        "resourceVersion": "7",
        "generation": 2, "creationTimestamp": "2024-01-02T03:04:05Z",
        "deletionTimestamp": "2024-01-02T03:04:06Z",
        "deletionGracePeriodSeconds": 0, "labels": {"l": ""}, "annotations": {"a": "v"},
        "ownerReferences": [{
            "apiVersion": "v1", "kind": "K", "name": "o", "uid": "u", "controller": false,
            "blockOwnerDeletion": true,
        }],
        "finalizers": ["f"],
        "managedFields": [{
            "manager": "m", "operation": "Update", "apiVersion": "v1", "time": "2024-01-02T03:04:05Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}, "subresource": "status",
        }],
    })
}

#[test]
fn every_field_survives_the_way_through_the_types() {
    for (kind, rest) in [
        ("ConfigMap", json!({"immutable": false, "data": {"k": ""}, "binaryData": {"b": "AAEC/w=="}})),
        (
            "Secret",
            json!({"immutable": true, "data": {"k": "MQ=="}, "stringData": {"s": "t"}, "type": "Opaque"}),
        ),
        (
            "ServiceAccount",
            json!({
                "secrets": [{
                    "kind": "K", "namespace": "n", "name": "s", "uid": "u", "apiVersion": "v1",
                    "resourceVersion": "1", "fieldPath": "f",
                }],
                "imagePullSecrets": [{"name": "p"}], "automountServiceAccountToken": false,
            }),
        ),
        (
            "Namespace",
            json!({
                "spec": {"finalizers": ["orch"]},
                "status": {
                    "phase": "Active",
                    "conditions": [{
                        "type": "T", "status": "True", "lastTransitionTime": "2024-01-02T03:04:05Z",
                        "reason": "R",
                        "message": "m",
                    }],
                },
            }),
        ),
        (
            "Lease",
            json!({
                "spec": {
                    "holderIdentity": "h", "leaseDurationSeconds": 15,
                    "acquireTime": "2024-01-02T03:04:05.000001Z",
                    "renewTime": "2024-01-02T03:04:05.123456Z", "leaseTransitions": 0, "strategy": "s",
                    "preferredHolder": "p",
                },
            }),
        ),
    ] {
        let mut tree = rest;
        tree["metadata"] = metadata();
        let object = (resource(kind).from_tree)(tree.clone()).unwrap();
        assert_eq!(object.to_tree().unwrap(), tree, "{kind}");
    }
}

#[test]
fn an_empty_object_is_written_as_by_client_libraries() {
    let unborn = json!({"creationTimestamp": null});
    let no_rules = json!({"resourceRules": [], "nonResourceRules": [], "incomplete": false});
    let unhealthy =
        json!({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0});
    for (kind, expected) in [
        ("ConfigMap", json!({"metadata": unborn})),
        ("Secret", json!({"metadata": unborn, "type": "Opaque"})),
        ("Namespace", json!({"metadata": unborn, "spec": {}, "status": {}})),
        ("Lease", json!({"metadata": unborn, "spec": {}})),
        ("PodDisruptionBudget", json!({"metadata": unborn, "spec": {}, "status": unhealthy})),
        ("SelfSubjectReview", json!({"metadata": unborn, "status": {"userInfo": {}}})),
        ("SelfSubjectRulesReview", json!({"metadata": unborn, "spec": {}, "status": no_rules})),
        ("TokenReview", json!({"metadata": unborn, "spec": {}, "status": {"user": {}}})),
    ] {
        let mut object = (resource(kind).from_tree)(json!({})).unwrap();
        object.set_defaults();
        assert_eq!(object.to_tree().unwrap(), expected, "{kind}");
    }
}

#[test]
fn published_schemas_are_complete() {
    let documents: Vec<Tree> = orch_api::registry()
        .iter()
        .map(|group_version| serde_json::from_str(group_version.schemas).unwrap())
        .collect();
    let names: BTreeSet<&String> =
        documents.iter().flat_map(|document| document.as_object().unwrap().keys()).collect();
    for resource in orch_api::registry().iter().flat_map(|group_version| group_version.resources) {
        assert!(names.contains(&resource.schema_name.to_owned()), "{}", resource.schema_name);
        assert!(names.contains(&format!("{}List", resource.schema_name)), "{}", resource.schema_name);
    }
    for document in &documents {
        for reference in references(document) {
            let name = reference.strip_prefix("#/components/schemas/").unwrap_or_default().to_owned();
            assert!(names.contains(&name), "{reference}");
        }
    }
}

fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str);
            own.into_iter().chain(fields.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn vocabularies_differ_in_every_word_that_holds_the_products_name() {
    let [orch, kubernetes] = [&orch_api::ORCH, &orch_api::KUBERNETES];
    assert_eq!(orch_api::VOCABULARIES, [orch, kubernetes]);
    assert_eq!(orch.group("coordination.orch.io"), "coordination.orch.io");
    assert_eq!(kubernetes.group("coordination.orch.io"), "coordination.k8s.io");
    assert_eq!(kubernetes.label("metadata.name"), "kubernetes.io/metadata.name");
    assert_eq!(kubernetes.namespace_system, "kube-system");
}

/// The sources of a volume are the fields of a nested message.
#[test]
fn every_source_is_nested_in_protobuf() {
    let sources = PERSISTENT_VOLUME_SPEC_TYPE.fields.iter().filter(|field| field.inline_tag == Some(2));
    let tags: Vec<Option<u32>> = sources.map(|field| field.tag).collect();
    assert_eq!(tags, (1..=22).map(Some).collect::<Vec<_>>());
}

#[test]
fn every_field_is_found_by_its_name() {
    let mut open: Vec<&TypeDef> = kinds().map(|resource| resource.type_def).collect();
    let mut seen = BTreeSet::new();
    let mut searched_by_name = 0;
    while let Some(def) = open.pop() {
        if !seen.insert(def.name) {
            continue;
        }
        searched_by_name += usize::from(!def.by_name.is_empty());
        for (position, field) in def.fields.iter().enumerate() {
            assert_eq!(def.position(field.name), Some(position), "{} of {}", field.name, def.name);
            open.extend(object_in(&field.shape));
        }
        for other in ["", "none", "zzz"] {
            assert_eq!(def.position(other), None, "{}", def.name);
        }
    }
    assert!(searched_by_name > 20, "{searched_by_name} of {} types", seen.len());
}

/// The type of the objects in a field, of items and of values too.
fn object_in(shape: &Shape) -> Option<&'static TypeDef> {
    match shape {
        Shape::Object(def) => Some(def),
        Shape::List { item, .. } => object_in(item),
        Shape::Map { value, .. } => object_in(value),
        Shape::Scalar(_) | Shape::Any => None,
    }
}
