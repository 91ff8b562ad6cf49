//! Access reviews: each rule broken once.

use crate::ask::{errors, with};
use orch_runtime::Tree;
use serde_json::json;

fn review() -> Tree {
    json!({"spec": {
        "user": "u", "groups": ["g"], "extra": {"k": ["v"]}, "uid": "i",
        "resourceAttributes": {
            "namespace": "n", "verb": "get", "group": "apps", "version": "v1", "resource": "daemonsets",
            "subresource": "status", "name": "d",
            "fieldSelector": {"requirements": [{"key": "metadata.name", "operator": "In", "values": ["x"]}]},
            "labelSelector": {"rawSelector": "a in ("},
        },
    }})
}

pub fn a_review_has_one_subject_and_one_question() {
    let thing = "spec.resourceAttributes: Invalid value: \"null\": exactly one of nonResourceAttributes or \
                 resourceAttributes must be specified";
    let other = json!({"path": "/x", "verb": "get"});
    for (kind, pointer, value, expected) in [
        ("SubjectAccessReview", "/spec/groups", json!([]), vec![]),
        ("SubjectAccessReview", "/spec/user", json!(""), vec![]),
        (
            "SubjectAccessReview",
            "/metadata/managedFields",
            json!([{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1"}]),
            vec![],
        ),
        ("SubjectAccessReview", "/spec", json!({"user": "u"}), vec![thing]),
        (
            "SubjectAccessReview",
            "/spec/nonResourceAttributes",
            other.clone(),
            vec![
                "spec.nonResourceAttributes: Invalid value: {\"path\":\"/x\",\"verb\":\"get\"}: cannot be specified in \
             combination with resourceAttributes",
            ],
        ),
        (
            "SubjectAccessReview",
            "/spec",
            json!({"nonResourceAttributes": other}),
            vec!["spec.user: Invalid value: \"\": at least one of user or group must be specified"],
        ),
        (
            "SubjectAccessReview",
            "/metadata/name",
            json!("a"),
            vec!["metadata: Invalid value: {\"creationTimestamp\":null,\"name\":\"a\"}: must be empty"],
        ),
        ("SelfSubjectAccessReview", "/spec", json!({}), vec![thing]),
        (
            "SelfSubjectAccessReview",
            "/spec/nonResourceAttributes",
            json!({}),
            vec![
                "spec.nonResourceAttributes: Invalid value: {}: cannot be specified in combination with resourceAttributes",
            ],
        ),
        (
            "SelfSubjectAccessReview",
            "/metadata/labels",
            json!({"a": "b"}),
            vec!["metadata: Invalid value: {\"creationTimestamp\":null,\"labels\":{\"a\":\"b\"}}: must be empty"],
        ),
        ("LocalSubjectAccessReview", "/metadata/namespace", json!("n"), vec![]),
        (
            "LocalSubjectAccessReview",
            "/metadata",
            json!({"namespace": "n", "name": "a"}),
            vec![
                "metadata: Invalid value: {\"creationTimestamp\":null,\"name\":\"a\"}: must be empty except \
                 for namespace",
            ],
        ),
        (
            "LocalSubjectAccessReview",
            "/metadata/namespace",
            json!("m"),
            vec!["spec.resourceAttributes.namespace: Invalid value: \"n\": must match metadata.namespace"],
        ),
        (
            "LocalSubjectAccessReview",
            "/spec",
            json!({"user": "u", "nonResourceAttributes": {}}),
            vec!["spec.nonResourceAttributes: Invalid value: {}: disallowed on this kind of request"],
        ),
    ] {
        let tree = with(&review(), pointer, value);
        assert_eq!(errors(kind, &tree), expected, "{kind} {tree}");
    }
    for kind in ["SubjectAccessReview", "SelfSubjectAccessReview"] {
        assert_eq!(errors(kind, &review()), [""; 0]);
    }
}

pub fn requirements_of_selectors_are_complete() {
    let at = |selector: &str, rest: &str| format!("spec.resourceAttributes.{selector}Selector.{rest}");
    let values =
        "requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'";
    let no_values = "requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    for selector in ["field", "label"] {
        for (value, expected) in [
            (json!({"rawSelector": "a=b"}), vec![]),
            (json!({"requirements": [{"key": "a", "operator": "Near", "values": ["b"]}]}), vec![]),
            // It is unlimited.
            (json!({}), vec![]),
            (json!({"requirements": [{"key": "a", "operator": "In"}]}), vec![at(selector, values)]),
            (
                json!({"requirements": [{"key": "a", "operator": "Exists", "values": ["b"]}]}),
                vec![at(selector, no_values)],
            ),
        ] {
            let tree = with(&review(), &format!("/spec/resourceAttributes/{selector}Selector"), value);
            assert_eq!(errors("SubjectAccessReview", &tree), expected, "{tree}");
        }
    }
    let no_key = json!({"requirements": [{"operator": "Exists"}]});
    let tree = with(&review(), "/spec/resourceAttributes/fieldSelector", no_key.clone());
    assert_eq!(
        errors("SubjectAccessReview", &tree),
        ["spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified"]
    );
    // One cause for the missing value, and one for its form.
    let tree = with(&review(), "/spec/resourceAttributes/labelSelector", no_key);
    let faults = errors("SelfSubjectAccessReview", &tree);
    assert_eq!(faults.len(), 2);
    let key =
        "spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: \"\": name part must";
    assert!(faults.iter().all(|fault| fault.starts_with(key)), "{faults:?}");
}

pub fn rules_are_asked_of_one_namespace() {
    assert_eq!(errors("SelfSubjectRulesReview", &json!({"spec": {"namespace": "n"}})), [""; 0]);
}
