//! `migrate`: killed at any moment it loses nothing, and goes on.

use std::time::Duration;

use orch_tests::{TestServer, seed};
use rand::RngExt;
use serde_json::{Value, json};

use crate::program::{BETA, autoscaler, command, path, perform, program, server_of, stored_in};

const OBJECTS: usize = 120;

/// What clients see, apart from versions.
async fn seen(server: &TestServer) -> Vec<Value> {
    let mut list = server.admin().get(&path("v1")).await.expect(200);
    let items = list["items"].as_array_mut().unwrap();
    for item in &mut *items {
        item["metadata"]["resourceVersion"] = Value::Null;
    }
    std::mem::take(items)
}

#[tokio::test]
async fn a_migration_that_is_killed_goes_on() {
    let mut random = seed::generator("a_migration_that_is_killed_goes_on");
    let mut server = server_of("1.31").flag(BETA).start().await;
    let admin = server.admin();
    for number in 0..OBJECTS {
        let spec = json!({"scaleTargetRef": {"kind": "A", "name": "a"}, "maxReplicas": number + 1});
        admin.post(&path("v1beta1"), &autoscaler("v1beta1", &format!("a{number}"), spec)).await.expect(201);
    }
    let before = seen(&server).await;

    let refused = perform(command("1.32", "migrate", &server)).await;
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("in use by another server"), "{told}");

    assert!(server.stop().await.success());
    for _ in 0..3 {
        let mut migrating = command("1.32", "migrate", &server).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(random.random_range(20..900))).await;
        migrating.kill().await.unwrap();
    }
    let output = perform(command("1.32", "migrate", &server)).await;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.contains(" objects, all in their storage version; "), "{told}");
    assert_eq!(stored_in(&server).await, vec!["v1"; OBJECTS]);
    // Nothing is left to do.
    let output = perform(command("1.32", "migrate", &server)).await;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.ends_with("; 0 were written anew\n"), "{told}");

    server.restart_as(program("1.32"), vec![BETA.to_owned()]).await;
    assert_eq!(seen(&server).await, before);
}

const MIGRATIONS: &str = "/apis/storagemigration.orch.io/v1alpha1/storageversionmigrations";

/// The other way to write everything anew: in a server that runs, while clients change objects.
#[tokio::test]
async fn a_running_server_migrates_what_an_older_one_has_stored() {
    let mut server = server_of("1.31").flag(BETA).start().await;
    for number in 0..OBJECTS {
        let spec = json!({"scaleTargetRef": {"kind": "A", "name": "a"}, "maxReplicas": number + 1});
        let object = autoscaler("v1beta1", &format!("a{number}"), spec);
        server.admin().post(&path("v1beta1"), &object).await.expect(201);
    }
    let before = seen(&server).await;
    assert!(server.stop().await.success());
    assert_eq!(stored_in(&server).await, vec!["v1beta1"; OBJECTS]);

    let versions = format!("{BETA},storagemigration.orch.io/v1alpha1");
    server.restart_as(program("1.32"), vec![versions.clone()]).await;
    let admin = server.admin();
    let migration = json!({
        "apiVersion": "storagemigration.orch.io/v1alpha1", "kind": "StorageVersionMigration",
        "metadata": {"name": "autoscalers"},
        "spec": {"resource": {"group": "example.orch.io", "version": "v1", "resource": "autoscalers"}},
    });
    let mut watch = admin.watch(&format!("{MIGRATIONS}?watch=1")).await;
    admin.post(MIGRATIONS, &migration).await.expect(201);
    loop {
        let event = watch.event().await;
        let conditions = event["object"]["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let holds = |name: &str| conditions.iter().any(|one| one["type"] == name && one["status"] == "True");
        assert!(!holds("Failed"), "{event}");
        if holds("Succeeded") {
            break;
        }
    }
    assert_eq!(seen(&server).await, before, "clients see the same objects");
    assert!(server.stop().await.success());
    assert_eq!(stored_in(&server).await, vec!["v1"; OBJECTS]);
    // The last release, which knows no other version, reads them.
    server.restart_as(program("1.34"), Vec::new()).await;
    assert_eq!(seen(&server).await, before);
}

/// A program that does not know a version any more does not take its objects for others.
#[tokio::test]
async fn what_was_not_migrated_in_time_is_refused_and_not_lost() {
    let mut server = server_of("1.29").flag("--runtime-config=example.orch.io/v1alpha1").start().await;
    let spec = json!({"target": "Deployment/web", "max": 5});
    server.admin().post(&path("v1alpha1"), &autoscaler("v1alpha1", "web", spec)).await.expect(201);
    assert!(server.stop().await.success());

    server.restart_as(program("1.34"), Vec::new()).await;
    let admin = server.admin();
    admin.get(&format!("{}/web", path("v1"))).await.refused(500, "InternalError");
    admin.get(&path("v1")).await.refused(500, "InternalError");
    let change = json!({"spec": {"maxReplicas": 7}});
    admin.merge(&format!("{}/web", path("v1")), &change).await.refused(500, "InternalError");
    let log = server.log();
    assert!(log.contains("example.orch.io/v1alpha1") && log.contains("has to migrate them"), "{log}");
    assert!(server.stop().await.success());
    let output = perform(command("1.34", "migrate", &server)).await;
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("is stored in example.orch.io/v1alpha1, which this program does not know"),
        "{said}"
    );

    server.restart_as(program("1.30"), vec![BETA.to_owned()]).await;
    let read = server.admin().get(&format!("{}/web", path("v1beta1"))).await.expect(200);
    assert_eq!(read["spec"]["maxReplicas"], 5);
}
