//! Causes: at which place and in which order several faults of one object are told, and which are told only
//! together.

use crate::ask::{errors, status_errors, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

/// What is wrong, by fields alone.
fn fields(errors: &[String]) -> Vec<&str> {
    errors.iter().map(|error| error.split(": ").next().unwrap_or_default()).collect()
}

fn pod() -> Tree {
    json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x:1"}]}})
}

/// Each object, and the fields of its causes in their order.
fn check(kind: &str, base: &Tree, cases: Vec<(&str, Tree, &[&str])>) {
    for (pointer, value, expected) in cases {
        let errors = errors(kind, &with(base, pointer, value.clone()));
        assert_eq!(fields(&errors), expected, "{pointer} {value}: {errors:#?}");
    }
}

pub fn of_pods_name_their_fields() {
    check(
        "Pod",
        &pod(),
        vec![
            (
                "/spec",
                json!({
                    "volumes": [
                        {
                            "name": "A",
                            "iscsi": {
                                "targetPortal": "", "iqn": "x", "lun": 256, "initiatorName": "y",
                                "chapAuthSession": true,
                            },
                        },
                        {"name": "v", "gcePersistentDisk": {}},
                        {"name": "w", "emptyDir": {}, "cephfs": {}, "downwardAPI": {"items": [{"path": ""}]}},
                        {
                            "name": "x",
                            "configMap": {
                                "name": "", "defaultMode": 1000, "items": [{"key": "", "path": "p"}],
                            },
                        },
                    ],
                    "containers": [{
                        "name": "C", "image": "", "imagePullPolicy": "x", "terminationMessagePolicy": "y",
                        "ports": [{"containerPort": 0, "name": "P", "protocol": "Z"}],
                        "envFrom": [{}],
                        "volumeMounts": [{"name": "v", "mountPath": "/v", "mountPropagation": "Up"}],
                        "securityContext": {
                            "windowsOptions": {"runAsUserName": ""}, "runAsUser": -1, "procMount": "q",
                        },
                    }],
                    "restartPolicy": "r", "dnsPolicy": "d", "tolerations": [{"key": "a b"}], "hostname": "H",
                    "securityContext": {
                        "runAsUser": -1, "fsGroup": -1, "sysctls": [{"name": "A", "value": ""}],
                    },
                    "shareProcessNamespace": true, "hostPID": true,
                }),
                &[
                    "spec.volumes[0].iscsi.targetPortal",
                    "spec.volumes[0].iscsi.iqn",
                    "spec.volumes[0].iscsi.lun",
                    "spec.volumes[0].iscsi.secretRef",
                    "spec.volumes[0].iscsi.initiatorname",
                    "spec.volumes[0].name",
                    "spec.volumes[1].persistentDisk.pdName",
                    "spec.volumes[2].cephFS",
                    "spec.volumes[2].downwarAPI",
                    "spec.volumes[3].configMap.name",
                    "spec.volumes[3].configMap.defaultMode",
                    "spec.volumes[3].configMap.items[0].key",
                    "spec.containers[0].name",
                    "spec.containers[0].image",
                    "spec.containers[0].terminationMessagePolicy",
                    "spec.containers[0].ports[0].name",
                    "spec.containers[0].ports[0].name",
                    "spec.containers[0].ports[0].containerPort",
                    "spec.containers[0].ports[0].protocol",
                    "spec.containers[0].envFrom",
                    "spec.containers[0].volumeMounts.mountPropagation",
                    "spec.containers[0].volumeMounts[0].name",
                    "spec.containers[0].imagePullPolicy",
                    "spec.containers[0].securityContext.runAsUser",
                    "spec.containers[0].securityContext.procMount",
                    "spec.containers[0].securityContext.windowsOptions.runAsUserName",
                    "spec.restartPolicy",
                    "spec.dnsPolicy",
                    "spec.securityContext.fsGroup",
                    "spec.securityContext.runAsUser",
                    "spec.securityContext.shareProcessNamespace",
                    "spec.securityContext.sysctls[0].name",
                    "spec.hostname",
                    "spec.tolerations[0].key",
                ],
            ),
            ("/spec/os", json!({"name": "plan9"}), &["spec.os"]),
            ("/spec/os", json!({}), &["spec.os.name"]),
            (
                "/spec/schedulingGates",
                json!([{"name": "a b"}, {"name": "g"}, {"name": "g"}]),
                &["spec.schedulingGates[0]", "spec.schedulingGates[2]"],
            ),
            (
                "/spec/containers/0/resizePolicy",
                json!([{"resourceName": "disk", "restartPolicy": "NotRequired"}]),
                &["spec.containers[0].resizePolicy"],
            ),
            (
                "/spec/containers/0/livenessProbe",
                json!({"exec": {"command": ["x"]}, "httpGet": {"port": 0}}),
                &["spec.containers[0].livenessProbe.httpGet"],
            ),
            (
                "/spec/containers/0/resources",
                json!({"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}),
                &[
                    "spec.containers[0].resources.limits[hugepages-2Mi]",
                    "spec.containers[0].resources.requests[hugepages-2Mi]",
                ],
            ),
            (
                "/spec",
                json!({
                    "containers": [{"name": "c", "image": "x"}], "hostNetwork": true,
                    "securityContext": {
                        "sysctls": [
                            {"name": "net/ipv4/x", "value": "1"}, {"name": "kernel.shmmax", "value": "1"},
                        ],
                    },
                }),
                &["spec.securityContext.sysctls[0].name"],
            ),
            (
                "/spec/volumes",
                json!([
                    {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {
                        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}}}},
                    {"name": "w", "persistentVolumeClaim": {"claimName": "p-v"}},
                ]),
                &["spec.volumes[1].persistentVolumeClaim.claimName"],
            ),
            (
                "/spec/affinity",
                json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "preference": {
                            "matchExpressions": [{"key": "k", "operator": "In", "values": ["a b"]}],
                        },
                    },
                ]}}),
                &[],
            ),
        ],
    );
}

