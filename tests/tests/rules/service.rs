//! Services: defaults, and each rule broken once with the complete list of faults.

use crate::ask::{defaulted, errors, status_errors, update_errors, warnings, with};
use orch_runtime::Tree;
use serde_json::json;

fn service() -> Tree {
    json!({"metadata": {"name": "s"}, "spec": {"selector": {"app": "a"}, "ports": [{"port": 80}]}})
}

fn check(base: &Tree, cases: Vec<(&str, Tree, &[&str])>) {
    assert_eq!(errors("Service", base), [""; 0]);
    for (pointer, value, expected) in cases {
        assert_eq!(errors("Service", &with(base, pointer, value.clone())), expected, "{pointer} {value}");
    }
}

pub fn defaults_follow_from_the_type() {
    let port = json!({"protocol": "TCP", "port": 80, "targetPort": 80});
    let spec = |tree: &Tree| {
        let mut spec = defaulted("Service", tree)["spec"].take();
        if spec["type"] != "ExternalName" {
            given(&mut spec);
        }
        spec
    };
    assert_eq!(
        spec(&service()),
        json!({
            "ports": [port], "selector": {"app": "a"}, "type": "ClusterIP", "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster",
        })
    );
    let balanced = spec(&with(&service(), "/spec/type", json!("LoadBalancer")));
    assert_eq!(balanced["externalTrafficPolicy"], "Cluster");
    assert_eq!(balanced["allocateLoadBalancerNodePorts"], true);
    let sticky = spec(&with(&service(), "/spec/sessionAffinity", json!("ClientIP")));
    assert_eq!(sticky["sessionAffinityConfig"], json!({"clientIP": {"timeoutSeconds": 10800}}));
    let name = spec(&json!({"spec": {"type": "ExternalName", "externalName": "a.example.com"}}));
    assert_eq!(
        name,
        json!({"type": "ExternalName", "externalName": "a.example.com", "sessionAffinity": "None"})
    );
    let named = spec(&with(&service(), "/spec/ports/0/targetPort", json!("web")));
    assert_eq!(named["ports"][0]["targetPort"], "web");
}

/// Takes out what a service is given.
fn given(spec: &mut Tree) {
    let fields = spec.as_object_mut().unwrap();
    let address = fields.remove("clusterIP").unwrap();
    assert!(address.as_str().unwrap().starts_with("10."), "{address}");
    assert_eq!(fields.remove("clusterIPs"), Some(json!([address])));
    assert_eq!(fields.remove("ipFamilies"), Some(json!(["IPv4"])));
    assert_eq!(fields.remove("ipFamilyPolicy"), Some(json!("SingleStack")));
}

