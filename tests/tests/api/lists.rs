//! Lists: order, scope, selectors and versions.

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, NAMESPACES, config_map, labelled, name, names, namespace, version},
};
use serde_json::json;

#[tokio::test]
async fn a_list_is_sorted_and_scoped() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(NAMESPACES, &namespace("another")).await.expect(201);
    for name in ["c", "a-b", "a", "b", "a.b"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    admin.post("/api/v1/namespaces/another/configmaps", &config_map("z", "1")).await.expect(201);

    let list = admin.get(CONFIG_MAPS).await.expect(200);
    assert_eq!(list["kind"], "ConfigMapList");
    assert_eq!(list["apiVersion"], "v1");
    assert_eq!(names(&list), ["a", "a-b", "a.b", "b", "c"]);
    let all = admin.get("/api/v1/configmaps").await.expect(200);
    assert_eq!(names(&all), ["z", "a", "a-b", "a.b", "b", "c"], "by namespace, then by name");

    // Items are the objects without `kind` and `apiVersion`, which the list has.
    let object = admin.get(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    let item = &list["items"][0];
    assert_eq!(item["data"], object["data"]);
    assert_eq!(item["metadata"], object["metadata"]);
    assert!(item.get("kind").is_none() && item.get("apiVersion").is_none());
}

#[tokio::test]
async fn selectors_choose() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &labelled("a", json!({"app": "web", "tier": "front"}))).await.expect(201);
    admin.post(CONFIG_MAPS, &labelled("b", json!({"app": "web", "tier": "back"}))).await.expect(201);
    admin.post(CONFIG_MAPS, &labelled("c", json!({"app": "db"}))).await.expect(201);
    for (query, expected) in [
        ("labelSelector=app%3Dweb", vec!["a", "b"]),
        ("labelSelector=app!%3Dweb", vec!["c"]),
        ("labelSelector=app%20in%20(web,db),tier", vec!["a", "b"]),
        ("labelSelector=!tier", vec!["c"]),
        ("labelSelector=tier%20notin%20(back)", vec!["a", "c"]),
        ("labelSelector=app%3Dnone", vec![]),
        ("fieldSelector=metadata.name%3Db", vec!["b"]),
        ("fieldSelector=metadata.name!%3Db", vec!["a", "c"]),
        ("fieldSelector=metadata.namespace%3Dother", vec![]),
        ("labelSelector=app%3Dweb&fieldSelector=metadata.name%3Da", vec!["a"]),
    ] {
        let list = admin.get(&format!("{CONFIG_MAPS}?{query}")).await.expect(200);
        assert_eq!(names(&list), expected, "{query}");
    }
    for query in ["labelSelector=%3D%3D", "fieldSelector=data.value%3D1", "labelSelector=a%20in%20()%20b"] {
        admin.get(&format!("{CONFIG_MAPS}?{query}")).await.refused(400, "BadRequest");
    }
    let long = vec!["metadata.name!%3Da"; 200].join(",");
    for watch in ["", "watch=1&"] {
        let path = format!("{CONFIG_MAPS}?{watch}fieldSelector={long}");
        let message = admin.get(&path).await.refused(400, "BadRequest");
        assert_eq!(message, "fieldSelector: may not have more than 128 requirements, it has 200");
    }
}

#[tokio::test]
async fn fields_are_selected_by_other_names_too() {
    const EVENTS: &str = "/api/v1/namespaces/default/events";
    const PODS: &str = "/api/v1/namespaces/default/pods";
    let server = TestServer::start().await;
    let admin = server.admin();
    for (name, component, reporting) in [("a", "x", "y"), ("b", "", "x"), ("c", "z", "")] {
        let event = json!({
            "metadata": {"name": name}, "involvedObject": {"namespace": "default"},
            "source": {"component": component}, "reportingComponent": reporting,
        });
        admin.post(EVENTS, &event).await.expect(201);
    }
    for (name, node) in [("p", "n"), ("q", "m")] {
        let spec = json!({"nodeName": node, "containers": [{"name": "c", "image": "c"}]});
        admin.post(PODS, &json!({"metadata": {"name": name}, "spec": spec})).await.expect(201);
    }
    for (path, selector, expected) in [
        (EVENTS, "source%3Dx", vec!["a", "b"]),
        (EVENTS, "source!%3Dx", vec!["c"]),
        (PODS, "spec.host%3Dn", vec!["p"]),
        (PODS, "spec.host%3Dm,spec.nodeName%3Dm", vec!["q"]),
        (PODS, "status.podIPs%3D", vec!["p", "q"]),
        (PODS, "status.podIPs%3D10.0.0.1", vec![]),
    ] {
        let list = admin.get(&format!("{path}?fieldSelector={selector}")).await.expect(200);
        assert_eq!(names(&list), expected, "{selector}");
    }
    admin.get(&format!("{EVENTS}?fieldSelector=spec.host%3Dn")).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn a_list_shows_the_state_of_a_version() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let first = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    admin.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);

    let exact = format!("{CONFIG_MAPS}?resourceVersion={}&resourceVersionMatch=Exact", version(&first));
    let then = admin.get(&exact).await.expect(200);
    assert_eq!(names(&then), ["a"]);
    assert_eq!(then["items"][0]["data"], first["data"]);
    assert_eq!(version(&then), version(&first));

    let newer =
        format!("{CONFIG_MAPS}?resourceVersion={}&resourceVersionMatch=NotOlderThan", version(&first));
    assert_eq!(names(&admin.get(&newer).await.expect(200)), ["b"]);
    admin.get(&format!("{CONFIG_MAPS}?resourceVersionMatch=Exact")).await.refused(422, "Invalid");
    admin.get(&format!("{CONFIG_MAPS}?resourceVersion=abc")).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn a_long_list_is_complete() {
    const OBJECTS: usize = 300;
    let server = TestServer::start().await;
    let admin = server.admin();
    let value = "x".repeat(2048);
    let mut expected = Vec::new();
    for index in 0..OBJECTS {
        let object = config_map(&format!("object-{index:04}"), &value);
        expected.push(name(&object).to_owned());
        admin.post(CONFIG_MAPS, &object).await.expect(201);
    }
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    assert_eq!(names(&list), expected);
    assert!(list["items"].as_array().unwrap().iter().all(|item| item["data"]["value"] == value.as_str()));
}