pub fn of_annotations_are_told_of_pods_and_templates() {
    let domain = "kubernetes.io";
    let annotations = json!({
        (format!("controller.{domain}/pod-deletion-cost")): "+5",
        (format!("{domain}/config.mirror")): "m",
        (format!("seccomp.security.alpha.{domain}/pod")): "x",
        (format!("container.apparmor.security.beta.{domain}/c")): "x",
        (format!("container.apparmor.security.beta.{domain}/d")): "unconfined",
    });
    let expected = |at: &str| {
        [
            format!(r#"{at}[{domain}/config.mirror]: Invalid value: "m": must set spec.nodeName if mirror pod annotation is set"#),
            format!(r#"{at}[controller.{domain}/pod-deletion-cost]: Invalid value: "+5": must be a 32bit integer"#),
            format!(r#"{at}.seccomp.security.alpha.{domain}/pod: Invalid value: "x": must be a valid seccomp profile"#),
            format!(
                r#"{at}[container.apparmor.security.beta.{domain}/c]: Invalid value: "x": invalid AppArmor profile name: "x""#
            ),
            format!(r#"{at}[container.apparmor.security.beta.{domain}/d]: Invalid value: "d": container not found"#),
        ]
    };
    let annotated = with(&pod(), "/metadata/annotations", annotations.clone());
    assert_eq!(errors("Pod", &annotated), expected("metadata.annotations"));
    let set = json!({
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}, "annotations": annotations},
                "spec": {"containers": [{"name": "c", "image": "x:1"}]},
            },
        },
    });
    assert_eq!(errors("DaemonSet", &set), expected("spec.template.annotations"));
    let key = format!("container.apparmor.security.beta.{domain}/c");
    let confined = with(
        &with(&pod(), "/metadata/annotations", json!({&key: "unconfined"})),
        "/spec/containers/0/securityContext",
        json!({"appArmorProfile": {"type": "RuntimeDefault"}}),
    );
    assert_eq!(
        errors("Pod", &confined),
        [
            "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match"
        ]
    );
    let confined = with(&set, "/spec/template", json!({
        "metadata": {"labels": {"a": "b"}, "annotations": {&key: "unconfined"}},
        "spec": {"containers": [{
            "name": "c", "image": "x:1", "securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}},
        }]},
    }));
    assert_eq!(
        errors("DaemonSet", &confined),
        [
            "spec.template.spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and \
             field must match"
        ]
    );
    let later = with(&pod(), "/metadata/annotations", json!({&key: "unconfined"}));
    assert_eq!(
        update_errors("Pod", &pod(), &later),
        [format!("metadata.annotations[{key}]: Forbidden: may not add AppArmor annotations")]
    );
    let placed = with(&pod(), "/spec/nodeName", json!("n"));
    let mirror = format!("{domain}/config.mirror");
    // The server adds the field to what has the annotation alone.
    let field = json!({"appArmorProfile": {"type": "Unconfined"}});
    let confined = with(&placed, "/spec/containers/0/securityContext", field);
    for (key, what, base) in
        [(key, "AppArmor annotations", &confined), (mirror, "mirror pod annotation", &placed)]
    {
        let annotated = |base: &Tree, value: &str| with(base, "/metadata/annotations", json!({&key: value}));
        let (one, other) = (annotated(base, "unconfined"), annotated(base, "runtime/default"));
        let refused = |what_for: &str| {
            vec![format!("metadata.annotations[{key}]: Forbidden: may not {what_for} {what}")]
        };
        assert_eq!(update_errors("Pod", &placed, &annotated(&placed, "unconfined")), refused("add"));
        assert_eq!(update_errors("Pod", &one, &other), refused("remove or update"));
        assert_eq!(update_errors("Pod", &one, base), refused("remove or update"));
        assert_eq!(update_errors("Pod", &one, &one), [""; 0]);
    }
}

