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
    assert!(
        output.status.success() && told.contains(" objects are written in their storage version"),
        "{told}"
    );
    assert_eq!(stored_in(&server).await, vec!["v1"; OBJECTS]);
    // Nothing is left to do.
    let output = perform(command("1.32", "migrate", &server)).await;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.starts_with("0 of "), "{told}");

    server.restart_as(program("1.32"), vec![BETA.to_owned()]).await;
    assert_eq!(seen(&server).await, before);
}
