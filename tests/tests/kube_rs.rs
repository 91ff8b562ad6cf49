//! A typed client library of the ecosystem, unmodified, against the `kubernetes` vocabulary.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]
#![allow(clippy::similar_names, reason = "a list, a lost one and the last one are what tests talk about")]

use std::{collections::BTreeMap, time::Duration};

use futures_util::{Stream, TryStreamExt};
use k8s_openapi::{
    api::{
        apps::v1::DaemonSet,
        coordination::v1::Lease,
        core::v1::{ConfigMap, Namespace, Secret},
        flowcontrol::v1::PriorityLevelConfiguration,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
        PostParams,
    },
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{WatchStreamExt, reflector, watcher},
};
use orch_tests::TestServer;
use serde_json::json;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

async fn start() -> TestServer {
    TestServer::options().vocabulary("kubernetes").start().await
}

/// A client of the kubeconfig that the server wrote.
async fn client(server: &TestServer) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig_path()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("value".to_owned(), value.to_owned())])),
        ..ConfigMap::default()
    }
}

fn value(object: &ConfigMap) -> &str {
    &object.data.as_ref().unwrap()["value"]
}

#[tokio::test]
async fn typed_objects_are_created_read_changed_and_deleted() {
    let server = start().await;
    let client = client(&server).await;
    let version = client.apiserver_version().await.unwrap();
    assert_eq!(version.major, "1");
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());

    let created = api.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    assert_eq!(api.get("a").await.unwrap(), created);
    assert!(api.get_opt("b").await.unwrap().is_none());
    let conflict = api.create(&PostParams::default(), &config_map("a", "1")).await.unwrap_err();
    assert!(matches!(&conflict, kube::Error::Api(status) if status.is_already_exists()), "{conflict:?}");

    let mut changed = created.clone();
    changed.data.as_mut().unwrap().insert("value".to_owned(), "2".to_owned());
    let replaced = api.replace("a", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(value(&replaced), "2");
    let stale = api.replace("a", &PostParams::default(), &created).await.unwrap_err();
    assert!(matches!(&stale, kube::Error::Api(status) if status.is_conflict()), "{stale:?}");
    let patch = json!({"metadata": {"labels": {"tier": "front"}}});
    let patched = api.patch("a", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    assert_eq!(patched.labels()["tier"], "front");

    api.create(&PostParams::default(), &config_map("b", "1")).await.unwrap();
    let list = api.list(&ListParams::default().labels("tier=front")).await.unwrap();
    assert_eq!(list.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a"]);
    assert_eq!(api.list_metadata(&ListParams::default()).await.unwrap().items.len(), 2);

    api.delete("a", &DeleteParams::default()).await.unwrap();
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    assert!(api.list(&ListParams::default()).await.unwrap().items.is_empty());
}

fn note(object: &ConfigMap, key: &str) -> Option<String> {
    object.data.as_ref().and_then(|data| data.get(key)).cloned()
}

#[tokio::test]
async fn configurations_are_applied_with_owners() {
    let server = start().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server).await);
    let wanted = |value: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"shared": value},
        })
    };
    let apply = async |manager: &str, value: &str, force: bool| {
        let params = PatchParams { force, ..PatchParams::apply(manager) };
        api.patch("a", &params, &Patch::Apply(wanted(value))).await
    };
    let first = apply("one", "1", false).await.unwrap();
    assert_eq!(apply("one", "1", false).await.unwrap().resource_version(), first.resource_version());
    // Wanting the same is no conflict; wanting something else is one, until it is forced.
    apply("two", "1", false).await.unwrap();
    let conflict = apply("two", "2", false).await.unwrap_err();
    let kube::Error::Api(status) = &conflict else { panic!("{conflict:?}") };
    assert!(status.is_conflict(), "{status:?}");
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"one\": .data.shared");
    let forced = apply("two", "2", true).await.unwrap();
    assert_eq!(note(&forced, "shared").unwrap(), "2");
    let owners: Vec<_> = forced.managed_fields().iter().map(|entry| entry.manager.clone().unwrap()).collect();
    assert_eq!(owners, ["two"]);
    // What a manager no longer lists goes with it.
    let nothing = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let rest = api.patch("a", &PatchParams::apply("two"), &Patch::Apply(nothing)).await.unwrap();
    assert_eq!(note(&rest, "shared"), None);
}

