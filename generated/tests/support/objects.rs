//! What tests of kinds ask: which faults an object has, what defaults it gets, and whether samples survive.

#![allow(dead_code, reason = "every test file uses a part of it")]

use orch_api::KUBERNETES;
use orch_runtime::{Tree, field_error::Validation, object::ApiObject, resource_def::ResourceDef};

/// The row of a kind in the resource table.
pub fn resource(kind: &str) -> &'static ResourceDef {
    let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
    kinds.copied().find(|resource| resource.kind == kind).expect("the kind is registered")
}

/// The object in a tree, with its defaults.
pub fn object(kind: &str, tree: &Tree) -> Box<dyn ApiObject> {
    let mut object =
        (resource(kind).from_tree)(tree.clone()).unwrap_or_else(|error| panic!("{error}: {tree}"));
    object.set_defaults();
    object
}

/// The object with its defaults, as a tree without the metadata.
pub fn defaulted(kind: &str, tree: &Tree) -> Tree {
    let mut tree = object(kind, tree).to_tree().expect("an object can be written");
    tree.as_object_mut().expect("an object is a map").remove("metadata");
    tree
}

/// What is wrong with a new object, in the order in which it is reported.
pub fn errors(kind: &str, tree: &Tree) -> Vec<String> {
    let mut cx = Validation::new(&KUBERNETES);
    object(kind, tree).validate(&mut cx);
    texts(cx)
}

/// What is doubtful about a new object that is accepted.
pub fn warnings(kind: &str, tree: &Tree) -> Vec<String> {
    let mut cx = Validation::new(&KUBERNETES);
    object(kind, tree).validate(&mut cx);
    let warnings = cx.take_warnings();
    assert_eq!(texts(cx), [""; 0], "{tree}");
    warnings
}

/// What is wrong with a change.
pub fn update_errors(kind: &str, old: &Tree, new: &Tree) -> Vec<String> {
    let mut cx = Validation::new(&KUBERNETES);
    object(kind, new).validate_update(&*object(kind, old), &mut cx);
    texts(cx)
}

/// A copy of `tree` with `value` at `pointer`; what is missing on the way is made. `null` removes.
pub fn with(tree: &Tree, pointer: &str, value: Tree) -> Tree {
    let mut tree = tree.clone();
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
    let mut place = &mut tree;
    for step in parent.split('/').skip(1) {
        place = match place {
            Tree::Array(items) => &mut items[step.parse::<usize>().expect("an index")],
            other => {
                if other.is_null() {
                    *other = Tree::Object(serde_json::Map::new());
                }
                &mut other[step]
            }
        };
    }
    match (place, value) {
        (Tree::Array(items), value) => items[last.parse::<usize>().expect("an index")] = value,
        (Tree::Object(fields), Tree::Null) => drop(fields.remove(last)),
        (place, value) => place[last] = value,
    }
    tree
}

fn texts(cx: Validation<'_>) -> Vec<String> {
    cx.into_errors().iter().map(ToString::to_string).collect()
}
