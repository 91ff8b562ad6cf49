//! Pods: what each field of a container may be.

use orch_runtime::Tree;
use serde_json::json;

use crate::ask::check;

/// A correct pod, which other tables of pods change too.
pub fn pod() -> Tree {
    json!({"spec": {
        "serviceAccountName": "s",
        "containers": [{
            "name": "c", "image": "x:1", "ports": [{"containerPort": 80}],
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        }],
        "volumes": [{"name": "v", "emptyDir": {}}],
    }})
}

pub fn fields() {
    check("Pod", &pod(), &[
        ("/spec/containers/0/name", json!(""), &["spec.containers[0].name: Required value"]),
        (
            "/spec/containers/0/name",
            json!("C_"),
            &[
                r#"spec.containers[0].name: Invalid value: "C_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
            ],
        ),
        (
            "/spec/containers/0/terminationMessagePolicy",
            json!("Never"),
            &[
                r#"spec.containers[0].terminationMessagePolicy: Unsupported value: "Never": supported values: "File", "FallbackToLogsOnError""#,
            ],
        ),
        (
            "/spec/containers/0/ports/0/protocol",
            json!("HTTP"),
            &[
                r#"spec.containers[0].ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP""#,
            ],
        ),
        (
            "/spec/containers/0/resizePolicy",
            json!([{}]),
            &[
                "spec.containers[0].resizePolicy: Required value",
                "spec.containers[0].resizePolicy: Required value",
            ],
        ),
        (
            "/spec/containers/0/resizePolicy",
            json!([{"resourceName": "disk", "restartPolicy": "Never"}]),
            &[
                r#"spec.containers[0].resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory""#,
                r#"spec.containers[0].resizePolicy: Unsupported value: "Never": supported values: "NotRequired", "RestartContainer""#,
            ],
        ),
        (
            "/spec/containers/0/envFrom",
            json!([{"prefix": "a=", "configMapRef": {"name": "m"}}]),
            &[
                r#"spec.containers[0].envFrom[0].prefix: Invalid value: "a=": a valid environment variable name must consist only of printable ASCII characters other than '='"#,
            ],
        ),
        (
            "/spec/containers/0/envFrom",
            json!([
                {"configMapRef": {"name": ""}}, {"secretRef": {"name": ""}}, {"configMapRef": {"name": "A_"}},
                {"secretRef": {"name": "A_"}},
            ]),
            &[
                "spec.containers[0].envFrom[0].configMapRef.name: Required value",
                "spec.containers[0].envFrom[1].secretRef.name: Required value",
                r#"spec.containers[0].envFrom[2].configMapRef.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
                r#"spec.containers[0].envFrom[3].secretRef.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        ("/spec/containers/0/env", json!([
            {"name": ""},
        ]), &["spec.containers[0].env[0].name: Required value"]),
        (
            "/spec/containers/0/env",
            json!([
                {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "", "key": ""}}},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "", "key": ""}}},
            ]),
            &[
                r#"spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
                "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value",
                r#"spec.containers[0].env[1].valueFrom.secretKeyRef.name: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
                "spec.containers[0].env[1].valueFrom.secretKeyRef.key: Required value",
            ],
        ),
        (
            "/spec/containers/0/env",
            json!([
                {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "a b"}}},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "m", "key": ".."}}},
            ]),
            &[
                r#"spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"#,
                r#"spec.containers[0].env[1].valueFrom.secretKeyRef.key: Invalid value: "..": must not be '..'"#,
            ],
        ),
        (
            "/spec/containers/0/volumeMounts/0/recursiveReadOnly",
            json!("Sometimes"),
            &[
                r#"spec.containers[0].volumeMounts.recursiveReadOnly: Unsupported value: "Sometimes": supported values: "Disabled", "Enabled", "IfPossible""#,
            ],
        ),
        (
            "/spec/containers/0/volumeMounts/0/mountPropagation",
            json!("Up"),
            &[
                r#"spec.containers[0].volumeMounts.mountPropagation: Unsupported value: "Up": supported values: "Bidirectional", "HostToContainer", "None""#,
            ],
        ),
        (
            "/spec/containers/0/livenessProbe",
            json!({"grpc": {"port": 0}}),
            &[
                "spec.containers[0].livenessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            "/spec/containers/0/livenessProbe",
            json!({"grpc": {"port": 65536}}),
            &[
                "spec.containers[0].livenessProbe.grpc.port: Invalid value: 65536: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            "/spec/containers/0/livenessProbe",
            json!({"httpGet": {"port": 80, "scheme": "FTP"}}),
            &[
                r#"spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS""#,
            ],
        ),
        (
            "/spec/containers/0/livenessProbe",
            json!({
                "exec": {"command": ["x"]}, "initialDelaySeconds": -1, "timeoutSeconds": -1,
                "periodSeconds": -1, "successThreshold": -1, "failureThreshold": -1,
                "terminationGracePeriodSeconds": 0,
            }),
            &[
                "spec.containers[0].livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0",
                "spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0",
                "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
                "spec.containers[0].livenessProbe.successThreshold: Invalid value: -1: must be greater than or equal to 0",
                "spec.containers[0].livenessProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0",
                "spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
                "spec.containers[0].livenessProbe.successThreshold: Invalid value: -1: must be 1",
            ],
        ),
        (
            "/spec/containers/0/resources/claims",
            json!([{"name": ""}]),
            &[
                "spec.containers[0].resources.claims[0]: Required value",
            ],
        ),
        (
            "/spec/containers/0/resources/claims",
            json!([{"name": "a"}, {"name": "a"}]),
            &[
                r#"spec.containers[0].resources.claims[1]: Duplicate value: "a""#,
                r#"spec.containers[0].resources.claims[0]: Not found: "a""#,
                r#"spec.containers[0].resources.claims[1]: Not found: "a""#,
            ],
        ),
        (
            "/spec/containers/0/securityContext",
            json!({"runAsUser": -1, "runAsGroup": -1, "procMount": "Bare"}),
            &[
                "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                "spec.containers[0].securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                r#"spec.containers[0].securityContext.procMount: Unsupported value: "Bare": supported values: "Default", "Unmasked""#,
            ],
        ),
        (
            "/spec/containers/0/securityContext",
            json!({"runAsUser": 2_147_483_648_i64, "runAsGroup": 2_147_483_648_i64}),
            &[
                "spec.containers[0].securityContext.runAsUser: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
                "spec.containers[0].securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
            ],
        ),
        (
            "/spec/containers/0/securityContext",
            json!({"seccompProfile": {}, "appArmorProfile": {}}),
            &[
                "spec.containers[0].securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set",
                "spec.containers[0].securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set",
            ],
        ),
        (
            "/spec/containers/0/securityContext",
            json!({"seccompProfile": {"type": "Own"}, "appArmorProfile": {"type": "Own"}}),
            &[
                r#"spec.containers[0].securityContext.seccompProfile.type: Unsupported value: "Own": supported values: "Localhost", "RuntimeDefault", "Unconfined""#,
                r#"spec.containers[0].securityContext.appArmorProfile.type: Unsupported value: "Own": supported values: "Localhost", "RuntimeDefault", "Unconfined""#,
            ],
        ),
        (
            "/spec/containers/0/restartPolicy",
            json!("Never"),
            &["spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers"],
        ),
        (
            "/spec/initContainers",
            json!([{"name": "i", "image": "x", "restartPolicy": "Sometimes"}]),
            &[
                r#"spec.initContainers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always""#,
            ],
        ),
    ]);
}

