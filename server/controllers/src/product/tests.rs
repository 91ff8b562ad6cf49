//! The product's controllers together, over a store in memory.

mod identities;
mod recipe;
mod rights;
mod trust;

use orch_api::{
    apps::v1::DaemonSet,
    core::v1::{
        ConfigMap, Event, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service,
        ServiceAccount,
    },
    flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration},
    rbac::v1::ClusterRole,
    scheduling::v1::PriorityClass,
};
use orch_machinery::meta::Meta;
use orch_registry::options::DeletionOptions;
use orch_registry::ranges::AddressRange;
use orch_runtime::scalar::Time;
use orch_storage::{Body, Change, Key};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Duration, sleep},
};

use super::*;
use crate::fixture::{Fixture, NAMESPACE};

/// The controllers of a server that listens on a port.
fn all() -> Vec<Box<dyn AnyController>> {
    let (_, trust) = watch::channel(None);
    controllers(Settings {
        own_service: own_service(6443),
        trust,
        signer: Signer::default(),
        event_ttl: Duration::from_mins(1),
        vocabulary: &orch_api::ORCH,
    })
}

/// In the network of the fixture.
fn own_service(port: u16) -> OwnService {
    OwnService::new(&AddressRange::parse("10.0.0.0/24").unwrap(), port)
}

#[test]
fn controllers_are_found_by_the_names_of_the_reference() {
    for (alias, own) in crate::selection::ALIASES {
        let chosen = crate::selection::select(all(), &[(*alias).to_owned()]).unwrap();
        let names: Vec<&str> = chosen.iter().map(|controller| controller.name()).collect();
        let same = names.len() == own.len() && names.iter().all(|name| own.contains(name));
        assert!(same, "{alias}: {names:?}");
    }
}

fn phase(phase: &str) -> impl Fn(&mut Tree) {
    move |tree| tree["status"]["phase"] = phase.into()
}

