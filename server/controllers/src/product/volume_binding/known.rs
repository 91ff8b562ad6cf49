//! Which claims and volumes wait for each other, for finding those that a change concerns.
//!
//! Something is entered before what it waits for is read, so a change that the reading missed is told here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use orch_api::core::v1::{ObjectReference, PersistentVolumeClaim};
use orch_kinds::default_class;
use orch_runtime::vocabulary::Vocabulary;
use orch_storage::Object;

use super::{
    matching::{class_of, suits},
    view::{VolumeView, volume_of},
};
use crate::{key::ObjectKey, trigger::Changed};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Known(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    /// Claims without a volume.
    waiting: BTreeMap<ObjectKey, (Wanted, PersistentVolumeClaim)>,
    /// The same, by what they want.
    wanting: BTreeMap<Wanted, BTreeSet<ObjectKey>>,
    /// The volumes whose reference names a claim.
    referring: BTreeMap<ObjectKey, BTreeSet<Arc<str>>>,
    /// The claims that volumes refer to.
    referred: BTreeMap<Arc<str>, ObjectKey>,
}

/// What a claim without a volume wants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// The volume of this name.
    Volume(String),
    /// Any that suits, of this class.
    Class(String),
}

impl Entries {
    fn remove(&mut self, key: &ObjectKey) {
        let Some((wanted, _)) = self.waiting.remove(key) else { return };
        if let Some(claims) = self.wanting.get_mut(&wanted) {
            claims.remove(key);
            if claims.is_empty() {
                self.wanting.remove(&wanted);
            }
        }
    }

    fn wanting<'e>(&'e self, wanted: &Wanted) -> impl Iterator<Item = &'e ObjectKey> + use<'e> {
        self.wanting.get(wanted).into_iter().flatten()
    }
}

impl Known {
    /// A claim needs a volume.
    pub(super) fn waits(&self, key: &ObjectKey, claim: &PersistentVolumeClaim, vocabulary: &Vocabulary) {
        let named = &claim.spec.volume_name;
        let wanted = if named.is_empty() {
            Wanted::Class(class_of(claim, vocabulary))
        } else {
            Wanted::Volume(named.clone())
        };
        let mut entries = self.lock();
        entries.remove(key);
        entries.wanting.entry(wanted.clone()).or_default().insert(key.clone());
        entries.waiting.insert(key.clone(), (wanted, claim.clone()));
    }

    /// A claim is gone, or has its volume, or nothing can bring it back.
    pub(super) fn waits_no_more(&self, key: &ObjectKey) {
        self.lock().remove(key);
    }

    /// The volume of that name refers to a claim now, or to none.
    pub(super) fn refers(&self, volume: &Arc<str>, claim: Option<&ObjectReference>) {
        let mut entries = self.lock();
        let now = claim.map(key_of);
        let before = match &now {
            Some(key) => entries.referred.insert(Arc::clone(volume), key.clone()),
            None => entries.referred.remove(volume),
        };
        if before == now {
            return;
        }
        if let Some(before) = before
            && let Some(volumes) = entries.referring.get_mut(&before)
        {
            volumes.remove(volume);
            if volumes.is_empty() {
                entries.referring.remove(&before);
            }
        }
        if let Some(now) = now {
            entries.referring.entry(now).or_default().insert(Arc::clone(volume));
        }
    }

    /// The claims that a change of a volume concerns: those that it refers to, and those that wait for it.
    pub(super) fn claims(&self, change: &Changed<'_>) -> Vec<ObjectKey> {
        let vocabulary = change.resource.vocabulary;
        let view = |object: &'_ Arc<Object>| volume_of(object, vocabulary).cloned();
        let states: Vec<VolumeView> =
            [change.before, change.after].into_iter().flatten().filter_map(view).collect();
        let mut claims: BTreeSet<ObjectKey> =
            states.iter().filter_map(|volume| volume.claim.as_ref()).map(key_of).collect();
        let entries = self.lock();
        if let Some(after) = change.after.and_then(|object| volume_of(object, vocabulary)) {
            claims.extend(entries.wanting(&Wanted::Volume(after.name.to_string())).cloned());
            // All others are of no interest to those who want any: most changes are of such volumes.
            if after.claim.is_none() && after.is_free {
                let of_class = entries.wanting(&Wanted::Class(after.class.clone()));
                let suited = of_class.filter(|key| suits(after, &entries.waiting[*key].1, vocabulary));
                claims.extend(suited.cloned());
            }
        }
        claims.into_iter().collect()
    }

