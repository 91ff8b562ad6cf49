//! Rules that schema files say in expressions or under conditions, and that no table of a kind breaks: each
//! is broken once.

use crate::ask::{errors, status_errors, warnings, with};
use orch_runtime::Tree;
use serde_json::json;

/// Puts one value into a correct object, and looks for a part of an error.
fn breaks(kind: &str, base: &Tree, cases: &[(&str, Tree, &str)]) {
    assert_eq!(errors(kind, base), [""; 0]);
    for (pointer, value, expected) in cases {
        let found = errors(kind, &with(base, pointer, value.clone()));
        assert!(found.iter().any(|error| error.contains(expected)), "{pointer} {value}: {found:#?}");
    }
}

fn pod() -> Tree {
    json!({"spec": {"serviceAccountName": "s", "containers": [{"name": "c", "image": "x:1"}]}})
}

pub fn about_files_of_volumes() {
    let source = |of: &str, source: Tree| json!([{"name": "v", "projected": {"sources": [{of: source}]}}]);
    let bundle = |bundle: Tree| source("clusterTrustBundle", bundle);
    let file = |file: Tree| json!([{"name": "v", "downwardAPI": {"items": [file]}}]);
    let at = "spec.volumes[0].projected.sources[0].clusterTrustBundle";
    let volumes = "/spec/volumes";
    let both = json!({
        "path": "p", "fieldRef": {"fieldPath": "metadata.name"},
        "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"},
    });
    breaks(
        "Pod",
        &pod(),
        &[
            (
                volumes,
                bundle(json!({"name": "a", "signerName": "b.c/d", "path": "p"})),
                &format!("{at}: Invalid value: \"\": only one of name and signerName may be used"),
            ),
            (
                volumes,
                bundle(json!({"path": "p"})),
                &format!("{at}: Required value: either name or signerName must be specified"),
            ),
            (
                volumes,
                bundle(json!({"name": "", "path": "p"})),
                &format!("{at}.name: Required value: must be a valid object name"),
            ),
            (
                volumes,
                bundle(json!({"signerName": "", "path": "p"})),
                &format!("{at}.signerName: Required value: must be a valid signer name"),
            ),
            (
                volumes,
                bundle(json!({"name": "a", "labelSelector": {}, "path": "p"})),
                &format!("{at}.labelSelector: Invalid value: \"\": labelSelector must be unset if name is"),
            ),
            (volumes, bundle(json!({"name": "a", "path": ""})), &format!("{at}.path: Required value")),
            (
                volumes,
                bundle(json!({"name": "a", "path": "../x"})),
                &format!("{at}.path: Invalid value: \"../x\": must not"),
            ),
            (
                volumes,
                file(json!({"path": "p", "fieldRef": {"fieldPath": "spec.x"}})),
                "spec.volumes[0].downwardAPI.fieldRef.fieldPath: Invalid value: \"spec.x\"",
            ),
            (
                volumes,
                json!([{"name": "v", "iscsi": {
                    "targetPortal": "p".repeat(63), "iqn": "iqn.2001-04.com.example:storage", "lun": 0,
                    "initiatorName": "iqn.2001-04.com.example:initiator",
                }}]),
                "spec.volumes[0].name: Invalid value: \"v\": Total length of <volume name>:<iscsi.targetPortal> must",
            ),
            (
                volumes,
                file(both),
                "spec.volumes[0].downwardAPI: Invalid value: \"resource\": fieldRef and resourceFieldRef can not be",
            ),
        ],
    );
}

