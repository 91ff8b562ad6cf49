//! Priority levels and flow schemas: defaults, and each rule broken once.

use crate::ask::{defaulted, errors, status_errors, with};
use orch_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use orch_runtime::Tree;
use serde_json::json;

const LEVEL: &str = "PriorityLevelConfiguration";

fn level() -> Tree {
    json!({
        "metadata": {"name": "l"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 7, "lendablePercent": 100, "borrowingLimitPercent": 250,
            "limitResponse": {
                "type": "Queue", "queuing": {"queues": 64, "handSize": 8, "queueLengthLimit": 50},
            },
        }},
        "status": {"conditions": [
            {
                "type": "A", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z", "reason": "R",
                "message": "m",
            },
        ]},
    })
}

fn schema() -> Tree {
    json!({
        "metadata": {"name": "s"},
        "spec": {
            "priorityLevelConfiguration": {"name": "l"},
            "matchingPrecedence": 10000,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{
                "subjects": [
                    {"kind": "User", "user": {"name": "*"}},
                    {"kind": "Group", "group": {"name": "g"}},
                    {"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "*"}},
                ],
                "resourceRules": [{
                    "verbs": ["get", "deletecollection"], "apiGroups": ["", "apps"], "resources": ["pods"],
                    "namespaces": ["a", "b"],
                }],
                "nonResourceRules": [{"verbs": ["get", "list"], "nonResourceURLs": ["/", "/x", "/y/*"]}],
            }],
        },
    })
}

pub fn levels_have_defaults_and_an_explicit_zero_stays() {
    let limited = |limited: Tree| json!({"spec": {"type": "Limited", "limited": limited}, "status": {}});
    let reject = json!({"type": "Reject"});
    for (given, expected) in [
        (
            json!({"limitResponse": reject}),
            json!({"nominalConcurrencyShares": 30, "limitResponse": reject, "lendablePercent": 0}),
        ),
        (
            json!({"limitResponse": reject, "nominalConcurrencyShares": 0, "lendablePercent": 1}),
            json!({"nominalConcurrencyShares": 0, "limitResponse": reject, "lendablePercent": 1}),
        ),
        (
            json!({"limitResponse": {"type": "Queue", "queuing": {"queues": 0, "handSize": 9}}}),
            json!({
                "nominalConcurrencyShares": 30, "lendablePercent": 0,
                "limitResponse": {
                    "type": "Queue", "queuing": {"queues": 64, "handSize": 9, "queueLengthLimit": 50},
                },
            }),
        ),
    ] {
        assert_eq!(defaulted(LEVEL, &limited(given)), limited(expected));
    }
    assert_eq!(
        defaulted(LEVEL, &json!({"metadata": {"name": "exempt"}, "spec": {"type": "Exempt", "exempt": {}}})),
        json!({
            "spec": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}},
            "status": {},
        })
    );
}

