//! Rules that hold under conditions, and those of formats and sizes, that no table of a kind breaks: each is
//! broken once.

use crate::ask::{errors, with};
use orch_runtime::Tree;
use serde_json::json;

/// Puts one value into a correct object, and compares how the errors begin.
fn check(kind: &str, base: &Tree, cases: Vec<(&str, Tree, &str)>) {
    assert_eq!(errors(kind, base), [""; 0]);
    for (pointer, value, expected) in cases {
        let found = errors(kind, &with(base, pointer, value.clone()));
        let is_it = found.len() == 1 && found[0].starts_with(expected);
        assert!(is_it, "{kind} {pointer} {value}: {found:#?}, expected {expected}");
    }
}

fn pod() -> Tree {
    json!({"spec": {"serviceAccountName": "s", "containers": [{"name": "c", "image": "x:1"}]}})
}

pub fn of_profiles() {
    let armor = "spec.securityContext.appArmorProfile.localhostProfile";
    let seccomp = "spec.securityContext.seccompProfile.localhostProfile";
    let needed = format!("{armor}: Required value: must be set when AppArmor type is Localhost");
    let (pointer, other) = ("/spec/securityContext/appArmorProfile", "/spec/securityContext/seccompProfile");
    check(
        "Pod",
        &pod(),
        vec![
            (pointer, json!({"type": "Localhost"}), &needed),
            (pointer, json!({"type": "Localhost", "localhostProfile": ""}), &needed),
            (
                pointer,
                json!({"type": "Localhost", "localhostProfile": " x"}),
                &format!("{armor}: Invalid value: \" x\": must not be padded with whitespace"),
            ),
            (
                pointer,
                json!({"type": "Localhost", "localhostProfile": "x".repeat(4096)}),
                &format!("{armor}: Too long: may not be more than 4095 bytes"),
            ),
            (
                pointer,
                json!({"type": "Unconfined", "localhostProfile": "x"}),
                &format!("{armor}: Invalid value: \"x\": can only be set when AppArmor type is Localhost"),
            ),
            (
                other,
                json!({"type": "Localhost", "localhostProfile": "/x"}),
                &format!("{seccomp}: Invalid value: \"/x\": must be a relative path"),
            ),
            (
                other,
                json!({"type": "Unconfined", "localhostProfile": "x"}),
                &format!("{seccomp}: Invalid value: \"x\": can only be set when seccomp type is Localhost"),
            ),
            (
                "/spec/containers/0/securityContext",
                json!({"allowPrivilegeEscalation": false, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}),
                "spec.containers[0].securityContext: Invalid value: {",
            ),
        ],
    );
}

pub fn of_containers_and_names() {
    check(
        "Pod",
        &pod(),
        vec![
            (
                "/spec/containers/0/ports",
                json!([{"containerPort": -1}]),
                "spec.containers[0].ports[0].containerPort: Invalid value: -1: must be between",
            ),
            (
                "/spec/containers/0/ports",
                json!([{"containerPort": 1, "hostPort": -1}]),
                "spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between",
            ),
            (
                "/spec/containers/0/envFrom",
                json!([{"configMapRef": {"name": "a"}, "secretRef": {"name": "b"}}]),
                "spec.containers[0].envFrom: Invalid value: \"\": may not have more than one field",
            ),
            (
                "/spec/dnsConfig",
                json!({"nameservers": ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]}),
                "spec.dnsConfig.nameservers: Invalid value: []string{\"1.1.1.1\",",
            ),
            (
                "/spec/dnsConfig",
                json!({"searches": vec!["a.b"; 33]}),
                "spec.dnsConfig.searches: Invalid value: []string{\"a.b\",",
            ),
        ],
    );
}