pub fn about_parts_of_pods() {
    let variable = json!([{
        "name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
    }]);
    let label = "a".repeat(63);
    let domain = [label.as_str(), &label, &label].join(".");
    breaks(
        "Pod",
        &pod(),
        &[
            (
                "/spec/containers/0/env",
                variable,
                "env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
            ),
            (
                "/spec/dnsConfig",
                json!({"searches": vec![domain; 12]}),
                ": must not have more than 2048 characters (including spaces) in the search list",
            ),
            (
                "/spec/dnsConfig",
                json!({"searches": ["a.b.", "a_b."]}),
                "spec.dnsConfig.searches[1]: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain",
            ),
            (
                "/spec/containers/0/readinessProbe",
                json!({"tcpSocket": {"port": 80}, "terminationGracePeriodSeconds": 5}),
                "terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes",
            ),
        ],
    );
    let own_dns = with(
        &with(&pod(), "/spec/dnsConfig", json!({"nameservers": ["1.1.1.1"]})),
        "/spec/dnsPolicy",
        json!("None"),
    );
    breaks(
        "Pod",
        &own_dns,
        &[(
            "/spec/dnsConfig/nameservers",
            json!([]),
            "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy`",
        )],
    );
    breaks(
        "Pod",
        &with(&pod(), "/spec/hostIPC", json!(true)),
        &[(
            "/spec/securityContext",
            json!({"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}]}),
            "sysctls[0].name: Invalid value: \"kernel.shm_rmid_forced\": may not be specified when 'hostIPC' is true",
        )],
    );
}

pub fn about_addresses_of_services() {
    let base = json!({"spec": {"ports": [{"port": 80}]}});
    let ips =
        |first: &str, ips: &[&str]| json!({"ports": [{"port": 80}], "clusterIP": first, "clusterIPs": ips});
    breaks(
        "Service",
        &base,
        &[
            ("/spec", ips("None", &["None", "10.0.0.1"]), ": 'None' must be the first and only value"),
            (
                "/spec",
                ips("10.0.0.1", &["10.0.0.1", "::1", "10.0.0.2"]),
                r#"spec.clusterIPs: Invalid value: []string{"10.0.0.1", "::1", "10.0.0.2"}: may only hold up to 2 values"#,
            ),
            (
                "/spec/externalIPs",
                json!(["169.254.1.1"]),
                "spec.externalIPs[0]: Invalid value: \"169.254.1.1\": may not be in the link-local range",
            ),
            (
                "/spec/externalIPs",
                json!(["224.0.0.1"]),
                "spec.externalIPs[0]: Invalid value: \"224.0.0.1\": may not be in the link-local multicast range",
            ),
        ],
    );
    let balanced = with(&base, "/status", json!({"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}));
    assert_eq!(
        status_errors("Service", &base, &balanced),
        ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]
    );
    let named = json!({"spec": {"type": "ExternalName", "externalName": "a.b"}});
    for (base, pointer, value, text) in [
        (
            &named,
            "/spec/externalIPs",
            json!(["10.0.0.1"]),
            r#"externalIPs is ignored when spec.type is "ExternalName""#,
        ),
        (
            &base,
            "/spec/externalName",
            json!("a.b"),
            r#"externalName is ignored when spec.type is not "ExternalName""#,
        ),
    ] {
        let found = warnings("Service", &with(base, pointer, value));
        assert!(found.contains(&format!("spec.{text}")), "{pointer}: {found:#?}");
    }
}

pub fn about_storage_and_flows() {
    // Of a claim itself, the server drops other sources.
    let template = |field: &str| {
        json!([{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
            field: {"apiGroup": "A_", "kind": "K", "name": "n"},
        }}}}])
    };
    breaks(
        "Pod",
        &pod(),
        &[
            (
                "/spec/volumes",
                template("dataSource"),
                "volumeClaimTemplate.spec.dataSource.apiGroup: Invalid value: \"A_\": a lowercase",
            ),
            (
                "/spec/volumes",
                template("dataSourceRef"),
                "volumeClaimTemplate.spec.dataSourceRef.apiGroup: Invalid value: \"A_\": a lowercase",
            ),
        ],
    );
    breaks(
        "VolumeAttachment",
        &json!({"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}}),
        &[(
            "/spec/source/persistentVolumeName",
            json!("A_"),
            "spec.source.persistentVolumeName: Invalid value: \"A_\": a lowercase",
        )],
    );
    let node =
        |keys: &[&str]| json!({"spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": keys}]}});
    let name = "name part must consist of alphanumeric characters";
    let name =
        errors("CSINode", &node(&["a", "a", "b c"])).into_iter().map(|error| (error.contains(name), error));
    let found: Vec<(bool, String)> = name.collect();
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(found[0].1, "spec.drivers[0]: Duplicate value: \"a\"");
    assert!(
        found[1].0 && found[1].1.starts_with(r#"spec.drivers[0]: Invalid value: "b c": "#),
        "{found:#?}"
    );
    assert_eq!(errors("CSINode", &node(&[""]))[0], "spec.drivers[0]: Required value");
    breaks(
        "FlowSchema",
        &json!({"spec": {
            "priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 5,
            "rules": [{
                "subjects": [{"kind": "User", "user": {"name": "u"}}],
                "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}],
            }],
        }}),
        &[(
            "/spec/rules/0/nonResourceRules/0/verbs",
            json!(["get", "hold"]),
            r#"verbs: Unsupported value: []string{"get", "hold"}: supported values: "create", "delete", "deletecollection", "get", "list","#,
        )],
    );
}
