//! Roles and bindings: each rule broken once, and what may change.

#[path = "support/objects.rs"]
mod objects;

use objects::{errors, with};
use orch_api::{
    KUBERNETES, ORCH,
    rbac::v1::{ClusterRoleBinding, RoleBinding},
};
use orch_runtime::{Tree, resource_def::CellContext, scalar::Time};
use serde_json::json;

const GROUP: &str = "rbac.authorization.k8s.io";

fn role() -> Tree {
    json!({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "pods/log"], "resourceNames": ["a"]}]})
}

fn cluster_role() -> Tree {
    json!({
        "rules": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
            {"verbs": ["get"], "nonResourceURLs": ["*", "/", "/healthz", "/metrics/*"]},
        ],
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}, {}]},
    })
}

fn binding() -> Tree {
    json!({
        "subjects": [
            {"kind": "User", "name": "u", "apiGroup": GROUP},
            {"kind": "Group", "name": "g", "apiGroup": GROUP},
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
        ],
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "system:view"},
    })
}

#[test]
fn rules_are_about_resources_or_about_paths() {
    for (tree, expected) in [
        (role(), vec![]),
        (json!({}), vec![]),
        (json!({"rules": null}), vec![]),
        (
            with(&role(), "/rules/0/verbs", json!([])),
            vec!["rules[0].verbs: Required value: verbs must contain at least one value"],
        ),
        (
            with(&role(), "/rules/0/apiGroups", json!([])),
            vec!["rules[0].apiGroups: Required value: resource rules must supply at least one api group"],
        ),
        (
            with(&role(), "/rules/0/resources", json!([])),
            vec!["rules[0].resources: Required value: resource rules must supply at least one resource"],
        ),
        (
            json!({"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]}),
            vec![
                "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs",
            ],
        ),
        (
            json!({"rules": [{}]}),
            vec![
                "rules[0].verbs: Required value: verbs must contain at least one value",
                "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
                "rules[0].resources: Required value: resource rules must supply at least one resource",
            ],
        ),
    ] {
        assert_eq!(errors("Role", &tree), expected, "{tree}");
    }
}

#[test]
fn cluster_roles_may_reach_paths_and_collect_others() {
    let both = "cannot apply to both regular resources and non-resource URLs";
    let star = "'*' may only be the full, final step of the path";
    for (pointer, value, expected) in [
        ("/rules", json!([]), vec![]),
        ("/rules/1/apiGroups", json!([""]), vec![format!(
            "rules[1].nonResourceURLs: Invalid value: [\"*\",\"/\",\"/healthz\",\"/metrics/*\"]: rules {both}"
        )]),
        ("/rules/1/nonResourceURLs", json!(["/a*", "/*/b", "/*/*"]), vec![
            format!("rules[1].nonResourceURLs[0]: Invalid value: \"/a*\": {star}"),
            format!("rules[1].nonResourceURLs[1]: Invalid value: \"/*/b\": {star}"),
            format!("rules[1].nonResourceURLs[2]: Invalid value: \"/*/*\": {star}"),
        ]),
        ("/aggregationRule", json!({}), vec![
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if \
             aggregationRule is non-nil"
                .to_owned(),
        ]),
        ("/aggregationRule/clusterRoleSelectors/1", json!({"matchExpressions": [{"key": "a", "operator": "In"}]}), vec![
            "aggregationRule.clusterRoleSelectors[1].matchExpressions[0].values: Required value: must be specified when \
             `operator` is 'In' or 'NotIn'"
                .to_owned(),
        ]),
    ] {
        let tree = with(&cluster_role(), pointer, value);
        assert_eq!(errors("ClusterRole", &tree), expected, "{tree}");
    }
    assert_eq!(errors("ClusterRole", &cluster_role()), [""; 0]);
}

#[test]
fn bindings_name_a_role_and_complete_subjects() {
    let group = format!("Unsupported value: \"x\": supported values: \"{GROUP}\"");
    for (pointer, value, expected) in [
        ("/subjects", json!([]), vec![]),
        ("/subjects/2/namespace", json!(""), vec![]),
        ("/roleRef/kind", json!("Role"), vec![]),
        ("/roleRef/kind", json!("Thing"), vec![
            "roleRef.kind: Unsupported value: \"Thing\": supported values: \"Role\", \"ClusterRole\"".to_owned(),
        ]),
        ("/roleRef/name", json!(""), vec!["roleRef.name: Required value".to_owned()]),
        ("/roleRef/name", json!("a/b"), vec!["roleRef.name: Invalid value: \"a/b\": may not contain '/'".to_owned()]),
        ("/roleRef/apiGroup", json!("x"), vec![format!("roleRef.apiGroup: {group}")]),
        ("/subjects/0/apiGroup", json!("x"), vec![format!("subjects[0].apiGroup: {group}")]),
        ("/subjects/1/apiGroup", json!("x"), vec![format!("subjects[1].apiGroup: {group}")]),
        ("/subjects/2/apiGroup", json!("x"), vec![
            "subjects[2].apiGroup: Unsupported value: \"x\": supported values: \"\"".to_owned(),
        ]),
        ("/subjects/0/kind", json!("Robot"), vec![
            "subjects[0].kind: Unsupported value: \"Robot\": supported values: \"ServiceAccount\", \"User\", \"Group\""
                .to_owned(),
        ]),
        ("/subjects/0/name", json!(""), vec!["subjects[0].name: Required value".to_owned()]),
    ] {
        let tree = with(&binding(), pointer, value);
        assert_eq!(errors("RoleBinding", &tree), expected, "{tree}");
    }
    assert_eq!(errors("RoleBinding", &binding()), [""; 0]);
}

#[test]
fn cluster_bindings_refer_to_cluster_roles_and_say_where_service_accounts_live() {
    assert_eq!(errors("ClusterRoleBinding", &binding()), [""; 0]);
    for (pointer, value, expected) in [
        (
            "/roleRef/kind",
            json!("Role"),
            vec!["roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\""],
        ),
        ("/subjects/2/namespace", json!(""), vec!["subjects[2].namespace: Required value"]),
    ] {
        assert_eq!(errors("ClusterRoleBinding", &with(&binding(), pointer, value)), expected);
    }
    let bad = with(&binding(), "/subjects/2/name", json!("S_"));
    assert!(
        errors("ClusterRoleBinding", &bad)[0]
            .starts_with("subjects[2].name: Invalid value: \"S_\": a lowercase")
    );
}

#[test]
fn groups_are_filled_in_from_the_vocabulary_and_given_ones_stay() {
    let given = json!({
        "subjects": [
            {"kind": "User", "name": "u"},
            {"kind": "Group", "name": "g", "apiGroup": "other"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
            {"kind": "Robot", "name": "r"},
        ],
        "roleRef": {"kind": "Role", "name": "r"},
    });
    for (vocabulary, group) in [(&KUBERNETES, GROUP), (&ORCH, "rbac.authorization.orch.io")] {
        let mut local: RoleBinding = serde_json::from_value(given.clone()).unwrap();
        local.fill_groups(vocabulary);
        let mut cluster: ClusterRoleBinding = serde_json::from_value(given.clone()).unwrap();
        cluster.fill_groups(vocabulary);
        for (role_ref, subjects) in
            [(&local.role_ref, &local.subjects), (&cluster.role_ref, &cluster.subjects)]
        {
            let groups: Vec<&str> = subjects.iter().map(|subject| subject.api_group.as_str()).collect();
            assert_eq!(groups, [group, "other", "", ""]);
            assert_eq!(role_ref.api_group, group);
        }
    }
}

#[test]
fn tables_show_whom_a_role_is_granted_to() {
    let context = CellContext { vocabulary: &KUBERNETES, now: Time::from_unix_seconds(0) };
    let mut tree = binding();
    tree["subjects"].as_array_mut().unwrap().push(json!({"kind": "User", "name": "v"}));
    for (cell, expected) in [
        (orch_api::columns::bound_role(&tree, &context), "ClusterRole/system:view"),
        (orch_api::columns::bound_users(&tree, &context), "u, v"),
        (orch_api::columns::bound_groups(&tree, &context), "g"),
        (orch_api::columns::bound_service_accounts(&tree, &context), "n/s"),
        (orch_api::columns::bound_users(&json!({}), &context), ""),
    ] {
        assert_eq!(cell, expected);
    }
}