pub fn of_nodes_and_neighbours() {
    let wanted = "requiredDuringSchedulingIgnoredDuringExecution";
    let nodes = format!("/spec/affinity/nodeAffinity/{wanted}");
    let terms = format!("spec.affinity.nodeAffinity.{wanted}.nodeSelectorTerms[0]");
    let field = |values: Tree| {
        json!({"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": values}]},
        ]})
    };
    let pods = format!("/spec/affinity/podAffinity/{wanted}");
    let term = |changes: Tree| {
        let mut term = json!({"topologyKey": "zone", "labelSelector": {}});
        for (key, value) in changes.as_object().unwrap() {
            term[key] = value.clone();
        }
        json!([term])
    };
    let at = format!("spec.affinity.podAffinity.{wanted}[0]");
    let bad = json!({"matchLabels": {"a": "b c"}});
    let spread = |changes: Tree| {
        let mut spread = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
        spread["labelSelector"] = json!({"matchLabels": {"a": "b"}});
        for (key, value) in changes.as_object().unwrap() {
            spread[key] = value.clone();
        }
        json!([spread])
    };
    let (spreads, spread_at) = ("/spec/topologySpreadConstraints", "spec.topologySpreadConstraints[0]");
    check(
        "Pod",
        &pod(),
        vec![
            (&nodes, field(json!([])), &format!("{terms}.matchFields[0].values: Required value: must be only")),
            (&nodes, field(json!(["a", "b"])), &format!("{terms}.matchFields[0].values: Required value")),
            (&nodes, field(json!(["A_"])), &format!("{terms}.matchFields[0].values[0]: Invalid value")),
            (
                &pods,
                term(json!({"matchLabelKeys": ["a b"]})),
                &format!("{at}.matchLabelKeys[0]: Invalid value: \"a b\""),
            ),
            (
                &pods,
                term(json!({"mismatchLabelKeys": ["a b"]})),
                &format!("{at}.mismatchLabelKeys[0]: Invalid value: \"a b\""),
            ),
            (
                &pods,
                term(json!({"matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"]})),
                &format!("{at}.matchLabelKeys[0]: Invalid value: \"a\": exists in both"),
            ),
            (
                &pods,
                term(json!({"labelSelector": {"matchLabels": {"a": "b"}, "matchExpressions": [
                    {"key": "a", "operator": "Exists"},
                ]}, "matchLabelKeys": ["b", "a"]})),
                &format!("{at}[1]: Invalid value: \"a\": exists in both matchLabelKeys and labelSelector"),
            ),
            (&pods, term(json!({"labelSelector": bad})), &format!("{at}.labelSelector.matchLabels: Invalid")),
            (
                &pods,
                term(json!({"namespaceSelector": bad})),
                &format!("{at}.namespaceSelector.matchLabels: Invalid value"),
            ),
            (
                spreads,
                spread(json!({"matchLabelKeys": ["b c"]})),
                &format!("{spread_at}.matchLabelKeys[0]: Invalid value: \"b c\""),
            ),
            (
                spreads,
                spread(json!({"matchLabelKeys": ["a"]})),
                &format!("{spread_at}.matchLabelKeys[0]: Invalid value: \"a\": exists in both"),
            ),
            (
                spreads,
                spread(json!({"labelSelector": bad})),
                &format!("{spread_at}.labelSelector.matchLabels: Invalid value"),
            ),
            (
                "/spec/tolerations",
                json!([{"key": "k", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}]),
                "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute'",
            ),
        ],
    );
    let keys_alone = spread(json!({"labelSelector": null, "matchLabelKeys": ["b c"]}));
    let found = errors("Pod", &with(&pod(), spreads, keys_alone));
    let expected = [
        format!("{spread_at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"),
        format!("{spread_at}.matchLabelKeys[0]: Invalid value: \"b c\": name part must consist of"),
    ];
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.iter().zip(&expected).all(|(found, expected)| found.starts_with(expected)), "{found:#?}");
}

pub fn of_volumes() {
    let volume = |source: &str, fields: Tree| json!([{"name": "v", source: fields}]);
    check(
        "Pod",
        &pod(),
        vec![
            (
                "/spec/volumes",
                volume("quobyte", json!({"registry": "r:1", "volume": "v", "tenant": "t".repeat(65)})),
                "spec.volumes[0].quobyte.tenant: Required value: must be a UUID",
            ),
            (
                "/spec/volumes",
                volume("azureDisk", json!({"diskName": "d", "diskURI": "x"})),
                "spec.volumes[0].azureDisk.diskURI: Unsupported value: \"x\": supported values: \"https://",
            ),
            (
                "/spec/volumes",
                volume("csi", json!({"driver": "d".repeat(64)})),
                "spec.volumes[0].csi.driver: Too long: may not be more than 63 bytes",
            ),
        ],
    );
    let base = json!({"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "h"},
    }});
    let other = with(&with(&base, "/spec/csi", Tree::Null), "/spec/storageos", json!({"volumeName": "v"}));
    check(
        "PersistentVolume",
        &base,
        vec![
            ("/spec/csi/driver", json!("d".repeat(64)), "spec.csi.driver: Too long"),
            (
                "/spec/volumeAttributesClassName",
                json!("A"),
                "spec.volumeAttributesClassName: Invalid value: \"A\": a lowercase",
            ),
        ],
    );
    check(
        "PersistentVolume",
        &other,
        vec![(
            "/spec/storageos/volumeNamespace",
            json!("A"),
            "spec.storageos.volumeNamespace: Invalid value: \"A\": a lowercase",
        )],
    );
}

