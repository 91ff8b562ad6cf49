//! Claims as `kubectl` shows them while the server finds volumes for them.

use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};
use serde_json::json;

#[tokio::test]
async fn a_claim_waits_and_is_bound() {
    if !is_installed("claims of volumes") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let modes = ["ReadWriteOnce"];
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
        "spec": {"accessModes": modes, "resources": {"requests": {"storage": "1Gi"}}},
    });
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
        "spec": {"accessModes": modes, "capacity": {"storage": "2Gi"}, "hostPath": {"path": "/data"}},
    });
    for (name, object) in [("claim.json", claim), ("volume.json", volume)] {
        std::fs::write(server.scratch_dir().join(name), object.to_string()).unwrap();
    }
    let kubectl = Kubectl { server: &server };
    kubectl.run("create -f claim.json").await;
    kubectl.run("wait pvc/c --for=jsonpath={.status.phase}=Pending --timeout=50s").await;
    kubectl.shows("get pvc c", &["Pending"]).await;
    kubectl.run("create -f volume.json").await;
    kubectl.run("wait pvc/c --for=jsonpath={.status.phase}=Bound --timeout=50s").await;
    kubectl.shows("get pvc c", &["Bound", " v ", "2Gi", "RWO"]).await;
    kubectl.run("wait pv/v --for=jsonpath={.status.phase}=Bound --timeout=50s").await;
    kubectl.shows("get pv v", &["Bound", "default/c", "Retain"]).await;
    kubectl.shows("describe pvc c", &["FailedBinding", "persistentvolumeclaim-binder"]).await;
    kubectl.run("delete pvc c").await;
    kubectl.run("wait pv/v --for=jsonpath={.status.phase}=Released --timeout=50s").await;
}
