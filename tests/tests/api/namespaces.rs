//! Namespaces: those that exist, what needs one, and what happens when one goes.

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, NAMESPACES, config_map, name, names, namespace},
};
use serde_json::{Value, json};

#[tokio::test]
async fn the_systems_namespaces_exist_and_stay() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let list = admin.get(NAMESPACES).await.expect(200);
    assert_eq!(names(&list), ["default", "orch-node-lease", "orch-public", "orch-system"]);
    for item in list["items"].as_array().unwrap() {
        assert_eq!(item["status"]["phase"], "Active");
        assert_eq!(item["metadata"]["labels"]["orch.io/metadata.name"], name(item));
    }
    for name in ["default", "orch-public", "orch-system"] {
        admin.delete(&format!("{NAMESPACES}/{name}")).await.refused(403, "Forbidden");
    }
}

#[tokio::test]
async fn an_object_needs_its_namespace() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let missing = "/api/v1/namespaces/missing/configmaps";
    let message = admin.post(missing, &config_map("a", "1")).await.refused(404, "NotFound");
    assert_eq!(message, r#"namespaces "missing" not found"#);
    assert!(names(&admin.get(missing).await.expect(200)).is_empty(), "reading needs none");
}

#[tokio::test]
async fn a_namespace_goes_with_everything_in_it() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = admin.post(NAMESPACES, &namespace("doomed")).await.expect(201);
    assert_eq!(created["status"]["phase"], "Active");
    let inside = "/api/v1/namespaces/doomed/configmaps";
    for index in 0..20 {
        admin.post(inside, &config_map(&format!("c{index}"), "1")).await.expect(201);
    }
    let mut held = config_map("held", "1");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    admin.post(inside, &held).await.expect(201);
    admin.post(CONFIG_MAPS, &config_map("elsewhere", "1")).await.expect(201);

    let mut watch = admin.watch(&format!("{NAMESPACES}?watch=1&fieldSelector=metadata.name%3Ddoomed")).await;
    watch.expect("ADDED").await;
    let mut content = admin.watch(&format!("{inside}?watch=1&fieldSelector=metadata.name%3Dheld")).await;
    content.expect("ADDED").await;
    let going = admin.delete(&format!("{NAMESPACES}/doomed")).await.expect(200);
    assert_eq!(going["status"]["phase"], "Terminating", "{going}");
    let message = admin.post(inside, &config_map("late", "1")).await.refused(403, "Forbidden");
    assert!(message.contains("because it is being terminated"), "{message}");

    // What has a finalizer holds the namespace; the rest goes.
    let held = content.expect("MODIFIED").await;
    assert!(held["metadata"]["deletionTimestamp"].is_string());
    loop {
        let namespace = watch.expect("MODIFIED").await;
        let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if let Some(told) = conditions.iter().find(|it| it["type"] == "NamespaceFinalizersRemaining") {
            let message = told["message"].as_str().unwrap();
            assert!(message.ends_with(": example.com/hold in 1 resource instances"), "{message}");
            break;
        }
    }
    admin.merge(&format!("{inside}/held"), &json!({"metadata": {"finalizers": null}})).await.expect(200);
    loop {
        let event = watch.event().await;
        if event["type"] == "DELETED" {
            break;
        }
        assert_eq!(event["type"], "MODIFIED");
    }
    admin.get(&format!("{NAMESPACES}/doomed")).await.refused(404, "NotFound");
    assert!(names(&admin.get(inside).await.expect(200)).is_empty());
    assert_eq!(names(&admin.get("/api/v1/configmaps").await.expect(200)), ["elsewhere"]);

    // The name is free again.
    admin.post(NAMESPACES, &namespace("doomed")).await.expect(201);
    admin.post(inside, &config_map("fresh", "1")).await.expect(201);
}

/// The content goes whatever was asked for its dependents before: it needs no garbage collector.
#[tokio::test]
async fn nothing_is_kept_for_its_dependents() {
    let server = TestServer::options().flag("--controllers=*,-garbagecollector").start().await;
    let admin = server.admin();
    admin.post(NAMESPACES, &namespace("doomed")).await.expect(201);
    let inside = "/api/v1/namespaces/doomed/configmaps";
    for (name, finalizer) in [("kept", "orphan"), ("blocked", "foregroundDeletion")] {
        let mut map = config_map(name, "1");
        map["metadata"]["finalizers"] = json!([finalizer]);
        admin.post(inside, &map).await.expect(201);
    }
    admin.post(inside, &config_map("going", "1")).await.expect(201);
    let options = json!({"propagationPolicy": "Foreground"});
    let item = format!("{inside}/going");
    admin.request(Method::DELETE, &item).json(&options).send().await.expect(200);
    admin.get(&item).await.expect(200);
    let mut watch = admin.watch(&format!("{NAMESPACES}?watch=1&fieldSelector=metadata.name%3Ddoomed")).await;
    admin.delete(&format!("{NAMESPACES}/doomed")).await.expect(200);
    while watch.event().await["type"] != "DELETED" {}
    assert!(names(&admin.get(inside).await.expect(200)).is_empty());
}

#[tokio::test]
async fn the_log_shows_what_one_controller_does() {
    let filter = "--log-level=info,[controller{name=namespace}]=debug";
    let server = TestServer::options().flag(filter).start().await;
    server.admin().post(NAMESPACES, &namespace("seen")).await.expect(201);
    server.logged("a key was worked on").await;
    let log = server.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("a key was worked on")).collect();
    assert!(lines.iter().all(|line| line.contains("controller=\"namespace\"")), "{lines:?}");
    server.logged("key=namespaces/seen").await;
}

#[tokio::test]
async fn a_namespace_that_is_going_stays_as_it_is() {
    // Nobody empties it, so it stays.
    let server =
        TestServer::options().vocabulary("kubernetes").flag("--controllers=system-namespaces").start().await;
    let admin = server.admin();
    admin.post(NAMESPACES, &json!({"metadata": {"name": "a"}})).await.expect(201);
    let item = format!("{NAMESPACES}/a");
    let delete = async |options: Value| admin.request(Method::DELETE, &item).json(&options).send().await;
    let refused = delete(json!({"preconditions": {"uid": "x"}})).await;
    let message = refused.refused(409, "Conflict");
    let expected =
        r#"Operation cannot be fulfilled on namespaces "a": Precondition failed: UID in precondition: x,"#;
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(refused.json()["details"]["kind"], "namespaces");
    let message = delete(json!({"preconditions": {"resourceVersion": "1"}})).await.refused(409, "Conflict");
    assert!(
        message.contains("ResourceVersion in precondition: 1, ResourceVersion in object meta: "),
        "{message}"
    );
    let going = delete(json!({})).await.expect(200);
    assert_eq!(going["status"]["phase"], "Terminating");
    for policy in ["Foreground", "Orphan", "Background"] {
        assert_eq!(delete(json!({"propagationPolicy": policy})).await.expect(200), going, "{policy}");
    }
    admin.put(&format!("{item}/finalize"), &json!({"metadata": {"name": "a"}, "spec": {}})).await.expect(200);
    admin.get(&item).await.refused(404, "NotFound");
}
