//! Pods: each rule broken once, what may change, and defaults.
//!
//! Length: one table; a kind with this many rules is easier to check against the contract in one place.

use crate::ask::{defaulted, errors, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

fn pod() -> Tree {
    json!({"metadata": {"name": "p"}, "spec": {
        "serviceAccountName": "s",
        "containers": [{
            "name": "c", "image": "x:1",
            "ports": [{"containerPort": 80, "name": "web"}],
            "env": [{"name": "A", "value": "1"}],
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
        }],
        "initContainers": [{"name": "i", "image": "x:1"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
    }})
}

/// Puts one value into a correct pod and compares what is wrong then.
fn check(cases: Vec<(&str, Tree, &[&str])>) {
    check_in(&pod(), cases);
}

fn check_in(pod: &Tree, cases: Vec<(&str, Tree, &[&str])>) {
    assert_eq!(errors("Pod", pod), [""; 0]);
    for (pointer, value, expected) in cases {
        assert_eq!(errors("Pod", &with(pod, pointer, value.clone())), expected, "{pointer} {value}");
    }
}

pub fn containers() {
    let container = |pointer: &'static str| format!("/spec/containers/0{pointer}").leak() as &str;
    check(vec![
        ("/spec/containers", json!([]), &["spec.containers: Required value"]),
        (container("/image"), json!(""), &["spec.containers[0].image: Required value"]),
        (
            container("/image"),
            json!(" x"),
            &[
                r#"spec.containers[0].image: Invalid value: " x": must not have leading or trailing whitespace"#,
            ],
        ),
        (
            container("/imagePullPolicy"),
            json!("Maybe"),
            &[
                r#"spec.containers[0].imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never""#,
            ],
        ),
        (
            container("/ports/0/containerPort"),
            json!(0),
            &["spec.containers[0].ports[0].containerPort: Required value"],
        ),
        (
            container("/ports/0/hostPort"),
            json!(70000),
            &[
                "spec.containers[0].ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            container("/ports/0/name"),
            json!("a-very-long-port-name"),
            &[
                r#"spec.containers[0].ports[0].name: Invalid value: "a-very-long-port-name": must be no more than 15 characters"#,
            ],
        ),
        (
            container("/ports"),
            json!([{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
            &[r#"spec.containers[0].ports[1].name: Duplicate value: "a""#],
        ),
        (container("/ports"), json!([{"containerPort": 1}, {"containerPort": 1}]), &[]),
        (
            container("/env/0/name"),
            json!("A=B"),
            &[
                r#"spec.containers[0].env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='"#,
            ],
        ),
        (
            container("/env/0/valueFrom"),
            json!({}),
            &[
                r#"spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"#,
            ],
        ),
        (
            container("/env"),
            json!([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.phase"}}}]),
            &[
                r#"spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs""#,
            ],
        ),
        (
            container("/env"),
            json!([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}}]),
            &[],
        ),
        (
            container("/env"),
            json!([
                {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "3"}}},
            ]),
            &[
                r#"spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource"#,
            ],
        ),
        (
            container("/envFrom"),
            json!([{}]),
            &[
                r#"spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`"#,
            ],
        ),
        (
            container("/volumeMounts/0/name"),
            json!("w"),
            &[r#"spec.containers[0].volumeMounts[0].name: Not found: "w""#],
        ),
        (
            container("/volumeMounts/0/mountPath"),
            json!(""),
            &["spec.containers[0].volumeMounts[0].mountPath: Required value"],
        ),
        (
            container("/volumeMounts/0/subPath"),
            json!("../x"),
            &[r#"spec.containers[0].volumeMounts.subPath: Invalid value: "../x": must not contain '..'"#],
        ),
        (
            container("/volumeMounts/0/mountPropagation"),
            json!("Bidirectional"),
            &[
                "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
            ],
        ),
        (
            container("/volumeDevices"),
            json!([{"name": "v", "devicePath": "/d"}]),
            &[
                r#"spec.containers[0].volumeMounts[0].name: Invalid value: "v": must not already exist in volumeDevices"#,
                r#"spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"#,
                r#"spec.containers[0].volumeDevices[0].name: Invalid value: "v": must not already exist in volumeMounts"#,
            ],
        ),
        (
            container("/restartPolicy"),
            json!("Always"),
            &["spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers"],
        ),
        (
            "/spec/initContainers/0/readinessProbe",
            json!({"exec": {"command": ["x"]}}),
            &[
                "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
            ],
        ),
        (
            "/spec/initContainers/0/name",
            json!("c"),
            &[r#"spec.initContainers[0].name: Duplicate value: "c""#],
        ),
        (
            "/spec/ephemeralContainers",
            json!([{"name": "e", "image": "x", "ports": [{"containerPort": 1}], "targetContainerName": "n"}]),
            &[
                r#"spec.ephemeralContainers[0].targetContainerName: Not found: "n""#,
                "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
    ]);
}

pub fn resources() {
    let at = "/spec/containers/0/resources";
    check(vec![
        (
            at,
            json!({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            &[
                r#"spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1"#,
            ],
        ),
        (
            at,
            json!({"requests": {"cpu": "-1"}}),
            &[
                r#"spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0"#,
            ],
        ),
        (
            at,
            json!({"requests": {"disks": "1"}}),
            &[
                "spec.containers[0].resources.requests[disks]: Invalid value: disks: must be a standard resource type or fully qualified",
                "spec.containers[0].resources.requests[disks]: Invalid value: disks: must be a standard resource for containers",
            ],
        ),
        (
            at,
            json!({"requests": {"a.example/x": "1"}, "limits": {"a.example/x": "2"}}),
            &[
                r#"spec.containers[0].resources.requests: Invalid value: "1": must be equal to a.example/x limit of 2"#,
            ],
        ),
        (
            at,
            json!({"limits": {"a.example/x": "500m"}}),
            &[
                r#"spec.containers[0].resources.limits[a.example/x]: Invalid value: "500m": must be an integer"#,
                r#"spec.containers[0].resources.requests[a.example/x]: Invalid value: "500m": must be an integer"#,
            ],
        ),
        (
            at,
            json!({"limits": {"hugepages-2Mi": "2Mi"}}),
            &["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"],
        ),
        (
            at,
            json!({"limits": {"a b": "1"}}),
            &[
                "spec.containers[0].resources.limits[a b]: Invalid value: a b: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                "spec.containers[0].resources.limits[a b]: Invalid value: a b: must be a standard resource for containers",
                "spec.containers[0].resources.requests[a b]: Invalid value: a b: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                "spec.containers[0].resources.requests[a b]: Invalid value: a b: must be a standard resource for containers",
            ],
        ),
    ]);
}

pub fn probes() {
    let at = "/spec/containers/0/livenessProbe";
    check(vec![
        (at, json!({}), &["spec.containers[0].livenessProbe: Required value: must specify a handler type"]),
        (
            at,
            json!({"exec": {"command": ["x"]}, "httpGet": {"port": 80}}),
            &[
                "spec.containers[0].livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
            ],
        ),
        (at, json!({"exec": {}}), &["spec.containers[0].livenessProbe.exec.command: Required value"]),
        (
            at,
            json!({"tcpSocket": {"port": 0}}),
            &[
                "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            at,
            json!({"httpGet": {"port": "w--b"}}),
            &[
                r#"spec.containers[0].livenessProbe.httpGet.port: Invalid value: "w--b": must not contain consecutive hyphens"#,
            ],
        ),
        (
            at,
            json!({"grpc": {"port": 1}, "periodSeconds": -1, "successThreshold": 2}),
            &[
                "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
                "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
            ],
        ),
        (
            "/spec/containers/0/lifecycle",
            json!({"preStop": {}}),
            &["spec.containers[0].lifecycle.preStop: Required value: must specify a handler type"],
        ),
    ]);
}

pub fn volumes() {
    let at = "/spec/volumes/0";
    let unmounted = with(&pod(), "/spec/containers/0/volumeMounts", Tree::Null);
    check_in(&unmounted, vec![
        (at, json!({"name": "v"}), &[]),
        (
            at,
            json!({"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}),
            &["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            at,
            json!({"name": "v", "emptyDir": {"sizeLimit": "-1"}}),
            &[
                "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
            ],
        ),
        (at, json!({"name": "v", "secret": {}}), &["spec.volumes[0].secret.secretName: Required value"]),
        (
            at,
            json!({"name": "v", "configMap": {"name": "x", "defaultMode": 512}}),
            &[
                "spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            ],
        ),
        (
            at,
            json!({"name": "v", "secret": {"secretName": "x", "items": [{"key": "k", "path": "/abs"}]}}),
            &[r#"spec.volumes[0].secret.items[0].path: Invalid value: "/abs": must be a relative path"#],
        ),
        (
            at,
            json!({"name": "v", "secret": {"secretName": "x", "items": [{"key": "k", "path": "..x"}]}}),
            &[r#"spec.volumes[0].secret.items[0].path: Invalid value: "..x": must not start with '..'"#],
        ),
        (
            at,
            json!({"name": "v", "downwardAPI": {"items": [{"path": "p"}]}}),
            &[
                "spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
            ],
        ),
        (
            at,
            json!({
                "name": "v",
                "projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 599}}]},
            }),
            &[
                "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes",
            ],
        ),
        (
            at,
            json!({"name": "v", "projected": {"sources": [
                {"configMap": {"name": "x", "items": [{"key": "k", "path": "p"}]}},
                {"secret": {"name": "y", "items": [{"key": "k", "path": "p"}]}},
            ]}}),
            &[r#"spec.volumes[0].projected: Invalid value: "y": conflicting duplicate paths"#],
        ),
        (
            at,
            json!({
                "name": "v",
                "projected": {"sources": [{"configMap": {"name": "x"}, "secret": {"name": "y"}}]},
            }),
            &["spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source"],
        ),
        (
            at,
            json!({"name": "v", "csi": {"driver": ""}}),
            &[
                "spec.volumes[0].csi.driver: Required value",
                r#"spec.volumes[0].csi.driver: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        (
            at,
            json!({"name": "v", "ephemeral": {}}),
            &["spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"],
        ),
        (
            at,
            json!({
                "name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "n"}, "spec": {}}},
            }),
            &[
                "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode \
                 is required",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            ],
        ),
        (
            at,
            json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {
                "metadata": {
                    "generation": -1,
                    "managedFields": [
                        {
                            "operation": "Set", "fieldsType": "V2", "manager": "a\u{7}",
                            "subresource": "s".repeat(257),
                        },
                        {"operation": "Apply", "manager": "m".repeat(129)},
                    ],
                },
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }}}),
            &[
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generation: Invalid value: -1: must be greater \
                 than or equal to 0",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields[0].operation: Invalid value: \"Set\": \
                 must be `Apply` or `Update`",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields[0].fieldsType: Invalid value: \"V2\": \
                 must be `FieldsV1`",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields[0].manager: Invalid value: \"a\\a\": \
                 should only contain printable characters",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields[0].subresource: Too long: may not be \
                 more than 256 bytes",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields[1].manager: Too long: may not be more \
                 than 128 bytes",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generation: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields: Forbidden: cannot be set",
            ],
        ),
        (
            at,
            json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {
                "metadata": {
                    "labels": {"a": "b"}, "annotations": {"a": "b"},
                    "name": "n", "generateName": "n", "namespace": "n", "selfLink": "/n", "uid": "u",
                    "resourceVersion": "1", "generation": 1, "creationTimestamp": "2020-01-01T00:00:00Z",
                    "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0,
                    "ownerReferences": [{}], "finalizers": ["x"], "managedFields": [{"operation": "Apply"}],
                },
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }}}),
            &[
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generateName: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.namespace: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.selfLink: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.resourceVersion: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.generation: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.creationTimestamp: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.deletionTimestamp: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.deletionGracePeriodSeconds: Forbidden: cannot be \
                 set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.ownerReferences: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.finalizers: Forbidden: cannot be set",
                "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields: Forbidden: cannot be set",
            ],
        ),
        (
            at,
            json!({"name": "v", "image": {"pullPolicy": "Sometimes"}}),
            &[
                r#"spec.volumes[0].image.pullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never""#,
                "spec.volumes[0].image.reference: Required value",
            ],
        ),
        (
            at,
            json!({"name": "v", "iscsi": {"targetPortal": "p", "iqn": "abc", "lun": 256}}),
            &[
                r#"spec.volumes[0].iscsi.iqn: Invalid value: "abc": must be valid format starting with iqn, eui, or naa"#,
                "spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            ],
        ),
        (
            at,
            json!({
                "name": "v", "iscsi": {"targetPortal": "p", "iqn": "iqn.2015-02.example.com:test", "lun": 0},
            }),
            &[],
        ),
        ("/spec/serviceAccountName", json!(null), &[]),
    ]);
    let token = json!({"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}});
    let without_account = with(&with(&pod(), at, token), "/spec/serviceAccountName", json!(null));
    assert_eq!(
        errors("Pod", &without_account),
        [
            "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
        ]
    );
}

pub fn scheduling_and_security() {
    check(vec![
        ("/spec/hostUsers", json!(false), &[]),
        (
            "/spec",
            json!({
                "containers": [{"name": "c", "image": "x:1"}],
                "hostUsers": false, "hostNetwork": true, "hostPID": true, "hostIPC": true,
            }),
            &[
                "spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false",
                "spec.HostPID: Forbidden: when `pod.Spec.HostUsers` is false",
                "spec.HostIPC: Forbidden: when `pod.Spec.HostUsers` is false",
            ],
        ),
        (
            "/spec/restartPolicy",
            json!("Sometimes"),
            &[
                r#"spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never""#,
            ],
        ),
        (
            "/spec/activeDeadlineSeconds",
            json!(0),
            &["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
        ),
        (
            "/spec/dnsPolicy",
            json!("None"),
            &["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
        ),
        (
            "/spec/dnsConfig",
            json!({"options": [{}]}),
            &["spec.dnsConfig.options[0]: Required value: must not be empty"],
        ),
        ("/spec/imagePullSecrets", json!([{}]), &[]),
        (
            "/spec/tolerations/0",
            json!({"operator": "Exists", "value": "x"}),
            &[
                r#"spec.tolerations[0].operator: Invalid value: "x": value must be empty when `operator` is 'Exists'"#,
            ],
        ),
        (
            "/spec/tolerations/0",
            json!({"value": "x"}),
            &[
                r#"spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys""#,
            ],
        ),
        (
            "/spec/tolerations/0",
            json!({"key": "k", "effect": "NoRun", "operator": "Near"}),
            &[
                r#"spec.tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists""#,
                r#"spec.tolerations[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute""#,
            ],
        ),
        (
            "/spec/affinity",
            json!({
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}},
            }),
            &[
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
            ],
        ),
        (
            "/spec/affinity",
            json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 0, "preference": {
                    "matchExpressions": [
                        {"key": "k", "operator": "In"}, {"key": "k", "operator": "Gt", "values": ["1", "2"]},
                    ],
                    "matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}],
                }},
            ]}}),
            &[
                "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100",
                "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
                "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[1].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
                r#"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].key: Invalid value: "spec.x": not a valid field selector key"#,
            ],
        ),
        (
            "/spec/affinity",
            json!({
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "", "matchLabelKeys": ["a"]},
                    ],
                },
            }),
            &[
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
                r#"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty"#,
                r#"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
            ],
        ),
        (
            "/spec/topologySpreadConstraints",
            json!([
                {"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 1},
                {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"},
            ]),
            &[
                "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
                r#"spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, ScheduleAnyway}""#,
                "spec.topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
            ],
        ),
        (
            "/spec/securityContext",
            json!({
                "runAsUser": -1, "sysctls": [{"name": "A", "value": ""}],
                "seccompProfile": {"type": "Localhost"},
            }),
            &[
                "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                r#"spec.securityContext.sysctls[0].name: Invalid value: "A": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"#,
                "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
            ],
        ),
        (
            "/spec/containers/0/securityContext",
            json!({"privileged": true, "allowPrivilegeEscalation": false}),
            &[
                r#"spec.containers[0].securityContext: Invalid value: {"allowPrivilegeEscalation":false,"privileged":true}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true"#,
            ],
        ),
        ("/spec/hostAliases", json!([{"ip": "10.0.0.1", "hostnames": ["h"]}, {"ip": "10.0.0.1"}]), &[]),
    ]);
}

pub fn what_may_change() {
    let changed = |pointer: &str, value: Tree| update_errors("Pod", &pod(), &with(&pod(), pointer, value));
    assert_eq!(changed("/spec/containers/0/image", json!("x:2")), [""; 0]);
    assert_eq!(changed("/spec/activeDeadlineSeconds", json!(5)), [""; 0]);
    assert_eq!(changed("/spec/tolerations/0/tolerationSeconds", json!(6)), [""; 0]);
    assert_eq!(
        changed("/spec/tolerations", json!([])),
        ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",]
    );
    assert_eq!(
        changed("/spec/containers", json!([])),
        [
            "spec.containers: Required value",
            "spec.containers: Forbidden: pod updates may not add or remove containers",
        ]
    );
    assert_eq!(
        changed("/spec/schedulingGates", json!([{"name": "g"}])),
        ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'",]
    );
    for (pointer, value) in [
        ("/spec/nodeName", json!("n")),
        ("/spec/containers/0/env/0/value", json!("2")),
        ("/spec/hostNetwork", json!(true)),
    ] {
        let errors = changed(pointer, value);
        assert_eq!(errors.len(), 1, "{pointer}: {errors:?}");
        assert!(errors[0].starts_with(
            "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
        ));
    }
    let old = with(&pod(), "/spec/activeDeadlineSeconds", json!(5));
    assert_eq!(
        update_errors("Pod", &old, &with(&old, "/spec/activeDeadlineSeconds", json!(6))),
        ["spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value",]
    );
    assert_eq!(
        update_errors("Pod", &old, &pod()),
        [
            "spec.activeDeadlineSeconds: Invalid value: \"null\": must not update from a positive integer to nil value",
        ]
    );
    // The nodes of a pod that is not scheduled yet become fewer at most.
    let gated = with(&pod(), "/spec/schedulingGates", json!([{"name": "g"}]));
    let gated = with(&gated, "/spec/nodeSelector", json!({"a": "b"}));
    let selected = |labels: Tree| update_errors("Pod", &gated, &with(&gated, "/spec/nodeSelector", labels));
    let additions = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    assert_eq!(selected(json!({"a": "b", "c": "d"})), [""; 0]);
    assert_eq!(
        selected(json!({"a": "c"})),
        [format!(r#"spec.nodeSelector: Invalid value: {{"a":"c"}}: {additions}"#)]
    );
    assert_eq!(selected(json!({})), [format!("spec.nodeSelector: Invalid value: {{}}: {additions}")]);
    let terms = json!([{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]);
    let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    let narrowed = with(&gated, "/spec/affinity", json!({"nodeAffinity": affinity}));
    assert_eq!(update_errors("Pod", &gated, &narrowed), [""; 0]);
    assert_eq!(
        update_errors("Pod", &narrowed, &gated),
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Invalid value: []: no additions/deletions to non-empty NodeSelectorTerms list are allowed",
        ]
    );
}

pub fn defaults_are_filled_in() {
    let given = json!({"spec": {
        "serviceAccount": "s", "hostNetwork": true,
        "containers": [{
            "name": "c", "image": "x:1", "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1"}},
            "livenessProbe": {"httpGet": {"port": 80}},
            "env": [{"name": "N", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}],
        }],
        "volumes": [
            {"name": "a"}, {"name": "b", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        ],
    }});
    let tolerated = |fault: &str| {
        let key = format!("node.kubernetes.io/{fault}");
        json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    };
    assert_eq!(
        defaulted("Pod", &given),
        json!({"spec": {
            "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
            "tolerations": [tolerated("not-ready"), tolerated("unreachable")], "serviceAccountName": "s",
            "serviceAccount": "s", "hostNetwork": true, "enableServiceLinks": true,
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler",
            "containers": [{
                "name": "c", "image": "x:1", "imagePullPolicy": "IfNotPresent",
                "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                "livenessProbe": {
                    "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                    "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
                },
                "env": [
                    {
                        "name": "N",
                        "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}},
                    },
                ],
            }],
            "volumes": [
                {"name": "a", "emptyDir": {}},
                {"name": "b", "projected": {
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                    "defaultMode": 420,
                }},
            ],
        }, "status": {"phase": "Pending", "qosClass": "Burstable"}})
    );
}
