//! Spec and status are written on two paths: the main path leaves the status alone,
//! `/status` leaves the spec alone, and the generation counts changes of the spec.

use std::collections::BTreeSet;

use orch_tests::{TestServer, client::Client, objects::version};
use serde_json::{Value, json};

/// A kind with a status, and a change of each half of it.
struct Sample {
    collection: &'static str,
    object: Value,
    spec: (&'static str, Value),
    status: (&'static str, Value),
    /// Whether the generation of its objects is counted.
    counted: bool,
    /// Whether a new object keeps the status that it comes with: machines register themselves.
    keeps_status: bool,
}

const PLAIN: Sample = Sample {
    collection: "",
    object: Value::Null,
    spec: ("", Value::Null),
    status: ("", Value::Null),
    counted: false,
    keeps_status: false,
};

#[allow(clippy::too_many_lines, reason = "a table is read from top to bottom")]
fn samples() -> Vec<Sample> {
    let container = json!([{"name": "c", "image": "i"}]);
    let conditions = json!([{"type": "Seen", "status": "True", "lastTransitionTime": null}]);
    vec![
        Sample {
            collection: "/apis/apps/v1/namespaces/default/daemonsets",
            object: json!({"spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": container}},
            }}),
            spec: ("/spec/minReadySeconds", json!(5)),
            status: ("/status/numberReady", json!(3)),
            counted: true,
            ..PLAIN
        },
        Sample {
            collection: "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            object: json!({"spec": {"minAvailable": 1}}),
            spec: ("/spec/minAvailable", json!("50%")),
            status: ("/status/currentHealthy", json!(2)),
            counted: true,
            ..PLAIN
        },
        Sample {
            collection: "/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations",
            object: json!({"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}}),
            spec: ("/spec/limited/nominalConcurrencyShares", json!(0)),
            status: ("/status/conditions", conditions.clone()),
            counted: true,
            ..PLAIN
        },
        Sample {
            collection: "/apis/flowcontrol.apiserver.orch.io/v1/flowschemas",
            object: json!({"spec": {"priorityLevelConfiguration": {"name": "l"}}}),
            spec: ("/spec/matchingPrecedence", json!(7)),
            status: ("/status/conditions", conditions.clone()),
            counted: true,
            ..PLAIN
        },
        Sample {
            collection: "/api/v1/persistentvolumes",
            object: json!({"spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"},
            }}),
            spec: ("/spec/persistentVolumeReclaimPolicy", json!("Delete")),
            status: ("/status/message", json!("full")),
            ..PLAIN
        },
        Sample {
            collection: "/api/v1/namespaces/default/persistentvolumeclaims",
            object: json!({"spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
            }}),
            spec: ("/spec/volumeName", json!("v")),
            status: ("/status/phase", json!("Lost")),
            ..PLAIN
        },
        Sample {
            collection: "/api/v1/namespaces/default/pods",
            object: json!({"spec": {"containers": container}}),
            spec: ("/spec/activeDeadlineSeconds", json!(60)),
            status: ("/status/message", json!("late")),
            ..PLAIN
        },
        Sample {
            collection: "/api/v1/namespaces/default/services",
            object: json!({"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}),
            spec: ("/spec/publishNotReadyAddresses", json!(true)),
            status: ("/status/loadBalancer/ingress", json!([{"ip": "192.0.2.1", "ipMode": "VIP"}])),
            ..PLAIN
        },
        Sample {
            collection: "/api/v1/nodes",
            object: json!({}),
            spec: ("/spec/unschedulable", json!(true)),
            status: ("/status/nodeInfo/kernelVersion", json!("6.1")),
            keeps_status: true,
            ..PLAIN
        },
        Sample {
            collection: "/api/v1/namespaces",
            object: json!({}),
            spec: ("/spec/finalizers", json!(["orch", "example.com/own"])),
            status: ("/status/conditions", conditions),
            ..PLAIN
        },
        Sample {
            collection: "/apis/storage.orch.io/v1/volumeattachments",
            object: json!({"spec": {
                "attacher": "d.example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"},
            }}),
            spec: ("/spec/nodeName", json!("other")),
            status: ("/status/attached", json!(true)),
            ..PLAIN
        },
        Sample {
            collection: "/apis/storagemigration.orch.io/v1alpha1/storageversionmigrations",
            object: json!({"spec": {"resource": {"version": "v1", "resource": "configmaps"}}}),
            spec: ("/spec/continueToken", json!("t")),
            status: ("/status/resourceVersion", json!("5")),
            ..PLAIN
        },
    ]
}

