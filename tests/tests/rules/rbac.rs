//! Roles and bindings: each rule broken once, and what may change.

use crate::ask::{Api, defaulted, errors, with};
use orch_runtime::Tree;
use serde_json::json;

const GROUP: &str = "rbac.authorization.k8s.io";

fn role() -> Tree {
    json!({
        "rules": [
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "pods/log"], "resourceNames": ["a"]},
        ],
    })
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

pub fn rules_are_about_resources_or_about_paths() {
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
                "rules[0].nonResourceURLs: Invalid value: []string{\"/x\"}: namespaced rules cannot apply to non-resource URLs",
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

pub fn cluster_roles_may_reach_paths_and_collect_others() {
    let both = "cannot apply to both regular resources and non-resource URLs";
    let star = "'*' may only be the full, final step of the path";
    for (pointer, value, expected) in [
        ("/rules", json!([]), vec![]),
        ("/rules/1/apiGroups", json!([""]), vec![format!(
            "rules[1].nonResourceURLs: Invalid value: []string{{\"*\", \"/\", \"/healthz\", \"/metrics/*\"}}: rules {both}"
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
        ("/aggregationRule/clusterRoleSelectors/1", json!({
            "matchExpressions": [{"key": "a", "operator": "In"}],
        }), vec![
            "aggregationRule.clusterRoleSelectors[1].matchExpressions[0].values: Required value: must be specified when \
             `operator` is 'In' or 'NotIn'"
                .to_owned(),
            "aggregationRule.clusterRoleSelectors[1]: Invalid value: \"null\": invalid label selector.".to_owned(),
        ]),
    ] {
        let tree = with(&cluster_role(), pointer, value);
        assert_eq!(errors("ClusterRole", &tree), expected, "{tree}");
    }
    assert_eq!(errors("ClusterRole", &cluster_role()), [""; 0]);
}

pub fn bindings_name_a_role_and_complete_subjects() {
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

pub fn cluster_bindings_refer_to_cluster_roles_and_say_where_service_accounts_live() {
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

pub fn groups_are_filled_in_from_the_vocabulary() {
    let given = json!({
        "subjects": [
            {"kind": "User", "name": "u"},
            {"kind": "Group", "name": "g"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
        ],
        "roleRef": {"kind": "ClusterRole", "name": "r"},
    });
    let own = Api::orch();
    let [kubernetes, orch] = [GROUP, "rbac.authorization.orch.io"].map(|group| {
        let subjects = with(&given, "/subjects/0/apiGroup", json!(group));
        with(&with(&subjects, "/subjects/1/apiGroup", json!(group)), "/roleRef/apiGroup", json!(group))
    });
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        assert_eq!(defaulted(kind, &given), kubernetes, "{kind}");
        assert_eq!(own.defaulted(kind, &given), orch, "{kind}");
        let foreign = ["roleRef.apiGroup", "subjects[0].apiGroup", "subjects[1].apiGroup"]
        .map(|field| format!("{field}: Unsupported value: \"{GROUP}\": supported values: \"rbac.authorization.orch.io\""));
        assert_eq!(own.errors(kind, &kubernetes), foreign, "{kind}");
    }
}
