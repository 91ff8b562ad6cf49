//! Object metadata, as far as its rules are the same for every kind.
//!
//! The rule for `metadata.name` depends on the kind and is the server's; so is what may stand in `namespace`.

use std::collections::BTreeSet;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Shown, Validation, json},
    path::Path,
    rule,
};

use crate::meta::v1::{ManagedFieldsEntry, ObjectMeta, OwnerReference};

/// The most that the keys and values of all annotations may hold, in bytes.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;
/// The most that the name of a field manager may hold, in bytes.
const MAX_MANAGER_BYTES: usize = 128;
/// The most that the name of a subresource may hold in a record of managed fields, in bytes.
const MAX_SUBRESOURCE_BYTES: usize = 256;

/// Finalizers that the server itself sets and acts on.
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Labels, annotations, owners, finalizers and managed fields are well formed.
pub fn object_meta(value: &ObjectMeta, path: &Path<'_>, cx: &mut Validation<'_>) {
    rule::minimum(value.generation, 0, &path.field("generation"), cx);
    labels_and_annotations(value, path, cx);
    owner_references(&value.owner_references, &path.field("ownerReferences"), cx);
    finalizers(&value.finalizers, &path.field("finalizers"), cx);
    let managed_fields = path.field("managedFields");
    for (index, entry) in value.managed_fields.iter().enumerate() {
        managed_fields_entry(entry, &managed_fields.index(index), cx);
    }
    let finalizers = path.field("finalizers");
    for (index, name) in value.finalizers.iter().enumerate() {
        finalizer_name(name, &finalizers.index(index), cx);
    }
}

/// The rules for labels and annotations. In templates nothing else of the metadata is judged.
pub fn labels_and_annotations(value: &ObjectMeta, path: &Path<'_>, cx: &mut Validation<'_>) {
    labels(value, &path.field("labels"), cx);
    annotations(value, &path.field("annotations"), cx);
}

/// Name, namespace, uid and timestamps do not change, and an object that is being deleted gets no new
/// finalizers. Not called through a schema: metadata inside of templates may change.
pub fn object_meta_update(new: &ObjectMeta, old: &ObjectMeta, path: &Path<'_>, cx: &mut Validation<'_>) {
    if old.deletion_timestamp.is_some() {
        let known: BTreeSet<&String> = old.finalizers.iter().collect();
        let added: Vec<&String> = new.finalizers.iter().filter(|name| !known.contains(name)).collect();
        if !added.is_empty() {
            let list = added.iter().map(Shown::shown).collect::<Vec<_>>().join(", ");
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"
            );
            cx.push(FieldError::forbidden(&path.field("finalizers"), &detail));
        }
    }
    rule::immutable(&new.name, &old.name, &path.field("name"), cx);
    rule::immutable(&new.namespace, &old.namespace, &path.field("namespace"), cx);
    rule::immutable(&new.uid, &old.uid, &path.field("uid"), cx);
    rule::immutable(&new.creation_timestamp, &old.creation_timestamp, &path.field("creationTimestamp"), cx);
    rule::immutable(&new.deletion_timestamp, &old.deletion_timestamp, &path.field("deletionTimestamp"), cx);
    let grace_period = path.field("deletionGracePeriodSeconds");
    rule::immutable(
        &new.deletion_grace_period_seconds,
        &old.deletion_grace_period_seconds,
        &grace_period,
        cx,
    );
}

/// A finalizer without a domain is one of the standard names.
pub fn finalizer_name(name: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let standard = [cx.vocabulary.namespace_finalizer, ORPHAN, FOREGROUND];
    if !name.contains('/') && !standard.contains(&name) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        cx.push(FieldError::invalid(path, name, detail));
    }
}

fn labels(value: &ObjectMeta, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (key, value) in &value.labels {
        cx.invalid_all(path, key, &constraint::qualified_name(key));
        cx.invalid_all(path, value, &constraint::label_value(value));
    }
}

/// Keys are judged in lower case: a prefix may be written in capitals.
fn annotations(value: &ObjectMeta, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut size = 0;
    for (key, value) in &value.annotations {
        cx.invalid_all(path, key, &constraint::qualified_name(&key.to_lowercase()));
        size += key.len() + value.len();
    }
    if size > MAX_ANNOTATIONS_BYTES {
        cx.push(FieldError::too_long(path, MAX_ANNOTATIONS_BYTES));
    }
}

/// Faults are reported at fields of the list, without the owner's index.
fn owner_references(owners: &[OwnerReference], path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut controller: Option<String> = None;
    for owner in owners {
        owner_reference(owner, path, cx);
        if owner.controller != Some(true) {
            continue;
        }
        let this = format!("{}/{}", owner.kind, owner.name);
        match &controller {
            None => controller = Some(this),
            // Each of these errors shows the whole list.
            Some(first) if !cx.is_full() => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                cx.push(FieldError::invalid(path, &Rendered(json(&owners)), &detail));
            }
            Some(_) => {}
        }
    }
}

