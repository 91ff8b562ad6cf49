//! Objects with as many owners as a body can name: the work grows as their number does.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use orch_machinery::meta::Meta;
use orch_runtime::Tree;
use orch_storage::{Key, ResourceName, Revision};
use serde_json::json;

use super::super::{
    disown,
    graph::{Change, Graph},
    node::{Found, Lookup, Node, Owner, Reference},
};

/// As many as fit into an object.
const OWNERS: usize = 20_000;
/// Work that grows with the square of that takes minutes without optimizations, other work a tenth of this.
const PATIENCE: Duration = Duration::from_secs(10);

struct Nothing;

impl Lookup for Nothing {
    fn find(&self, _: &Key) -> Found {
        Found::Absent
    }
}

fn key(name: &str) -> Key {
    Key::new(ResourceName::new("configmaps"), "n", name)
}

/// An object whose owners all block; they have the numbers from `first` on.
fn node(revision: u64, first: usize) -> Node {
    let reference = |number: usize| Reference {
        owner: Owner::At(key(&format!("o{number}"))),
        uid: format!("u{number}").into(),
        blocks: true,
    };
    Node {
        uid: "uid".into(),
        revision: Revision::new(revision),
        owners: (first..first + OWNERS).map(reference).collect(),
        is_deleted: false,
        is_over: false,
        has_orphan: false,
        has_foreground: false,
    }
}

#[test]
fn a_change_of_an_object_with_many_owners_is_soon_in_the_graph() {
    let (mut graph, object) = (Graph::default(), key("object"));
    let states = [node(1, 0), node(2, 0), node(3, OWNERS / 2)];
    let begun = Instant::now();
    let mut before = None;
    for state in &states {
        graph.apply(Change { key: &object, before, after: Some(state) }, &Nothing);
        before = Some(state);
    }
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    let owned =
        |number: usize| graph.owned(&key(&format!("o{number}")), &format!("u{number}").into()).count();
    assert_eq!([0, OWNERS / 2, OWNERS].map(owned), [0, 1, 1]);
}

#[test]
fn many_owners_are_soon_taken_out() {
    let owners: Vec<Tree> = (0..OWNERS).map(|number| json!({"uid": format!("u{number}")})).collect();
    let mut object = json!({"metadata": {"ownerReferences": owners}});
    let lost: Vec<Arc<str>> = (1..OWNERS).map(|number| format!("u{number}").into()).collect();
    let begun = Instant::now();
    disown(&mut object, &lost);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!(Meta::of(&object).owner_references(), [json!({"uid": "u0"})]);
}