pub fn ephemeral_containers() {
    check("Pod", &pod(), &[
        (
            "/spec/ephemeralContainers",
            json!([{"name": "e", "image": "x", "envFrom": [{}]}]),
            &[
                r#"spec.ephemeralContainers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`"#,
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
        (
            "/spec/ephemeralContainers",
            json!([{"name": "", "image": ""}]),
            &[
                "spec.ephemeralContainers[0].name: Required value",
                "spec.ephemeralContainers[0].image: Required value",
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
        (
            "/spec/ephemeralContainers",
            json!([{"name": "E_", "image": " x"}]),
            &[
                r#"spec.ephemeralContainers[0].name: Invalid value: "E_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
                r#"spec.ephemeralContainers[0].image: Invalid value: " x": must not have leading or trailing whitespace"#,
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
        (
            "/spec/ephemeralContainers",
            json!([
                {
                    "name": "e", "image": "x", "restartPolicy": "Sometimes",
                    "terminationMessagePolicy": "Never", "imagePullPolicy": "Maybe",
                },
            ]),
            &[
                r#"spec.ephemeralContainers[0].terminationMessagePolicy: Unsupported value: "Never": supported values: "File", "FallbackToLogsOnError""#,
                r#"spec.ephemeralContainers[0].imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never""#,
                "spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral Container",
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
        (
            "/spec/ephemeralContainers",
            json!([{"name": "e", "image": "x"}, {"name": "e", "image": "x"}]),
            &[
                r#"spec.ephemeralContainers[1].name: Duplicate value: "e""#,
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
        (
            "/spec/ephemeralContainers",
            json!([{"name": "e", "image": "x", "ports": []}]),
            &[
                "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
    ]);
}
