//! Daemon sets and controller revisions: each rule broken once, what may change, and defaults.

use crate::ask::{defaulted, errors, status_errors, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

fn daemon_set() -> Tree {
    json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "x:1"}]},
        },
    }})
}

pub fn rules() {
    const LABEL: &str = "spec.template.labels: Invalid value: \"b c\": name part must consist of alphanumeric \
         characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  \
         or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const ANNOTATION: &str = "spec.template.annotations: Invalid value: \"e f\": name part must consist of alphanumeric \
         characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  \
         or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const MISMATCH: &str = r#"spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`"#;
    assert_eq!(errors("DaemonSet", &daemon_set()), [""; 0]);
    let cases: Vec<(&str, Tree, &[&str])> = vec![
        ("/spec/selector", json!(null), &[MISMATCH]),
        ("/spec/selector/matchLabels/app", json!("b"), &[MISMATCH]),
        (
            "/spec/selector",
            json!({}),
            &["spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for daemonset"],
        ),
        (
            "/spec/selector",
            json!({
                "matchExpressions": [
                    {"key": "app", "operator": "In", "values": ["b", "a"]},
                    {"key": "x", "operator": "DoesNotExist"},
                ],
            }),
            &[],
        ),
        (
            "/spec/selector",
            json!({"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}),
            &[
                r#"spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator"#,
            ],
        ),
        (
            "/spec/template",
            json!({}),
            &[
                "spec.template.metadata.labels: Invalid value: map[string]string(nil): `selector` does not match template `labels`",
                "spec.template.spec.containers: Required value",
            ],
        ),
        // Of the metadata of a template only labels and annotations are judged.
        (
            "/spec/template/metadata",
            json!({
                "labels": {"app": "a", "b c": "d"}, "annotations": {"e f": "g"}, "finalizers": ["none"],
                "generation": -1, "ownerReferences": [{}], "managedFields": [{}],
            }),
            &[LABEL, ANNOTATION],
        ),
        (
            "/spec/template/spec/restartPolicy",
            json!("Never"),
            &[r#"spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always""#],
        ),
        (
            "/spec/template/spec/activeDeadlineSeconds",
            json!(5),
            &[
                "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
            ],
        ),
        (
            "/spec/template/spec/ephemeralContainers",
            json!([{"name": "e", "image": "x"}]),
            &[
                "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
            ],
        ),
        (
            "/spec/minReadySeconds",
            json!(-1),
            &["spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            "/spec/revisionHistoryLimit",
            json!(-1),
            &["spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            "/spec/updateStrategy/type",
            json!("Recreate"),
            &[
                r#"spec.updateStrategy: Unsupported value: apps.DaemonSetUpdateStrategy{Type:"Recreate", RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}: supported values: "RollingUpdate", "OnDelete""#,
            ],
        ),
        (
            "/spec/updateStrategy/rollingUpdate",
            json!({"maxSurge": 0, "maxUnavailable": "0%"}),
            &[
                "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
            ],
        ),
        (
            "/spec/updateStrategy/rollingUpdate",
            json!({"maxSurge": "1%"}),
            &[
                r#"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"1%"}: may not be set when maxUnavailable is non-zero"#,
            ],
        ),
        (
            "/spec/updateStrategy/rollingUpdate",
            json!({"maxUnavailable": "101%"}),
            &[
                r#"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%"#,
            ],
        ),
        (
            "/spec/updateStrategy/rollingUpdate",
            json!({"maxUnavailable": "ten"}),
            &[
                r#"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"ten"}: a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"#,
                "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
            ],
        ),
    ];
    for (pointer, value, expected) in cases {
        assert_eq!(
            errors("DaemonSet", &with(&daemon_set(), pointer, value.clone())),
            expected,
            "{pointer} {value}"
        );
    }
}

pub fn what_may_change() {
    let old = with(&daemon_set(), "/status/collisionCount", json!(2));
    assert_eq!(
        update_errors("DaemonSet", &old, &with(&old, "/spec/template/spec/hostNetwork", json!(true))),
        [""; 0]
    );
    let relabelled = with(&old, "/spec/template/metadata/labels/v", json!("2"));
    assert_eq!(
        update_errors("DaemonSet", &old, &with(&relabelled, "/spec/selector/matchLabels/v", json!("2"))),
        [r#"spec.selector: Invalid value: {"matchLabels":{"app":"a","v":"2"}}: field is immutable"#]
    );
    assert_eq!(
        status_errors("DaemonSet", &old, &with(&old, "/status/collisionCount", json!(1))),
        ["status.collisionCount: Invalid value: 1: cannot be decremented"]
    );
}

pub fn counts_are_not_negative() {
    let counts = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    let status = counts.map(|count| (count.to_owned(), json!(-1))).into_iter().collect::<Tree>();
    assert_eq!(
        status_errors("DaemonSet", &daemon_set(), &with(&daemon_set(), "/status", status)),
        counts.map(|count| format!("status.{count}: Invalid value: -1: must be greater than or equal to 0"))
    );
}

pub fn conditions_have_a_type_and_a_status() {
    let conditions = json!([
        {"type": "A", "status": "Unknown"}, {"type": "B", "status": "Maybe"}, {"status": "True"},
        {"type": "D"},
    ]);
    assert_eq!(
        status_errors("DaemonSet", &daemon_set(), &with(&daemon_set(), "/status/conditions", conditions)),
        [
            r#"status.conditions[1].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown""#,
            "status.conditions[2].type: Required value",
            "status.conditions[3].status: Required value",
        ]
    );
}

/// A pod gets these from its class.
pub fn priorities_of_templates() {
    let template = |field: &str| format!("/spec/template/spec/{field}");
    let class = with(&daemon_set(), &template("priorityClassName"), json!("P_"));
    assert_eq!(
        errors("DaemonSet", &with(&class, &template("preemptionPolicy"), json!("Own"))),
        [
            r#"spec.template.spec.priorityClassName: Invalid value: "P_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            r#"spec.template.spec.preemptionPolicy: Unsupported value: "Own": supported values: "PreemptLowerPriority", "Never""#,
        ]
    );
}

pub fn defaults_are_filled_in() {
    let spec = |tree: &Tree| defaulted("DaemonSet", tree)["spec"].clone();
    let given = spec(&daemon_set());
    assert_eq!(
        given["updateStrategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}})
    );
    assert_eq!(given["revisionHistoryLimit"], 10);
    assert_eq!(given["template"]["spec"].get("enableServiceLinks"), None, "templates are left alone");
    let with_zero = spec(&with(&daemon_set(), "/spec/revisionHistoryLimit", json!(0)));
    assert_eq!(with_zero["revisionHistoryLimit"], 0);
    let on_delete = spec(&with(&daemon_set(), "/spec/updateStrategy", json!({"type": "OnDelete"})));
    assert_eq!(
        on_delete["updateStrategy"],
        json!({"type": "OnDelete"}),
        "amounts belong to the other strategy"
    );
    assert_eq!(
        defaulted("DaemonSet", &daemon_set())["status"],
        json!({
            "currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0,
            "numberReady": 0,
        })
    );
}

pub fn revisions_do_not_change() {
    let revision = json!({"metadata": {"name": "r"}, "data": {"spec": {}}, "revision": 1});
    assert_eq!(errors("ControllerRevision", &revision), [""; 0]);
    assert_eq!(
        errors("ControllerRevision", &with(&revision, "/data", json!(null))),
        ["data: Required value: data is mandatory"]
    );
    for other in [json!("x"), json!([]), json!(5), json!(true)] {
        assert_eq!(
            errors("ControllerRevision", &json!({"data": other, "revision": -1})),
            [
                "revision: Invalid value: -1: must be greater than or equal to 0",
                "data: Required value: data must be a valid JSON object",
            ]
        );
    }
    assert_eq!(
        errors("ControllerRevision", &with(&revision, "/revision", json!(-1))),
        ["revision: Invalid value: -1: must be greater than or equal to 0",]
    );
    assert_eq!(
        update_errors("ControllerRevision", &revision, &with(&revision, "/revision", json!(2))),
        [""; 0]
    );
    assert_eq!(
        update_errors("ControllerRevision", &revision, &with(&revision, "/data", json!({"spec": {"x": 1}}))),
        [r#"data: Invalid value: {"spec":{"x":1}}: field is immutable"#,]
    );
}
