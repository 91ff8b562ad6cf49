//! The collector with the stages of real writes.

use std::{collections::BTreeSet, time::Duration};

use orch_api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Event, Namespace, PersistentVolume, Pod, Secret},
};
use orch_machinery::meta::Meta;
use orch_registry::{
    objects,
    options::{DeletionOptions, Propagation},
    stored,
};
use orch_runtime::{Tree, object::Kind};
use orch_storage::Change;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::super::GarbageCollector;
use crate::{
    controller::AnyController,
    fixture::{Fixture, NAMESPACE},
};

fn collector() -> Vec<Box<dyn AnyController>> {
    vec![Box::new(GarbageCollector::default())]
}

fn uid<T: Kind>(fixture: &Fixture, namespace: &str, name: &str) -> String {
    let found = fixture.client.get(fixture.resource::<T>(), namespace, name).unwrap();
    Meta::of(&found.tree).uid().to_owned()
}

/// A reference to an object that is there.
fn owner<T: Kind>(fixture: &Fixture, namespace: &str, name: &str, blocks: bool) -> Value {
    let resource = fixture.resource::<T>();
    let uid = uid::<T>(fixture, namespace, name);
    json!({
        "apiVersion": resource.api_version, "kind": resource.def.kind, "name": name, "uid": uid,
        "blockOwnerDeletion": blocks,
    })
}

fn object(name: &str, owners: &[Value]) -> Tree {
    json!({"metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": owners}})
}

async fn delete<T: Kind>(fixture: &Fixture, name: &str, propagation: Propagation) {
    let options = DeletionOptions { propagation: Some(propagation), ..DeletionOptions::default() };
    let resource = fixture.resource::<T>();
    fixture.client.delete(resource, NAMESPACE, name, options).await.unwrap();
}

