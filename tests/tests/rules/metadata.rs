//! Metadata: the rules that objects of every kind have, asked of one.

use orch_runtime::Tree;
use serde_json::json;

use crate::ask::{check, errors, part_errors, status_errors, update_errors, with};

const KIND: &str = "ConfigMap";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
     an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
     and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn map() -> Tree {
    json!({
        "metadata": {
            "labels": {"a": ""}, "annotations": {"Example.COM/a": "b\n"},
            "finalizers": ["orphan", "example.com/f"],
        },
    })
}

fn owner(name: &str) -> Tree {
    json!({"apiVersion": "v1", "kind": "K", "name": name, "uid": name})
}

pub fn names() {
    let long = "a".repeat(254);
    check(KIND, &map(), &[
        ("/metadata/name", json!(""), &["metadata.name: Required value: name or generateName is required"]),
        ("/metadata/name", json!("A_"), &[&format!("metadata.name: Invalid value: \"A_\": {SUBDOMAIN}")]),
        (
            "/metadata/name",
            json!(long),
            &[&format!("metadata.name: Invalid value: \"{long}\": must be no more than 253 characters")],
        ),
        (
            "/metadata/generateName",
            json!("A_"),
            &[&format!("metadata.generateName: Invalid value: \"A_\": {SUBDOMAIN}")],
        ),
    ]);
}

pub fn labels_and_annotations() {
    let long = "a".repeat(64);
    let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
                 start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
                 for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let whole = "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                 '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')";
    let label = |text: &str, why: &str| format!("metadata.labels: Invalid value: \"{text}\": {why}");
    check(KIND, &map(), &[
        (
            "/metadata/labels",
            json!({"": "v"}),
            &[&label("", "name part must be non-empty"), &label("", QUALIFIED)],
        ),
        ("/metadata/labels", json!({"a b": "c d"}), &[&label("a b", QUALIFIED), &label("c d", value)]),
        ("/metadata/labels", json!({"a/b/c": ""}), &[&label("a/b/c", whole)]),
        ("/metadata/labels", json!({"A_/x": ""}), &[&label("A_/x", &format!("prefix part {SUBDOMAIN}"))]),
        (
            "/metadata/labels",
            json!({&long: long}),
            &[
                &label(&long, "name part must be no more than 63 characters"),
                &label(&long, "must be no more than 63 characters"),
            ],
        ),
        (
            "/metadata/annotations",
            json!({"a b": ""}),
            &[&format!("metadata.annotations: Invalid value: \"a b\": {QUALIFIED}")],
        ),
        ("/metadata/annotations", json!({"a": "v".repeat(256 * 1024 - 1)}), &[]),
        (
            "/metadata/annotations",
            json!({"a": "v".repeat(256 * 1024)}),
            &["metadata.annotations: Too long: may not be more than 262144 bytes"],
        ),
    ]);
}

/// These kinds have no rules of their own for metadata, and two of them look at it when all else is right.
pub fn kinds_with_the_common_rules_alone() {
    let kinds = [
        ("Lease", "/spec/leaseDurationSeconds", json!(0), true),
        ("PodDisruptionBudget", "/spec/minAvailable", json!(-1), false),
        ("Event", "/involvedObject", json!({"namespace": "other"}), false),
    ];
    for (kind, pointer, wrong, is_told_beside) in kinds {
        let named = json!({"metadata": {"name": "a", "finalizers": ["short"]}, "spec": {}});
        let object = if kind == "Event" { event() } else { named };
        let short = with(&object, "/metadata/finalizers", json!(["short"]));
        assert_eq!(errors(kind, &short), [""; 0], "{kind}");
        let labelled = with(&short, "/metadata/labels", json!({"a": "b c"}));
        assert_eq!(errors(kind, &labelled).len(), 1, "{kind}");
        let told = errors(kind, &with(&labelled, pointer, wrong));
        let of_metadata = told.iter().filter(|error| error.starts_with("metadata.labels")).count();
        let expected = if is_told_beside { (2, 1) } else { (1, 0) };
        assert_eq!((told.len(), of_metadata), expected, "{kind}: {told:?}");
    }
}

fn event() -> Tree {
    json!({"metadata": {"name": "a", "namespace": "default"}, "involvedObject": {"namespace": "default"}})
}