fn owner_reference(owner: &OwnerReference, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (group, version) = group_version(&owner.api_version);
    for (field, value, is_empty, detail) in [
        ("apiVersion", &owner.api_version, version.is_empty(), "version must not be empty"),
        ("kind", &owner.kind, owner.kind.is_empty(), "kind must not be empty"),
        ("name", &owner.name, owner.name.is_empty(), "name must not be empty"),
        ("uid", &owner.uid, owner.uid.is_empty(), "uid must not be empty"),
    ] {
        if is_empty {
            cx.push(FieldError::invalid(&path.field(field), value, detail));
        }
    }
    // An event goes away by itself: what it owned would go with it.
    if (group, version, owner.kind.as_str()) == ("", "v1", "Event") {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        cx.push(FieldError::invalid(path, &Rendered(json(owner)), detail));
    }
}

/// `apps/v1` as group and version; nothing for a text that is neither `version` nor `group/version`.
fn group_version(api_version: &str) -> (&str, &str) {
    match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(parts) => parts,
    }
}

fn finalizers(names: &[String], path: &Path<'_>, cx: &mut Validation<'_>) {
    for name in names {
        cx.invalid_all(path, name, &constraint::qualified_name(name));
    }
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if has(ORPHAN) && has(FOREGROUND) {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        cx.push(FieldError::invalid(path, &Rendered(json(&names)), &detail));
    }
}

fn managed_fields_entry(entry: &ManagedFieldsEntry, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !["Apply", "Update"].contains(&entry.operation.as_str()) {
        let detail = "must be `Apply` or `Update`";
        cx.push(FieldError::invalid(&path.field("operation"), &entry.operation, detail));
    }
    if !["", "FieldsV1"].contains(&entry.fields_type.as_str()) {
        cx.push(FieldError::invalid(&path.field("fieldsType"), &entry.fields_type, "must be `FieldsV1`"));
    }
    let manager = path.field("manager");
    rule::max_length(&entry.manager, MAX_MANAGER_BYTES, &manager, cx);
    if entry.manager.chars().any(char::is_control) {
        cx.push(FieldError::invalid(&manager, &entry.manager, "should only contain printable characters"));
    }
    rule::max_length(&entry.subresource, MAX_SUBRESOURCE_BYTES, &path.field("subresource"), cx);
}

#[cfg(test)]
mod tests {
    use orch_runtime::{
        field_error::Validation,
        object::{SetDefaults as _, Validate as _},
        path::Path,
    };
    use serde_json::{Value, json};

    use super::*;
    use crate::KUBERNETES;

