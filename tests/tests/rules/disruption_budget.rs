//! Disruption budgets: the rules of amounts, and what is always written.

use crate::ask::{defaulted, errors, status_errors, stored, with};
use orch_runtime::Tree;
use serde_json::json;

const KIND: &str = "PodDisruptionBudget";

fn budget() -> Tree {
    json!({
        "spec": {
            "minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
        "status": {
            "disruptedPods": {"p": "2024-01-01T00:00:00Z"},
            "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2,
            "conditions": [{
                "type": "DisruptionAllowed", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z",
                "reason": "SufficientPods", "message": "",
            }],
        },
    })
}

pub fn numbers_are_always_written_and_nothing_is_lost() {
    let zeros = json!({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0});
    assert_eq!(defaulted(KIND, &json!({})), json!({"spec": {}, "status": zeros}));
    assert_eq!(stored(KIND, &budget()), budget());
}

pub fn amounts_are_numbers_or_parts_and_only_one_is_given() {
    assert_eq!(errors(KIND, &budget()), [""; 0]);
    let shape = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex \
                 used for validation is '[0-9]+%')";
    for (pointer, value, expected) in [
        ("spec", json!({}), vec![]),
        ("spec/minAvailable", json!(0), vec![]),
        ("spec/minAvailable", json!("100%"), vec![]),
        ("spec/minAvailable", json!(-1), vec![
            "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0".to_owned(),
        ]),
        ("spec/minAvailable", json!("101%"), vec![
            "spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:\"101%\"}: must not be greater than 100%".to_owned(),
        ]),
        ("spec/minAvailable", json!("99999999999999999999999%"), vec![
            "spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:\"99999999999999999999999%\"}: must not be greater than 100%".to_owned(),
        ]),
        ("spec/minAvailable", json!("5"), vec![format!("spec.minAvailable: Invalid value: intstr.IntOrString{{Type:1, IntVal:0, StrVal:\"5\"}}: {shape}")]),
        ("spec/minAvailable", json!("-5%"), vec![format!("spec.minAvailable: Invalid value: intstr.IntOrString{{Type:1, IntVal:0, StrVal:\"-5%\"}}: {shape}")]),
        ("spec/minAvailable", json!("%"), vec![format!("spec.minAvailable: Invalid value: intstr.IntOrString{{Type:1, IntVal:0, StrVal:\"%\"}}: {shape}")]),
        ("spec", json!({"minAvailable": 1, "maxUnavailable": -1}), vec![
            "spec: Invalid value: {\"maxUnavailable\":-1,\"minAvailable\":1}: minAvailable and maxUnavailable cannot be \
             both set"
                .to_owned(),
            "spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0".to_owned(),
        ]),
        ("spec/unhealthyPodEvictionPolicy", json!("Never"), vec![
            "spec.unhealthyPodEvictionPolicy: Unsupported value: \"Never\": supported values: \"AlwaysAllow\", \
             \"IfHealthyBudget\""
                .to_owned(),
        ]),
        ("spec/selector/matchLabels", json!({"a": "-"}), vec![
            "spec.selector.matchLabels: Invalid value: \"-\": a valid label must be an empty string or consist of \
             alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
             'MyValue',  or 'my_value',  or '12345', regex used for validation is \
             '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        ]),
        (
            "spec/selector",
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "-"]}]}),
            vec![
                "spec.selector.matchExpressions[0].values[1]: Invalid value: \"-\": a valid label must be an empty \
                 string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                    .to_owned(),
            ],
        ),
    ] {
        let tree = with(&budget(), &format!("/{pointer}"), value);
        assert_eq!(errors(KIND, &tree), expected, "{tree}");
    }
}

pub fn what_is_observed() {
    let condition = |changes: Tree| {
        let mut condition = json!({
            "type": "T", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z", "reason": "R",
            "message": "",
        });
        condition.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        condition
    };
    let negative = "Invalid value: -1: must be greater than or equal to 0";
    for (pointer, value, expected) in [
        (
            "/status",
            json!({"disruptionsAllowed": -1, "currentHealthy": -1, "desiredHealthy": -1, "expectedPods": -1}),
            ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]
                .map(|count| format!("status.{count}: {negative}"))
                .to_vec(),
        ),
        ("/status/conditions", json!([condition(json!({"observedGeneration": 1}))]), vec![]),
        (
            "/status/conditions",
            json!([{}]),
            [
                r#"type: Invalid value: "": name part must be non-empty"#,
                r#"type: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
                r#"status: Unsupported value: "": supported values: "False", "True", "Unknown""#,
                "lastTransitionTime: Required value",
                "reason: Required value: must be set",
            ]
            .map(|text| format!("status.conditions[0].{text}"))
            .to_vec(),
        ),
        (
            "/status/conditions",
            json!([condition(json!({"status": "Maybe", "observedGeneration": -1, "reason": "1"}))]),
            [
                r#"status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown""#,
                "observedGeneration: Invalid value: -1: must be greater than or equal to zero",
                r#"reason: Invalid value: "1": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"#,
            ]
            .map(|text| format!("status.conditions[0].{text}"))
            .to_vec(),
        ),
        (
            "/status/conditions",
            json!([condition(json!({"reason": "R".repeat(1025), "message": "m".repeat(32769)}))]),
            [
                "reason: Too long: may not be more than 1024 bytes",
                "message: Too long: may not be more than 32768 bytes",
            ]
            .map(|text| format!("status.conditions[0].{text}"))
            .to_vec(),
        ),
        (
            "/status/conditions",
            json!([condition(json!({})), condition(json!({"reason": "S"}))]),
            vec![r#"status.conditions[1].type: Duplicate value: "T""#.to_owned()],
        ),
    ] {
        let tree = with(&budget(), pointer, value);
        assert_eq!(status_errors(KIND, &budget(), &tree), expected, "{tree}");
    }
}