pub fn limits_fit_together() {
    let queuing = "spec.limited.limitResponse.queuing";
    assert_eq!(errors(LEVEL, &level()), [""; 0]);
    for (pointer, value, expected) in [
        ("type", json!(""), vec![r#"spec.type: Unsupported value: "": supported values: "Exempt", "Limited""#.to_owned()]),
        ("type", json!("Maybe"), vec![
            r#"spec.type: Unsupported value: "Maybe": supported values: "Exempt", "Limited""#.to_owned(),
        ]),
        ("type", json!("Exempt"), vec![
            "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'".to_owned(),
            "spec.limited: Forbidden: must be nil if the type is not Limited".to_owned(),
        ]),
        ("limited", json!(null), vec![
            "spec.limited: Required value: must not be empty when type is Limited".to_owned(),
        ]),
        ("exempt", json!({}), vec!["spec.exempt: Forbidden: must be nil if the type is Limited".to_owned()]),
        ("limited/nominalConcurrencyShares", json!(-1), vec![
            "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer".to_owned(),
        ]),
        ("limited/lendablePercent", json!(101), vec![
            "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive".to_owned(),
        ]),
        ("limited/borrowingLimitPercent", json!(-5), vec![
            "spec.limited.borrowingLimitPercent: Invalid value: -5: if specified, must be a non-negative integer"
                .to_owned(),
        ]),
        ("limited/limitResponse", json!({"type": "Drop"}), vec![
            r#"spec.limited.limitResponse.type: Unsupported value: "Drop": supported values: "Queue", "Reject""#.to_owned(),
        ]),
        ("limited/limitResponse", json!({}), vec![r#"spec.limited.limitResponse.type: Unsupported value: "": supported values: "Queue", "Reject""#.to_owned()]),
        // What does not belong to the type is not judged further.
        ("exempt", json!({"lendablePercent": -1, "nominalConcurrencyShares": -1}), vec![
            "spec.exempt: Forbidden: must be nil if the type is Limited".to_owned(),
        ]),
        ("", json!({"type": "Maybe", "limited": {"limitResponse": {"type": "Drop"}}}), vec![
            r#"spec.type: Unsupported value: "Maybe": supported values: "Exempt", "Limited""#.to_owned(),
        ]),
        (
            "limited/limitResponse",
            json!({"type": "Reject", "queuing": {"queues": 4, "handSize": 8, "queueLengthLimit": -1}}),
            vec![format!("{queuing}: Forbidden: must be nil if limited.limitResponse.type is not Limited")],
        ),
        ("limited/limitResponse/type", json!("Reject"), vec![
            format!("{queuing}: Forbidden: must be nil if limited.limitResponse.type is not Limited"),
        ]),
        ("limited/limitResponse/queuing", json!(null), vec![
            format!("{queuing}: Required value: must not be empty if limited.limitResponse.type is Limited"),
        ]),
        ("limited/limitResponse/queuing", json!({"queues": -1, "handSize": -1, "queueLengthLimit": -1}), vec![
            format!("{queuing}.queueLengthLimit: Invalid value: -1: must be positive"),
            format!("{queuing}.queues: Invalid value: -1: must be positive"),
            format!("{queuing}.handSize: Invalid value: -1: must be positive"),
        ]),
        ("limited/limitResponse/queuing/queues", json!(4), vec![
            format!("{queuing}.handSize: Invalid value: 8: should not be greater than queues (4)"),
        ]),
        ("limited/limitResponse/queuing", json!({"queues": 10_000_001, "handSize": 1}), vec![
            format!("{queuing}.queues: Invalid value: 10000001: must not be greater than 10000000"),
        ]),
        ("limited/limitResponse/queuing", json!({"queues": 1024, "handSize": 6}), vec![]),
        ("limited/limitResponse/queuing", json!({"queues": 1024, "handSize": 7}), vec![format!(
            "{queuing}.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be \
             greater than 60"
        )]),
    ] {
        let pointer = if pointer.is_empty() { "/spec".to_owned() } else { format!("/spec/{pointer}") };
        let tree = with(&level(), &pointer, value);
        assert_eq!(errors(LEVEL, &tree), expected, "{tree}");
    }
}

pub fn conditions_are_named_once() {
    let duplicate = json!([{"type": "A"}, {"type": "A"}, {"type": ""}]);
    for (kind, tree) in [(LEVEL, level()), ("FlowSchema", schema())] {
        assert_eq!(
            status_errors(kind, &tree, &with(&tree, "/status/conditions", duplicate.clone())),
            [
                "status.conditions[1].type: Duplicate value: \"A\"",
                "status.conditions[2].type: Required value: must not be empty",
            ]
        );
        let unknown = json!([{"type": "A", "status": "Maybe"}, {"type": "B", "status": "Unknown"}]);
        assert_eq!(status_errors(kind, &tree, &with(&tree, "/status/conditions", unknown)), [""; 0]);
    }
}

pub fn what_the_server_relies_on_stays_as_it_is() {
    let metadata = |name: &str| json!({"name": name});
    for name in ["exempt", "catch-all"] {
        let level = PriorityLevelConfiguration::mandatory_spec(name).unwrap();
        let level = json!({"metadata": metadata(name), "spec": level});
        assert_eq!(errors(LEVEL, &level), [""; 0]);
        let changed = with(
            &level,
            "/spec",
            json!({"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}),
        );
        let last = errors(LEVEL, &changed).pop().unwrap();
        assert!(
            last.starts_with("spec: Invalid value: ") && last.ends_with("must equal the fixed value"),
            "{last}"
        );

        let schema = FlowSchema::mandatory_spec(name).unwrap();
        let schema = json!({"metadata": metadata(name), "spec": schema});
        assert_eq!(errors("FlowSchema", &schema), [""; 0]);
        let last = errors("FlowSchema", &with(&schema, "/spec/rules", json!([]))).pop().unwrap();
        assert!(last.ends_with(&format!("spec of '{name}' must equal the fixed value")), "{last}");
    }
    let lending = json!({"metadata": {"name": "exempt"}, "spec": {
        "type": "Exempt", "exempt": {"nominalConcurrencyShares": 5, "lendablePercent": 10},
    }});
    assert_eq!(errors(LEVEL, &lending), [""; 0]);
    assert_eq!(
        errors(
            LEVEL,
            &with(&lending, "/spec/exempt", json!({"nominalConcurrencyShares": -1, "lendablePercent": 101}))
        ),
        [
            "spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
            "spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
        ]
    );
    assert_eq!(
        errors(LEVEL, &with(&lending, "/spec/exempt", json!({"lendablePercent": -1}))),
        ["spec.exempt.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive"]
    );
}

pub fn flow_schemas_have_a_precedence() {
    let complete = json!({
        "spec": {"priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 1000}, "status": {},
    });
    for given in [json!(null), json!(0)] {
        let written = defaulted("FlowSchema", &with(&complete, "/spec/matchingPrecedence", given));
        assert_eq!(written, complete);
    }
}

pub fn rules_can_match() {
    let path = |rest: &str| format!("spec.rules[0].{rest}");
    assert_eq!(errors("FlowSchema", &schema()), [""; 0]);
    for (pointer, value, expected) in [
        ("rules", json!([]), vec![]),
        ("priorityLevelConfiguration/name", json!(""), vec![
            "spec.priorityLevelConfiguration.name: Required value: must reference a priority level".to_owned(),
        ]),
        ("matchingPrecedence", json!(-1), vec![
            "spec.matchingPrecedence: Invalid value: -1: must be a positive value".to_owned(),
        ]),
        ("matchingPrecedence", json!(10_001), vec![
            "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000".to_owned(),
        ]),
        ("matchingPrecedence", json!(1), vec![
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"
                .to_owned(),
        ]),
        ("distinguisherMethod/type", json!("ByMood"), vec![
            r#"spec.distinguisherMethod.type: Unsupported value: "ByMood": supported values: "ByNamespace", "ByUser""#
                .to_owned(),
        ]),
        ("distinguisherMethod", json!({}), vec![r#"spec.distinguisherMethod.type: Unsupported value: "": supported values: "ByNamespace", "ByUser""#.to_owned()]),
        ("rules/0/subjects/0/user/name", json!(""), vec![path("subjects[0].user.name: Required value")]),
        ("rules/0/subjects/2/serviceAccount/name", json!(""), vec![path(
            "subjects[2].serviceAccount.name: Required value",
        )]),
        ("rules/0", json!({}), vec![
            path("subjects: Required value: subjects must contain at least one value"),
            "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"
                .to_owned(),
        ]),
        ("rules/0/subjects/0", json!({"kind": "User", "group": {"name": "g"}}), vec![
            path("subjects[0].user: Required value: user is required when subject kind is 'User'"),
            path("subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'"),
        ]),
        (
            "rules/0/subjects/0",
            json!({"kind": "User", "user": {"name": "u"}, "serviceAccount": {"name": "A_b"}}),
            vec![path(
                "subjects[0].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not \
                 'ServiceAccount'",
            )],
        ),
        ("rules/0/subjects/0", json!({"kind": "Robot", "user": {}, "serviceAccount": {}}), vec![path(
            r#"subjects[0].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User""#,
        )]),
        ("rules/0/subjects/1/group/name", json!(""), vec![path("subjects[1].group.name: Required value")]),
        ("rules/0/subjects/2/serviceAccount/namespace", json!(""), vec![path(
            "subjects[2].serviceAccount.namespace: Required value: must specify namespace for service account",
        )]),
        ("rules/0/resourceRules/0", json!({}), vec![
            path("resourceRules[0].verbs: Required value: verbs must contain at least one value"),
            path("resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group"),
            path("resourceRules[0].resources: Required value: resource rules must supply at least one resource"),
            path(
                "resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at \
                 least one namespace",
            ),
        ]),
        ("rules/0/resourceRules/0/namespaces", json!(["*", "a"]), vec![path(
            r#"resourceRules[0].namespaces: Invalid value: []string{"*", "a"}: if '*' is present, must not specify other namespaces"#,
        )]),
        ("rules/0/resourceRules/0/verbs", json!(["*", "get"]), vec![path(
            r#"resourceRules[0].verbs: Invalid value: []string{"*", "get"}: if '*' is present, must not specify other verbs"#,
        )]),
        ("rules/0/resourceRules/0/verbs", json!(["post"]), vec![path(
            "resourceRules[0].verbs: Unsupported value: []string{\"post\"}: supported values: \"create\", \"delete\", \
             \"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", \"update\", \"watch\"",
        )]),
        ("rules/0/nonResourceRules/0/verbs", json!(["post"]), vec![path(
            "nonResourceRules[0].verbs: Unsupported value: []string{\"post\"}: supported values: \"create\", \"delete\", \
             \"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", \"update\", \"watch\"",
        )]),
        ("rules/0/nonResourceRules/0/nonResourceURLs", json!([]), vec![path(
            "nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value",
        )]),
        ("rules/0/nonResourceRules/0/nonResourceURLs", json!(["", "x", "/a b", "//", "/a*"]), vec![
            path("nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"\": must not be empty"),
            path("nonResourceRules[0].nonResourceURLs[1]: Invalid value: \"x\": must start with slash"),
            path("nonResourceRules[0].nonResourceURLs[2]: Invalid value: \"/a b\": must not contain white-space"),
            path("nonResourceRules[0].nonResourceURLs[3]: Invalid value: \"//\": must not contain double slash"),
            path("nonResourceRules[0].nonResourceURLs[4]: Invalid value: \"/a*\": wildcard can only do suffix matching"),
        ]),
    ] {
        let tree = with(&schema(), &format!("/spec/{pointer}"), value);
        assert_eq!(errors("FlowSchema", &tree), expected, "{tree}");
    }
    let cluster = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": true});
    assert_eq!(errors("FlowSchema", &with(&schema(), "/spec/rules/0/resourceRules/0", cluster)), [""; 0]);
    let namespace =
        errors("FlowSchema", &with(&schema(), "/spec/rules/0/resourceRules/0/namespaces", json!(["A"])));
    let expected = path(
        "resourceRules[0].namespaces[0]: Invalid value: \"A\": each member of this list must be '*' or a",
    );
    assert!(namespace[0].starts_with(&expected), "{namespace:?}");
}