    /// Fills in the defaults of an object's metadata and validates it, as a create does.
    fn errors(metadata: &Value) -> Vec<String> {
        let mut metadata: ObjectMeta = serde_json::from_value(metadata.clone()).unwrap();
        let mut cx = Validation::new(&KUBERNETES);
        metadata.set_defaults();
        metadata.validate(&Path::ROOT.field("metadata"), &mut cx);
        cx.into_errors().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn labels_annotations_and_finalizers() {
        const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and \
                                 end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex \
                                 used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        const LABEL: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                             and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                             '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
        for (metadata, expected) in [
            (json!({"labels": {"a": "", "example.com/b": "v"}}), vec![]),
            (json!({"labels": {"-bad": "v"}}), vec![format!("metadata.labels: Invalid value: \"-bad\": {QUALIFIED}")]),
            (
                json!({"labels": {"a": "bad value"}}),
                vec![format!("metadata.labels: Invalid value: \"bad value\": {LABEL}")],
            ),
            (json!({"annotations": {"Example.COM/Key": "any value\n"}}), vec![]),
            (
                json!({"annotations": {"bad key": "v"}}),
                vec![format!("metadata.annotations: Invalid value: \"bad key\": {QUALIFIED}")],
            ),
            (json!({"annotations": {"k": "x".repeat(MAX_ANNOTATIONS_BYTES - 1)}}), vec![]),
            (
                json!({"annotations": {"k": "x".repeat(MAX_ANNOTATIONS_BYTES)}}),
                vec!["metadata.annotations: Too long: may not be more than 262144 bytes".to_owned()],
            ),
            (json!({"finalizers": ["orphan", "kubernetes", "example.com/f", "example.com/f"]}), vec![]),
            (
                json!({"finalizers": ["short"]}),
                vec![
                    "metadata.finalizers[0]: Invalid value: \"short\": name is neither a standard finalizer name nor is \
                     it fully qualified"
                        .to_owned(),
                ],
            ),
            (
                json!({"finalizers": ["orphan", "foregroundDeletion"]}),
                vec![
                    "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and \
                     foregroundDeletion cannot be both set"
                        .to_owned(),
                ],
            ),
            (
                json!({"generation": -1}),
                vec!["metadata.generation: Invalid value: -1: must be greater than or equal to 0".to_owned()],
            ),
        ] {
            assert_eq!(errors(&metadata), expected);
        }
        let prefix = errors(&json!({"finalizers": ["a b/c"]}));
        assert!(
            prefix[0].starts_with(
                "metadata.finalizers: Invalid value: \"a b/c\": prefix part a lowercase RFC 1123"
            ),
            "{prefix:?}"
        );
    }

    #[test]
    fn owners() {
        let owner =
            |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": "u"});
        let controller = |name: &str| {
            let mut owner = owner("ConfigMap", name);
            owner["controller"] = json!(true);
            owner
        };
        let report = |owners: Value| errors(&json!({"ownerReferences": owners}));
        assert_eq!(
            report(json!([owner("ConfigMap", "a"), owner("ConfigMap", "a"), controller("c")])),
            [""; 0]
        );
        assert_eq!(
            report(json!([{}])),
            [
                "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty",
                "metadata.ownerReferences.kind: Invalid value: \"\": kind must not be empty",
                "metadata.ownerReferences.name: Invalid value: \"\": name must not be empty",
                "metadata.ownerReferences.uid: Invalid value: \"\": uid must not be empty",
            ]
        );
        for (api_version, is_good) in [("apps/v1", true), ("v1", true), ("apps/", false), ("a/b/v1", false)] {
            let mut owner = owner("ConfigMap", "a");
            owner["apiVersion"] = json!(api_version);
            assert_eq!(report(json!([owner])).is_empty(), is_good, "{api_version}");
        }
        let two = report(json!([controller("a"), controller("b")]));
        assert!(
            two.len() == 1
                && two[0].starts_with("metadata.ownerReferences: Invalid value: [{")
                && two[0].ends_with(
                    "Only one reference can have Controller set to true. Found \"true\" in references for ConfigMap/a \
                     and ConfigMap/b"
                ),
            "{two:?}"
        );
        let event = report(json!([owner("Event", "e")]));
        assert!(event.len() == 1 && event[0].ends_with("/v1, Kind=Event is disallowed from being an owner"));
    }

    #[test]
    fn managed_fields() {
        let report = |entry: Value| errors(&json!({"managedFields": [entry]}));
        assert_eq!(report(json!({"operation": "Update", "fieldsType": "FieldsV1", "manager": "m"})), [""; 0]);
        assert_eq!(
            report(json!({
                "operation": "Set",
                "fieldsType": "V2",
                "manager": "a\u{7}",
                "subresource": "s".repeat(257)
            })),
            [
                "metadata.managedFields[0].operation: Invalid value: \"Set\": must be `Apply` or `Update`",
                "metadata.managedFields[0].fieldsType: Invalid value: \"V2\": must be `FieldsV1`",
                "metadata.managedFields[0].manager: Invalid value: \"a\\a\": should only contain printable characters",
                "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
            ]
        );
    }

    #[test]
    fn updates_keep_identity() {
        let report = |old: Value, new: Value| {
            let [old, new]: [ObjectMeta; 2] = [old, new].map(|tree| serde_json::from_value(tree).unwrap());
            let mut cx = Validation::new(&KUBERNETES);
            object_meta_update(&new, &old, &Path::ROOT.field("metadata"), &mut cx);
            cx.into_errors().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let deleted = "2024-01-02T03:04:05Z";
        assert_eq!(report(json!({"name": "a"}), json!({"name": "a", "labels": {"k": "v"}})), [""; 0]);
        assert_eq!(
            report(json!({"name": "a", "uid": "1"}), json!({"name": "b", "uid": "2", "namespace": "n"})),
            [
                "metadata.name: Invalid value: \"b\": field is immutable",
                "metadata.namespace: Invalid value: \"n\": field is immutable",
                "metadata.uid: Invalid value: \"2\": field is immutable",
            ]
        );
        assert_eq!(
            report(json!({}), json!({"deletionGracePeriodSeconds": 10})),
            ["metadata.deletionGracePeriodSeconds: Invalid value: 10: field is immutable"]
        );
        assert_eq!(
            report(
                json!({"deletionTimestamp": deleted, "finalizers": ["a/b"]}),
                json!({"deletionTimestamp": deleted, "finalizers": ["a/b", "c/d"]})
            ),
            [
                "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new \
              finalizers []string{\"c/d\"}"
            ]
        );
        assert_eq!(
            report(
                json!({"deletionTimestamp": deleted, "finalizers": ["a/b"]}),
                json!({"deletionTimestamp": deleted})
            ),
            [""; 0]
        );
    }
}
