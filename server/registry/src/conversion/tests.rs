//! What a kind with several versions does in writes.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use orch_api::flowcontrol::v1::PriorityLevelConfiguration;
use orch_machinery::json::encode::encode_for_store;
use orch_runtime::{Tree, resource_def::ResourceDef};
use orch_storage::{Body, Change, Object};
use serde_json::json;

use super::*;
use crate::{
    behaviour::{Behaviour, Behaviours, WriteInfo},
    catalog::Catalog,
    client::Client,
    objects::key,
    options::DeletionOptions,
    stored, test_core,
};

const GROUP: &str = "flowcontrol.apiserver.k8s.io";
const PLURAL: &str = "prioritylevelconfigurations";

fn level(version: &str) -> Tree {
    let shares = if version == "v1beta2" { "assuredConcurrencyShares" } else { "nominalConcurrencyShares" };
    json!({
        "apiVersion": format!("{GROUP}/{version}"), "kind": "PriorityLevelConfiguration",
        "metadata": {"name": "l", "finalizers": ["example.com/f"]},
        "spec": {"type": "Limited", "limited": {shares: 7, "limitResponse": {"type": "Reject"}}},
    })
}

/// The steps that a behaviour was called for, and the shares where it sees them under their stored name.
type Calls = Vec<(&'static str, Option<i64>)>;

#[derive(Clone, Default)]
struct Recording(Arc<Mutex<Calls>>);

impl Recording {
    fn typed(&self, step: &'static str, object: &PriorityLevelConfiguration) {
        let shares = object
            .spec
            .limited
            .as_ref()
            .and_then(|limited| limited.nominal_concurrency_shares)
            .map(i64::from);
        self.0.lock().unwrap().push((step, shares));
    }

    fn tree(&self, step: &'static str, object: &Tree) {
        assert_eq!(object["apiVersion"], format!("{GROUP}/v1"), "{step}");
        let shares = object["spec"]["limited"]["nominalConcurrencyShares"].as_i64();
        self.0.lock().unwrap().push((step, shares));
    }
}

impl Behaviour<PriorityLevelConfiguration> for Recording {
    fn prepare(
        &self,
        object: &mut PriorityLevelConfiguration,
        old: Option<&PriorityLevelConfiguration>,
        _: &WriteInfo<'_>,
    ) {
        self.typed("prepare", object);
        if let Some(old) = old {
            self.typed("prepare: old", old);
        }
    }

    fn normalize(&self, object: &mut PriorityLevelConfiguration) {
        self.typed("normalize", object);
    }

    fn may_be_removed(&self, object: &Tree) -> bool {
        self.tree("may_be_removed", object);
        true
    }

    fn grace_period(&self, object: &Tree, _: Option<i64>) -> Option<i64> {
        self.tree("grace_period", object);
        None
    }

    fn mark_deleted(&self, object: &mut Tree) {
        self.tree("mark_deleted", object);
    }
}

#[tokio::test]
async fn behaviour_sees_the_stored_version_whichever_one_is_written() {
    for version in ["v1", "v1beta3", "v1beta2"] {
        let recording = Recording::default();
        let mut behaviours = Behaviours::default();
        behaviours.register::<PriorityLevelConfiguration>(recording.clone());
        let client = Client::new(test_core::core(&behaviours), "test");
        let resource = client.core().catalog().resource(GROUP, version, PLURAL).unwrap();
        client.create(resource, "", level(version)).await.unwrap();
        let mut read = client.get(resource, "", "l").unwrap().tree;
        assert_eq!(read["apiVersion"], resource.api_version.as_str());
        read["metadata"]["labels"] = json!({"a": "b"});
        client.update(resource, "", read).await.unwrap();
        client.delete(resource, "", "l", DeletionOptions::default()).await.unwrap();
        let mut read = client.get(resource, "", "l").unwrap().tree;
        read["metadata"]["finalizers"] = json!([]);
        assert!(client.update(resource, "", read).await.unwrap().is_none(), "the deletion is complete");

        let seen = recording.0.lock().unwrap();
        for step in ["prepare", "prepare: old", "normalize", "may_be_removed", "grace_period", "mark_deleted"]
        {
            assert!(seen.iter().any(|(name, _)| *name == step), "{version}: {step} in {seen:?}");
        }
        assert!(seen.iter().all(|(_, shares)| *shares == Some(7)), "{version}: {seen:?}");
    }
}

/// What a version that is gone called its fields is not known any more: as in the reference, its managers own
/// nothing from the next write on.
#[tokio::test]
async fn owners_of_versions_that_are_gone_are_dropped() {
    // The kind with one version left, and with all that it has.
    let only_v1 = |def: &ResourceDef| def.group != "flowcontrol.apiserver.orch.io" || def.version == "v1";
    let tables = || orch_api::registry().iter().copied();
    let all = Catalog::of_served(&orch_api::KUBERNETES, tables(), &Behaviours::default(), |_| true);
    let last = tables().filter(|table| table.resources.iter().all(|def| only_v1(def)));
    let last = Catalog::of_served(&orch_api::KUBERNETES, last, &Behaviours::default(), |_| true);
    for (catalog, has_forms) in [(all, true), (last, false)] {
        let resource = catalog.resource(GROUP, "v1", PLURAL).unwrap();
        assert_eq!(!resource.forms.is_empty(), has_forms);
        let entry = |manager: &str, version: &str| {
            json!({"manager": manager, "operation": "Apply", "apiVersion": version,
                "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:type": {}}}})
        };
        let (here, gone) =
            (entry("here", &format!("{GROUP}/v1")), entry("gone", &format!("{GROUP}/v1alpha1")));
        let mut tree = level("v1");
        tree["metadata"]["managedFields"] = json!([gone, here]);
        assert_eq!(name_owners_here(resource, &mut tree), LostManagers::Some);
        assert_eq!(tree["metadata"]["managedFields"], json!([here]));
        assert_eq!(name_owners_here(resource, &mut tree), LostManagers::None);
        assert_eq!(tree["metadata"]["managedFields"], json!([here]));
        let mut faulty = gone.clone();
        faulty["operation"] = json!("Sometimes");
        tree["metadata"]["managedFields"] = json!([faulty]);
        assert_eq!(name_owners_here(resource, &mut tree), LostManagers::None, "it is refused as a whole");
        tree["metadata"]["managedFields"] = json!([gone]);
        assert_eq!(name_owners_here(resource, &mut tree), LostManagers::All);
        assert_eq!(tree["metadata"].get("managedFields"), None);
    }
}

