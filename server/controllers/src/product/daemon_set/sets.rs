//! The daemon sets that are known, for finding those that a change of a pod or a node concerns.
//!
//! A set is entered before its pods and nodes are read, so a change that the reading missed is told here.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use orch_meta::meta::v1::LabelSelector;
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
    pub(super) selector: LabelSelector,
    pub(super) fit: Arc<Fit>,
    pub(super) backoff: Backoff,
    pub(super) events: Budget,
}

impl Sets {
    /// Enters a set as it is now. What is remembered of it stays, unless it is another one with its name.
    pub(super) fn enter(&self, key: &ObjectKey, uid: &str, selector: Option<&LabelSelector>, fit: &Arc<Fit>) {
        let mut sets = self.lock();
        let in_namespace = sets.entry(Arc::clone(&key.namespace)).or_default();
        let before = in_namespace.remove(&key.name).filter(|known| known.uid == uid);
        let (backoff, events) = before
            .map_or_else(|| (Backoff::default(), Budget::new(Instant::now())), |it| (it.backoff, it.events));
        let selector = selector.cloned().unwrap_or_default();
        let known = Known { uid: uid.to_owned(), selector, fit: Arc::clone(fit), backoff, events };
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
