//! Services: the addresses and ports that they are given belong to one of them at a time.

use std::collections::BTreeSet;

use orch_tests::{TestServer, client::Client};
use serde_json::{Value, json};

const SERVICES: &str = "/api/v1/namespaces/default/services";

#[tokio::test]
async fn a_service_keeps_its_address_until_it_goes() {
    let mut server = TestServer::options().flag("--service-cluster-ip-range=10.1.0.0/29").start().await;
    let admin = server.admin();
    let first = admin.post(SERVICES, &service("a", json!({"clusterIP": "10.1.0.3"}))).await.expect(201);
    assert_eq!(first["spec"]["clusterIPs"], json!(["10.1.0.3"]));
    assert_eq!(
        (&first["spec"]["ipFamilies"], &first["spec"]["ipFamilyPolicy"]),
        (&json!(["IPv4"]), &json!("SingleStack"))
    );
    let taken = admin.post(SERVICES, &service("b", json!({"clusterIP": "10.1.0.3"}))).await;
    let message = taken.refused(422, "Invalid");
    assert_eq!(
        message,
        r#"Service "b" is invalid: spec.clusterIPs: Invalid value: []string{"10.1.0.3"}: failed to allocate IP 10.1.0.3: provided IP is already allocated"#
    );
    let outside = admin.post(SERVICES, &service("b", json!({"clusterIP": "10.2.0.1"}))).await;
    assert!(outside.refused(422, "Invalid").contains("the provided IP (10.2.0.1) is not in the valid range"));
    // Dry runs take nothing.
    for _ in 0..8 {
        admin.post(&format!("{SERVICES}?dryRun=All"), &service("x", json!({}))).await.expect(201);
    }
    let mut addresses = BTreeSet::from(["10.1.0.3".to_owned()]);
    for name in ["b", "c", "d", "e"] {
        let made = admin.post(SERVICES, &service(name, json!({}))).await.expect(201);
        assert!(addresses.insert(made["spec"]["clusterIP"].as_str().unwrap().to_owned()), "{made}");
    }
    let full = admin.post(SERVICES, &service("f", json!({}))).await.refused(500, "InternalError");
    assert!(full.ends_with("failed to allocate a serviceIP: range is full"), "{full}");
    server.stop().await;
    server.restart().await;
    let admin = server.admin();
    admin.post(SERVICES, &service("f", json!({}))).await.refused(500, "InternalError");
    let headless = admin.post(SERVICES, &service("none", json!({"clusterIP": "None"}))).await.expect(201);
    assert_eq!(headless["spec"]["clusterIPs"], json!(["None"]));
    admin.delete(&format!("{SERVICES}/a")).await.expect(200);
    let last = admin.post(SERVICES, &service("f", json!({}))).await.expect(201);
    assert_eq!(last["spec"]["clusterIP"], "10.1.0.3");
}

/// Whoever makes its endpoints chooses their families. With a selector the server does, and has one family.
#[tokio::test]
async fn a_service_without_address_and_selector_has_all_families() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (spec, expected) in [
        (json!({"selector": null}), (json!(["IPv4", "IPv6"]), "RequireDualStack")),
        (json!({"selector": null, "ipFamilies": ["IPv6"]}), (json!(["IPv6", "IPv4"]), "RequireDualStack")),
        (json!({"selector": null, "ipFamilyPolicy": "SingleStack"}), (json!(["IPv4"]), "SingleStack")),
        (json!({"selector": {"app": "a"}}), (json!(["IPv4"]), "SingleStack")),
    ] {
        let mut service = service("a", spec.clone());
        service["spec"]["clusterIP"] = json!("None");
        let made = admin.post(SERVICES, &service).await.expect(201);
        let given = (made["spec"]["ipFamilies"].clone(), made["spec"]["ipFamilyPolicy"].as_str().unwrap());
        assert_eq!(given, expected, "{spec}");
        let again = admin.put(&format!("{SERVICES}/a"), &service).await;
        // As in the reference, who names one of two families wants no other.
        let code = if spec["ipFamilies"].is_null() { 200 } else { 422 };
        assert_eq!(again.status, code, "{again:?}");
        admin.delete(&format!("{SERVICES}/a")).await.expect(200);
    }
    let dual = json!({"ipFamilyPolicy": "RequireDualStack", "clusterIP": "None", "selector": {"app": "a"}});
    admin.post(SERVICES, &service("a", dual)).await.refused(422, "Invalid");
}

