//! Random graphs, deletions, changes and restarts: nothing that is alive is ever deleted, and in the end no
//! garbage is left.
//!
//! The world is a map of nodes. The graph and the decisions are the real ones; how they are carried out, with
//! lost races, is played here.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use orch_storage::{Key, Revision};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::super::{
    decision::{Step, decide},
    graph::{Change, Graph},
    node::{Found, Lookup, Node, Owner, Reference},
    owners::{Owners, owners_of},
};

/// How many steps all seeds take together.
const STEPS: usize = 100_000;
const SEEDS: u64 = 50;
/// There are no more objects than this, so that names and owners meet often.
const OBJECTS: usize = 24;

/// An object: what the collector sees of it, and whether somebody else's finalizer holds it.
#[derive(Clone)]
struct Stored {
    node: Arc<Node>,
    is_held: bool,
}

/// One write, as the graph will hear of it.
struct Written {
    key: Key,
    before: Option<Arc<Node>>,
    after: Option<Arc<Node>>,
    revision: Revision,
}

#[derive(Default)]
struct World {
    objects: BTreeMap<Key, Stored>,
    revision: Revision,
    /// What the graph has not heard yet.
    unheard: VecDeque<Written>,
    /// What it has forgotten: the next uid.
    uids: u64,
    graph: Graph,
    queue: BTreeSet<Key>,
    /// Decisions that were made and not carried out yet, with the version that they are about.
    decided: Vec<(Key, Revision, Step)>,
    collected: usize,
    lost_races: usize,
}

impl Lookup for BTreeMap<Key, Stored> {
    fn find(&self, key: &Key) -> Found {
        self.get(key).map_or(Found::Absent, |stored| Found::Node(Arc::clone(&stored.node)))
    }
}

impl World {
    /// Stores a state of an object, or removes it where there is none.
    fn write(&mut self, key: &Key, state: Option<(Node, bool)>) {
        self.revision = self.revision.next();
        let revision = self.revision;
        let before = self.objects.get(key).map(|stored| Arc::clone(&stored.node));
        let after =
            state.map(|(node, is_held)| Stored { node: Arc::new(Node { revision, ..node }), is_held });
        // An object that is being deleted goes when no finalizer holds it.
        let after = after.filter(|stored| {
            let node = &stored.node;
            !node.is_deleted || stored.is_held || node.has_orphan || node.has_foreground
        });
        let node = after.as_ref().map(|stored| Arc::clone(&stored.node));
        match after {
            Some(stored) => drop(self.objects.insert(key.clone(), stored)),
            None => drop(self.objects.remove(key)),
        }
        self.unheard.push_back(Written { key: key.clone(), before, after: node, revision });
    }

    /// Changes an object; says whether it is there.
    fn change(&mut self, key: &Key, how: impl FnOnce(&mut Node, &mut bool)) {
        let Some(Stored { node, mut is_held }) = self.objects.get(key).cloned() else { return };
        let mut node = copy(&node);
        how(&mut node, &mut is_held);
        self.write(key, Some((node, is_held)));
    }

    /// A DELETE. Without a policy the finalizers stay as they are.
    fn delete(&mut self, key: &Key, policy: Option<(bool, bool)>) {
        self.change(key, |node, _| {
            node.is_deleted = true;
            if let Some((orphan, foreground)) = policy {
                (node.has_orphan, node.has_foreground) = (orphan, foreground);
            }
        });
    }

    fn hear(&mut self, count: usize) {
        for _ in 0..count {
            let Some(written) = self.unheard.pop_front() else { return };
            let Written { key, before, after, revision } = &written;
            let change = Change { key, before: before.as_deref(), after: after.as_deref() };
            self.queue.extend(self.graph.apply(change, &self.objects));
            self.graph.reached(*revision);
        }
    }

    /// Begins anew: only what is stored is left.
    fn restart(&mut self) {
        self.unheard.clear();
        self.queue.clear();
        self.decided.clear();
        self.graph = Graph::default();
        for (key, stored) in &self.objects {
            self.graph.apply(Change { key, before: None, after: Some(&stored.node) }, &self.objects);
        }
        self.graph.reached(self.revision);
        for (key, stored) in &self.objects {
            if decide(key, &stored.node, &self.graph, &self.objects) != Step::Nothing {
                self.queue.insert(key.clone());
            }
        }
    }

    fn decide(&mut self, key: &Key) {
        self.queue.remove(key);
        let Some(stored) = self.objects.get(key) else { return };
        let step = decide(key, &stored.node, &self.graph, &self.objects);
        self.decided.push((key.clone(), stored.node.revision, step));
    }

    /// Carries out a decision, if the object still is as it was.
    fn carry_out(&mut self, (key, revision, step): (Key, Revision, Step)) {
        if step == Step::Nothing {
            return;
        }
        if self.objects.get(&key).is_some_and(|stored| stored.node.revision != revision) {
            self.lost_races += 1;
            self.queue.insert(key);
            return;
        }
        match step {
            Step::Nothing => {}
            Step::Delete { foreground } => {
                self.assert_is_garbage(&key);
                self.collected += 1;
                self.delete(&key, foreground.then_some((false, true)));
            }
            Step::Disown(lost) => self.change(&key, |node, _| disown(node, &lost)),
            Step::Orphan(dependents) => {
                let Some(owner) = self.objects.get(&key) else { return };
                let owner = [Arc::clone(&owner.node.uid)];
                for dependent in dependents {
                    self.change(&dependent, |node, _| disown(node, &owner));
                }
                // One of the dependents may have been the object itself.
                let is_same = self.objects.get(&key).is_some_and(|stored| stored.node.revision == revision);
                if is_same {
                    self.change(&key, |node, _| node.has_orphan = false);
                } else {
                    self.queue.insert(key);
                }
            }
            Step::Release => self.change(&key, |node, _| node.has_foreground = false),
            Step::Finish => panic!("{key} is removed when nothing holds it"),
        }
    }

