//! Helm, from its Go module: the life of a release of a chart with five kinds.

use std::path::Path;

use orch_tests::{TestServer, client::Client};
use serde_json::Value;

use crate::{file, installed, program, run};

const IN_DEFAULT: &str = "/api/v1/namespaces/default";
const DAEMON_SET: &str = "/apis/apps/v1/namespaces/default/daemonsets/shop";

#[tokio::test]
async fn a_release_lives_with_helm_3() {
    lives("helm3", "").await;
}

#[tokio::test]
async fn a_release_lives_with_helm_4() {
    // It applies on the server, where what somebody else has changed is a conflict.
    lives("helm4", " --force-conflicts").await;
}

/// `forced` is the flag that overwrites what somebody else has changed.
async fn lives(helm: &str, forced: &str) {
    let Some(helm) = installed(&format!("the life of a release with {helm}"), helm) else { return };
    for vocabulary in ["orch", "kubernetes"] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let run = async |line: &str| run_helm(&server, &helm, line).await;

        run("install shop CHART").await;
        assert_eq!(colours(&admin).await, ["red"; 4]);
        let deployed = listed(&run("list -o json").await);
        assert_eq!(deployed, [("shop".to_owned(), "1".to_owned(), "deployed".to_owned())]);

        run("upgrade shop CHART --set colour=blue").await;
        assert_eq!(colours(&admin).await, ["blue"; 4]);
        // What somebody else changes meanwhile is put right.
        let change = serde_json::json!({"data": {"colour": "grey"}});
        admin.merge(&format!("{IN_DEFAULT}/configmaps/shop"), &change).await.expect(200);
        run(&format!("upgrade shop CHART --set colour=green{forced}")).await;
        assert_eq!(colours(&admin).await, ["green"; 4]);

        run("rollback shop 1").await;
        assert_eq!(colours(&admin).await, ["red"; 4]);
        let deployed = listed(&run("list -o json").await);
        assert_eq!(deployed, [("shop".to_owned(), "4".to_owned(), "deployed".to_owned())]);
        let history: Value = serde_json::from_str(&run("history shop -o json").await).unwrap();
        assert_eq!(history.as_array().map(Vec::len), Some(4));

        run("uninstall shop").await;
        assert_eq!(listed(&run("list -o json").await), []);
        for kind in ["configmaps", "secrets", "serviceaccounts", "services"] {
            admin.get(&format!("{IN_DEFAULT}/{kind}/shop")).await.refused(404, "NotFound");
        }
        admin.get(DAEMON_SET).await.refused(404, "NotFound");
    }
}

async fn run_helm(server: &TestServer, helm: &Path, line: &str) -> String {
    let chart = file("chart");
    let mut command = program(server, helm);
    command.args(line.split(' ').map(|word| if word == "CHART" { chart.as_os_str() } else { word.as_ref() }));
    run(command).await
}

/// The colour in each of the objects that have one.
async fn colours(admin: &Client) -> [String; 4] {
    let colour = async |path: &str, pointer: &str| {
        let object = admin.get(path).await.expect(200);
        let colour = object.pointer(pointer).and_then(Value::as_str);
        colour.unwrap_or_else(|| panic!("no colour: {object}")).to_owned()
    };
    let secret = colour(&format!("{IN_DEFAULT}/secrets/shop"), "/data/colour").await;
    let secret = match secret.as_str() {
        "cmVk" => "red",
        "Ymx1ZQ==" => "blue",
        "Z3JlZW4=" => "green",
        other => panic!("{other} is no colour"),
    };
    admin.get(&format!("{IN_DEFAULT}/serviceaccounts/shop")).await.expect(200);
    [
        colour(&format!("{IN_DEFAULT}/configmaps/shop"), "/data/colour").await,
        secret.to_owned(),
        colour(&format!("{IN_DEFAULT}/services/shop"), "/metadata/labels/colour").await,
        colour(DAEMON_SET, "/spec/template/spec/containers/0/env/0/value").await,
    ]
}

/// Name, revision and status of each release.
fn listed(json: &str) -> Vec<(String, String, String)> {
    let releases: Vec<Value> = serde_json::from_str(json).unwrap();
    let text = |release: &Value, key: &str| {
        release[key].as_str().map_or_else(|| release[key].to_string(), str::to_owned)
    };
    releases
        .iter()
        .map(|release| (text(release, "name"), text(release, "revision"), text(release, "status")))
        .collect()
}
