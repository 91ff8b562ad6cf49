//! The daemon sets that are known, for finding those that a change of a pod or a node concerns.
//!
//! A set is entered before its pods and nodes are read, so a change that the reading missed is told here.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use orch_api::apps::v1::DaemonSet;
use orch_meta::meta::v1::{LabelSelector, ObjectMeta};
use tokio::time::Instant;

use super::{
    backoff::Backoff,
    claim::{Claim, Owner},
    placement::Fit,
    reports::Budget,
    view::{PodView, node_of, pod_of},
};
use crate::{key::ObjectKey, trigger::Changed};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets(Arc<Mutex<ByNamespace>>);

/// By namespace and name.
type ByNamespace = HashMap<Arc<str>, BTreeMap<Arc<str>, Known>>;

/// A set.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) uid: String,
    /// Of the specification that its pods are made of.
    pub(super) generation: i64,
    pub(super) selector: LabelSelector,
    pub(super) fit: Arc<Fit>,
    pub(super) backoff: Backoff,
    pub(super) events: Budget,
}

impl Sets {
    /// Enters a set as it is now. What is remembered of it stays, unless it is another one with its name. How
    /// often pods failed says nothing about those of a new specification.
    pub(super) fn enter(&self, key: &ObjectKey, set: &DaemonSet, fit: &Arc<Fit>) {
        let DaemonSet { metadata: ObjectMeta { uid, generation, .. }, spec, .. } = set;
        let mut sets = self.lock();
        let in_namespace = sets.entry(Arc::clone(&key.namespace)).or_default();
        let before = in_namespace.remove(&key.name).filter(|known| known.uid == *uid);
        let (backoff, events) = match before {
            None => (Backoff::default(), Budget::new(Instant::now())),
            Some(known) if known.generation != *generation => (Backoff::default(), known.events),
            Some(known) => (known.backoff, known.events),
        };
        let selector = spec.selector.clone().unwrap_or_default();
        let (uid, generation) = (uid.clone(), *generation);
        let known = Known { uid, generation, selector, fit: Arc::clone(fit), backoff, events };
        in_namespace.insert(Arc::clone(&key.name), known);
    }

    pub(super) fn remove(&self, key: &ObjectKey) {
        let mut sets = self.lock();
        if let Some(in_namespace) = sets.get_mut(&key.namespace) {
            in_namespace.remove(&key.name);
            if in_namespace.is_empty() {
                sets.remove(&key.namespace);
            }
        }
    }

    /// Does something with what is known of a set.
    pub(super) fn with<T>(&self, key: &ObjectKey, use_it: impl FnOnce(&mut Known) -> T) -> Option<T> {
        let mut sets = self.lock();
        Some(use_it(sets.get_mut(&key.namespace)?.get_mut(&key.name)?))
    }

    /// The sets that own a pod, or would take it, before or after a change.
    pub(super) fn of_pod(&self, change: &Changed<'_>) -> Vec<ObjectKey> {
        let sets = self.lock();
        let Some(object) = change.after.or(change.before) else { return Vec::new() };
        let namespace = &object.key().namespace;
        // Where there are no sets, pods are not even read.
        let Some(in_namespace) = sets.get(namespace) else { return Vec::new() };
        let states: Vec<&Arc<PodView>> =
            [change.before, change.after].into_iter().flatten().filter_map(|pod| pod_of(pod)).collect();
        let is_concerned = |known: &Known| {
            let owner = Owner { uid: &known.uid, selector: &known.selector };
            states.iter().any(|pod| owner.claim(&pod.owned) != Claim::Other)
        };
        let concerned = in_namespace.iter().filter(|(_, known)| is_concerned(known));
        concerned.map(|(name, _)| ObjectKey::new(Arc::clone(namespace), Arc::clone(name))).collect()
    }

    /// The sets for which a change of a node makes a difference. Nodes tell that they are alive all the time,
    /// which concerns nobody.
    pub(super) fn of_node(&self, change: &Changed<'_>) -> Vec<ObjectKey> {
        let sets = self.lock();
        if sets.is_empty() {
            return Vec::new();
        }
        let [before, after] = [change.before, change.after].map(|state| state.and_then(|node| node_of(node)));
        let is_concerned = |known: &Known| match (before, after) {
            (Some(before), Some(after)) => {
                before != after && known.fit.placement(before) != known.fit.placement(after)
            }
            // Pods that wait for their node, or that a node has left behind.
            (before, after) => before.is_some() || after.is_some(),
        };
        let all = sets.iter().flat_map(|(namespace, sets)| sets.iter().map(move |set| (namespace, set)));
        let concerned = all.filter(|(_, (_, known))| is_concerned(known));
        concerned
            .map(|(namespace, (name, _))| ObjectKey::new(Arc::clone(namespace), Arc::clone(name)))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, ByNamespace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use orch_api::core::v1::PodSpec;
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_new_template_begins_without_the_failures_of_the_old_one() {
        let (sets, key) = (Sets::default(), ObjectKey::new("n", "d"));
        let fit = Arc::new(Fit::of(&PodSpec::default(), &orch_api::ORCH));
        let wait = || {
            let now = Instant::now();
            sets.with(&key, |known| known.backoff.wait("node", now)).unwrap()
        };
        for (uid, generation, expected) in
            [("u", 1, None), ("u", 1, Some(1)), ("u", 2, None), ("u", 2, Some(1)), ("v", 2, None)]
        {
            let metadata = json!({"name": "d", "namespace": "n", "uid": uid, "generation": generation});
            let set: DaemonSet = from_value(json!({"metadata": metadata, "spec": {}})).unwrap();
            sets.enter(&key, &set, &fit);
            assert_eq!(wait(), expected, "{uid} {generation}");
        }
    }
}