    /// The claims that a change of a class concerns: those that want a volume of it and have none. The
    /// default one concerns those too that name no class.
    pub(super) fn of_class(&self, change: &Changed<'_>) -> Vec<ObjectKey> {
        let Some(class) = change.after.or(change.before) else { return Vec::new() };
        let is_default = change.after.is_some_and(|class| default_class::is_marked(change.resource, class));
        let entries = self.lock();
        let of_it = entries.wanting(&Wanted::Class(class.key().name.to_string()));
        let of_none = is_default.then(|| entries.wanting(&Wanted::Class(String::new())));
        of_it.chain(of_none.into_iter().flatten()).cloned().collect()
    }

    /// The volumes that a change of a claim concerns: those that refer to it.
    pub(super) fn volumes(&self, change: &Changed<'_>) -> Vec<ObjectKey> {
        let Some(object) = change.after.or(change.before) else { return Vec::new() };
        let entries = self.lock();
        let volumes = entries
            .referring
            .get(&ObjectKey::new(Arc::clone(&object.key().namespace), Arc::clone(&object.key().name)));
        volumes.into_iter().flatten().map(|name| ObjectKey::new("", Arc::clone(name))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key_of(reference: &ObjectReference) -> ObjectKey {
    ObjectKey::new(reference.namespace.as_str(), reference.name.as_str())
}

#[cfg(test)]
mod tests {
    use orch_api::{core::v1::PersistentVolume, storage::v1::StorageClass};
    use orch_runtime::object::Kind;
    use serde_json::{Value, from_value, json};

    use super::*;
    use crate::fixture::Fixture;

    fn claim(name: &str, spec: &Value) -> PersistentVolumeClaim {
        from_value(json!({"metadata": {"name": name, "namespace": "n", "uid": name}, "spec": spec})).unwrap()
    }

    async fn told<T: Kind>(
        fixture: &Fixture,
        object: Value,
        concerned: impl Fn(&Changed<'_>) -> Vec<ObjectKey>,
    ) -> Vec<String> {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        fixture.create::<T>(object).await;
        let resource = fixture.resource::<T>();
        let snapshot = fixture.client.snapshot(resource);
        let change = Changed { resource, before: None, after: snapshot.get("", &name) };
        concerned(&change).into_iter().map(|key| key.name.to_string()).collect()
    }

    #[tokio::test]
    async fn those_are_told_who_want_this_volume_or_one_of_its_class() {
        let (fixture, known) = (Fixture::new().await, Known::default());
        for (name, spec) in [
            ("fast", json!({"storageClassName": "fast"})),
            ("slow", json!({"storageClassName": "slow"})),
            ("named", json!({"volumeName": "v"})),
            ("changed", json!({"volumeName": "v"})),
            ("changed", json!({"storageClassName": "fast"})),
            ("gone", json!({"storageClassName": "fast"})),
        ] {
            let key = ObjectKey::new("n", name);
            known.waits(&key, &claim(name, &spec), &orch_api::ORCH);
        }
        known.waits_no_more(&ObjectKey::new("n", "gone"));
        let volume = |name: &str, class: &str, reference: Value| {
            let spec = json!({
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": class,
                "hostPath": {"path": "/v"}, "claimRef": reference,
            });
            json!({"metadata": {"name": name}, "spec": spec})
        };
        let taken = json!({"namespace": "n", "name": "slow"});
        for (volume, expected) in [
            (volume("v", "fast", json!(null)), vec!["changed", "fast", "named"]),
            (volume("w", "fast", json!(null)), vec!["changed", "fast"]),
            (volume("x", "", json!(null)), vec![]),
            (volume("y", "fast", taken), vec!["slow"]),
        ] {
            let told =
                told::<PersistentVolume>(&fixture, volume.clone(), |change| known.claims(change)).await;
            assert_eq!(told, expected, "{volume}");
        }
        let class = json!({"metadata": {"name": "fast"}, "provisioner": "example.com/p"});
        let told = told::<StorageClass>(&fixture, class, |change| known.of_class(change)).await;
        assert_eq!(told, ["changed", "fast"]);
        assert_eq!(known.lock().wanting.len(), 3, "nothing is left of what nobody wants");
    }
}