#[tokio::test]
async fn each_path_writes_its_own_half() {
    // Without controllers that write the same status.
    let options = TestServer::options().flag("--controllers=namespace");
    let server = options.flag("--runtime-config=api/alpha=true").start().await;
    let admin = server.admin();
    for sample in samples() {
        check(&admin, &sample).await;
    }
    let tested: BTreeSet<&str> = samples().iter().map(|sample| plural(sample.collection)).collect();
    assert_eq!(with_status(&admin).await, tested.into_iter().map(str::to_owned).collect());
}

#[tokio::test]
async fn some_kinds_keep_their_metadata_where_the_status_is_written() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let attachments = "/apis/storage.orch.io/v1/volumeattachments";
    let source = json!({"persistentVolumeName": "v"});
    let spec = json!({"attacher": "d.example.com", "nodeName": "n", "source": source});
    admin.post(attachments, &json!({"metadata": {"name": "a"}, "spec": spec})).await.expect(201);
    let metadata = json!({"labels": {"a": "b"}, "finalizers": ["example.com/keep"]});
    let change = json!({"metadata": metadata, "status": {"attached": true}});
    let told = admin.merge(&format!("{attachments}/a/status"), &change).await.expect(200);
    assert_eq!(told["status"]["attached"], true, "{told}");
    assert!(told["metadata"]["labels"].is_null() && told["metadata"]["finalizers"].is_null(), "{told}");
}

async fn check(admin: &Client, sample: &Sample) {
    let Sample { collection, .. } = *sample;
    let (item, status_path) = (format!("{collection}/a"), format!("{collection}/a/status"));
    let (wanted, known) = (&sample.spec, &sample.status);
    let mut object = sample.object.clone();
    object["metadata"] = json!({"name": "a"});
    set(&mut object, known);

    let created = admin.post(collection, &object).await.expect(201);
    assert_eq!(created.pointer(known.0) == Some(&known.1), sample.keeps_status, "{collection}: {created}");
    assert_eq!(generation(&created), sample.counted.then_some(1), "{collection}: {created}");

    let mut given = created.clone();
    set(&mut given, &(known.0, changed(&known.1)));
    given["metadata"]["labels"] = json!({"l": "1"});
    let updated = admin.put(&item, &given).await.expect(200);
    assert_eq!(updated["status"], created["status"], "{collection}");
    assert_eq!(updated["metadata"]["labels"]["l"], "1", "{collection}");
    assert_eq!(generation(&updated), generation(&created), "{collection}");

    let mut given = updated.clone();
    set(&mut given, wanted);
    set(&mut given, known);
    let told = admin.put(&status_path, &given).await.expect(200);
    assert_eq!(told["spec"], created["spec"], "{collection}");
    assert_eq!(told.pointer(known.0), Some(&known.1), "{collection}: {told}");
    assert_eq!(generation(&told), generation(&created), "{collection}");

    if sample.counted {
        let mut given = told.clone();
        set(&mut given, wanted);
        let updated = admin.put(&item, &given).await.expect(200);
        assert_eq!(updated.pointer(wanted.0), Some(&wanted.1), "{collection}: {updated}");
        assert_eq!(updated["status"], told["status"], "{collection}");
        assert_eq!(generation(&updated), Some(2), "{collection}");
        let mut bare = sample.object.clone();
        bare["metadata"] = json!({"name": "a", "resourceVersion": version(&updated)});
        set(&mut bare, wanted);
        let same = admin.put(&item, &bare).await.expect(200);
        assert_eq!(generation(&same), Some(2), "{collection}: what is left to defaults is no change");
        let labelled = admin.merge(&item, &json!({"metadata": {"labels": {"l": "2"}}})).await.expect(200);
        assert_eq!(generation(&labelled), Some(2), "{collection}");
    }
}