pub fn ports() {
    let two = |first: Tree, second: Tree| json!([first, second]);
    check(
        &service(),
        vec![
            ("/spec/ports", json!([]), &["spec.ports: Required value"]),
            (
                "/spec/ports/0/port",
                json!(0),
                &[
                    "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                    "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
                ],
            ),
            (
                "/spec/ports/0/protocol",
                json!("HTTP"),
                &[
                    r#"spec.ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP""#,
                ],
            ),
            (
                "/spec/ports/0/targetPort",
                json!(70000),
                &["spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
            ),
            (
                "/spec/ports/0/nodePort",
                json!(30080),
                &["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
            ),
            (
                "/spec/ports",
                two(json!({"port": 80, "name": "a"}), json!({"port": 81})),
                &["spec.ports[1].name: Required value"],
            ),
            (
                "/spec/ports",
                two(json!({"port": 80, "name": "a"}), json!({"port": 81, "name": "a"})),
                &[r#"spec.ports[1].name: Duplicate value: "a""#],
            ),
            (
                "/spec/ports",
                two(json!({"port": 80, "name": "a"}), json!({"port": 80, "name": "b", "protocol": "UDP"})),
                &[],
            ),
        ],
    );
}

pub fn types_and_addresses() {
    check(
        &service(),
        vec![
            (
                "/spec/type",
                json!("Other"),
                &[
                    r#"spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort""#,
                ],
            ),
            ("/spec/type", json!("ExternalName"), &["spec.externalName: Required value"]),
            (
                "/spec/clusterIPs",
                json!(["10.0.0.9"]),
                &[
                    r#"spec.clusterIPs: Invalid value: []string{"10.0.0.9"}: must be empty when `clusterIP` is not specified"#,
                ],
            ),
            (
                "/spec",
                json!({"ports": [{"port": 80}], "clusterIP": "10.0.0.2", "clusterIPs": ["10.0.0.1"]}),
                &[r#"spec.clusterIPs: Invalid value: []string{"10.0.0.1"}: first value must match `clusterIP`"#],
            ),
            (
                "/spec/externalIPs",
                json!(["127.0.0.1", "x"]),
                &[
                    r#"spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)"#,
                    r#"spec.externalIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"#,
                ],
            ),
            (
                "/spec/sessionAffinity",
                json!("Cookie"),
                &[
                    r#"spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None""#,
                ],
            ),
            (
                "/spec/loadBalancerClass",
                json!("example.com/x"),
                &["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
            ),
            (
                "/spec/externalTrafficPolicy",
                json!("Local"),
                &[
                    r#"spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services"#,
                ],
            ),
            (
                "/spec",
                json!({"ports": [{"port": 80}], "type": "NodePort", "externalTrafficPolicy": "Own"}),
                &[
                    r#"spec.externalTrafficPolicy: Unsupported value: "Own": supported values: "Cluster", "Local""#,
                ],
            ),
            (
                "/spec/internalTrafficPolicy",
                json!("Own"),
                &[
                    r#"spec.internalTrafficPolicy: Unsupported value: "Own": supported values: "Cluster", "Local""#,
                ],
            ),
            (
                "/spec/ipFamilies",
                json!(["IPv5"]),
                &[r#"spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6""#],
            ),
            (
                "/spec/ipFamilyPolicy",
                json!("Own"),
                &[
                    r#"spec.ipFamilyPolicy: Unsupported value: "Own": supported values: "PreferDualStack", "RequireDualStack", "SingleStack""#,
                ],
            ),
            (
                "/spec/selector",
                json!({"a b": "c d"}),
                &[
                    r#"spec.selector: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#,
                    r#"spec.selector: Invalid value: "c d": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"#,
                ],
            ),
            (
                "/spec/healthCheckNodePort",
                json!(30000),
                &[
                    "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
                ],
            ),
        ],
    );
    let headless = with(&service(), "/spec/clusterIP", json!("None"));
    check(
        &headless,
        vec![
            ("/spec/ports", json!([]), &[]),
            (
                "/spec/type",
                json!("NodePort"),
                &[
                    r#"spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services"#,
                ],
            ),
        ],
    );
    let name =
        json!({"metadata": {"name": "s"}, "spec": {"type": "ExternalName", "externalName": "a.example.com"}});
    check(
        &name,
        vec![(
            "/spec/clusterIP",
            json!("10.0.0.1"),
            &["spec.clusterIPs: Forbidden: may not be set for ExternalName services"],
        )],
    );
}

pub fn annotations_and_addresses_that_others_refuse() {
    let ranges = "service.beta.kubernetes.io/load-balancer-source-ranges";
    let (mode, hints) = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints");
    check(
        &service(),
        vec![
            (
                "/metadata/annotations",
                json!({mode: "a", hints: "b"}),
                &[
                    r#"metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "a": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified"#,
                ],
            ),
            ("/metadata/annotations", json!({mode: "a", hints: "a"}), &[]),
            (
                "/metadata/annotations",
                json!({ranges: "10.0.0.0/8"}),
                &[
                    "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Forbidden: may only be used when `type` is 'LoadBalancer'",
                ],
            ),
        ],
    );
    let balanced = with(&service(), "/spec/type", json!("LoadBalancer"));
    check(
        &balanced,
        vec![
            (
                "/metadata/annotations",
                json!({ranges: "x"}),
                &[
                    r#"metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"#,
                ],
            ),
            ("/metadata/annotations", json!({ranges: "10.0.0.0/8, 10.1.0.0/16"}), &[]),
            (
                "/spec/ports/0/port",
                json!(10250),
                &[
                    "spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet",
                ],
            ),
        ],
    );
    for (pointer, value, expected) in [
        (
            "/metadata/annotations",
            json!({hints: "auto"}),
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead",
        ),
        (
            "/spec/loadBalancerIP",
            json!("x"),
            r#"spec.loadBalancerIP: IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr("x"): unable to parse IP"#,
        ),
        (
            "/spec/externalIPs",
            json!(["fd00:0::1"]),
            r#"spec.externalIPs[0]: IPv6 address "fd00:0::1" is not in RFC 5952 canonical format ("fd00::1"), which may cause controller apply-loops"#,
        ),
    ] {
        assert_eq!(warnings("Service", &with(&balanced, pointer, value)), [expected]);
    }
}

pub fn what_a_balancer_tells() {
    let base = with(&service(), "/spec/type", json!("LoadBalancer"));
    for (pointer, value, expected) in [
        (
            "/status/loadBalancer/ingress",
            json!([{"ip": "nope", "hostname": "H_"}]),
            vec![
                r#"status.loadBalancer.ingress[0].ip: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"#,
                r#"status.loadBalancer.ingress[0].hostname: Invalid value: "H_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        (
            "/status/loadBalancer/ingress",
            json!([{"ip": "10.0.0.1", "ports": [{"port": 80}]}]),
            vec![],
        ),
        (
            "/status/conditions",
            json!([
                {
                    "type": "T", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z",
                    "reason": "R", "message": "",
                },
                {
                    "type": "T", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z",
                    "reason": "R", "message": "",
                },
            ]),
            vec![],
        ),
        (
            "/status/conditions",
            json!([
                {"type": "T", "status": "True", "lastTransitionTime": null, "reason": "R", "message": ""},
                {"type": "U", "status": "True", "reason": "R", "message": ""},
            ]),
            vec![],
        ),
    ] {
        let tree = with(&base, pointer, value);
        assert_eq!(status_errors("Service", &base, &tree), expected, "{tree}");
    }
}

pub fn what_does_not_change() {
    let of_type = |kind: &str| with(&service(), "/spec/type", json!(kind));
    let balanced = with(&of_type("LoadBalancer"), "/spec/loadBalancerClass", json!("a.b/c"));
    let local = with(&balanced, "/spec/externalTrafficPolicy", json!("Local"));
    let once = "may not change once set";
    for (old, new, expected) in [
        (
            service(),
            with(&service(), "/spec/clusterIP", json!("None")),
            vec![format!(r#"spec.clusterIPs[0]: Invalid value: []string{{"None"}}: {once}"#)],
        ),
        (balanced.clone(), balanced.clone(), vec![]),
        (
            balanced.clone(),
            with(&balanced, "/spec/loadBalancerClass", json!("d")),
            vec![format!(r#"spec.loadBalancerClass: Invalid value: "d": {once}"#)],
        ),
        (
            service(),
            with(&service(), "/spec/loadBalancerClass", json!("d")),
            vec!["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'".to_owned(); 2],
        ),
        (
            with(&local, "/spec/healthCheckNodePort", json!(31999)),
            with(&local, "/spec/healthCheckNodePort", json!(31998)),
            vec!["spec.healthCheckNodePort: Forbidden: field is immutable".to_owned()],
        ),
        (
            with(&local, "/spec/healthCheckNodePort", json!(31999)),
            with(&local, "/spec/healthCheckNodePort", json!(65536)),
            vec![
                "spec.healthCheckNodePort: Forbidden: field is immutable".to_owned(),
                "spec.healthCheckNodePort: Invalid value: 65536: must be between 1 and 65535, inclusive".to_owned(),
            ],
        ),
    ] {
        assert_eq!(update_errors("Service", &old, &new), expected, "{new}");
    }
}
