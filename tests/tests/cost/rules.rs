//! Hand-written rules over long lists, and warnings: objects that a table of types does not lead to.

use orch_machinery::{body::read_json, media_type::PatchKind};
use orch_runtime::Tree;
use serde_json::json;

use crate::{
    meter::{alone, growth, measured},
    server::{NAME, NAMESPACE, Server},
};

const SIZE: usize = 2_000;

/// What it is about, the plural of the kind, and an object of a size.
type Case = (&'static str, &'static str, fn(usize) -> Tree);

/// The same for a change: the object as it is stored, and as it is sent.
type Change = (&'static str, &'static str, fn(usize) -> [Tree; 2]);

fn list(count: usize, item: impl Fn(usize) -> Tree) -> Tree {
    (0..count).map(item).collect()
}

/// A pod with one container, and these further fields of its spec.
fn pod(spec: Tree) -> Tree {
    let mut pod = json!({"metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let fields = pod["spec"].as_object_mut().unwrap();
    fields.extend(spec.as_object().cloned().unwrap_or_default());
    pod
}

/// A pod whose container has these further fields.
fn container(fields: Tree) -> Tree {
    let mut container = json!({"name": "c", "image": "i"});
    container.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap_or_default());
    pod(json!({"containers": [container]}))
}

const CREATES: &[Case] = &[
    ("spread constraints", "pods", |count| {
        pod(json!({"topologySpreadConstraints": list(count, |n| json!({
            "maxSkew": 1, "topologyKey": format!("k{n}"), "whenUnsatisfiable": "DoNotSchedule",
        }))}))
    }),
    ("label keys of a spread constraint", "pods", |count| {
        let keys = list(count, |n| format!("k{n}").into());
        let expressions = list(count, |n| json!({"key": format!("l{n}"), "operator": "Exists"}));
        pod(json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule",
            "matchLabelKeys": keys, "labelSelector": {"matchExpressions": expressions},
        }]}))
    }),
    ("label keys of an affinity", "pods", |count| {
        let keys = |letter: &str| list(count, |n| format!("{letter}{n}").into());
        pod(json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "k", "labelSelector": {}, "matchLabelKeys": keys("a"),
            "mismatchLabelKeys": keys("b"),
        }]}}}))
    }),
    ("one label key many times", "pods", |count| {
        let keys = list(count, |_| "a".into());
        let mut pod =
            pod(json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "k", "labelSelector": {}, "matchLabelKeys": keys},
            ]}}}));
        pod["metadata"]["labels"] = json!({"a": "x".repeat(100 * count)});
        pod
    }),
    ("one profile for many containers", "pods", |count| {
        let profile = json!({"type": "Localhost", "localhostProfile": "x".repeat(100 * count)});
        pod(json!({
            "securityContext": {"appArmorProfile": profile},
            "containers": list(count, |n| json!({"name": format!("c{n}"), "image": "i"})),
        }))
    }),
    ("mounts and devices", "pods", |count| {
        let mut pod = container(json!({
            "volumeMounts": list(count, |n| json!({"name": format!("v{n}"), "mountPath": format!("/m{n}")})),
            "volumeDevices": list(count, |n| json!({"name": "w", "devicePath": format!("/d{n}")})),
        }));
        pod["spec"]["volumes"] = list(count, |n| json!({"name": format!("v{n}"), "emptyDir": {}}));
        pod
    }),
    ("ports of one number", "pods", |count| {
        let address = |n: usize| format!("10.0.{}.{}", n / 250, n % 250);
        let port = |n: usize| json!({"containerPort": 80, "hostPort": n % 65_000 + 1, "hostIP": address(n)});
        container(json!({"ports": list(count, port)}))
    }),
    ("ephemeral volumes", "pods", |count| {
        pod(json!({"volumes": list(count, |n| match n % 2 {
            0 => json!({"name": format!("v{n}"), "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}),
            _ => json!({"name": format!("v{n}"), "persistentVolumeClaim": {"claimName": format!("c{n}")}}),
        })}))
    }),
    ("files of a volume", "pods", |count| {
        let items = list(count, |n| json!({"key": format!("k{n}"), "path": format!("p{n}")}));
        pod(json!({"volumes": [{"name": "v", "configMap": {"name": "m", "items": items}}]}))
    }),
    ("sources of a volume", "pods", |count| {
        let item = |n: usize| json!({"key": "k", "path": format!("p{n}")});
        let sources = list(count, |n| json!({"secret": {"name": "s", "items": [item(n)]}}));
        pod(json!({"volumes": [{"name": "v", "projected": {"sources": sources}}]}))
    }),
    ("sources without files", "pods", |count| {
        let items = list(count, |n| json!({"key": "k", "path": format!("p{n}")}));
        let mut sources = list(count, |_| json!({"secret": {"name": "s"}}));
        sources[0]["secret"]["items"] = items;
        pod(json!({"volumes": [{"name": "v", "projected": {"sources": sources}}]}))
    }),
    ("annotations of containers", "pods", |count| {
        let key = |n: usize| format!("container.apparmor.security.beta.kubernetes.io/c{n}");
        let annotations: Tree = (0..count).map(|n| (key(n), Tree::from("runtime/default"))).collect();
        let mut pod =
            pod(json!({"containers": list(count, |n| json!({"name": format!("c{n}"), "image": "i"}))}));
        pod["metadata"]["annotations"] = annotations;
        pod
    }),
    ("values of a preferred term", "pods", |count| {
        let values = list(count, |_| "a b".into());
        let expression = json!({"key": "k", "operator": "In", "values": values});
        pod(json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {"matchExpressions": [expression]}},
        ]}}}))
    }),
    ("gates without a name", "pods", |count| pod(json!({"schedulingGates": list(count, |_| json!({}))}))),
    ("owners that control", "configmaps", |count| {
        let owner = |n: usize| json!({"uid": format!("u{n}"), "controller": true, "kind": "K", "name": "o"});
        json!({"metadata": {"name": NAME, "ownerReferences": list(count, owner)}})
    }),
    ("ranges of a node", "nodes", |count| {
        let ranges = list(count, |n| format!("10.{}.{}.0/24", n / 250, n % 250).into());
        json!({"metadata": {"name": NAME}, "spec": {"podCIDRs": ranges}})
    }),
    ("topology keys of a driver", "csinodes", |count| {
        let driver =
            json!({"name": "d", "nodeID": "n", "topologyKeys": list(count, |n| format!("k{n} ").into())});
        json!({"metadata": {"name": NAME}, "spec": {"drivers": [driver]}})
    }),
    ("ports of a service", "services", |count| {
        let ports = list(count, |n| json!({"port": n + 1, "name": format!("p{n}")}));
        json!({"metadata": {"name": NAME}, "spec": {"type": "NodePort", "ports": ports}})
    }),
    ("addresses of a service beside a long error", "services", |count| {
        let port = json!({"port": 1, "name": "x".repeat(150 * SIZE)});
        let addresses = list(count, |_| "x".into());
        json!({"metadata": {"name": NAME}, "spec": {"ports": [port], "clusterIPs": addresses}})
    }),
];

