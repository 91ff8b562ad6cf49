//! Volumes and claims: the server binds them, and reclaims volumes whose claims are gone.

use std::{collections::BTreeSet, time::Duration};

use orch_tests::{Client, TestServer, rounds, seed};
use rand::RngExt;
use serde_json::{Value, json};

const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const CLASSES: &str = "/apis/storage.orch.io/v1/storageclasses";

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

async fn volume(admin: &Client, name: &str, size: &str, more: Value) {
    let mut spec = json!({
        "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"},
    });
    merge(&mut spec, more);
    let kind = "PersistentVolume";
    let volume = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    admin.post(VOLUMES, &volume).await.expect(201);
}

async fn claim(admin: &Client, name: &str, size: &str, more: Value) {
    let mut spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
    merge(&mut spec, more);
    let kind = "PersistentVolumeClaim";
    let claim = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    admin.post(CLAIMS, &claim).await.expect(201);
}

fn merge(spec: &mut Value, more: Value) {
    if let Value::Object(more) = more {
        spec.as_object_mut().unwrap().extend(more);
    }
}

/// Waits until an object is as wanted; the object.
async fn until(admin: &Client, path: &str, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let (collection, name) = path.rsplit_once('/').unwrap();
    let watch = format!("{collection}?watch=1&fieldSelector=metadata.name={name}");
    let mut watch = admin.watch(&watch).await;
    let waiting = async {
        loop {
            let event = watch.event().await;
            if event["type"] != "DELETED" && is_wanted(&event["object"]) {
                return event["object"].clone();
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{path} is never {what}"))
}

/// Waits for a phase; the object.
async fn until_phase(admin: &Client, path: &str, phase: &str) -> Value {
    until(admin, path, phase, |object| object["status"]["phase"] == phase).await
}

/// Waits until an object is gone.
async fn until_gone(admin: &Client, path: &str) {
    let waiting = async {
        while admin.get(path).await.status != 404 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{path} is still there"));
}

async fn reasons(admin: &Client, name: &str) -> Vec<String> {
    let path = format!("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={name}");
    let events = admin.get(&path).await.expect(200);
    let events = events["items"].as_array().unwrap().clone();
    events.iter().map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
}

/// Waits for an event about an object.
async fn until_told(admin: &Client, name: &str, reason: &str) {
    let told = async {
        while !reasons(admin, name).await.contains(&reason.to_owned()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, told).await.unwrap_or_else(|_| panic!("{name}: no {reason}"));
}

#[tokio::test]
async fn a_claim_is_bound_to_the_smallest_volume_that_suffices() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (name, size) in [("large", "10Gi"), ("fitting", "3Gi"), ("small", "1Gi")] {
        volume(&admin, name, size, json!(null)).await;
        until_phase(&admin, &format!("{VOLUMES}/{name}"), "Available").await;
    }
    claim(&admin, "c", "2Gi", json!(null)).await;
    let bound = until_phase(&admin, &format!("{CLAIMS}/c"), "Bound").await;
    assert_eq!(bound["spec"]["volumeName"], "fitting");
    assert_eq!(bound["status"]["capacity"]["storage"], "3Gi");
    assert_eq!(bound["status"]["accessModes"], json!(["ReadWriteOnce"]));
    let fitting = until_phase(&admin, &format!("{VOLUMES}/fitting"), "Bound").await;
    let reference = &fitting["spec"]["claimRef"];
    assert_eq!(reference["uid"], bound["metadata"]["uid"]);
    assert_eq!([&reference["kind"], &reference["name"]], ["PersistentVolumeClaim", "c"]);

    // One that nothing suits waits, and gets the volume that comes.
    claim(&admin, "huge", "1Ti", json!(null)).await;
    until_phase(&admin, &format!("{CLAIMS}/huge"), "Pending").await;
    claim(&admin, "fast", "1Gi", json!({"storageClassName": "fast"})).await;
    until_phase(&admin, &format!("{CLAIMS}/fast"), "Pending").await;
    volume(&admin, "plain", "2Ti", json!(null)).await;
    let huge = until_phase(&admin, &format!("{CLAIMS}/huge"), "Bound").await;
    assert_eq!(huge["spec"]["volumeName"], "plain");
    until_told(&admin, "huge", "FailedBinding").await;
    until_told(&admin, "fast", "ProvisioningFailed").await;
    volume(&admin, "quick", "1Gi", json!({"storageClassName": "fast"})).await;
    let fast = until_phase(&admin, &format!("{CLAIMS}/fast"), "Bound").await;
    assert_eq!(fast["spec"]["volumeName"], "quick");
}

#[tokio::test]
async fn claims_and_volumes_that_name_each_other_are_bound() {
    let server = TestServer::start().await;
    let admin = server.admin();
    // The volume names the claim, whatever its class and labels; a smaller one is passed over.
    let reference = json!({"namespace": "default", "name": "first"});
    volume(&admin, "small", "1Gi", json!(null)).await;
    volume(&admin, "kept", "9Gi", json!({"claimRef": reference, "storageClassName": "any"})).await;
    until_phase(&admin, &format!("{VOLUMES}/kept"), "Available").await;
    claim(&admin, "second", "2Gi", json!(null)).await;
    claim(&admin, "first", "1Gi", json!({"storageClassName": "any"})).await;
    let first = until_phase(&admin, &format!("{CLAIMS}/first"), "Bound").await;
    assert_eq!(first["spec"]["volumeName"], "kept");
    // The claim names the volume, before there is one.
    let class = json!({"storageClassName": "named"});
    claim(&admin, "third", "1Gi", json!({"volumeName": "later", "storageClassName": "named"})).await;
    volume(&admin, "later", "5Gi", class).await;
    until_phase(&admin, &format!("{CLAIMS}/third"), "Bound").await;
    until_phase(&admin, &format!("{VOLUMES}/later"), "Bound").await;
    // A volume that another claim has, and one that does not suit.
    claim(&admin, "late", "1Gi", json!({"volumeName": "later"})).await;
    claim(&admin, "wrong", "2Gi", json!({"volumeName": "small"})).await;
    for (name, reason) in [("late", "FailedBinding"), ("wrong", "VolumeMismatch")] {
        until_told(&admin, name, reason).await;
    }
    for name in ["second", "late", "wrong"] {
        let claim = admin.get(&format!("{CLAIMS}/{name}")).await.expect(200);
        assert_eq!(claim["status"]["phase"], "Pending", "{name}");
    }
    until_phase(&admin, &format!("{VOLUMES}/small"), "Available").await;
}

#[tokio::test]
async fn what_a_claim_leaves_behind_is_reclaimed() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let driver = json!({"driver": "d.example.com", "volumeHandle": "h"});
    for (name, policy) in [("kept", "Retain"), ("dropped", "Delete"), ("driven", "Delete")] {
        let mut more = json!({"persistentVolumeReclaimPolicy": policy});
        if name == "driven" {
            more["csi"] = driver.clone();
            more["hostPath"] = Value::Null;
        }
        volume(&admin, name, "1Gi", more).await;
        claim(&admin, name, "1Gi", json!({"volumeName": name})).await;
        until_phase(&admin, &format!("{CLAIMS}/{name}"), "Bound").await;
        until_phase(&admin, &format!("{VOLUMES}/{name}"), "Bound").await;
        admin.delete(&format!("{CLAIMS}/{name}")).await.expect(200);
    }
    let kept = until_phase(&admin, &format!("{VOLUMES}/kept"), "Released").await;
    assert_eq!(kept["spec"]["claimRef"]["name"], "kept");
    until_gone(&admin, &format!("{VOLUMES}/dropped")).await;
    until_phase(&admin, &format!("{VOLUMES}/driven"), "Released").await;
    assert_eq!(reasons(&admin, "driven").await, ["ExternalDeleting"]);

    // A released volume waits for an administrator, who makes it free.
    claim(&admin, "next", "1Gi", json!(null)).await;
    let none = json!({"spec": {"claimRef": null}});
    admin.merge(&format!("{VOLUMES}/kept"), &none).await.expect(200);
    let next = until_phase(&admin, &format!("{CLAIMS}/next"), "Bound").await;
    assert_eq!(next["spec"]["volumeName"], "kept");

    // Without its volume a claim is lost.
    let forced = json!({"metadata": {"finalizers": null}});
    admin.delete(&format!("{VOLUMES}/kept")).await.expect(200);
    admin.merge(&format!("{VOLUMES}/kept"), &forced).await.expect(200);
    until_phase(&admin, &format!("{CLAIMS}/next"), "Lost").await;
}

#[tokio::test]
async fn claims_of_a_class_wait_for_a_provisioner_or_a_pod() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (name, mode, reason) in [
        ("made", "Immediate", "ExternalProvisioning"),
        ("late", "WaitForFirstConsumer", "WaitForFirstConsumer"),
    ] {
        admin.post(CLASSES, &class(name, "p.example.com", mode)).await.expect(201);
        claim(&admin, name, "1Gi", json!({"storageClassName": name})).await;
        until_told(&admin, name, reason).await;
        volume(&admin, &format!("{name}-volume"), "1Gi", json!({"storageClassName": name})).await;
    }
    until_phase(&admin, &format!("{CLAIMS}/made"), "Bound").await;
    until_phase(&admin, &format!("{VOLUMES}/late-volume"), "Available").await;
    let late = admin.get(&format!("{CLAIMS}/late")).await.expect(200);
    assert_eq!(late["status"]["phase"], "Pending");
    // Whoever places the pod reserves the volume.
    let reserve = json!({"spec": {"claimRef": {"namespace": "default", "name": "late"}}});
    admin.merge(&format!("{VOLUMES}/late-volume"), &reserve).await.expect(200);
    until_phase(&admin, &format!("{CLAIMS}/late"), "Bound").await;
}

fn class(name: &str, provisioner: &str, mode: &str) -> Value {
    json!({
        "apiVersion": "storage.orch.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": mode,
    })
}

/// Programs that make volumes find their name in the annotations of a claim.
#[tokio::test]
async fn a_provisioner_is_asked_for_a_volume() {
    const ASKED: [&str; 2] =
        ["volume.orch.io/storage-provisioner", "volume.beta.orch.io/storage-provisioner"];
    let is_asked =
        |claim: &Value| ASKED.iter().all(|key| claim["metadata"]["annotations"][*key] == "p.example.com");
    let server = TestServer::start().await;
    let admin = server.admin();
    // The class comes after the claim.
    claim(&admin, "early", "1Gi", json!({"storageClassName": "later"})).await;
    until_told(&admin, "early", "ProvisioningFailed").await;
    admin.post(CLASSES, &class("later", "p.example.com", "Immediate")).await.expect(201);
    until(&admin, &format!("{CLAIMS}/early"), "asked for", is_asked).await;
    until_told(&admin, "early", "ExternalProvisioning").await;
    volume(&admin, "made", "1Gi", json!({"storageClassName": "later"})).await;
    until_phase(&admin, &format!("{CLAIMS}/early"), "Bound").await;

    // With a pod to wait for, only when its node is known.
    admin.post(CLASSES, &class("placed", "p.example.com", "WaitForFirstConsumer")).await.expect(201);
    claim(&admin, "waits", "1Gi", json!({"storageClassName": "placed"})).await;
    until_told(&admin, "waits", "WaitForFirstConsumer").await;
    let waits = admin.get(&format!("{CLAIMS}/waits")).await.expect(200);
    assert!(!is_asked(&waits), "{waits}");
    let node = json!({"metadata": {"annotations": {"volume.orch.io/selected-node": "n"}}});
    admin.merge(&format!("{CLAIMS}/waits"), &node).await.expect(200);
    until(&admin, &format!("{CLAIMS}/waits"), "asked for", is_asked).await;
    until_told(&admin, "waits", "ExternalProvisioning").await;

    // Nobody makes volumes of such a class.
    admin.post(CLASSES, &class("by-hand", "orch.io/no-provisioner", "Immediate")).await.expect(201);
    claim(&admin, "local", "1Gi", json!({"storageClassName": "by-hand"})).await;
    until_told(&admin, "local", "ProvisioningFailed").await;
    let local = admin.get(&format!("{CLAIMS}/local")).await.expect(200);
    assert_eq!(local["metadata"].get("annotations"), None);
}

/// A claim that leaves its class open gets the default one when there is one; one that wants none does not.
#[tokio::test]
async fn a_claim_gets_a_default_class_that_comes_later() {
    let server = TestServer::start().await;
    let admin = server.admin();
    claim(&admin, "open", "1Gi", json!(null)).await;
    claim(&admin, "none", "1Gi", json!({"storageClassName": ""})).await;
    for name in ["open", "none"] {
        until_told(&admin, name, "FailedBinding").await;
    }
    let mut usual = class("usual", "p.example.com", "Immediate");
    usual["metadata"]["annotations"] = json!({"storageclass.orch.io/is-default-class": "true"});
    admin.post(CLASSES, &usual).await.expect(201);
    let is_given = |claim: &Value| claim["spec"]["storageClassName"] == "usual";
    until(&admin, &format!("{CLAIMS}/open"), "of the default class", is_given).await;
    until_told(&admin, "open", "ExternalProvisioning").await;
    volume(&admin, "plain", "1Gi", json!(null)).await;
    let none = until_phase(&admin, &format!("{CLAIMS}/none"), "Bound").await;
    assert_eq!(none["spec"]["storageClassName"], "");
    let open = admin.get(&format!("{CLAIMS}/open")).await.expect(200);
    assert_eq!(open["status"]["phase"], "Pending");
}

/// A claim that names its volume is bound again when that comes back.
#[tokio::test]
async fn a_lost_claim_is_found_again() {
    let server = TestServer::start().await;
    let admin = server.admin();
    volume(&admin, "v", "1Gi", json!(null)).await;
    claim(&admin, "c", "1Gi", json!(null)).await;
    let path = format!("{CLAIMS}/c");
    let bound = until_phase(&admin, &path, "Bound").await;
    until_phase(&admin, &format!("{VOLUMES}/v"), "Bound").await;
    admin.delete(&format!("{VOLUMES}/v")).await.expect(200);
    admin.merge(&format!("{VOLUMES}/v"), &json!({"metadata": {"finalizers": null}})).await.expect(200);
    until_phase(&admin, &path, "Lost").await;
    // It comes back in other hands, then free.
    let other = json!({"claimRef": {"namespace": "default", "name": "other", "uid": "u"}});
    let retained = json!({"persistentVolumeReclaimPolicy": "Retain", "claimRef": other["claimRef"]});
    volume(&admin, "v", "1Gi", retained).await;
    until_phase(&admin, &format!("{VOLUMES}/v"), "Released").await;
    assert_eq!(admin.get(&path).await.expect(200)["status"]["phase"], "Lost");
    admin.merge(&format!("{VOLUMES}/v"), &json!({"spec": {"claimRef": null}})).await.expect(200);
    until_phase(&admin, &path, "Bound").await;
    let found = until_phase(&admin, &format!("{VOLUMES}/v"), "Bound").await;
    assert_eq!(found["spec"]["claimRef"]["uid"], bound["metadata"]["uid"]);
}

/// Labels are for choosing; a volume that is going is for no claim.
#[tokio::test]
async fn a_volume_that_is_named_must_suit() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["going", "plain"] {
        volume(&admin, name, "1Gi", json!(null)).await;
        until_phase(&admin, &format!("{VOLUMES}/{name}"), "Available").await;
    }
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    admin.merge(&format!("{VOLUMES}/going"), &hold).await.expect(200);
    admin.delete(&format!("{VOLUMES}/going")).await.expect(200);
    claim(&admin, "late", "1Gi", json!({"volumeName": "going"})).await;
    until_told(&admin, "late", "VolumeMismatch").await;
    let going = admin.get(&format!("{VOLUMES}/going")).await.expect(200);
    assert_eq!(going["spec"].get("claimRef"), None, "{going}");
    let selector = json!({"matchLabels": {"disk": "other"}});
    claim(&admin, "named", "1Gi", json!({"volumeName": "plain", "selector": selector})).await;
    until_phase(&admin, &format!("{CLAIMS}/named"), "Bound").await;
}

/// Killed while it binds, it goes on: every claim has a volume of its own, which knows it.
#[tokio::test]
async fn binding_goes_on_after_power_cuts() {
    const PAIRS: usize = 10;
    let (rounds, mut random) = (rounds::of_kills(8), seed::generator("binding"));
    let mut server = TestServer::start().await;
    for round in 0..rounds {
        for number in 0..PAIRS {
            volume(&server.admin(), &format!("v{round}-{number}"), "1Gi", json!(null)).await;
        }
        let cut = random.random_range(0..PAIRS);
        for number in 0..PAIRS {
            claim(&server.admin(), &format!("c{round}-{number}"), "1Gi", json!(null)).await;
            if number == cut {
                server.kill().await;
                server.restart().await;
            }
        }
    }
    let admin = server.admin();
    let mut taken = BTreeSet::new();
    for (round, number) in (0..rounds).flat_map(|round| (0..PAIRS).map(move |number| (round, number))) {
        let claim = until_phase(&admin, &format!("{CLAIMS}/c{round}-{number}"), "Bound").await;
        let name = claim["spec"]["volumeName"].as_str().unwrap().to_owned();
        let volume = until_phase(&admin, &format!("{VOLUMES}/{name}"), "Bound").await;
        assert_eq!(volume["spec"]["claimRef"]["uid"], claim["metadata"]["uid"], "{name}");
        assert!(taken.insert(name), "{taken:?}");
    }
    assert_eq!(taken.len(), rounds * PAIRS);
}