#[tokio::test]
async fn every_kind_of_patch_is_understood() {
    let server = start().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server).await);
    api.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let params = PatchParams::default();
    let merged = api.patch("a", &params, &Patch::Merge(json!({"data": {"merge": "m"}}))).await.unwrap();
    assert_eq!(note(&merged, "merge").unwrap(), "m");
    let finalizers = |names: &[&str]| json!({"metadata": {"finalizers": names}});
    api.patch("a", &params, &Patch::Strategic(finalizers(&["x.io/a"]))).await.unwrap();
    let both = api.patch("a", &params, &Patch::Strategic(finalizers(&["x.io/b"]))).await.unwrap();
    assert_eq!(both.finalizers().len(), 2, "lists of single values are united: {both:?}");
    let operations = json!([
        {"op": "test", "path": "/data/merge", "value": "m"},
        {"op": "move", "from": "/data/merge", "path": "/data/moved"},
        {"op": "remove", "path": "/metadata/finalizers"},
    ]);
    let operations = Patch::<()>::Json(serde_json::from_value(operations).unwrap());
    let moved = api.patch("a", &params, &operations).await.unwrap();
    assert_eq!((note(&moved, "moved").unwrap().as_str(), moved.finalizers().len()), ("m", 0));
    let refused = api.patch("a", &params, &operations).await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 422), "{refused:?}");
    let dry_run = PatchParams { dry_run: true, ..PatchParams::default() };
    api.patch("a", &dry_run, &Patch::Merge(json!({"data": {"dry": "d"}}))).await.unwrap();
    assert_eq!(note(&api.get("a").await.unwrap(), "dry"), None);
}

/// A chart's manifest of a daemon set with one container.
fn release(image: &str, env: &serde_json::Value) -> serde_json::Value {
    let labels = json!({"app": "agent"});
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
            "containers": [{"name": "agent", "image": image, "env": env}],
        }}},
    })
}

/// What a release manager does on an upgrade: a patch of three states, so that what others added stays; or,
/// in its newer version, an apply.
#[tokio::test]
async fn releases_are_upgraded_around_what_others_added() {
    let server = start().await;
    let api: Api<DaemonSet> = Api::default_namespaced(client(&server).await);
    let old = release("agent:1", &json!([{"name": "A", "value": "1"}, {"name": "B", "value": "1"}]));
    let old: DaemonSet = serde_json::from_value(old).unwrap();
    api.create(&PostParams::default(), &old).await.unwrap();
    let sidecar =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "mesh:1"}]}}}});
    api.patch("agent", &PatchParams::default(), &Patch::Strategic(sidecar)).await.unwrap();

    let upgrade = json!({"spec": {"template": {"spec": {
        "$setElementOrder/containers": [{"name": "agent"}],
        "containers": [{
            "name": "agent", "image": "agent:2",
            "$setElementOrder/env": [{"name": "A"}, {"name": "C"}],
            "env": [{"name": "C", "value": "3"}, {"name": "B", "$patch": "delete"}],
        }],
    }}}});
    let upgraded = api.patch("agent", &PatchParams::default(), &Patch::Strategic(upgrade)).await.unwrap();
    let containers = |set: &DaemonSet| -> Vec<(String, String, String)> {
        let containers = &set.spec.template.spec.as_ref().unwrap().containers;
        let env = |container: &k8s_openapi::api::core::v1::Container| {
            container.env.iter().flatten().map(|var| var.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        containers
            .iter()
            .map(|one| (one.name.clone(), one.image.clone().unwrap_or_default(), env(one)))
            .collect()
    };
    let expected = |image: &str, env: &str| {
        [("agent", image, env), ("sidecar", "mesh:1", "")]
            .map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()))
    };
    let sorted = |set: &DaemonSet| {
        let mut all = containers(set);
        all.sort();
        all
    };
    assert_eq!(sorted(&upgraded), expected("agent:2", "A C"));

    let params = PatchParams::apply("helm").force();
    let next = release("agent:3", &json!([{"name": "A", "value": "1"}]));
    let applied = api.patch("agent", &params, &Patch::Apply(&next)).await.unwrap();
    assert_eq!(sorted(&applied), expected("agent:3", "A C"));
    let next = release("agent:4", &json!([{"name": "D", "value": "4"}]));
    let applied = api.patch("agent", &params, &Patch::Apply(&next)).await.unwrap();
    let [agent, sidecar] = &sorted(&applied)[..] else { panic!("{applied:?}") };
    assert_eq!(agent.1, "agent:4");
    assert!(agent.2.split(' ').any(|name| name == "D"), "{agent:?}");
    assert_eq!(*sidecar, expected("", "")[1]);
}