pub fn of_services_and_leases() {
    let base = json!({"spec": {"type": "LoadBalancer", "ports": [{"port": 80, "targetPort": 80}]}});
    let affinity = json!({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}});
    check(
        "Service",
        &with(&base, "/spec/sessionAffinity", json!("ClientIP")),
        vec![
            ("/spec/ports/0/appProtocol", json!("a b"), "spec.ports[0].appProtocol: Invalid value: \"a b\""),
            ("/spec/ports/0/port", json!(65536), "spec.ports[0].port: Invalid value: 65536: must be between"),
            ("/spec/ports/0/targetPort", json!("a--b"), "spec.ports[0].targetPort: Invalid value: \"a--b\""),
            (
                "/spec/sessionAffinityConfig",
                affinity["sessionAffinityConfig"].clone(),
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and",
            ),
            ("/spec/loadBalancerClass", json!("a b"), "spec.loadBalancerClass: Invalid value: \"a b\""),
        ],
    );
    check(
        "Lease",
        &json!({"spec": {}}),
        vec![("/spec/strategy", json!("a b/c"), "spec.strategy: Invalid value: \"a b/c\": prefix part")],
    );
}

pub fn of_flows() {
    let base = json!({"spec": {
        "priorityLevelConfiguration": {"name": "l"},
        "rules": [{
            "subjects": [{"kind": "User", "user": {"name": "u"}}],
            "resourceRules": [
                {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["a"]},
            ],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/"]}],
        }],
    }});
    let account = |name: &str, namespace: &str| json!({"name": name, "namespace": namespace});
    let subjects = "/spec/rules/0/subjects";
    let at = "spec.rules[0].subjects[0]";
    let alone = "if '*' is present, must not specify other";
    check(
        "FlowSchema",
        &base,
        vec![
            (
                "/spec/priorityLevelConfiguration/name",
                json!("A"),
                "spec.priorityLevelConfiguration.name: Invalid value: \"A\"",
            ),
            (
                "/spec/rules/0/nonResourceRules/0/nonResourceURLs",
                json!(["*", "/a"]),
                &format!(
                    "spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: []string{{\"*\", \"/a\"}}: {alone}"
                ),
            ),
            (
                "/spec/rules/0/resourceRules/0/apiGroups",
                json!(["*", "a"]),
                &format!("spec.rules[0].resourceRules[0].apiGroups: Invalid value: []string{{\"*\", \"a\"}}: {alone}"),
            ),
            (
                "/spec/rules/0/resourceRules/0/resources",
                json!(["*", "a"]),
                &format!("spec.rules[0].resourceRules[0].resources: Invalid value: []string{{\"*\", \"a\"}}: {alone}"),
            ),
            (
                subjects,
                json!([{"kind": "ServiceAccount", "serviceAccount": account("A", "n")}]),
                &format!("{at}.serviceAccount.name: Invalid value: \"A\""),
            ),
            (
                subjects,
                json!([{"kind": "ServiceAccount", "serviceAccount": account("s", "A")}]),
                &format!("{at}.serviceAccount.namespace: Invalid value: \"A\""),
            ),
            (
                subjects,
                json!([{"kind": "ServiceAccount"}]),
                &format!("{at}.serviceAccount: Required value: serviceAccount is required when"),
            ),
            (subjects, json!([{"kind": "Group"}]), &format!("{at}.group: Required value: group is required")),
            (
                subjects,
                json!([{"kind": "User", "user": {"name": "u"}, "serviceAccount": account("s", "n")}]),
                &format!("{at}.serviceAccount: Forbidden: serviceAccount is forbidden when"),
            ),
            (
                subjects,
                json!([{"kind": "Group", "group": {"name": "g"}, "user": {"name": "u"}}]),
                &format!("{at}.user: Forbidden: user is forbidden when"),
            ),
        ],
    );
    let level = json!({"spec": {
        "type": "Limited", "limited": {"limitResponse": {"type": "Reject"}, "lendablePercent": 0},
    }});
    let least = "spec.limited.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive";
    check("PriorityLevelConfiguration", &level, vec![("/spec/limited/lendablePercent", json!(-1), least)]);
    let class = json!({"provisioner": "p"});
    check(
        "StorageClass",
        &class,
        vec![("/provisioner", json!("a b"), "provisioner: Invalid value: \"a b\": name part")],
    );
    check(
        "CSIStorageCapacity",
        &json!({"storageClassName": "c"}),
        vec![(
            "/nodeTopology",
            json!({"matchLabels": {"a": "b c"}}),
            "nodeTopology.matchLabels: Invalid value: \"b c\"",
        )],
    );
}