fn generation(object: &Value) -> Option<i64> {
    object["metadata"]["generation"].as_i64()
}

/// Puts a value at a pointer; what is missing on the way is made.
fn set(object: &mut Value, (pointer, value): &(&str, Value)) {
    let place = pointer.split('/').skip(1).fold(object, |place, step| &mut place[step]);
    *place = value.clone();
}

/// Another value of the same type.
fn changed(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::String(text) => json!(format!("{text}x")),
        _ => json!([]),
    }
}

fn plural(collection: &str) -> &str {
    collection.rsplit('/').next().unwrap()
}

/// The plural names of all kinds whose status has a path of its own.
async fn with_status(admin: &Client) -> BTreeSet<String> {
    let groups = admin.get("/apis").await.expect(200);
    let versions =
        groups["groups"].as_array().unwrap().iter().flat_map(|group| group["versions"].as_array().unwrap());
    let mut paths = vec!["/api/v1".to_owned()];
    paths.extend(versions.map(|version| format!("/apis/{}", version["groupVersion"].as_str().unwrap())));
    let mut names = BTreeSet::new();
    for path in paths {
        let resources = admin.get(&path).await.expect(200);
        let listed = resources["resources"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|resource| resource["name"].as_str());
        names.extend(listed.filter_map(|name| name.strip_suffix("/status")).map(str::to_owned));
    }
    names
}

/// Which metadata can be written together with a status depends on the kind; so does its ownership.
#[tokio::test]
async fn metadata_beside_a_status_depends_on_the_kind() {
    let server = TestServer::options().flag("--controllers=namespace").start().await;
    let admin = server.admin();
    let given = json!({"labels": {"x": "y"}, "annotations": {"x": "y"}, "finalizers": ["example.com/f"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}]});
    let schema =
        json!({"metadata": {"name": "o"}, "spec": {"priorityLevelConfiguration": {"name": "exempt"}}});
    let level = json!({
        "metadata": {"name": "o"},
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}},
    });
    let pod = json!({"metadata": {"name": "o"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let set = json!({
        "metadata": {"name": "o"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    let flow = "/apis/flowcontrol.apiserver.orch.io/v1";
    let all: &[&str] = &["labels", "annotations", "finalizers", "ownerReferences"];
    for (collection, object, taken) in [
        (format!("{flow}/flowschemas"), schema, &[] as &[&str]),
        (format!("{flow}/prioritylevelconfigurations"), level, &[]),
        ("/api/v1/namespaces/default/pods".to_owned(), pod, &all[..3]),
        ("/apis/apps/v1/namespaces/default/daemonsets".to_owned(), set, all),
    ] {
        admin.post(&collection, &object).await.expect(201);
        let path = format!("{collection}/o/status?fieldManager=s");
        let status = json!({"conditions": [{"type": "C", "status": "True"}]});
        let change = json!({"metadata": given, "status": status});
        let merged = admin.merge(&path, &change).await.expect(200);
        assert_eq!(merged["status"]["conditions"][0]["type"], "C", "{merged}");
        let managed = merged["metadata"]["managedFields"].as_array().unwrap();
        let own = managed.iter().find(|entry| entry["manager"] == "s").unwrap();
        for name in all {
            let is_taken = taken.contains(name);
            // Beside an annotation of the server's own.
            let found = match &merged["metadata"][name] {
                Value::Object(found) => found.get("x") == Some(&json!("y")),
                found => *found == given[name],
            };
            assert_eq!(found, is_taken, "{collection} {name}");
            let owned = own["fieldsV1"]["f:metadata"].get(format!("f:{name}")).is_some();
            assert_eq!(owned, is_taken, "{collection} {name}: {own}");
        }
    }
}
