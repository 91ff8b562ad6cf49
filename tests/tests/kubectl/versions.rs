//! A kind in two of its versions, as `kubectl` asks for them.

use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};
use serde_json::json;

const GROUP: &str = "flowcontrol.apiserver.k8s.io";

#[tokio::test]
async fn a_kind_is_written_and_read_in_either_version() {
    if !is_installed("versions of a kind") {
        return;
    }
    let options = TestServer::options().vocabulary("kubernetes");
    let server = options.flag(format!("--runtime-config={GROUP}/v1beta2")).start().await;
    for (file, version, shares) in [
        ("older.json", "v1beta2", json!({"assuredConcurrencyShares": 7})),
        ("newer.json", "v1", json!({"nominalConcurrencyShares": 8})),
    ] {
        let mut level = json!({
            "apiVersion": format!("{GROUP}/{version}"), "kind": "PriorityLevelConfiguration",
            "metadata": {"name": "l"},
            "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}},
        });
        level["spec"]["limited"].as_object_mut().unwrap().extend(shares.as_object().unwrap().clone());
        std::fs::write(server.scratch_dir().join(file), level.to_string()).unwrap();
    }
    let kubectl = Kubectl { server: &server };
    // The older version is deprecated, and whoever uses it is told.
    let told = async |line: &str| {
        let (success, text) = kubectl.output(line).await;
        let warning = format!("{GROUP}/v1beta2 PriorityLevelConfiguration is deprecated");
        assert!(success && text.contains(&warning), "{line}: {text}");
        text.lines().next().unwrap_or_default().to_owned()
    };
    let get = |version: &str, name: &str| {
        let shares = format!("{{.spec.limited.{name}ConcurrencyShares}}{{\"\\n\"}}");
        format!("get prioritylevelconfigurations.{version}.{GROUP} l -o jsonpath={shares}")
    };
    told("apply --server-side -f older.json").await;
    kubectl.prints(&get("v1", "nominal"), "7").await;
    assert_eq!(told(&get("v1beta2", "assured")).await, "7");
    kubectl.run("apply --server-side --force-conflicts -f newer.json").await;
    assert_eq!(told(&get("v1beta2", "assured")).await, "8");
}