    /// None of its owners is there, but for those that are being deleted.
    fn assert_is_garbage(&self, key: &Key) {
        let Some(stored) = self.objects.get(key) else { return };
        assert!(!stored.node.owners.is_empty(), "{key} has no owners");
        for Reference { owner, uid, .. } in &stored.node.owners {
            let Owner::At(owner) = owner else { panic!("nobody can tell whether {owner:?} is there") };
            let is_alive =
                self.objects.get(owner).is_some_and(|owner| owner.node.uid == *uid && !owner.node.is_deleted);
            assert!(!is_alive, "{key} has a live owner: {owner}");
        }
    }

    /// Everything happens that is going to happen.
    fn drain(&mut self) {
        for _ in 0..100_000 {
            self.hear(usize::MAX);
            if let Some(decision) = self.decided.pop() {
                self.carry_out(decision);
            } else if let Some(key) = self.queue.first().cloned() {
                self.decide(&key);
            } else if self.unheard.is_empty() {
                return;
            }
        }
        panic!("it never comes to rest");
    }

    fn assert_is_clean(&self) {
        for (key, stored) in &self.objects {
            let node = &stored.node;
            assert!(!node.is_deleted, "{key} is still being deleted: {node:?}");
            assert_eq!(owners_of(node, &self.objects), Owners::Alive, "{key} is garbage");
            for Reference { owner, uid, .. } in &node.owners {
                let Owner::At(owner) = owner else { continue };
                let there = self.objects.get(owner);
                assert!(there.is_some_and(|owner| owner.node.uid == *uid), "{key} names {owner}");
            }
        }
    }

    /// One thing that a client, the collector or an accident does.
    fn step(&mut self, random: &mut StdRng) {
        let key = key(random);
        match random.random_range(0..100) {
            0..25 if !self.objects.contains_key(&key) => {
                self.uids += 1;
                let node = Node {
                    uid: self.uids.to_string().into(),
                    revision: Revision::ZERO,
                    owners: self.owners(random),
                    is_deleted: false,
                    is_over: false,
                    has_orphan: random.random_ratio(1, 20),
                    has_foreground: random.random_ratio(1, 20),
                };
                self.write(&key, Some((node, random.random_ratio(1, 6))));
            }
            0..35 => {
                let policies = [
                    None,
                    Some((false, false)),
                    Some((false, true)),
                    Some((false, true)),
                    Some((true, false)),
                ];
                self.delete(&key, *policies.choose(random).unwrap());
            }
            35..42 => {
                let owners = self.owners(random);
                self.change(&key, |node, _| node.owners = owners);
            }
            42..50 => self.change(&key, |_, is_held| *is_held = false),
            50..52 => self.change(&key, |node, _| node.has_foreground = false),
            52..70 => self.hear(random.random_range(1..6)),
            70..85 => {
                let waiting: Vec<&Key> = self.queue.iter().collect();
                if let Some(key) = waiting.choose(random).copied().cloned() {
                    self.decide(&key);
                }
            }
            85..99 if !self.decided.is_empty() => {
                let decision = self.decided.swap_remove(random.random_range(0..self.decided.len()));
                self.carry_out(decision);
            }
            99 if random.random_ratio(1, 10) => self.restart(),
            _ => {}
        }
    }

    /// Up to three references: mostly to objects that are there, else to others under their names.
    fn owners(&self, random: &mut StdRng) -> Box<[Reference]> {
        let count = random.random_range(0..=3);
        let reference = |_| {
            let key = key(random);
            let uid = match self.objects.get(&key) {
                Some(stored) if random.random_ratio(9, 10) => Arc::clone(&stored.node.uid),
                _ => random.random_range(0..=self.uids).to_string().into(),
            };
            let owner = match random.random_range(0..40) {
                0 => Owner::OfUnknownKind,
                1 => Owner::OutOfReach(key),
                _ => Owner::At(key),
            };
            Reference { owner, uid, blocks: random.random_ratio(1, 2) }
        };
        (0..count).map(reference).collect()
    }
}

fn key(random: &mut StdRng) -> Key {
    let kind = ["maps", "secrets", "volumes"][random.random_range(0..3)];
    Key::new(kind.into(), "n", format!("o{}", random.random_range(0..OBJECTS / 3)))
}

fn copy(node: &Node) -> Node {
    Node { uid: Arc::clone(&node.uid), owners: node.owners.clone(), ..*node }
}

fn disown(node: &mut Node, lost: &[Arc<str>]) {
    node.owners = node.owners.iter().filter(|owner| !lost.contains(&owner.uid)).cloned().collect();
}

#[test]
fn nothing_alive_is_deleted_and_no_garbage_is_left() {
    let (mut collected, mut lost_races) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = StdRng::seed_from_u64(seed);
        let mut world = World::default();
        for step in 0..STEPS / SEEDS as usize {
            world.step(&mut random);
            if step % 200 == 199 {
                let held: Vec<Key> = world.objects.keys().cloned().collect();
                for key in held {
                    world.change(&key, |_, is_held| *is_held = false);
                }
                world.drain();
                world.assert_is_clean();
            }
        }
        collected += world.collected;
        lost_races += world.lost_races;
    }
    // Otherwise the test would say nothing.
    assert!(collected > 1000 && lost_races > 100, "{collected} {lost_races}");
}