fn left<T: Kind>(fixture: &Fixture) -> BTreeSet<String> {
    let snapshot = fixture.client.snapshot(fixture.resource::<T>());
    snapshot.in_namespace(NAMESPACE).map(|object| object.key().name.to_string()).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[tokio::test(start_paused = true)]
async fn dependents_go_after_their_last_owner_whatever_its_kind() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(collector());
    fixture.create::<ConfigMap>(object("owner", &[])).await;
    fixture.create::<ConfigMap>(object("other", &[])).await;
    let first = owner::<ConfigMap>(&fixture, NAMESPACE, "owner", false);
    let second = owner::<ConfigMap>(&fixture, NAMESPACE, "other", false);
    fixture.create::<Secret>(object("one", std::slice::from_ref(&first))).await;
    fixture.create::<Secret>(object("two", &[first.clone(), second])).await;
    fixture.create::<Lease>(object("middle", &[first])).await;
    let middle = owner::<Lease>(&fixture, NAMESPACE, "middle", false);
    fixture.create::<Secret>(object("grandchild", &[middle])).await;
    let of_namespace = owner::<Namespace>(&fixture, "", NAMESPACE, false);
    fixture.create::<Secret>(object("of-namespace", &[of_namespace])).await;
    let never = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "never", "uid": "11"});
    fixture.create::<Secret>(object("of-nobody", &[never])).await;
    let unknown = json!({"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "12"});
    fixture.create::<Secret>(object("of-unknown", &[unknown])).await;
    fixture.settle().await;
    let all = ["grandchild", "of-namespace", "of-unknown", "one", "two"];
    assert_eq!(left::<Secret>(&fixture), names(&all));

    delete::<ConfigMap>(&fixture, "owner", Propagation::Background).await;
    fixture.settle().await;
    assert_eq!(left::<Secret>(&fixture), names(&["of-namespace", "of-unknown", "two"]));
    let two = fixture.client.get(fixture.resource::<Secret>(), NAMESPACE, "two").unwrap().tree;
    assert_eq!(two["metadata"]["ownerReferences"].as_array().unwrap().len(), 1, "{two}");
    delete::<ConfigMap>(&fixture, "other", Propagation::Background).await;
    fixture.settle().await;
    assert_eq!(left::<Secret>(&fixture), names(&["of-namespace", "of-unknown"]));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_comes_back_is_another_one() {
    let fixture = Fixture::new().await;
    fixture.create::<ConfigMap>(object("owner", &[])).await;
    let first = owner::<ConfigMap>(&fixture, NAMESPACE, "owner", false);
    fixture.create::<Secret>(object("old", std::slice::from_ref(&first))).await;
    // While no collector runs; another one finds it at its start.
    delete::<ConfigMap>(&fixture, "owner", Propagation::Background).await;
    fixture.create::<ConfigMap>(object("owner", &[])).await;
    let second = owner::<ConfigMap>(&fixture, NAMESPACE, "owner", false);
    fixture.create::<Secret>(object("new", &[second])).await;
    let (running, _) = fixture.start(collector());
    fixture.settle().await;
    assert_eq!(left::<Secret>(&fixture), names(&["new"]));
    fixture.create::<Secret>(object("late", &[first])).await;
    fixture.settle().await;
    assert_eq!(left::<Secret>(&fixture), names(&["new"]), "made after its owner was deleted");
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_in_the_foreground_waits_for_those_who_block_it() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(collector());
    fixture.create::<ConfigMap>(object("owner", &[])).await;
    let blocks = owner::<ConfigMap>(&fixture, NAMESPACE, "owner", true);
    let free = owner::<ConfigMap>(&fixture, NAMESPACE, "owner", false);
    for (name, owner) in [("blocking", &blocks), ("free", &free)] {
        let mut held = object(name, std::slice::from_ref(owner));
        held["metadata"]["finalizers"] = json!(["example.com/hold"]);
        fixture.create::<Secret>(held).await;
    }
    fixture.create::<Secret>(object("plain", &[blocks])).await;
    delete::<ConfigMap>(&fixture, "owner", Propagation::Foreground).await;
    fixture.settle().await;
    assert_eq!(left::<Secret>(&fixture), names(&["blocking", "free"]));
    assert_eq!(left::<ConfigMap>(&fixture), names(&["owner"]));
    let unheld = |tree: &mut Tree| tree["metadata"]["finalizers"] = json!([]);
    fixture.change::<Secret>((NAMESPACE, "blocking"), "", unheld).await;
    fixture.settle().await;
    assert_eq!(left::<ConfigMap>(&fixture), names(&[]));
    assert_eq!(left::<Secret>(&fixture), names(&["free"]));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn circles_go_in_the_foreground_too() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(collector());
    for name in ["a", "b", "c", "self"] {
        fixture.create::<ConfigMap>(object(name, &[])).await;
    }
    for (name, of) in [("a", "c"), ("b", "a"), ("c", "b"), ("self", "self")] {
        let owners = json!([owner::<ConfigMap>(&fixture, NAMESPACE, of, true)]);
        let own = |tree: &mut Tree| tree["metadata"]["ownerReferences"] = owners.clone();
        fixture.change::<ConfigMap>((NAMESPACE, name), "", own).await;
    }
    fixture.settle().await;
    assert_eq!(left::<ConfigMap>(&fixture), names(&["a", "b", "c", "self"]), "they keep each other");
    delete::<ConfigMap>(&fixture, "a", Propagation::Foreground).await;
    delete::<ConfigMap>(&fixture, "self", Propagation::Foreground).await;
    fixture.settle().await;
    assert_eq!(left::<ConfigMap>(&fixture), names(&[]));
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_without_the_reference() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(collector());
    fixture.create::<ConfigMap>(object("owner", &[])).await;
    fixture.create::<ConfigMap>(object("other", &[])).await;
    let owners = ["owner", "other"].map(|name| owner::<ConfigMap>(&fixture, NAMESPACE, name, true));
    for index in 0..40 {
        fixture.create::<Secret>(object(&format!("s{index}"), &owners)).await;
    }
    delete::<ConfigMap>(&fixture, "owner", Propagation::Orphan).await;
    fixture.settle().await;
    assert_eq!(left::<ConfigMap>(&fixture), names(&["other"]));
    assert_eq!(left::<Secret>(&fixture).len(), 40);
    for name in left::<Secret>(&fixture) {
        let secret = fixture.client.get(fixture.resource::<Secret>(), NAMESPACE, &name).unwrap().tree;
        assert_eq!(secret["metadata"]["ownerReferences"], json!([owners[1]]), "{name}");
    }
    fixture.finish(running).await;
}

/// Each would be an event.
#[tokio::test(start_paused = true)]
async fn of_thousands_of_owners_in_other_namespaces_some_are_told() {
    let fixture = Fixture::new().await;
    fixture.create::<Namespace>(json!({"metadata": {"name": "other"}})).await;
    fixture.create::<Namespace>(json!({"metadata": {"name": "default"}})).await;
    let (running, _) = fixture.start(collector());
    let mut owners = Vec::new();
    for number in 0..100 {
        let name = format!("owner-{number}");
        fixture.create::<ConfigMap>(json!({"metadata": {"name": name, "namespace": "other"}})).await;
        owners.push(owner::<ConfigMap>(&fixture, "other", &name, false));
    }
    fixture.create::<Secret>(object("lost", &owners)).await;
    fixture.settle().await;
    assert_eq!(left::<Secret>(&fixture), names(&[]));
    assert_eq!(fixture.client.snapshot(fixture.resource::<Event>()).len(), 25);
    fixture.finish(running).await;
}

#[tokio::test(start_paused = true)]
async fn references_into_other_namespaces_are_told() {
    let fixture = Fixture::new().await;
    for name in ["other", "default"] {
        fixture.create::<Namespace>(json!({"metadata": {"name": name}})).await;
    }
    let (running, _) = fixture.start(collector());
    fixture.create::<ConfigMap>(json!({"metadata": {"name": "owner", "namespace": "other"}})).await;
    let elsewhere = owner::<ConfigMap>(&fixture, "other", "owner", false);
    fixture.create::<Secret>(object("lost", std::slice::from_ref(&elsewhere))).await;
    let spec =
        json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"}});
    let metadata = json!({"name": "v", "ownerReferences": [elsewhere.clone()]});
    fixture.create::<PersistentVolume>(json!({"metadata": metadata, "spec": spec})).await;
    fixture.settle().await;
    assert_eq!(left::<Secret>(&fixture), names(&[]), "there is no owner in its namespace");
    assert!(fixture.exists::<PersistentVolume>(("", "v")), "nobody can tell");
    let events = fixture.client.snapshot(fixture.resource::<Event>());
    let told: Vec<[String; 4]> = events
        .iter()
        .map(|object| {
            let key = object.key();
            let event = fixture.client.get(fixture.resource::<Event>(), &key.namespace, &key.name).unwrap();
            let text = |path: &str| event.tree.pointer(path).and_then(Tree::as_str).unwrap().to_owned();
            assert_eq!(text("/reason"), "OwnerRefInvalidNamespace");
            [text("/metadata/namespace"), text("/involvedObject/name"), text("/type"), text("/message")]
        })
        .collect();
    let uid = elsewhere["uid"].as_str().unwrap();
    let message = |namespace: &str| {
        format!(
            "ownerRef [v1/ConfigMap, namespace: {namespace}, name: owner, uid: {uid}] does not exist in \
             namespace \"{namespace}\""
        )
    };
    let expected = [
        ["default", "v", "Warning", &message("")].map(str::to_owned),
        [NAMESPACE, "lost", "Warning", &message(NAMESPACE)].map(str::to_owned),
    ];
    assert_eq!(told, expected);
    fixture.finish(running).await;
}

/// What one owner costs does not depend on what others own.
#[tokio::test(start_paused = true)]
async fn deleting_an_owner_costs_what_it_owns() {
    let fixture = Fixture::new().await;
    let (running, monitor) = fixture.start(collector());
    for name in ["few", "many"] {
        fixture.create::<ConfigMap>(object(name, &[])).await;
    }
    let few = owner::<ConfigMap>(&fixture, NAMESPACE, "few", true);
    let many = owner::<ConfigMap>(&fixture, NAMESPACE, "many", true);
    for index in 0..500 {
        fixture.create::<Secret>(object(&format!("m{index}"), std::slice::from_ref(&many))).await;
    }
    for index in 0..5 {
        fixture.create::<Secret>(object(&format!("f{index}"), std::slice::from_ref(&few))).await;
    }
    fixture.settle().await;
    let runs = || monitor.stats()[0].reconciles;
    assert_eq!(runs(), 0, "nothing had to be looked at");
    delete::<ConfigMap>(&fixture, "few", Propagation::Foreground).await;
    fixture.settle().await;
    assert_eq!((left::<Secret>(&fixture).len(), left::<ConfigMap>(&fixture)), (500, names(&["many"])));
    // The owner before and after each dependent, and each dependent once.
    assert!(runs() <= 12, "{}", runs());
    fixture.finish(running).await;
}

/// A pod is removed in two writes. Here the second one is missing, as after a crash between them.
#[tokio::test(start_paused = true)]
async fn a_deletion_that_was_cut_off_is_ended() {
    let fixture = Fixture::new().await;
    let pods = fixture.resource::<Pod>();
    let retire = async |name: &str, grace: u32| {
        let spec = json!({"nodeName": "n", "containers": [{"name": "c", "image": "i"}]});
        let metadata = json!({"name": name, "namespace": NAMESPACE});
        fixture.create::<Pod>(json!({"metadata": metadata, "spec": spec})).await;
        let current = fixture.client.get(pods, NAMESPACE, name).unwrap();
        let mut tree = current.tree.clone();
        tree["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
        tree["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        let body = stored::encode_body(pods, &tree, None, false).unwrap();
        let key = objects::key(pods, NAMESPACE, name);
        let change = Change::Retire { key, expected: current.revision(), body };
        fixture.client.core().storage().commit(change).await.unwrap();
    };
    retire("before", 0).await;
    let (running, _) = fixture.start(collector());
    retire("meanwhile", 0).await;
    retire("ending", 30).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(left::<Pod>(&fixture), names(&["before", "ending", "meanwhile"]), "the second write may come");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(left::<Pod>(&fixture), names(&["ending"]));
    fixture.finish(running).await;
}
