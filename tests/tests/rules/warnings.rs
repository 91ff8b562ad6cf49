//! Warnings: each one drawn once, with the complete list that the client gets.
//!
//! Length: one table, to be compared with what other servers say in one place.

use crate::ask::{warnings, with};
use orch_runtime::Tree;
use serde_json::json;

fn check(kind: &str, base: &Tree, cases: Vec<(&str, Tree, &[&str])>) {
    assert_eq!(warnings(kind, base), [""; 0]);
    for (pointer, value, expected) in cases {
        assert_eq!(warnings(kind, &with(base, pointer, value.clone())), expected, "{pointer} {value}");
    }
}

fn pod() -> Tree {
    json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "x:1"}, {"name": "d", "image": "x:1"}],
        "initContainers": [{"name": "i", "image": "x:1"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}],
    }})
}

pub fn pods_are_placed_by_labels() {
    let zone = |key: &str, values: Tree| json!([{"key": key, "operator": "In", "values": values}]);
    check(
        "Pod",
        &pod(),
        vec![
            ("/spec/nodeSelector", json!({"kubernetes.io/os": "linux", "beta.orch.io/os": "x"}), &[]),
            (
                "/spec/nodeSelector",
                json!({"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/instance-type": "s"}),
                &[
                    r#"spec.nodeSelector[beta.kubernetes.io/instance-type]: deprecated since v1.17; use "node.kubernetes.io/instance-type" instead"#,
                    r#"spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead"#,
                ],
            ),
            (
                "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
                json!([{"matchExpressions": zone("failure-domain.beta.kubernetes.io/zone", json!(["a"]))}]),
                &[
                    r#"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#,
                ],
            ),
            (
                "/spec/topologySpreadConstraints",
                json!([
                    {
                        "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                        "topologyKey": "failure-domain.beta.kubernetes.io/region",
                    },
                ]),
                &[
                    r#"spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/region is deprecated since v1.17; use "topology.kubernetes.io/region" instead"#,
                    "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
                ],
            ),
            (
                "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution",
                json!([{"topologyKey": "a"}, {"topologyKey": "a", "labelSelector": {}}]),
                &[
                    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod",
                ],
            ),
            (
                "/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution",
                json!([{"weight": 1, "podAffinityTerm": {"topologyKey": "a"}}]),
                &[
                    "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod",
                ],
            ),
        ],
    );
}

pub fn containers_say_things_twice() {
    let env = |second: Tree| json!([{"name": "A", "value": "1"}, second]);
    let hides = r#"spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply"#;
    let port = |host_port: i32, host_ip: &str| json!({
        "containerPort": 80, "hostPort": host_port, "hostIP": host_ip,
    });
    check(
        "Pod",
        &pod(),
        vec![
            ("/spec/containers/0/env", env(json!({"name": "A", "value": "2"})), &[hides]),
            ("/spec/containers/0/env", env(json!({"name": "A", "value": "$(A)"})), &[hides]),
            ("/spec/containers/0/env", env(json!({"name": "A", "value": "$(A)2"})), &[]),
            (
                "/spec/containers/0/env",
                env(json!({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})),
                &[hides],
            ),
            (
                "/spec/containers/0/ports",
                json!([
                    {"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}, {"containerPort": 80},
                ]),
                &["spec.containers[0].ports[2]: duplicate port definition with spec.containers[0].ports[0]"],
            ),
            (
                "/spec/containers/0/ports",
                json!([port(0, ""), port(8080, "")]),
                &[
                    "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
                ],
            ),
            (
                "/spec/containers/0/ports",
                json!([port(8080, "127.0.0.1"), port(8080, "")]),
                &[
                    "spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]",
                ],
            ),
            (
                "/spec/containers/1/ports",
                json!([{"containerPort": 80, "name": "w", "hostIP": "127.0.0.1"}]),
                &[
                    "spec.containers[1].ports[0]: hostIP set without hostPort: {Name:w HostPort:0 ContainerPort:80 Protocol:TCP HostIP:127.0.0.1}",
                ],
            ),
            (
                "/spec/initContainers/0/resources",
                json!({"limits": {"memory": "1500m"}, "requests": {"memory": "100m", "cpu": "100m"}}),
                &[
                    r#"spec.initContainers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer"#,
                    r#"spec.initContainers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer"#,
                ],
            ),
            (
                "/spec/overhead",
                json!({"ephemeral-storage": "1m"}),
                &[
                    r#"spec.overhead[ephemeral-storage]: fractional byte value "1m" is invalid, must be an integer"#,
                ],
            ),
            (
                "/spec/imagePullSecrets",
                json!([{"name": "a"}, {"name": "a"}]),
                &[r#"spec.imagePullSecrets[1].name: duplicate name "a""#],
            ),
            (
                "/spec/hostAliases",
                json!([{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]),
                &[r#"spec.hostAliases[1].ip: duplicate ip "10.0.0.1""#],
            ),
        ],
    );
}

pub fn annotations_that_became_fields() {
    let critical = "scheduler.alpha.kubernetes.io/critical-pod";
    let seccomp = "container.seccomp.security.alpha.kubernetes.io/c";
    let app_armor = "container.apparmor.security.beta.kubernetes.io/c";
    check(
        "Pod",
        &pod(),
        vec![
            (
                "/metadata/annotations",
                json!({critical: ""}),
                &[
                    r#"metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead"#,
                ],
            ),
            (
                "/metadata/annotations",
                json!({
                    seccomp: "unconfined", app_armor: "unconfined",
                    "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
                }),
                &[
                    r#"metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead"#,
                    r#"metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead"#,
                    r#"metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in v1.27+; use the "seccompProfile" field instead"#,
                ],
            ),
        ],
    );
    let set = json!({
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x:1"}]},
            },
        },
    });
    check(
        "DaemonSet",
        &set,
        vec![
            (
                "/spec/template/metadata/annotations",
                json!({app_armor: "unconfined"}),
                &[
                    r#"spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead"#,
                ],
            ),
            (
                "/spec/template/spec/terminationGracePeriodSeconds",
                json!(-1),
                &[
                    "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
                ],
            ),
            (
                "/spec/template/spec/nodeSelector",
                json!({"beta.kubernetes.io/arch": "x"}),
                &[
                    r#"spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead"#,
                ],
            ),
        ],
    );
}

pub fn volumes_of_pods() {
    let volume = |source: &str, value: Tree| json!([{"name": "v", source: value}]);
    let items =
        |paths: &[&str]| paths.iter().map(|path| json!({"key": "k", "path": path})).collect::<Vec<_>>();
    let claim = json!({"volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1m"}},
    }}});
    check(
        "Pod",
        &pod(),
        vec![
            (
                "/spec/volumes",
                volume("gitRepo", json!({"repository": "r"})),
                &["spec.volumes[0].gitRepo: deprecated in v1.11"],
            ),
            (
                "/spec/volumes",
                volume("cephfs", json!({"monitors": ["m"]})),
                &["spec.volumes[0].cephfs: deprecated in v1.28, non-functional in v1.31+"],
            ),
            (
                "/spec/volumes",
                volume("storageos", json!({"volumeName": "v"})),
                &["spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+"],
            ),
            (
                "/spec/volumes",
                volume("ephemeral", claim),
                &[
                    r#"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "1m" is invalid, must be an integer"#,
                ],
            ),
            (
                "/spec/volumes",
                volume("configMap", json!({"name": "m", "items": items(&["a", "a/b", "c"])})),
                &[r#"volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a""#],
            ),
            (
                "/spec/volumes",
                volume(
                    "projected",
                    json!({"sources": [
                        {"configMap": {"name": "m", "items": items(&["a"])}},
                        {"secret": {"name": "s", "items": items(&["a/b"])}},
                    ]}),
                ),
                &[
                    r#"volume "v" (Projected): overlapping paths: "a/b" (Secret "s") with "a" (ConfigMap "m")"#,
                ],
            ),
        ],
    );
    let with_account = with(&pod(), "/spec/serviceAccountName", json!("s"));
    let tokens = json!({"sources": [
        {"serviceAccountToken": {"path": "a"}}, {"serviceAccountToken": {"path": "a"}},
    ]});
    check(
        "Pod",
        &with_account,
        vec![(
            "/spec/volumes",
            volume("projected", tokens),
            &[
                r#"volume "v" (Projected): overlapping paths: "a" (ServiceAccountToken) with "a" (ServiceAccountToken)"#,
            ],
        )],
    );
}