pub fn of_what_is_told_about_pods() {
    let told = |status: Tree| {
        let errors = status_errors("Pod", &pod(), &with(&pod(), "/status", status));
        fields(&errors).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for (status, expected) in [
        (json!({
            "phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
        }), vec![]),
        (json!({"qosClass": "Guaranteed"}), vec!["status.qosClass"]),
        (json!({"nominatedNodeName": "A_"}), vec!["status.nominatedNodeName"]),
        (json!({"conditions": [{"type": "a b", "status": "True"}]}), vec!["metadata.conditions[0].Type"]),
        (
            json!({"podIPs": [{"ip": "x"}, {"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]}),
            vec!["status.podIPs[0]", "status.podIPs", "status.podIPs[2]"],
        ),
        (json!({"hostIPs": [{"ip": "10.0.0.1"}]}), vec!["status.hostIPs[0].ip"]),
        (
            json!({"hostIP": "x", "hostIPs": [{"ip": "x"}, {"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]}),
            vec!["status.hostIPs[0]", "status.hostIPs[2]", "status.hostIPs"],
        ),
    ] {
        // The class follows from the requests.
        let mut status = status;
        if status.get("qosClass").is_none() {
            status["qosClass"] = "BestEffort".into();
        }
        assert_eq!(told(status.clone()), expected, "{status}");
    }
    let claims = |statuses: Tree| {
        let claiming = with(&pod(), "/spec/resourceClaims", json!([{"name": "x", "resourceClaimName": "y"}]));
        let status = json!({"qosClass": "BestEffort", "resourceClaimStatuses": statuses});
        status_errors("Pod", &claiming, &with(&claiming, "/status", status))
    };
    assert_eq!(claims(json!([{"name": "x", "resourceClaimName": "y"}])), [""; 0]);
    let at = |index: usize| format!("status.resourceClaimStatuses[{index}].name");
    let unknown = "must match the name of an entry in `spec.resourceClaims`";
    let wrong = claims(json!([{"name": "x"}, {"name": "z"}, {"name": "x", "resourceClaimName": "A"}]));
    assert_eq!(wrong[..2], [
        format!("{}: Invalid value: \"z\": {unknown}", at(1)),
        format!("{}: Duplicate value: \"x\"", at(2)),
    ]);
    let third = format!("{}: Invalid value: \"A\"", at(2));
    assert!(wrong.len() == 3 && wrong[2].starts_with(&third), "{wrong:?}");
    let once = with(&pod(), "/spec/restartPolicy", json!("Never"));
    let state = |state: Tree| {
        json!({"qosClass": "BestEffort", "containerStatuses": [
            {"name": "c", "state": state, "image": "x", "imageID": "", "ready": false, "restartCount": 0},
        ]})
    };
    let ended = with(&once, "/status", state(json!({"terminated": {"exitCode": 0}})));
    let runs = with(&once, "/status", state(json!({"running": {}})));
    assert_eq!(
        status_errors("Pod", &ended, &runs),
        ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]
    );
}

pub fn of_volumes_and_claims() {
    let volume = json!({"metadata": {"name": "v"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"},
    }});
    check(
        "PersistentVolume",
        &volume,
        vec![
            (
                "/spec",
                json!({
                    "accessModes": ["ReadWriteOncePod", "x"], "capacity": {"storage": "-1"},
                    "storageClassName": "A_",
                    "volumeMode": "y", "persistentVolumeReclaimPolicy": "z", "nodeAffinity": {},
                    "local": {"path": ""},
                }),
                &[
                    "spec.accessModes",
                    "spec.capacity[storage]",
                    "spec.capacity[storage]",
                    "spec.persistentVolumeReclaimPolicy",
                    "spec.nodeAffinity.required",
                    "spec.local.path",
                    "spec.storageClassName",
                    "spec.volumeMode",
                ],
            ),
            ("/spec/cephfs", json!({}), &["spec.cephFS"]),
            ("/spec/flexVolume", json!({}), &["spec.flexVolume.driver"]),
            (
                "/spec",
                json!({
                    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"},
                    "csi": {"driver": "", "controllerExpandSecretRef": {"name": "A_", "namespace": "a.b"}},
                }),
                &[
                    "spec.csi.driver",
                    "spec.csi.driver",
                    "spec.csi.volumeHandle",
                    "spec.csi.controllerExpandSecretRef.name",
                    "spec.csi.controllerExpandSecretRef.namespace",
                ],
            ),
            (
                "/spec",
                json!({
                    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"},
                    "quobyte": {"registry": "a,b", "volume": "v"},
                }),
                &["spec.quobyte.registry", "spec.quobyte.registry"],
            ),
            (
                "/spec",
                json!({
                    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"},
                    "gcePersistentDisk": {"partition": 256},
                }),
                &["spec.persistentDisk.pdName", "spec.persistentDisk.partition"],
            ),
        ],
    );
    let claim = json!({"metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    check(
        "PersistentVolumeClaim",
        &claim,
        vec![(
            "/spec",
            json!({
                "selector": {"matchLabels": {"a b": "c"}}, "storageClassName": "A_", "volumeMode": "x",
                "dataSourceRef": {"kind": "", "name": ""},
            }),
            &[
                "spec.accessModes",
                "spec.selector.matchLabels",
                "spec.resources[storage]",
                "spec.storageClassName",
                "spec.volumeMode",
                "spec.dataSource.name",
                "spec.dataSource.kind",
                "spec.dataSource",
                "spec.dataSourceRef.name",
                "spec.dataSourceRef.kind",
                "spec.dataSourceRef",
            ],
        )],
    );
    let class = with(&claim, "/metadata/annotations", json!({
        "volume.beta.kubernetes.io/storage-class": "s",
    }));
    assert_eq!(
        fields(&update_errors("PersistentVolumeClaim", &claim, &class)),
        ["metadata.annotations.volume.beta.kubernetes.io/storage-class"]
    );
    assert_eq!(
        update_errors("PersistentVolumeClaim", &class, &with(&class, "/spec/storageClassName", json!("s"))),
        [""; 0]
    );
    let status = json!({
        "capacity": {"storage": "-1"}, "allocatedResources": {"cpu": "1", "storage": "-1"},
        "allocatedResourceStatuses": {"example.com/x": "Later", "storage": "NodeResizePending"},
    });
    assert_eq!(
        fields(&status_errors("PersistentVolumeClaim", &claim, &with(&claim, "/status", status))),
        [
            "status.capacity[storage]",
            "status.allocatedResourceStatus",
            "status.allocatedResources",
            "status.allocatedResources[storage]",
        ]
    );
    let status = json!({"allocatedResourceStatuses": {"storage": "Later"}});
    assert_eq!(
        status_errors("PersistentVolumeClaim", &claim, &with(&claim, "/status", status)),
        [r#"status.allocatedResourceStatus: Unsupported value: storage: supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending""#]
    );
    let status = json!({"allocatedResourceStatuses": {"a b": "NodeResizePending"}});
    let errors = status_errors("PersistentVolumeClaim", &claim, &with(&claim, "/status", status));
    assert!(errors[0].starts_with(r#"status.allocatedResourceStatus: Invalid value: "a b": name part"#), "{errors:?}");
}

pub fn of_services() {
    let service = json!({
        "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}},
    });
    check(
        "Service",
        &service,
        vec![
            ("/spec/selector", json!({"a b": "c d"}), &["spec.selector", "spec.selector"]),
            (
                "/spec/loadBalancerSourceRanges",
                json!(["x"]),
                &["spec.LoadBalancerSourceRanges", "spec.LoadBalancerSourceRanges[0]"],
            ),
            ("/spec/ipFamilies", json!(["IPv4", "IPv4"]), &["spec.ipFamilies[1]"]),
            ("/spec/trafficDistribution", json!("Nearby"), &["spec.trafficDistribution"]),
            (
                "/spec",
                json!({
                    "type": "ExternalName", "externalName": "A_", "clusterIP": "10.0.0.1",
                    "ipFamilies": ["IPv4"],
                    "ipFamilyPolicy": "SingleStack",
                }),
                &["spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy", "spec.externalName"],
            ),
            (
                "/spec",
                json!({
                    "ports": [{"port": 0, "name": "A", "protocol": "x"}, {"port": 81}],
                    "sessionAffinity": "y",
                    "type": "z", "internalTrafficPolicy": "w",
                }),
                &[
                    "spec.ports[0].name",
                    "spec.ports[0].port",
                    "spec.ports[0].protocol",
                    "spec.ports[0].targetPort",
                    "spec.ports[1].name",
                    "spec.sessionAffinity",
                    "spec.type",
                    "spec.internalTrafficPolicy",
                ],
            ),
        ],
    );
    let outside = with(&service, "/spec/type", json!("LoadBalancer"));
    for kind in ["ClusterIP", "NodePort"] {
        let changed = with(&outside, "/spec/type", json!(kind));
        assert_eq!(update_errors("Service", &outside, &changed), [""; 0], "{kind}");
    }
    let ingress = |ingress: Tree| json!({"loadBalancer": {"ingress": [ingress]}});
    for (base, told, expected) in [
        (&outside, json!({"ip": "10.0.0.1"}), vec![]),
        (&outside, json!({"ip": "10.0.0.1", "ipMode": "x"}), vec!["status.loadBalancer.ingress[0].ipMode"]),
        (&outside, json!({"ipMode": "VIP"}), vec!["status.loadBalancer.ingress[0].ipMode"]),
        (&outside, json!({"hostname": "1.2.3.4"}), vec!["status.loadBalancer.ingress[0].hostname"]),
    ] {
        let errors = status_errors("Service", base, &with(base, "/status", ingress(told.clone())));
        assert_eq!(fields(&errors), expected, "{told}");
    }
}

pub fn of_daemon_sets_and_others() {
    let set = json!({
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": " x"}]},
            },
        },
    });
    check(
        "DaemonSet",
        &set,
        vec![
            ("/metadata/name", json!("d"), &[]),
            (
                "/spec/template/metadata/labels",
                json!({"a b": "c"}),
                &["spec.template.metadata.labels", "spec.template.labels"],
            ),
            ("/spec/template/metadata/annotations", json!({"a b": "c"}), &["spec.template.annotations"]),
            (
                "/spec/template/metadata/annotations",
                json!({"a": "v".repeat(256 * 1024)}),
                &["spec.template.annotations"],
            ),
            (
                "/spec/template/spec/volumes",
                json!([{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]),
                &[],
            ),
            (
                "/spec/updateStrategy",
                json!({"type": "OnDelete", "rollingUpdate": {"maxUnavailable": 0}}),
                &[],
            ),
            (
                "/spec",
                json!({
                    "selector": {"matchLabels": {"a": "b"}}, "minReadySeconds": -1,
                    "revisionHistoryLimit": -1,
                    "updateStrategy": {"type": "x"},
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Never"}},
                }),
                &[
                    "spec.template.spec.containers",
                    "spec.template.spec.restartPolicy",
                    "spec.minReadySeconds",
                    "spec.updateStrategy",
                    "spec.revisionHistoryLimit",
                ],
            ),
        ],
    );
    let binding = json!({
        "metadata": {"name": "b"}, "roleRef": {"kind": "x", "name": "", "apiGroup": "y"},
        "subjects": [{"kind": "User", "name": "", "apiGroup": "z"}, {"kind": "", "name": ""}],
    });
    assert_eq!(
        fields(&errors("RoleBinding", &binding)),
        [
            "roleRef.apiGroup",
            "roleRef.kind",
            "roleRef.name",
            "subjects[0].name",
            "subjects[0].apiGroup",
            "subjects[1].name",
            "subjects[1].kind",
        ]
    );
    let condition = json!({"conditions": [{
        "type": "a b", "status": "Maybe", "lastTransitionTime": null, "reason": "", "message": "",
    }]});
    let budget = json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1}});
    assert_eq!(
        fields(&status_errors("PodDisruptionBudget", &budget, &with(&budget, "/status", condition))),
        [
            "status.conditions[0].type",
            "status.conditions[0].status",
            "status.conditions[0].lastTransitionTime",
            "status.conditions[0].reason",
        ]
    );
    let schema = json!({"metadata": {"name": "f"}, "spec": {
        "matchingPrecedence": 0, "priorityLevelConfiguration": {"name": ""},
        "distinguisherMethod": {"type": ""},
    }});
    assert_eq!(
        fields(&errors("FlowSchema", &with(&schema, "/spec/matchingPrecedence", json!(-1)))),
        ["spec.matchingPrecedence", "spec.distinguisherMethod.type", "spec.priorityLevelConfiguration.name"]
    );
    let ranges = json!({"spec": {"podCIDRs": ["10.0.0.0/8", "10.0.0.0/8"]}});
    assert_eq!(fields(&errors("Node", &ranges)), ["spec.podCIDRs", "spec.podCIDRs[1]"]);
    let address = json!({"type": "InternalIP", "address": "a"});
    let node = json!({"status": {"addresses": [address, address]}});
    assert_eq!(
        fields(&status_errors("Node", &json!({}), &node)),
        ["status.addresses[1]"]
    );
    assert_eq!(
        fields(&status_errors("Node", &json!({}), &json!({"status": {"capacity": {"pods": "1.5"}}}))),
        ["status.capacity.pods", "status.allocatable.pods"]
    );
}