pub fn finalizers_and_owners() {
    let unqualified = "name is neither a standard finalizer name nor is it fully qualified";
    let controller = |name: &str| with(&owner(name), "/controller", json!(true));
    let controllers = json!([controller("a"), controller("b")]);
    let event = with(&owner("a"), "/kind", json!("Event"));
    check(KIND, &map(), &[
        (
            "/metadata/finalizers",
            json!(["example.com/f", "short"]),
            &[&format!("metadata.finalizers[1]: Invalid value: \"short\": {unqualified}")],
        ),
        (
            "/metadata/finalizers",
            json!(["a b/c"]),
            &[&format!("metadata.finalizers: Invalid value: \"a b/c\": prefix part {SUBDOMAIN}")],
        ),
        (
            "/metadata/finalizers",
            json!(["orphan", "foregroundDeletion"]),
            &[
                r#"metadata.finalizers: Invalid value: []string{"orphan", "foregroundDeletion"}: finalizer orphan and foregroundDeletion cannot be both set"#,
            ],
        ),
        ("/metadata/ownerReferences", json!([owner("a"), owner("b")]), &[]),
        (
            "/metadata/ownerReferences",
            json!([{}]),
            &[
                r#"metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty"#,
                r#"metadata.ownerReferences.kind: Invalid value: "": kind must not be empty"#,
                r#"metadata.ownerReferences.name: Invalid value: "": name must not be empty"#,
                r#"metadata.ownerReferences.uid: Invalid value: "": uid must not be empty"#,
            ],
        ),
        (
            "/metadata/ownerReferences",
            controllers.clone(),
            &[&format!(
                "metadata.ownerReferences: Invalid value: {controllers}: Only one reference can have Controller set to true. \
                 Found \"true\" in references for K/a and K/b"
            )],
        ),
        (
            "/metadata/ownerReferences",
            json!([event]),
            &[&format!(
                "metadata.ownerReferences: Invalid value: {event}: /v1, Kind=Event is disallowed from being an owner"
            )],
        ),
    ]);
}

/// The rules of metadata are asked of an update several times, and each cause is told as often.
pub fn updates() {
    for (kind, tree, times) in [
        (KIND, map(), 4),
        ("Lease", json!({}), 3),
        ("CSINode", json!({"spec": {"drivers": []}}), 4),
        ("PodDisruptionBudget", json!({}), 2),
    ] {
        let changed = with(&tree, "/metadata/labels", json!({"a": "-b"}));
        let told = update_errors(kind, &tree, &changed);
        assert_eq!(told.len(), times, "{kind}: {told:?}");
        let label = "metadata.labels: Invalid value: \"-b\": a valid label must";
        assert!(told.iter().all(|error| error.starts_with(label)), "{kind}: {told:?}");
    }
    for (pointer, value, expected) in [
        ("/metadata/creationTimestamp", json!("2020-01-01T00:00:00Z"), vec![]),
        ("/metadata/generation", json!(7), vec![]),
        ("/metadata/labels", json!({"other": "b"}), vec![]),
        (
            "/metadata/deletionTimestamp",
            json!("2020-01-01T00:00:00Z"),
            vec![
                "metadata.deletionTimestamp: Invalid value: 2020-01-01 00:00:00 +0000 UTC: field is immutable";
                2
            ],
        ),
        (
            "/metadata/deletionGracePeriodSeconds",
            json!(5),
            vec!["metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable"; 2],
        ),
    ] {
        assert_eq!(update_errors(KIND, &map(), &with(&map(), pointer, value)), expected, "{pointer}");
    }
}

/// All kinds are checked for what no path may have, and those for more that are checked as a whole.
pub fn beginnings_of_names_in_updates() {
    let slash = "metadata.generateName: Invalid value: \"a/b\": may not contain '/'".to_owned();
    let faulty = |base: &str| format!("metadata.generateName: Invalid value: \"{base}\": {SUBDOMAIN}");
    let role = json!({"rules": []});
    for (kind, tree, base, expected) in [
        (KIND, map(), "A_", vec![faulty("A_")]),
        (KIND, map(), "a/b", vec![slash.clone(), faulty("a/b")]),
        (KIND, map(), "a-", vec![]),
        ("Role", role.clone(), "A_", vec![]),
        ("Role", role, "a/b", vec![slash.clone(); 3]),
        ("Lease", json!({}), "A_", vec![]),
        ("Lease", json!({}), "a/b", vec![slash.clone()]),
        ("CSINode", json!({"spec": {"drivers": []}}), "A_", vec![faulty("A_"); 2]),
    ] {
        let changed = with(&tree, "/metadata/generateName", json!(base));
        assert_eq!(update_errors(kind, &tree, &changed), expected, "{kind} {base}");
    }
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "x:1"}]}});
    for (base, expected) in [("A_", vec![]), ("a/b", vec![slash])] {
        let changed = with(&pod, "/metadata/generateName", json!(base));
        assert_eq!(status_errors("Pod", &pod, &changed), expected, "{base}");
    }
}

pub fn a_path_for_the_status_takes_metadata_as_it_is() {
    let schema = json!({"spec": {"priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 5}});
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "x:1"}]}});
    let deleted = json!("2020-01-01T00:00:00Z");
    for (kind, tree) in [("FlowSchema", &schema), ("Pod", &pod)] {
        let leaving = with(tree, "/metadata/deletionTimestamp", deleted.clone());
        assert_eq!(status_errors(kind, tree, &leaving), [""; 0], "{kind}");
    }
    let hasty = with(&schema, "/metadata/deletionGracePeriodSeconds", json!(5));
    assert_eq!(status_errors("FlowSchema", &schema, &hasty), [""; 0]);
    assert_eq!(part_errors("Pod", "ephemeralcontainers", &pod, &{
        let leaving = with(&pod, "/metadata/deletionTimestamp", deleted);
        with(&leaving, "/metadata/deletionGracePeriodSeconds", json!(5))
    }), [""; 0]);
}
