//! What the README says that operators do: every release after the other on one data directory.

use orch_tests::{TestServer, objects};
use serde_json::{Value, json};

use crate::program::{autoscaler, command, path, perform, program, server_of, stored_in};

const README: &str = include_str!("../../README.md");

/// What each version shows of the same object.
fn spec_in(version: &str, metrics: &[Value]) -> Value {
    match version {
        "v1alpha1" => json!({"target": "Deployment/web", "min": 1, "max": 5}),
        version => {
            let target = json!({"kind": "Deployment", "name": "web"});
            let mut spec = json!({"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 5});
            match (version, metrics) {
                (_, []) => {}
                ("v1beta1", [metric, ..]) => spec["metric"] = metric.clone(),
                (_, metrics) => spec["metrics"] = metrics.into(),
            }
            spec
        }
    }
}

#[tokio::test]
async fn an_object_lives_through_all_releases_of_the_readme() {
    let [cpu, memory] = ["cpu", "memory"].map(|name| json!({"name": name, "utilization": 80}));
    let mut metrics = Vec::new();
    let mut server = server_of("1.29").flag("--runtime-config=example.orch.io/v1alpha1").start().await;
    // One is changed in each release, and one never.
    let spec = json!({"target": "Deployment/web", "max": 5});
    let idle = autoscaler("v1alpha1", "idle", spec.clone());
    server.admin().post(&path("v1alpha1"), &idle).await.expect(201);
    let web = autoscaler("v1alpha1", "web", spec);
    let created = server.admin().post(&path("v1alpha1"), &web).await.expect(201);
    assert_eq!(created["spec"], spec_in("v1alpha1", &[]));

    let mut done = Vec::new();
    for line in README.lines().filter_map(|line| line.strip_prefix("$ history-")) {
        let mut words = line.split(' ');
        let release = words.next().unwrap();
        let words: Vec<&str> = words.filter(|word| *word != "--data-dir=data").collect();
        done.push(words.first().copied().filter(|word| !word.starts_with("--")).unwrap_or("serve"));
        if server.is_running() {
            assert!(server.stop().await.success());
        }
        if let Some(name @ ("migrate" | "compact")) = words.first().copied() {
            let output = perform(command(release, name, &server)).await;
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            let stored = if release == "1.30" { "v1beta1" } else { "v1" };
            assert_eq!(stored_in(&server).await, [stored; 2], "{line}");
            continue;
        }
        server.restart_as(program(release), words.iter().map(|&word| word.to_owned()).collect()).await;
        let versions: &[&str] = match release {
            "1.29" => &["v1alpha1"],
            "1.30" => &["v1alpha1", "v1beta1"],
            "1.31" | "1.32" => &["v1beta1", "v1"],
            _ => &["v1"],
        };
        for version in versions {
            is_served(&server, version, &metrics, &created).await;
        }
        for gone in ["v1alpha1", "v1beta1", "v1"].iter().filter(|version| !versions.contains(version)) {
            assert_eq!(server.admin().get(&path(gone)).await.status, 404, "{gone} in {release}");
        }
        // What each release brings is used in it. Nothing is written by itself.
        let stored = stored_in(&server).await;
        match release {
            "1.29" => assert_eq!(stored, ["v1alpha1"; 2]),
            "1.30" => {
                assert_eq!(stored, ["v1alpha1"; 2]);
                metrics.push(cpu.clone());
                change(&server, "v1beta1", &json!({"metric": cpu})).await;
                assert_eq!(stored_in(&server).await, ["v1alpha1", "v1beta1"]);
            }
            "1.31" => {
                metrics.push(memory.clone());
                change(&server, "v1", &json!({"metrics": metrics})).await;
                assert_eq!(stored_in(&server).await, ["v1beta1"; 2], "servers of 1.30 can read it");
            }
            _ => assert_eq!(stored, [if release == "1.32" { "v1beta1" } else { "v1" }; 2]),
        }
        for version in versions {
            is_served(&server, version, &metrics, &created).await;
            stays_when_it_is_written_back(&server, version).await;
        }
    }
    let all = ["serve", "serve", "migrate", "compact", "serve", "serve", "migrate", "compact", "serve"];
    assert_eq!(done, all, "the README has all steps");
}

/// The object is there in a version: the same one, with all that it has.
async fn is_served(server: &TestServer, version: &str, metrics: &[Value], created: &Value) {
    let admin = server.admin();
    let read = admin.get(&format!("{}/web", path(version))).await.expect(200);
    assert_eq!(read["spec"], spec_in(version, metrics), "{version}");
    assert_eq!(read["metadata"]["uid"], created["metadata"]["uid"]);
    let list = admin.get(&path(version)).await.expect(200);
    assert_eq!(objects::names(&list), ["idle", "web"]);
    assert_eq!(
        (&list["items"][0]["spec"], &list["items"][1]["spec"]),
        (&spec_in(version, &[]), &read["spec"])
    );
}

/// Whatever else the object has in another version.
async fn stays_when_it_is_written_back(server: &TestServer, version: &str) {
    let path = format!("{}/web", path(version));
    let read = server.admin().get(&path).await.expect(200);
    let same = server.admin().put(&path, &read).await.expect(200);
    assert_eq!(same["spec"], read["spec"]);
    assert_eq!(same["metadata"]["generation"], read["metadata"]["generation"]);
}

async fn change(server: &TestServer, version: &str, spec: &Value) {
    let path = format!("{}/web", path(version));
    let before = server.admin().get(&path).await.expect(200);
    let after = server.admin().merge(&path, &json!({"spec": spec})).await.expect(200);
    assert_ne!(objects::version(&after), objects::version(&before));
}