#[tokio::test]
async fn an_update_keeps_what_was_given() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let made = admin.post(SERVICES, &service("a", json!({"type": "NodePort"}))).await.expect(201);
    let (address, port) = (made["spec"]["clusterIP"].clone(), made["spec"]["ports"][0]["nodePort"].clone());
    assert!((30_000..=32_767).contains(&port.as_i64().unwrap()));
    let item = format!("{SERVICES}/a");
    let replaced = admin.put(&item, &service("a", json!({"type": "NodePort"}))).await.expect(200);
    assert_eq!(
        (&replaced["spec"]["clusterIP"], &replaced["spec"]["ports"][0]["nodePort"]),
        (&address, &port)
    );
    let message =
        admin.merge(&item, &json!({"spec": {"clusterIP": "10.0.0.77", "clusterIPs": ["10.0.0.77"]}})).await;
    assert!(message.refused(422, "Invalid").ends_with("may not change once set"));
    let same = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]});
    let message = admin.post(SERVICES, &service("b", same)).await.refused(422, "Invalid");
    assert!(message.ends_with("provided port is already allocated"), "{message}");
    let inside = admin.put(&item, &service("a", json!({}))).await.expect(200);
    assert_eq!(inside["spec"]["ports"][0].get("nodePort"), None);
    assert_eq!(inside["spec"]["clusterIP"], address);
    let name = json!({"type": "ExternalName", "externalName": "x.example.com"});
    let gone = admin.put(&item, &service("a", name)).await.expect(200);
    assert_eq!((gone["spec"].get("clusterIP"), gone["spec"].get("ipFamilies")), (None, None));
    let local = json!({"spec": {"internalTrafficPolicy": "Local"}});
    let local = admin.merge(&item, &local).await.expect(200);
    assert_eq!(local["spec"].get("internalTrafficPolicy"), None);
    let back = admin.put(&item, &service("a", json!({}))).await.expect(200);
    assert!(back["spec"]["clusterIP"].is_string());
    // A PUT of a missing service makes it.
    admin.put(&format!("{SERVICES}/new"), &service("new", json!({}))).await.expect(201);
    let balanced = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local"});
    let balanced = admin.post(SERVICES, &service("l", balanced)).await.expect(201);
    assert!(balanced["spec"]["healthCheckNodePort"].as_i64().unwrap() >= 30_000);
    assert_ne!(balanced["spec"]["healthCheckNodePort"], balanced["spec"]["ports"][0]["nodePort"]);
    let status = json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}});
    let told = admin.merge(&format!("{SERVICES}/l/status"), &status).await.expect(200);
    let ingress = json!([{"ip": "192.0.2.1", "ipMode": "VIP"}]);
    assert_eq!(told["status"], json!({"loadBalancer": {"ingress": ingress}}));
    let message = admin.merge(&format!("{SERVICES}/a/status"), &status).await.refused(422, "Invalid");
    assert!(message.ends_with("may only be used when `spec.type` is 'LoadBalancer'"), "{message}");
    let inside =
        admin.merge(&format!("{SERVICES}/l"), &json!({"spec": {"type": "ClusterIP"}})).await.expect(200);
    assert_eq!(inside["status"], json!({"loadBalancer": {}}));
    assert_eq!(inside["spec"].get("externalTrafficPolicy"), None);
    admin.post(SERVICES, &service("1digit", json!({}))).await.refused(422, "Invalid");
}

#[tokio::test]
async fn ports_of_machines_come_from_a_range() {
    let server = TestServer::options().flag("--service-node-port-range=4000-4001").start().await;
    let admin = server.admin();
    let outside = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 4002}]});
    let message = admin.post(SERVICES, &service("a", outside)).await.refused(422, "Invalid");
    assert_eq!(
        message,
        r#"Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 4002: provided port is not in the valid range. The range of valid ports is 4000-4001"#
    );
    for (name, port) in [("a", 4000), ("b", 4001)] {
        let made = admin.post(SERVICES, &service(name, json!({"type": "NodePort"}))).await.expect(201);
        assert_eq!(made["spec"]["ports"][0]["nodePort"], port);
    }
    let full = admin.post(SERVICES, &service("c", json!({"type": "NodePort"}))).await;
    let full = full.refused(500, "InternalError");
    assert!(full.ends_with("range is full"), "{full}");
}

#[tokio::test]
async fn services_made_at_once_have_different_addresses_and_ports() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let made = (0..40).map(|n| {
        let admin: Client = admin.clone();
        tokio::spawn(async move {
            let service = service(&format!("s{n}"), json!({"type": "NodePort"}));
            admin.post(SERVICES, &service).await.expect(201)
        })
    });
    let (mut addresses, mut ports) = (BTreeSet::new(), BTreeSet::new());
    for service in made.collect::<Vec<_>>() {
        let service = service.await.unwrap();
        addresses.insert(service["spec"]["clusterIP"].to_string());
        ports.insert(service["spec"]["ports"][0]["nodePort"].to_string());
    }
    assert_eq!((addresses.len(), ports.len()), (40, 40));
}

fn service(name: &str, with: Value) -> Value {
    let mut spec = json!({"selector": {"app": "a"}, "ports": [{"port": 80}]});
    let Value::Object(fields) = with else { panic!("a spec has fields") };
    spec.as_object_mut().unwrap().extend(fields);
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
}
