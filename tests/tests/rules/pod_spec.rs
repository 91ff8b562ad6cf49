//! Pods: what each other field of the specification may be.

use serde_json::json;

use crate::{ask::check, pod_containers::pod};

pub fn fields() {
    check("Pod", &pod(), &[
        (
            "/spec/hostAliases",
            json!([{"ip": ""}, {"ip": "nope", "hostnames": ["A_"]}]),
            &[
                r#"spec.hostAliases[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"#,
                r#"spec.hostAliases[1].ip: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"#,
                r#"spec.hostAliases[1].hostnames[0]: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        (
            "/spec/dnsConfig",
            json!({"nameservers": ["nope"]}),
            &[
                r#"spec.dnsConfig.nameservers[0]: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"#,
            ],
        ),
        ("/spec/os", json!({}), &["spec.os.name: Required value: cannot be empty"]),
        (
            "/spec/os",
            json!({"name": "plan9"}),
            &[
                r#"spec.os: Unsupported value: "plan9": supported values: "linux", "windows""#,
            ],
        ),
        (
            "/spec/readinessGates",
            json!([{"conditionType": ""}, {"conditionType": "a b"}]),
            &[
                r#"spec.readinessGates[0].conditionType: Invalid value: "": name part must be non-empty"#,
                r#"spec.readinessGates[0].conditionType: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
                r#"spec.readinessGates[1].conditionType: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
            ],
        ),
        (
            "/spec/resourceClaims",
            json!([{"name": ""}, {"name": "R_"}]),
            &[
                "spec.resourceClaims[0].name: Required value",
                r#"spec.resourceClaims[0]: Invalid value: {"name":""}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"#,
                r#"spec.resourceClaims[1].name: Invalid value: "R_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
                r#"spec.resourceClaims[1]: Invalid value: {"name":"R_"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"#,
            ],
        ),
        (
            "/spec/resourceClaims",
            json!([{"name": "r", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}]),
            &[
                r#"spec.resourceClaims[0]: Invalid value: {"name":"r","resourceClaimName":"a","resourceClaimTemplateName":"b"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"#,
            ],
        ),
        (
            "/spec/resourceClaims",
            json!([{"name": "r", "resourceClaimName": "a"}, {"name": "r", "resourceClaimName": "a"}]),
            &[
                r#"spec.resourceClaims[1].name: Duplicate value: "r""#,
            ],
        ),
        (
            "/spec/schedulingGates",
            json!([{"name": ""}, {"name": "a b"}]),
            &[
                r#"spec.schedulingGates[0]: Invalid value: "": name part must be non-empty"#,
                r#"spec.schedulingGates[0]: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
                r#"spec.schedulingGates[1]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
            ],
        ),
        (
            "/spec/schedulingGates",
            json!([{"name": "a"}, {"name": "a"}]),
            &[
                r#"spec.schedulingGates[1]: Duplicate value: "a""#,
            ],
        ),
        (
            "/spec/securityContext",
            json!({
                "runAsUser": 2_147_483_648_i64, "runAsGroup": -1, "fsGroup": -1, "supplementalGroups": [-1],
            }),
            &[
                "spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                "spec.securityContext.runAsUser: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
                "spec.securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                "spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            ],
        ),
        (
            "/spec/securityContext",
            json!({
                "runAsGroup": 2_147_483_648_i64, "fsGroup": 2_147_483_648_i64,
                "supplementalGroups": [2_147_483_648_i64],
            }),
            &[
                "spec.securityContext.fsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
                "spec.securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
                "spec.securityContext.supplementalGroups[0]: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
            ],
        ),
        (
            "/spec/securityContext",
            json!({
                "supplementalGroupsPolicy": "Own", "fsGroupChangePolicy": "Own", "seLinuxChangePolicy": "Own",
            }),
            &[
                r#"spec.securityContext.fsGroupChangePolicy: Unsupported value: "Own": supported values: "Always", "OnRootMismatch""#,
                r#"spec.securityContext.supplementalGroupsPolicy: Unsupported value: "Own": supported values: "Merge", "Strict""#,
                r#"spec.securityContext.seLinuxChangePolicy: Unsupported value: "Own": supported values: "MountOption", "Recursive""#,
            ],
        ),
        (
            "/spec/securityContext",
            json!({"sysctls": [{"name": "", "value": "1"}]}),
            &[
                "spec.securityContext.sysctls[0].name: Required value",
            ],
        ),
        (
            "/spec/activeDeadlineSeconds",
            json!(2_147_483_648_i64),
            &[
                "spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive",
            ],
        ),
        (
            "/spec/dnsPolicy",
            json!("Own"),
            &[
                r#"spec.dnsPolicy: Unsupported value: "Own": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None""#,
            ],
        ),
        (
            "/spec/nodeSelector",
            json!({"a b": "c"}),
            &[
                r#"spec.nodeSelector: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
            ],
        ),
        (
            "/spec/nodeSelector",
            json!({"a": "b c"}),
            &[
                r#"spec.nodeSelector: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"#,
            ],
        ),
        (
            "/spec/serviceAccountName",
            json!("S_"),
            &[
                r#"spec.serviceAccountName: Invalid value: "S_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        (
            "/spec/nodeName",
            json!("N_"),
            &[
                r#"spec.nodeName: Invalid value: "N_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        (
            "/spec/hostname",
            json!("H_"),
            &[
                r#"spec.hostname: Invalid value: "H_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
            ],
        ),
        (
            "/spec/subdomain",
            json!("S_"),
            &[
                r#"spec.subdomain: Invalid value: "S_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
            ],
        ),
        (
            "/spec/runtimeClassName",
            json!("R_"),
            &[
                r#"spec.runtimeClassName: Invalid value: "R_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        (
            "/spec/topologySpreadConstraints",
            json!([{"maxSkew": 1, "topologyKey": "k"}]),
            &[
                r#"spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway""#,
            ],
        ),
        (
            "/spec/topologySpreadConstraints",
            json!([
                {
                    "maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "Own", "nodeAffinityPolicy": "Own",
                    "nodeTaintsPolicy": "Own", "labelSelector": {},
                },
            ]),
            &[
                r#"spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Own": supported values: "DoNotSchedule", "ScheduleAnyway""#,
                r#"spec.topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "Own": supported values: "Honor", "Ignore""#,
                r#"spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Own": supported values: "Honor", "Ignore""#,
            ],
        ),
        (
            "/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution",
            json!([{"weight": 0, "podAffinityTerm": {"topologyKey": "k", "labelSelector": {}}}]),
            &[
                "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100",
            ],
        ),
        (
            "/spec/containers",
            json!([{"name": "c", "image": "x:1"}, {"name": "c", "image": "x:1"}]),
            &[
                r#"spec.containers[1].name: Duplicate value: "c""#,
            ],
        ),
    ]);
}