fn claim(name: &str) -> Value {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    json!({"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec})
}

fn pod(name: &str, volume: &Value) -> Value {
    let containers = json!([{"name": "c", "image": "i"}]);
    json!({
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"containers": containers, "volumes": [volume]},
    })
}

#[tokio::test(start_paused = true)]
async fn a_namespace_goes_when_its_content_is_gone() {
    let fixture = Fixture::new().await;
    let (running, monitor) = fixture.start(all());
    fixture.create::<Namespace>(json!({"metadata": {"name": "other"}})).await;
    for (namespace, name, finalizers) in
        [("other", "a", json!([])), (NAMESPACE, "b", json!([])), (NAMESPACE, "c", json!(["example.com/f"]))]
    {
        let metadata = json!({"name": name, "namespace": namespace, "finalizers": finalizers});
        fixture.create::<ConfigMap>(json!({"metadata": metadata})).await;
    }
    fixture.delete::<Namespace>(("", NAMESPACE)).await;
    fixture.settle().await;
    let left = ["other", NAMESPACE].map(|name| fixture.exists::<Namespace>(("", name)));
    assert_eq!(left, [true, true]);
    let left = [("other", "a"), (NAMESPACE, "b"), (NAMESPACE, "c")];
    assert_eq!(left.map(|name| fixture.exists::<ConfigMap>(name)), [true, false, true]);
    // While nothing happens, nobody looks.
    let runs = || monitor.stats().iter().find(|it| it.name == "namespace").unwrap().reconciles;
    let before = runs();
    sleep(Duration::from_mins(5)).await;
    assert_eq!(runs(), before);
    fixture
        .change::<ConfigMap>((NAMESPACE, "c"), "", |tree| tree["metadata"]["finalizers"] = json!([]))
        .await;
    fixture.until("it is gone", || !fixture.exists::<Namespace>(("", NAMESPACE))).await;
    assert!(fixture.exists::<ConfigMap>(("other", "a")) && fixture.exists::<Namespace>(("", "other")));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_volume_goes_when_no_claim_is_bound_to_it() {
    let fixture = Fixture::new().await;
    // Without those that keep the phases of volumes.
    let protection = all().into_iter().filter(|controller| controller.name().ends_with("-protection"));
    let (running, _) = fixture.start(protection.collect());
    for name in ["bound", "free"] {
        let spec = json!({
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"},
        });
        fixture.create::<PersistentVolume>(json!({"metadata": {"name": name}, "spec": spec})).await;
    }
    fixture.change::<PersistentVolume>(("", "bound"), "status", phase("Bound")).await;
    for name in ["bound", "free"] {
        fixture.delete::<PersistentVolume>(("", name)).await;
        assert!(fixture.exists::<PersistentVolume>(("", name)), "it has a finalizer");
    }
    fixture.settle().await;
    assert_eq!(["bound", "free"].map(|name| fixture.exists::<PersistentVolume>(("", name))), [true, false]);
    fixture.change::<PersistentVolume>(("", "bound"), "status", phase("Released")).await;
    fixture.settle().await;
    assert!(!fixture.exists::<PersistentVolume>(("", "bound")));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_goes_when_no_pod_uses_it() {
    const CLAIMS: [&str; 4] = ["named", "p-scratch", "done", "free"];
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(all());
    for name in CLAIMS {
        fixture.create::<PersistentVolumeClaim>(claim(name)).await;
    }
    let named = |name: &str| json!({"name": "v", "persistentVolumeClaim": {"claimName": name}});
    let template = json!({"spec": claim("")["spec"].clone()});
    fixture.create::<Pod>(pod("n", &named("named"))).await;
    fixture.create::<Pod>(pod("d", &named("done"))).await;
    let scratch = json!({"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}});
    fixture.create::<Pod>(pod("p", &scratch)).await;
    for name in CLAIMS {
        fixture.delete::<PersistentVolumeClaim>((NAMESPACE, name)).await;
    }
    let left = || CLAIMS.map(|name| fixture.exists::<PersistentVolumeClaim>((NAMESPACE, name)));
    assert_eq!(left(), [true, true, true, true], "they have finalizers");
    fixture.settle().await;
    assert_eq!(left(), [true, true, true, false]);
    fixture.change::<Pod>((NAMESPACE, "d"), "status", phase("Succeeded")).await;
    fixture.settle().await;
    assert_eq!(left(), [true, true, false, false]);
    let at_once = DeletionOptions { grace_period: Some(0), ..DeletionOptions::default() };
    for name in ["n", "p"] {
        fixture.client.delete(fixture.resource::<Pod>(), NAMESPACE, name, at_once.clone()).await.unwrap();
    }
    fixture.settle().await;
    assert_eq!(left(), [false, false, false, false]);
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_cannot_be_read_keeps_the_claims_of_its_namespace() {
    let fixture = Fixture::new().await;
    let storage = fixture.client.core().storage();
    let key = orch_registry::objects::key(fixture.resource::<Pod>(), NAMESPACE, "odd");
    let body = Body::new(br#"{"persistentVolumeClaim":"#.to_vec(), 0);
    let odd = storage.commit(Change::Create { key: key.clone(), body: body.clone() }).await.unwrap();
    let (running, _) = fixture.start(all());
    fixture.create::<PersistentVolumeClaim>(claim("c")).await;
    fixture.delete::<PersistentVolumeClaim>((NAMESPACE, "c")).await;
    sleep(Duration::from_mins(1)).await;
    assert!(fixture.exists::<PersistentVolumeClaim>((NAMESPACE, "c")));
    storage.commit(Change::Remove { key, expected: odd.revision, body }).await.unwrap();
    fixture.until("it is gone", || !fixture.exists::<PersistentVolumeClaim>((NAMESPACE, "c"))).await;
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn system_namespaces_are_made_again() {
    let fixture = Fixture::new().await;
    system_namespaces::ensure(&fixture.client).await.unwrap();
    let names = system_namespaces::names(&orch_api::ORCH);
    let uid = |name: &str| {
        let found = fixture.client.get(fixture.resource::<Namespace>(), "", name).ok()?;
        Some(Meta::of(&found.tree).uid().to_owned())
    };
    let first = names.map(|name| uid(name).expect("it was made"));
    system_namespaces::ensure(&fixture.client).await.unwrap();
    assert_eq!(names.map(|name| uid(name).unwrap()), first, "they are made once");
    let (running, _) = fixture.start(all());
    // The only one that may be deleted.
    let leases = orch_api::ORCH.namespace_node_lease;
    fixture.delete::<Namespace>(("", leases)).await;
    let took =
        fixture.until("it is made again", || uid(leases).is_some_and(|uid| !first.contains(&uid))).await;
    assert!(took < Duration::from_secs(1), "{took:?}");
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn the_service_of_the_server_leads_to_it() {
    let fixture = Fixture::new().await;
    system_namespaces::ensure(&fixture.client).await.unwrap();
    let name = ("default", "kubernetes");
    let found = || {
        let service = fixture.client.get(fixture.resource::<Service>(), name.0, name.1).ok()?.tree;
        let port = &service["spec"]["ports"][0];
        let port = [&port["name"], &port["port"], &port["targetPort"], &port["protocol"]];
        assert_eq!((&port[0], &port[1], &port[3]), (&&json!("https"), &&json!(443), &&json!("TCP")));
        assert_eq!([&service["spec"]["clusterIP"], &service["spec"]["type"]], ["10.0.0.1", "ClusterIP"]);
        Some((port[2].as_u64().unwrap(), Meta::of(&service).resource_version().to_owned()))
    };
    own_service(6443).ensure(&fixture.client).await.unwrap();
    let first = found().unwrap();
    assert_eq!(first.0, 6443);
    own_service(6443).ensure(&fixture.client).await.unwrap();
    assert_eq!(found().unwrap(), first, "nothing changes");
    own_service(7443).ensure(&fixture.client).await.unwrap();
    assert_eq!(found().unwrap().0, 7443);

    let (running, _) = fixture.start(all());
    fixture.until("it leads to the port again", || found().unwrap().0 == 6443).await;
    fixture.delete::<Service>(name).await;
    let took = fixture.until("it is made again", || found().is_some()).await;
    assert!(took < Duration::from_secs(1), "{took:?}");
    fixture.finish(running).await;
}

/// Another service may have the address. The controller is well, and makes the service when it can.
#[tokio::test(start_paused = true)]
async fn a_server_waits_for_the_address_of_its_service() {
    let fixture = Fixture::new().await;
    system_namespaces::ensure(&fixture.client).await.unwrap();
    let spec = json!({"clusterIP": "10.0.0.1", "ports": [{"port": 80}]});
    let metadata = json!({"name": "first", "namespace": NAMESPACE});
    fixture.create::<Service>(json!({"metadata": metadata, "spec": spec})).await;
    let refused = own_service(6443).ensure(&fixture.client).await;
    assert!(matches!(refused, Err(ApiError::Invalid { .. })), "{refused:?}");
    let (running, monitor) = fixture.start(all());
    fixture.settle().await;
    assert!(!fixture.exists::<Service>(("default", "kubernetes")));
    assert_eq!(monitor.health("own-service"), Ok(()));
    fixture.delete::<Service>((NAMESPACE, "first")).await;
    fixture.until("it is made", || fixture.exists::<Service>(("default", "kubernetes"))).await;
    fixture.finish(running).await;
}

/// A cluster role that others select.
fn part(name: &str, rules: &Tree) -> Value {
    json!({"metadata": {"name": name, "labels": {"part": "yes"}}, "rules": rules})
}

#[tokio::test(start_paused = true)]
async fn an_aggregated_role_has_the_rules_of_its_parts() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(all());
    let rule = |resource: &str| json!({"verbs": ["get"], "apiGroups": [""], "resources": [resource]});
    let whole = |name: &str, label: &str| {
        let selector = json!({"matchLabels": {label: "yes"}});
        json!({"metadata": {"name": name}, "aggregationRule": {"clusterRoleSelectors": [selector]}})
    };
    let rules = |name: &str| {
        fixture.client.get(fixture.resource::<ClusterRole>(), "", name).unwrap().tree["rules"].clone()
    };
    fixture.create::<ClusterRole>(part("b", &json!([rule("pods"), rule("nodes")]))).await;
    let mut inner = whole("inner", "part");
    inner["metadata"]["labels"] = json!({"outer": "yes"});
    fixture.create::<ClusterRole>(inner).await;
    fixture.create::<ClusterRole>(whole("outer", "outer")).await;
    fixture.create::<ClusterRole>(part("a", &json!([rule("pods"), rule("secrets")]))).await;
    fixture.settle().await;
    let all = json!([rule("pods"), rule("secrets"), rule("nodes")]);
    assert_eq!((rules("inner"), rules("outer")), (all.clone(), all.clone()));

    fixture.change::<ClusterRole>(("", "inner"), "", |role| role["rules"] = json!([rule("events")])).await;
    fixture.settle().await;
    assert_eq!((rules("inner"), rules("outer")), (all.clone(), all));
    fixture.delete::<ClusterRole>(("", "a")).await;
    fixture.change::<ClusterRole>(("", "b"), "", |role| role["metadata"]["labels"] = json!({})).await;
    fixture.settle().await;
    assert_eq!((rules("inner"), rules("outer")), (Value::Null, Value::Null));
    fixture.finish(running).await;
}

/// While nothing changes nothing is looked at, however long that is. What nodes tell all the time is no
/// change to a daemon set.
#[tokio::test(start_paused = true)]
async fn nothing_is_done_while_nothing_changes() {
    let fixture = Fixture::new().await;
    let (running, monitor) = fixture.start(all());
    fixture.create::<Node>(json!({"metadata": {"name": "n"}})).await;
    let containers = json!([{"name": "c", "image": "i"}]);
    let labels = json!({"app": "a"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
    let spec = json!({"selector": {"matchLabels": labels}, "template": template});
    fixture
        .create::<DaemonSet>(json!({"metadata": {"name": "d", "namespace": NAMESPACE}, "spec": spec}))
        .await;
    fixture.create::<PersistentVolumeClaim>(claim("c")).await;
    fixture.settle().await;
    let pods = fixture.client.snapshot(fixture.resource::<Pod>());
    assert_eq!(pods.in_namespace(NAMESPACE).count(), 1);
    let names = ["daemonset-controller", "persistentvolume-binder", "persistentvolumeclaim-binder"];
    let looks = || {
        let stats = monitor.stats().into_iter().filter(|stats| names.contains(&stats.name));
        stats.map(|stats| stats.reconciles).collect::<Vec<u64>>()
    };
    let before = looks();
    assert_eq!((before.len(), before[0] > 0), (names.len(), true));
    sleep(Duration::from_hours(24)).await;
    let beat = json!([{"type": "Ready", "status": "True"}]);
    fixture.change::<Node>(("", "n"), "status", |node| node["status"]["conditions"] = beat.clone()).await;
    fixture.settle().await;
    assert_eq!(looks(), before);
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn each_namespace_has_an_account() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(all());
    fixture.create::<Namespace>(json!({"metadata": {"name": "other"}})).await;
    fixture.settle().await;
    for namespace in [NAMESPACE, "other"] {
        assert!(fixture.exists::<ServiceAccount>((namespace, "default")), "{namespace}");
    }
    fixture.delete::<ServiceAccount>((NAMESPACE, "default")).await;
    fixture.settle().await;
    assert!(fixture.exists::<ServiceAccount>((NAMESPACE, "default")), "it is made again");
    fixture.delete::<Namespace>(("", NAMESPACE)).await;
    fixture.until("it is gone", || !fixture.exists::<Namespace>(("", NAMESPACE))).await;
    assert!(!fixture.exists::<ServiceAccount>((NAMESPACE, "default")));
    fixture.finish(running).await;
}

/// The time of the server goes on as always, so an old event is stored as it is.
#[tokio::test(start_paused = true)]
async fn events_expire() {
    let fixture = Fixture::new().await;
    let events = fixture.resource::<Event>();
    let about = json!({"kind": "Pod", "namespace": NAMESPACE, "name": "p"});
    let now = fixture.client.core().now().as_unix_seconds();
    for (name, age) in [("old", 61), ("new", 0)] {
        let created = Time::from_unix_seconds(now - age).to_string();
        let metadata = json!({
            "name": name, "namespace": NAMESPACE, "creationTimestamp": created,
            "managedFields": [{"manager": "m"}],
        });
        let tree =
            json!({"kind": "Event", "apiVersion": "v1", "metadata": metadata, "involvedObject": about});
        let body = orch_registry::stored::encode_body(events, &tree, None, false).unwrap();
        let key = orch_registry::objects::key(events, NAMESPACE, name);
        fixture.client.core().storage().commit(Change::Create { key, body }).await.unwrap();
    }
    let (running, monitor) = fixture.start(all());
    fixture.settle().await;
    assert!(!fixture.exists::<Event>((NAMESPACE, "old")));
    sleep(Duration::from_secs(30)).await;
    assert!(fixture.exists::<Event>((NAMESPACE, "new")));
    let stats = monitor.stats();
    let runs = stats.iter().find(|stats| stats.name == "event-expiry").unwrap().reconciles;
    // The old one, that it is gone, and the new one.
    assert_eq!(runs, 3, "nothing is asked again and again");
    fixture.finish(running).await;
}

fn token(id: &str, expiration: &str) -> Value {
    let vocabulary = &orch_api::ORCH;
    let name = format!("bootstrap-token-{id}");
    json!({
        "metadata": {"name": name, "namespace": vocabulary.namespace_system},
        "type": vocabulary.bootstrap_token_secret_type,
        "stringData": {
            "token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true",
            "expiration": expiration,
        },
    })
}

#[tokio::test(start_paused = true)]
async fn tokens_sign_what_is_public_until_they_expire() {
    let fixture = Fixture::new().await;
    system_namespaces::ensure(&fixture.client).await.unwrap();
    let (system, public) = (orch_api::ORCH.namespace_system, orch_api::ORCH.namespace_public);
    let mut controllers = all();
    controllers.retain(|controller| controller.name() == "bootstrap-signer-controller");
    let (running, monitor) = fixture.start(controllers);
    fixture.create::<Secret>(token("abc123", "")).await;
    fixture.create::<Secret>(token("old123", "2001-01-01T00:00:00Z")).await;
    let metadata = json!({"name": "cluster-info", "namespace": public});
    fixture.create::<ConfigMap>(json!({"metadata": metadata, "data": {"kubeconfig": "k"}})).await;
    let keys = || {
        let found = fixture.client.get(fixture.resource::<ConfigMap>(), public, "cluster-info").unwrap();
        let data = found.tree["data"].as_object().unwrap().clone();
        data.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    fixture.settle().await;
    assert_eq!(keys(), ["jws-kubeconfig-abc123", "kubeconfig"]);
    fixture.create::<Secret>(token("new123", "2999-01-01T00:00:00Z")).await;
    fixture.delete::<Secret>((system, "bootstrap-token-abc123")).await;
    fixture.settle().await;
    assert_eq!(keys(), ["jws-kubeconfig-new123", "kubeconfig"]);
    // It does not look at secrets that cannot be tokens.
    let looks = || monitor.stats()[0].reconciles;
    let before = looks();
    fixture.create::<Secret>(json!({"metadata": {"name": "other", "namespace": system}})).await;
    fixture.settle().await;
    assert_eq!(looks(), before);
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn expired_tokens_are_deleted() {
    let fixture = Fixture::new().await;
    system_namespaces::ensure(&fixture.client).await.unwrap();
    let (running, _) = fixture.start(all());
    for (id, expiration) in [
        ("never1", ""),
        ("later1", "2999-01-01T00:00:00Z"),
        ("past01", "2001-01-01T00:00:00Z"),
        ("wrong1", "soon"),
    ] {
        fixture.create::<Secret>(token(id, expiration)).await;
    }
    let mut plain = token("plain1", "2001-01-01T00:00:00Z");
    plain["type"] = json!("Opaque");
    fixture.create::<Secret>(plain).await;
    fixture.settle().await;
    let left = ["never1", "later1", "past01", "wrong1", "plain1"].map(|id| {
        let name = format!("bootstrap-token-{id}");
        fixture.exists::<Secret>((orch_api::ORCH.namespace_system, &name))
    });
    assert_eq!(left, [true, true, false, false, true]);
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_tells_what_holds_it() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(all());
    let held = json!({"name": "held", "namespace": NAMESPACE, "finalizers": ["example.com/hold"]});
    fixture.create::<ConfigMap>(json!({"metadata": held})).await;
    // An object of a kind that is not served.
    let storage = fixture.client.core().storage();
    let key = Key::new("gizmos.factory.orch.io".into(), NAMESPACE, "g");
    storage.commit(Change::Create { key, body: Body::new(b"{}".to_vec(), 1) }).await.unwrap();
    fixture.delete::<Namespace>(("", NAMESPACE)).await;
    fixture.settle().await;
    let namespace = fixture.client.get(fixture.resource::<Namespace>(), "", NAMESPACE).unwrap().tree;
    assert_eq!(namespace["status"]["phase"], "Terminating");
    let wrong: Vec<&Value> = namespace["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|condition| condition["status"] == "True")
        .map(|condition| &condition["message"])
        .collect();
    assert_eq!(
        wrong,
        [
            "Some resources are remaining: configmaps. has 1 resource instances",
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource \
             instances",
        ]
    );
    assert!(storage.snapshot(&"gizmos.factory.orch.io".into()).is_empty());
    let unheld = |tree: &mut Tree| tree["metadata"]["finalizers"] = json!([]);
    fixture.change::<ConfigMap>((NAMESPACE, "held"), "", unheld).await;
    fixture.until("it is gone", || !fixture.exists::<Namespace>(("", NAMESPACE))).await;
    fixture.finish(running).await;
}

/// Nobody may have seen that they were removed: while no server ran these, for example.
#[tokio::test(start_paused = true)]
async fn what_every_server_has_is_made_where_it_is_missing() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(all());
    fixture.settle().await;
    for name in system_namespaces::names(&orch_api::ORCH) {
        assert!(fixture.exists::<Namespace>(("", name)), "{name}");
    }
    for name in ["system-cluster-critical", "system-node-critical"] {
        assert!(fixture.exists::<PriorityClass>(("", name)), "{name}");
    }
    assert!(fixture.exists::<PriorityLevelConfiguration>(("", "catch-all")));
    assert!(fixture.exists::<FlowSchema>(("", "catch-all")));
    fixture.finish(running).await;
}

/// Operators write these names into their flags.
#[test]
fn names_of_all() {
    let names: Vec<&str> = all().iter().map(|controller| controller.name()).collect();
    let expected = [
        "bootstrap-signer-controller",
        "daemonset-controller",
        "event-expiry",
        "garbage-collector-controller",
        "namespace",
        "own-service",
        "flow-schemas",
        "priority-levels",
        "priority-classes",
        "clusterrole-aggregation-controller",
        "root-ca-certificate-publisher-controller",
        "serviceaccount-controller",
        "serviceaccount-token-controller",
        "storage-version-migrator-controller",
        "system-namespaces",
        "token-cleaner-controller",
        "persistentvolume-binder",
        "persistentvolumeclaim-binder",
        "persistentvolume-protection",
        "persistentvolumeclaim-protection",
    ];
    assert_eq!(names, expected);
}