/// An object is tracked from its first managers on, also where nobody knows any more what they own: an apply
/// then takes what it names, and an update is recorded.
#[tokio::test]
async fn objects_whose_managers_are_all_of_versions_that_are_gone_stay_tracked() {
    let client = Client::new(test_core::core(&Behaviours::default()), "me");
    let resource = client.core().catalog().resource(GROUP, "v1", PLURAL).unwrap();
    let owners = |object: &Object| {
        let tree = stored::tree_of(resource, object).unwrap();
        let entries = Meta::of(&tree).managed_fields().iter();
        let owner = |entry: &Tree| (entry["manager"].clone(), entry["fieldsV1"]["f:spec"].clone());
        entries.map(owner).collect::<Vec<_>>()
    };
    let shares = json!({"f:limited": {"f:nominalConcurrencyShares": {}}});
    let entry = |version: &str| {
        json!({
            "manager": "before", "operation": "Apply", "apiVersion": format!("{GROUP}/{version}"),
            "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:type": {}}},
        })
    };
    // The last one sends managers that nobody knows instead of those that are stored.
    for (name, stored, sent) in [
        ("applied", "v1alpha1", None),
        ("updated", "v1alpha1", Some("v1alpha1")),
        ("replaced", "v1", Some("v1alpha1")),
    ] {
        let mut tree = level("v1");
        tree["metadata"]["name"] = json!(name);
        tree["metadata"]["managedFields"] = json!([entry(stored)]);
        tree["spec"]["limited"]["lendablePercent"] = json!(0);
        let (mut text, at) = encode_for_store(&tree, resource.def.type_def, None);
        text.push(b'\n');
        let create = Change::Create { key: key(resource, "", name), body: Body::new(text, at) };
        let created = client.core().storage().commit(create).await.unwrap().object;
        let changed = if let Some(sent) = sent {
            let mut tree = stored::tree_of(resource, &created).unwrap();
            tree["spec"]["limited"]["nominalConcurrencyShares"] = json!(8);
            tree["metadata"]["managedFields"] = json!([entry(sent)]);
            client.update(resource, "", tree).await.unwrap().unwrap()
        } else {
            let configuration = json!({
                "apiVersion": format!("{GROUP}/v1"), "kind": "PriorityLevelConfiguration",
                "metadata": {"name": name}, "spec": {"limited": {"nominalConcurrencyShares": 8}},
            });
            client.apply(resource, "", name, &configuration, false).await.unwrap()
        };
        assert_eq!(owners(&changed), [(json!("me"), shares.clone())], "{name}");
    }
}

/// Clients may send as many entries as fit into a body.
#[test]
fn many_owners_of_another_version_are_named_fast() {
    let catalog = Catalog::new(&orch_api::KUBERNETES, orch_api::registry().iter().copied());
    let v1 = catalog.resource(GROUP, "v1", PLURAL).unwrap();
    let entries = |field: &str| -> Vec<Tree> {
        let fields = json!({"f:spec": {"f:limited": {field: {}}}});
        let entry = |number| {
            json!({"manager": format!("m{number}"), "operation": "Update", "fieldsType": "FieldsV1",
                "apiVersion": format!("{GROUP}/v1beta2"), "fieldsV1": fields.clone()})
        };
        (0..20_000).map(entry).collect()
    };
    let stored = entries("f:assuredConcurrencyShares");
    let mut tree = json!({"metadata": {"managedFields": entries("f:nominalConcurrencyShares")}});
    let began = Instant::now();
    name_owners_there(v1, &stored, &mut tree);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(tree["metadata"]["managedFields"].as_array(), Some(&stored));
}
