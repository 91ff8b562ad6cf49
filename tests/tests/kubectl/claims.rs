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
    kubectl.shows("describe pvc c", &["FailedBinding", "persistentvolume-controller"]).await;
    kubectl.run("delete pvc c").await;
    kubectl.run("wait pv/v --for=jsonpath={.status.phase}=Released --timeout=50s").await;
}

/// `describe` shows why something waits.
#[tokio::test]
async fn events_about_volumes_and_owners_are_described() {
    if !is_installed("events about volumes and owners") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let modes = ["ReadWriteOnce"];
    let driver = json!({"driver": "d.example.com", "volumeHandle": "h"});
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "driven"},
        "spec": {
            "accessModes": modes, "capacity": {"storage": "1Gi"}, "csi": driver,
            "persistentVolumeReclaimPolicy": "Delete",
        },
    });
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
        "spec": {"accessModes": modes, "resources": {"requests": {"storage": "1Gi"}}},
    });
    let kubectl = Kubectl { server: &server };
    kubectl.run("create namespace other").await;
    kubectl.run("create configmap owner -n other").await;
    let uid = kubectl.run("get configmap owner -n other -o jsonpath={.metadata.uid}").await;
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid});
    let metadata = json!({
        "name": "held", "ownerReferences": [owner], "finalizers": ["example.com/hold"],
    });
    let lost = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    for (name, object) in [("volume.json", volume), ("claim.json", claim), ("lost.json", lost)] {
        std::fs::write(server.scratch_dir().join(name), object.to_string()).unwrap();
        kubectl.run(&format!("create -f {name}")).await;
    }
    kubectl.run("wait pv/driven --for=jsonpath={.status.phase}=Bound --timeout=50s").await;
    kubectl.run("delete pvc c").await;
    kubectl.run("wait pv/driven --for=jsonpath={.status.phase}=Released --timeout=50s").await;
    let waits = ["ExternalDeleting", "persistentvolume-controller", "waiting for the provisioner"];
    kubectl.shows("describe pv driven", &waits).await;
    kubectl.run("wait cm/held --for=jsonpath={.metadata.deletionGracePeriodSeconds}=0 --timeout=50s").await;
    let told = ["OwnerRefInvalidNamespace", "garbage-collector-controller", "does not exist in namespace"];
    kubectl.shows("describe configmap held", &told).await;
}
