//! The product's controllers together, over a store in memory.

use orch_api::core::v1::{ConfigMap, Namespace, PersistentVolume, PersistentVolumeClaim, Pod};
use orch_machinery::meta::Meta;
use orch_registry::options::DeletionOptions;
use orch_storage::{Body, Change};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::*;
use crate::fixture::{Fixture, NAMESPACE};

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
    let (running, _) = fixture.start(controllers());
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
    let (running, _) = fixture.start(controllers());
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
    let (running, _) = fixture.start(controllers());
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
    let (running, _) = fixture.start(controllers());
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
    let (running, _) = fixture.start(controllers());
    // The only one that may be deleted.
    let leases = orch_api::ORCH.namespace_node_lease;
    fixture.delete::<Namespace>(("", leases)).await;
    let took =
        fixture.until("it is made again", || uid(leases).is_some_and(|uid| !first.contains(&uid))).await;
    assert!(took < Duration::from_secs(1), "{took:?}");
    fixture.finish(running).await;
}

/// Operators write these names into their flags.
#[test]
fn names_of_controllers() {
    let names: Vec<&str> = controllers().iter().map(|controller| controller.name()).collect();
    let expected =
        ["namespace", "system-namespaces", "persistentvolume-protection", "persistentvolumeclaim-protection"];
    assert_eq!(names, expected);
}
