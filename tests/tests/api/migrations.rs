//! Storage version migrations: the server carries them out, and says so in their conditions.

use std::time::Duration;

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::{Value, json};

const MIGRATIONS: &str = "/apis/storagemigration.orch.io/v1alpha1/storageversionmigrations";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.orch.io";

#[tokio::test]
async fn a_migration_comes_to_its_end() {
    let flag = "--runtime-config=storagemigration.orch.io/v1alpha1=true";
    let mut server = TestServer::options().flag(flag).start().await;
    let admin = server.admin();
    let stored = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let migration = |name: &str, resource: Value| {
        json!({
            "apiVersion": "storagemigration.orch.io/v1alpha1", "kind": "StorageVersionMigration",
            "metadata": {"name": name}, "spec": {"resource": resource},
        })
    };
    let config_maps = json!({"version": "v1", "resource": "configmaps"});
    let things = json!({"group": "example.com", "version": "v1", "resource": "things"});
    for (name, resource) in [("good", &config_maps), ("bad", &things)] {
        admin.post(MIGRATIONS, &migration(name, resource.clone())).await.expect(201);
    }
    for (name, expected) in [("good", "Succeeded"), ("bad", "Failed")] {
        let path = format!("{MIGRATIONS}/{name}");
        let ended = async {
            loop {
                let found = admin.get(&path).await.expect(200);
                let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
                let holds =
                    |condition: &&Value| condition["type"] == expected && condition["status"] == "True";
                if let Some(condition) = conditions.iter().find(holds) {
                    assert_eq!(condition["reason"], format!("StorageVersionMigration{expected}"));
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let found = tokio::time::timeout(Duration::from_mins(1), ended).await.expect("it ends");
        assert_eq!(found["status"]["resourceVersion"].is_string(), expected == "Succeeded");
        let table = admin.request(Method::GET, &path).header("accept", TABLE).send().await.expect(200);
        assert_eq!(table["rows"][0]["cells"][2], expected);
    }
    // What is in the storage version is not written.
    assert_eq!(admin.get(&format!("{CONFIG_MAPS}/a")).await.expect(200), stored);
    // After a restart they are still ended, and are not carried out again.
    let before = admin.get(&format!("{MIGRATIONS}/good")).await.expect(200);
    server.kill().await;
    server.restart().await;
    let admin = server.admin();
    admin.post(MIGRATIONS, &migration("late", config_maps)).await.expect(201);
    let path = format!("{MIGRATIONS}?watch=1&fieldSelector=metadata.name=late");
    let mut late = admin.watch(&path).await;
    while late.event().await["object"]["status"]["conditions"].as_array().is_none_or(|all| all.len() < 2) {}
    assert_eq!(admin.get(&format!("{MIGRATIONS}/good")).await.expect(200), before);
}