#[tokio::test]
async fn other_kinds_are_typed_too() {
    let server = start().await;
    let client = client(&server).await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let found: Vec<String> =
        namespaces.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    assert_eq!(found, ["default", "kube-node-lease", "kube-public", "kube-system"]);

    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let secret: Secret =
        serde_json::from_value(json!({"metadata": {"name": "s"}, "stringData": {"k": "v"}})).unwrap();
    let created = secrets.create(&PostParams::default(), &secret).await.unwrap();
    assert_eq!(created.data.unwrap()["k"].0, b"v");
    assert_eq!(created.type_.as_deref(), Some("Opaque"));

    let leases: Api<Lease> = Api::default_namespaced(client);
    let lease = json!({"metadata": {"name": "l"}, "spec": {"acquireTime": "2026-11-20T10:00:00.123456Z"}});
    let lease: Lease = serde_json::from_value(lease).unwrap();
    let created = leases.create(&PostParams::default(), &lease).await.unwrap();
    assert_eq!(created.spec, lease.spec);
}

#[tokio::test]
async fn discovery_finds_every_group() {
    let server = start().await;
    let client = client(&server).await;
    for discovery in [
        kube::Discovery::new(client.clone()).run().await.unwrap(),
        kube::Discovery::new(client.clone()).run_aggregated().await.unwrap(),
    ] {
        let mut groups: Vec<&str> = discovery.groups().map(kube::discovery::ApiGroup::name).collect();
        groups.sort_unstable();
        assert!(groups.contains(&"") && groups.contains(&"coordination.k8s.io"), "{groups:?}");
        let core = discovery.get("").unwrap();
        assert!(core.recommended_kind("ConfigMap").is_some());
    }
}

/// A kind that is stored in a newer version is read, watched and written in an older one.
#[tokio::test]
async fn an_older_version_of_a_kind_is_read_and_watched() {
    const GROUP: &str = "flowcontrol.apiserver.k8s.io";
    let options = TestServer::options().vocabulary("kubernetes");
    let server = options.flag(format!("--runtime-config={GROUP}/v1beta2")).start().await;
    let client = client(&server).await;
    let newer: Api<PriorityLevelConfiguration> = Api::all(client.clone());
    let kind = GroupVersionKind::gvk(GROUP, "v1beta2", "PriorityLevelConfiguration");
    let older: Api<DynamicObject> = Api::all_with(client, &ApiResource::from_gvk(&kind));
    let shares = |level: &DynamicObject| level.data["spec"]["limited"]["assuredConcurrencyShares"].clone();

    let config = watcher::Config::default().fields("metadata.name=l");
    let stream = watcher(older.clone(), config).backoff(backoff()).applied_objects();
    let mut stream = std::pin::pin!(stream);
    let level = json!({
        "metadata": {"name": "l"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 7, "limitResponse": {"type": "Reject"},
        }},
    });
    let level: PriorityLevelConfiguration = serde_json::from_value(level).unwrap();
    let created = newer.create(&PostParams::default(), &level).await.unwrap();
    let seen = next(&mut stream).await;
    assert_eq!((shares(&seen), seen.resource_version()), (json!(7), created.resource_version()));
    let listed = older.list(&ListParams::default().fields("metadata.name=l")).await.unwrap();
    assert_eq!(listed.items.iter().map(shares).collect::<Vec<_>>(), [json!(7)]);

    let mut changed = older.get("l").await.unwrap();
    changed.data["spec"]["limited"]["assuredConcurrencyShares"] = json!(9);
    older.replace("l", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(shares(&next(&mut stream).await), 9);
    let stored = newer.get("l").await.unwrap().spec.limited.unwrap();
    assert_eq!(stored.nominal_concurrency_shares, Some(9));
}

