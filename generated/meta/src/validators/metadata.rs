//! Object metadata: what no schema can state of it.

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::{
    field_error::{FieldError, Rendered, Shown, Validation, json},
    path::Path,
};

use crate::meta::v1::{ObjectMeta, OwnerReference};

/// The most that the keys and values of all annotations may hold, in bytes.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

/// Annotations are not too large together: Rust, because an expression would copy the keys to add up their
/// lengths, on each write.
pub fn annotations_size(value: &BTreeMap<String, String>, path: &Path<'_>, cx: &mut Validation<'_>) {
    let size: usize = value.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > MAX_ANNOTATIONS_BYTES {
        cx.push(FieldError::too_long(path, MAX_ANNOTATIONS_BYTES));
    }
}

/// One owner at most is the controller: Rust, because each further one is told together with the first.
pub fn one_controller(owners: &[OwnerReference], path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut controllers = owners.iter().filter(|owner| owner.controller == Some(true));
    let Some(first) = controllers.next() else { return };
    for other in controllers {
        // Each of these errors shows the whole list.
        if cx.is_full() {
            return;
        }
        let [first, other] = [first, other].map(|owner| format!("{}/{}", owner.kind, owner.name));
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {other}"
        );
        cx.push(FieldError::invalid(path, &Rendered(json(&owners)), &detail));
    }
}

/// An object that is being deleted gets no new finalizers: Rust, because all that are new are told in one
/// error.
pub fn finalizers_of_deleted(new: &ObjectMeta, old: &ObjectMeta, path: &Path<'_>, cx: &mut Validation<'_>) {
    if old.deletion_timestamp.is_none() {
        return;
    }
    let known: BTreeSet<&String> = old.finalizers.iter().collect();
    let added: Vec<String> =
        new.finalizers.iter().filter(|name| !known.contains(name)).map(Shown::shown).collect();
    if !added.is_empty() {
        let list = added.join(", ");
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"
        );
        cx.push(FieldError::forbidden(&path.field("finalizers"), &detail));
    }
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
                    "metadata.finalizers: Invalid value: []string{\"orphan\", \"foregroundDeletion\"}: finalizer orphan and \
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
            new.validate_update(&old, &Path::ROOT.field("metadata"), &mut cx);
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