pub fn storage() {
    let volume = json!({"metadata": {"name": "v"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "nfs": {"server": "s", "path": "/p"},
    }});
    check(
        "PersistentVolume",
        &volume,
        vec![
            (
                "/spec/persistentVolumeReclaimPolicy",
                json!("Recycle"),
                &[
                    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
                ],
            ),
            (
                "/metadata/annotations",
                json!({
                    "volume.beta.kubernetes.io/storage-class": "a",
                    "volume.beta.kubernetes.io/mount-options": "b",
                }),
                &[
                    r#"metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead"#,
                    r#"metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead"#,
                ],
            ),
            (
                "/spec/nodeAffinity/required/nodeSelectorTerms",
                json!([{"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "Exists"}]}]),
                &[
                    r#"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead"#,
                ],
            ),
        ],
    );
    let claim = json!({"metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    check(
        "PersistentVolumeClaim",
        &claim,
        vec![
            (
                "/spec/resources",
                json!({"requests": {"storage": "1500m"}, "limits": {"storage": "2500m"}}),
                &[
                    r#"spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer"#,
                    r#"spec.resources.limits[storage]: fractional byte value "2500m" is invalid, must be an integer"#,
                ],
            ),
            (
                "/metadata/annotations",
                json!({"volume.beta.kubernetes.io/storage-class": "a"}),
                &[
                    r#"metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead"#,
                ],
            ),
        ],
    );
    let class = json!({"metadata": {"name": "c"}, "provisioner": "p"});
    check(
        "StorageClass",
        &class,
        vec![(
            "/allowedTopologies",
            json!([
                {
                    "matchLabelExpressions": [
                        {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]},
                    ],
                },
            ]),
            &[
                r#"allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#,
            ],
        )],
    );
}

pub fn secrets_and_nodes() {
    let pem = "LS0tLS1CRUdJTiBYLS0tLS0K";
    let secret = json!({
        "metadata": {"name": "s"}, "type": "kubernetes.io/tls", "data": {"tls.crt": pem, "tls.key": pem},
    });
    check(
        "Secret",
        &secret,
        vec![
            ("/data/tls.crt", json!("Yw=="), &["tls: failed to find any PEM data in certificate input"]),
            ("/data/tls.key", json!(""), &["tls: failed to find any PEM data in key input"]),
        ],
    );
    let node = json!({"metadata": {"name": "n"}});
    check(
        "Node",
        &node,
        vec![
            // It is dropped.
            (
                "/spec/configSource",
                json!({"configMap": {"name": "c", "namespace": "n", "kubeletConfigKey": "k"}}),
                &[],
            ),
            ("/spec/externalID", json!("x"), &["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
        ],
    );
}