const UPDATES: &[Change] = &[
    ("conditions", "flowschemas", |count| {
        let schema = |letter: &str| {
            json!({"metadata": {"name": NAME}, "spec": {}, "status": {
            "conditions": list(count, |n| json!({"type": format!("{letter}{n}"), "status": "True"}))}})
        };
        [schema("a"), schema("b")]
    }),
    ("tolerations", "pods", |count| {
        let pod = pod(
            json!({"tolerations": list(count, |n| json!({"key": format!("k{n}"), "operator": "Exists"}))}),
        );
        [pod.clone(), pod]
    }),
    ("gates", "pods", |count| {
        let pod = |letter: &str| {
            pod(json!({"schedulingGates": list(count, |n| json!({"name": format!("{letter}{n}")}))}))
        };
        [pod("a"), pod("b")]
    }),
    ("finalizers of an object that goes", "configmaps", |count| {
        let map = |letter: &str| {
            json!({"metadata": {"name": NAME, "deletionTimestamp": "2024-01-02T03:04:05Z",
            "finalizers": list(count, |n| format!("x.io/{letter}{n}").into())}})
        };
        [map("a"), map("b")]
    }),
    ("ports of a service", "services", |count| {
        let service = |kind: &str| {
            let ports = list(count, |n| json!({"port": n + 1, "protocol": "TCP", "name": format!("p{n}")}));
            json!({"metadata": {"name": NAME}, "spec": {"type": kind, "ports": ports}})
        };
        [service("ClusterIP"), service("NodePort")]
    }),
];

#[test]
fn rules_over_long_lists() {
    let _turn = alone();
    let server = Server::start();
    let mut faults = Vec::new();
    for (what, plural, object) in CREATES {
        let resource = server.resource(plural);
        let grown = growth(SIZE, |count| {
            let body = object(count).to_string().into();
            measured(|| drop(server.create(&resource, read_json, &body))).0
        });
        faults.extend(grown.map(|why| format!("{what}: {why}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn rules_about_changes_of_long_lists() {
    let _turn = alone();
    let server = Server::start();
    let mut faults = Vec::new();
    for (what, plural, objects) in UPDATES {
        let resource = server.resource(plural);
        let grown = growth(SIZE, |count| {
            let [old, new] = objects(count);
            server.put(&resource, old).unwrap();
            let body = new.to_string().into();
            measured(|| drop(server.update(&resource, read_json, &body))).0
        });
        faults.extend(grown.map(|why| format!("{what}: {why}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn long_names_are_not_repeated_for_each_error_and_warning() {
    let _turn = alone();
    let server = Server::start();
    let pods = server.resource("pods");
    let long = "x".repeat(1_000_000);
    let files = list(5_000, |_| json!({"key": "k", "path": "p"}));
    let bodies = [
        json!({"metadata": {"name": NAME}, "spec": {"containers": [], "volumes":
            [{"name": long, "configMap": {"name": "m", "items": files}}]}}),
        json!({"metadata": {"name": long}, "spec": {"containers": [], "volumes":
            list(3_000, |_| json!({"name": "v", "ephemeral": {}}))}}),
        json!({"metadata": {"name": NAME, "managedFields": [{"operation": "Update", "fieldsV1": {&*long:
            Tree::Object((0..3_000).map(|n| (format!("f:{n}"), json!({}))).collect())}}]}}),
    ];
    for body in bodies {
        let body = body.to_string().into();
        let (_, memory, ()) = measured(|| drop(server.create(&pods, read_json, &body)));
        assert!(memory < 60_000_000, "{memory} bytes");
    }
    // Names that occur twice are reported with their whole path, which is as long.
    let pairs = "\"a\":1,\"a\":1,\"b\":1,\"b\":1,\"c\":1,\"c\":1,\"d\":1,\"d\":1".to_owned();
    let text = format!("{{\"metadata\":{{\"labels\":{{\"{long}\":{{{pairs}}}}}}}}}");
    let body = text.into_bytes().into();
    for kind in [PatchKind::Merge, PatchKind::Strategic] {
        let (_, memory, ()) = measured(|| drop(server.patch(&pods, kind, &body)));
        assert!(memory < 30_000_000, "{memory} bytes");
    }
}
