//! Which claims and volumes wait for each other, for finding those that a change concerns.
//!
//! Something is entered before what it waits for is read, so a change that the reading missed is told here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use orch_api::core::v1::{ObjectReference, PersistentVolumeClaim};
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
    waiting: BTreeMap<ObjectKey, PersistentVolumeClaim>,
    /// The volumes whose reference names a claim.
    referring: BTreeMap<ObjectKey, BTreeSet<Arc<str>>>,
    /// The claims that volumes refer to.
    referred: BTreeMap<Arc<str>, ObjectKey>,
}

impl Known {
    /// A claim needs a volume.
    pub(super) fn waits(&self, key: &ObjectKey, claim: &PersistentVolumeClaim) {
        self.lock().waiting.insert(key.clone(), claim.clone());
    }

    /// A claim is gone, or has its volume, or nothing can bring it back.
    pub(super) fn waits_no_more(&self, key: &ObjectKey) {
        self.lock().waiting.remove(key);
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
            let waiting = entries.waiting.iter().filter(|(_, claim)| waits_for(claim, after, vocabulary));
            claims.extend(waiting.map(|(key, _)| key.clone()));
        }
        claims.into_iter().collect()
    }

    /// The claims that a change of a class concerns: those that want a volume of it and have none.
    pub(super) fn of_class(&self, change: &Changed<'_>) -> Vec<ObjectKey> {
        let vocabulary = change.resource.vocabulary;
        let Some(class) = change.after.or(change.before) else { return Vec::new() };
        let entries = self.lock();
        let wants = |claim: &PersistentVolumeClaim| {
            claim.spec.volume_name.is_empty() && class_of(claim, vocabulary) == *class.key().name
        };
        entries.waiting.iter().filter(|(_, claim)| wants(claim)).map(|(key, _)| key.clone()).collect()
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

fn waits_for(claim: &PersistentVolumeClaim, volume: &VolumeView, vocabulary: &Vocabulary) -> bool {
    if claim.spec.volume_name.is_empty() {
        volume.claim.is_none() && volume.is_free && suits(volume, claim, vocabulary)
    } else {
        *claim.spec.volume_name == *volume.name
    }
}

fn key_of(reference: &ObjectReference) -> ObjectKey {
    ObjectKey::new(reference.namespace.as_str(), reference.name.as_str())
}