/// The state that a watcher builds up is that of the server, also when the server was gone for a while.
#[tokio::test]
async fn a_reflector_survives_a_restart() {
    for initial in [watcher::InitialListStrategy::ListWatch, watcher::InitialListStrategy::StreamingList] {
        let mut server = start().await;
        let api: Api<ConfigMap> = Api::default_namespaced(client(&server).await);
        api.create(&PostParams::default(), &config_map("before", "1")).await.unwrap();

        let (store, writer) = reflector::store();
        let config = watcher::Config { initial_list_strategy: initial, ..watcher::Config::default() };
        let stream = watcher(api.clone(), config).backoff(backoff()).reflect(writer).touched_objects();
        let mut stream = std::pin::pin!(stream);
        assert_eq!(next(&mut stream).await.name_any(), "before");

        api.create(&PostParams::default(), &config_map("between", "1")).await.unwrap();
        assert_eq!(next(&mut stream).await.name_any(), "between");
        server.kill().await;
        server.restart().await;
        // Connections of the old process are gone: a new client for the writes of this test.
        let writes: Api<ConfigMap> = Api::default_namespaced(client(&server).await);
        let patch = Patch::Merge(json!({"data": {"value": "2"}}));
        writes.patch("before", &PatchParams::default(), &patch).await.unwrap();
        writes.delete("between", &DeleteParams::default()).await.unwrap();
        writes.create(&PostParams::default(), &config_map("after", "1")).await.unwrap();
        loop {
            if next(&mut stream).await.name_any() == "after" {
                break;
            }
        }
        let mut state: Vec<(String, String)> =
            store.state().iter().map(|object| (object.name_any(), value(object).to_owned())).collect();
        state.sort();
        assert_eq!(state, [("after".to_owned(), "1".to_owned()), ("before".to_owned(), "2".to_owned())]);
    }
}

/// A watcher sees every change exactly once and in order, a restart in the middle included.
#[tokio::test]
async fn a_watcher_resumes_where_it_was() {
    let mut server = start().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server).await);
    let stream = watcher(api.clone(), watcher::Config::default()).backoff(backoff()).applied_objects();
    let mut stream = std::pin::pin!(stream);
    api.create(&PostParams::default(), &config_map("a", "0")).await.unwrap();
    assert_eq!(value(&next(&mut stream).await), "0");
    for round in 1..=3 {
        let writes: Api<ConfigMap> = Api::default_namespaced(client(&server).await);
        for step in 0..5 {
            let patch = Patch::Merge(json!({"data": {"value": format!("{round}.{step}")}}));
            writes.patch("a", &PatchParams::default(), &patch).await.unwrap();
        }
        if round < 3 {
            server.kill().await;
            server.restart().await;
        }
        for step in 0..5 {
            assert_eq!(value(&next(&mut stream).await), format!("{round}.{step}"));
        }
    }
}

/// The library's own time between tries to reconnect.
fn backoff() -> impl kube::runtime::utils::Backoff {
    watcher::DefaultBackoff::default()
}

/// The next object. Errors of connections are passed over: the watcher must survive them.
async fn next<T>(stream: &mut (impl Stream<Item = Result<T, watcher::Error>> + Unpin)) -> T {
    tokio::time::timeout(PATIENCE, async {
        loop {
            if let Ok(Some(object)) = stream.try_next().await {
                return object;
            }
        }
    })
    .await
    .expect("the watcher goes on")
}
