//! Who depends on whom: an index by owner, kept up to date by events, and the objects that a change concerns.
//!
//! It shows the store at one revision. An owner is a key together with a uid, so that an object that comes
//! back under the same name owns nothing of its predecessor.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
};

use orch_storage::{Key, Revision};

use super::{
    node::{Found, Lookup, Node, Owner, Reference},
    owners::{Owners, owners_of},
};

/// How many owners that were removed are remembered.
const REMEMBERED: usize = 10_000;

/// See the module.
#[derive(Default)]
pub(super) struct Graph {
    owned: HashMap<(Key, Arc<str>), Dependents>,
    removed: Removed,
    through: Revision,
}

/// What an owner owns.
#[derive(Default)]
struct Dependents {
    /// Those that an owner which is deleted in the foreground waits for.
    blocking: BTreeSet<Key>,
    others: BTreeSet<Key>,
}

/// The uids of the owners that were removed last.
#[derive(Default)]
struct Removed {
    uids: HashSet<Arc<str>>,
    oldest_first: VecDeque<Arc<str>>,
}

/// A change of an object, or the state of one that was found at the start.
#[derive(Clone, Copy)]
pub(super) struct Change<'a> {
    pub(super) key: &'a Key,
    pub(super) before: Option<&'a Node>,
    pub(super) after: Option<&'a Node>,
}

impl Graph {
    /// The revision up to which changes are in it.
    pub(super) fn through(&self) -> Revision {
        self.through
    }

    /// All changes up to this revision are in it.
    pub(super) fn reached(&mut self, revision: Revision) {
        self.through = revision;
    }

    /// The dependents that block the deletion of their owner.
    pub(super) fn blocking(&self, owner: &Key, uid: &Arc<str>) -> impl Iterator<Item = &Key> {
        self.dependents(owner, uid).into_iter().flat_map(|dependents| &dependents.blocking)
    }

    /// All dependents of an owner.
    pub(super) fn owned(&self, owner: &Key, uid: &Arc<str>) -> impl Iterator<Item = &Key> {
        let dependents = self.dependents(owner, uid).into_iter();
        dependents.flat_map(|dependents| dependents.blocking.iter().chain(&dependents.others))
    }

    /// Whether an owner with this uid was removed lately, so that no namespace can have it.
    pub(super) fn saw_removed(&self, uid: &str) -> bool {
        self.removed.uids.contains(uid)
    }

    fn dependents(&self, owner: &Key, uid: &Arc<str>) -> Option<&Dependents> {
        self.owned.get(&(owner.clone(), Arc::clone(uid)))
    }

    /// Takes in a change. Returns the objects that the collector has to look at because of it.
    pub(super) fn apply(&mut self, change: Change<'_>, lookup: &impl Lookup) -> Vec<Key> {
        let Change { key, before, after } = change;
        for reference in owners(before) {
            self.unlink(key, reference);
        }
        for reference in owners(after) {
            self.link(key, reference);
        }
        let mut keys = Vec::new();
        match after {
            None => {
                keys.extend(before.into_iter().flat_map(|node| self.owned(key, &node.uid)).cloned());
                if let Some(owner) = before.filter(|_| !keys.is_empty()) {
                    self.removed.add(&owner.uid);
                }
            }
            Some(node) if node.is_deleted => {
                if node.orphans() || node.waits() || node.is_over {
                    keys.push(key.clone());
                }
                if node.waits() && !before.is_some_and(Node::waits) {
                    keys.extend(self.owned(key, &node.uid).cloned());
                }
            }
            Some(node) if before.is_none_or(|before| before.owners != node.owners) => {
                if node.has_owner_out_of_reach() || owners_of(node, lookup) != Owners::Alive {
                    keys.push(key.clone());
                }
            }
            Some(_) => {}
        }
        let kept: HashSet<&Reference> = owners(after).iter().collect();
        for Reference { owner, uid, .. } in
            owners(before).iter().filter(|old| old.blocks && !kept.contains(old))
        {
            if let Owner::At(owner) = owner
                && let Found::Node(node) = lookup.find(owner)
                && node.uid == *uid
                && node.waits()
            {
                keys.push(owner.clone());
            }
        }
        keys
    }

    fn link(&mut self, key: &Key, reference: &Reference) {
        let Owner::At(owner) = &reference.owner else { return };
        let dependents = self.owned.entry((owner.clone(), Arc::clone(&reference.uid))).or_default();
        dependents.among(reference.blocks).insert(key.clone());
    }

    fn unlink(&mut self, key: &Key, reference: &Reference) {
        let Owner::At(owner) = &reference.owner else { return };
        let owner = (owner.clone(), Arc::clone(&reference.uid));
        let Some(dependents) = self.owned.get_mut(&owner) else { return };
        dependents.among(reference.blocks).remove(key);
        if dependents.blocking.is_empty() && dependents.others.is_empty() {
            self.owned.remove(&owner);
        }
    }
}

impl Removed {
    fn add(&mut self, uid: &Arc<str>) {
        if !self.uids.insert(Arc::clone(uid)) {
            return;
        }
        self.oldest_first.push_back(Arc::clone(uid));
        if self.oldest_first.len() > REMEMBERED
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.uids.remove(&oldest);
        }
    }
}

impl Dependents {
    fn among(&mut self, blocks: bool) -> &mut BTreeSet<Key> {
        if blocks { &mut self.blocking } else { &mut self.others }
    }
}

fn owners(node: Option<&Node>) -> &[Reference] {
    node.map_or(&[], |node| &node.owners)
}
