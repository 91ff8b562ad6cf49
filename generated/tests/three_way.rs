//! Strategic merge patches as clients make them: from two states of an object, and applied to a third. This
//! test makes the patch with an implementation of its own, for random objects of every kind, and checks that
//! it has the same effect on the third state.
//!
//! `ORCH_TEST_SEED=7 cargo test -p orch-api --test three_way` repeats a run.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

#[path = "support/random.rs"]
mod random;

use std::collections::BTreeSet;

use orch_machinery::patch::strategic;
use orch_proof::{Choices, object};
use orch_runtime::{
    Tree, TreeMap,
    type_def::{PatchStrategy, Scalar, Shape, TypeDef},
};
use proptest::{collection::vec, prelude::*, test_runner::TestCaseError};
use random::for_every_kind;
use serde_json::json;

/// How many pairs of objects of each kind are made.
const CASES: u32 = 30;

/// Checks a property for pairs of states of objects of every kind.
fn for_changes(property: impl Fn(&'static TypeDef, &Tree, &Tree) -> Result<(), TestCaseError>) {
    for_every_kind(CASES, |resource, runner| {
        let def = resource.type_def;
        let numbers = (vec(any::<u32>(), 100..2000), vec(any::<u32>(), 100..2000), vec(any::<u32>(), 400));
        let run = runner.run(&numbers, |(old, other, change)| {
            let mut change = Choices::new(&change);
            let [old, other] = [old, other].map(|numbers| {
                let mut made = object(def, &mut Choices::new(&numbers));
                tell_apart(&mut made, TypeInfo::of(def), &mut change);
                made
            });
            let new = changed(&old, &other, TypeInfo::of(def), &mut change);
            property(def, &old, &new)
        });
        run.unwrap_or_else(|error| panic!("{}: {error}", resource.kind));
    });
}

#[test]
fn a_difference_leads_from_one_state_to_the_other() {
    for_changes(|def, old, new| {
        let patch = difference(old, new, TypeInfo::of(def));
        prop_assert_eq!(&strategic::apply(old, &patch, def).unwrap(), new, "{}", patch);
        Ok(())
    });
}

#[test]
fn a_difference_leaves_what_somebody_else_added() {
    for_changes(|def, old, new| {
        let patch = difference(old, new, TypeInfo::of(def));
        let mut live = old.clone();
        add(&mut live, TypeInfo::of(def));
        let mut patched = strategic::apply(&live, &patch, def).unwrap();
        let mut additions = 0;
        remove_added(&mut patched, TypeInfo::of(def), &mut additions);
        prop_assert_eq!(&patched, new, "{}", patch);
        let has_labels = |tree: &Tree| tree.pointer("/metadata/labels").is_some();
        prop_assert!(additions > 0 || !has_labels(old) || !has_labels(new), "{}", patch);
        Ok(())
    });
}

#[test]
fn no_difference_is_an_empty_patch() {
    for_changes(|def, old, _| {
        prop_assert_eq!(difference(old, old, TypeInfo::of(def)), json!({}));
        prop_assert_eq!(&strategic::apply(old, &json!({}), def).unwrap(), old);
        Ok(())
    });
}

/// The type information of one value in an object.
#[derive(Clone, Copy)]
struct TypeInfo {
    fields: Option<&'static TypeDef>,
    shape: &'static Shape,
    strategy: PatchStrategy,
}

impl TypeInfo {
    /// The object itself.
    fn of(def: &'static TypeDef) -> Self {
        TypeInfo { fields: Some(def), ..TypeInfo::of_shape(&Shape::Any) }
    }

    fn of_shape(shape: &'static Shape) -> Self {
        let fields = if let Shape::Object(def) = shape { Some(*def) } else { None };
        TypeInfo { fields, shape, strategy: PatchStrategy::DEFAULT }
    }

    /// The information of an entry.
    fn entry(self, name: &str) -> Self {
        if let Some(field) = self.fields.and_then(|def| def.field(name)) {
            return TypeInfo { strategy: field.patch, ..TypeInfo::of_shape(&field.shape) };
        }
        match self.shape {
            Shape::Map { value, .. } => TypeInfo::of_shape(value),
            _ => TypeInfo::of_shape(&Shape::Any),
        }
    }

    /// The information of the items of a list.
    fn item(self) -> Self {
        match self.shape {
            Shape::List { item, .. } => TypeInfo::of_shape(item),
            _ => TypeInfo::of_shape(&Shape::Any),
        }
    }

    /// The key by which the items of a list are merged, if they are.
    fn key(self) -> Option<&'static str> {
        self.strategy.merge_key.filter(|_| self.strategy.merge)
    }
}

/// The patch that turns one state into the other.
fn difference(old: &Tree, new: &Tree, info: TypeInfo) -> Tree {
    let (Tree::Object(old), Tree::Object(new)) = (old, new) else { return new.clone() };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut patch = TreeMap::new();
    for name in names {
        let below = info.entry(name);
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) if old == new => {}
            (_, None) => drop(patch.insert(name.clone(), Tree::Null)),
            (Some(Tree::Array(old)), Some(Tree::Array(new))) if below.strategy.merge => {
                list_difference(name, old, new, below, &mut patch);
            }
            (Some(Tree::Object(_)), Some(Tree::Object(_))) if !below.strategy.replace => {
                let change = difference(&old[name], &new[name], below);
                patch.insert(name.clone(), retaining(change, &new[name], below.strategy));
            }
            (_, Some(new)) => drop(patch.insert(name.clone(), new.clone())),
        }
    }
    Tree::Object(patch)
}

/// A patch can name the members of a union to retain, instead of removing the others.
fn retaining(mut change: Tree, new: &Tree, strategy: PatchStrategy) -> Tree {
    if let (true, Some(entries), Some(new)) = (strategy.retain_keys, change.as_object_mut(), new.as_object())
    {
        entries.retain(|_, value| !value.is_null());
        let kept: Vec<&String> = new.keys().collect();
        entries.insert("$retainKeys".to_owned(), json!(kept));
    }
    change
}

fn list_difference(name: &str, old: &[Tree], new: &[Tree], info: TypeInfo, patch: &mut TreeMap) {
    let order = format!("$setElementOrder/{name}");
    let Some(key) = info.key() else {
        let missing = |of: &[Tree], from: &[Tree]| -> Vec<Tree> {
            of.iter().filter(|item| !from.contains(item)).cloned().collect()
        };
        patch.insert(order, json!(new));
        for (name, items) in [
            (format!("$deleteFromPrimitiveList/{name}"), missing(old, new)),
            (name.to_owned(), missing(new, old)),
        ] {
            if !items.is_empty() {
                patch.insert(name, items.into());
            }
        }
        return;
    };
    let find = |list: &[Tree], item: &Tree| list.iter().find(|other| other[key] == item[key]).cloned();
    let mut items = Vec::new();
    for item in new {
        match find(old, item) {
            Some(old) if old == *item => {}
            Some(old) => {
                let mut change = retaining(difference(&old, item, info.item()), item, info.strategy);
                change[key] = item[key].clone();
                items.push(change);
            }
            None => items.push(item.clone()),
        }
    }
    let gone = old.iter().filter(|item| find(new, item).is_none());
    items.extend(gone.map(|item| json!({key: item[key], "$patch": "delete"})));
    patch.insert(order, new.iter().map(|item| json!({key: item[key]})).collect());
    if !items.is_empty() {
        patch.insert(name.to_owned(), items.into());
    }
}

/// Gives the items of lists that merge by key unique keys from a small range.
fn tell_apart(tree: &mut Tree, info: TypeInfo, choices: &mut Choices<'_>) {
    match tree {
        Tree::Object(map) => {
            map.iter_mut().for_each(|(name, value)| tell_apart(value, info.entry(name), choices));
        }
        Tree::Array(items) => {
            for item in items.iter_mut() {
                if let (Some(key), Some(object)) = (info.key(), item.as_object_mut()) {
                    object.insert(key.to_owned(), few(info.item().entry(key).shape, choices.below(5)));
                }
                tell_apart(item, info.item(), choices);
            }
            if info.strategy.merge {
                let mut seen = BTreeSet::new();
                let identity =
                    |item: &Tree| info.key().map_or_else(|| item.to_string(), |key| item[key].to_string());
                items.retain(|item| seen.insert(identity(item)));
            }
        }
        _ => {}
    }
}

/// A value of a scalar type, from a small range.
fn few(shape: &Shape, number: usize) -> Tree {
    match shape {
        Shape::Scalar(Scalar::Int32 | Scalar::Int64) => json!(number),
        _ => json!(format!("key-{number}")),
    }
}

/// Another state: parts of the old state, and parts of another object.
fn changed(old: &Tree, other: &Tree, info: TypeInfo, choices: &mut Choices<'_>) -> Tree {
    match (old, other) {
        (Tree::Object(old), Tree::Object(other)) => {
            let names: BTreeSet<&String> = old.keys().chain(other.keys()).collect();
            let entries = names.into_iter().filter_map(|name| {
                let value = match (choices.below(5), old.get(name), other.get(name)) {
                    (0, ..) => None,
                    (1 | 2, Some(old), Some(other)) => Some(changed(old, other, info.entry(name), choices)),
                    (3, _, other) => other.cloned(),
                    (_, old, _) => old.cloned(),
                };
                Some((name.clone(), value?))
            });
            Tree::Object(entries.collect())
        }
        (Tree::Array(old), Tree::Array(other)) if info.strategy.merge => {
            let mut items: Vec<Tree> = Vec::new();
            for item in old.iter().chain(other) {
                let same = |known: &&mut Tree| match info.key() {
                    Some(key) => known[key] == item[key],
                    None => **known == *item,
                };
                match items.iter_mut().find(same) {
                    Some(known) => {
                        let identity = info.key().map(|key| (key, known[key].clone()));
                        *known = changed(known, item, info.item(), choices);
                        if let Some((key, value)) = identity {
                            known[key] = value;
                        }
                    }
                    None if choices.below(3) == 0 => {}
                    None if choices.below(2) == 0 => items.insert(0, item.clone()),
                    None => items.push(item.clone()),
                }
            }
            items.into()
        }
        (_, other) if choices.below(2) == 0 => other.clone(),
        (old, _) => old.clone(),
    }
}

const ADDED: &str = "added-by-somebody-else";

/// Adds an entry to every map, and an item to every list that merges.
fn add(tree: &mut Tree, info: TypeInfo) {
    match tree {
        Tree::Object(map) => {
            map.iter_mut().for_each(|(name, value)| add(value, info.entry(name)));
            if matches!(info.shape, Shape::Map { value: Shape::Scalar(_), .. }) {
                map.insert(ADDED.to_owned(), json!(ADDED));
            }
        }
        Tree::Array(items) if info.strategy.merge => {
            for item in items.iter_mut() {
                add(item, info.item());
            }
            let is_text = matches!(info.item().shape, Shape::Scalar(Scalar::String));
            match info.key() {
                Some(key) => items.push(json!({key: few_added(info.item().entry(key).shape)})),
                None if is_text => items.push(json!(ADDED)),
                None => {}
            }
        }
        _ => {}
    }
}

fn few_added(shape: &Shape) -> Tree {
    match shape {
        Shape::Scalar(Scalar::Int32 | Scalar::Int64) => json!(7777),
        _ => json!(ADDED),
    }
}

/// Removes what [`add`] has added, and counts it.
fn remove_added(tree: &mut Tree, info: TypeInfo, found: &mut usize) {
    match tree {
        Tree::Object(map) => {
            *found += usize::from(map.remove(ADDED).is_some());
            map.iter_mut().for_each(|(name, value)| remove_added(value, info.entry(name), found));
        }
        Tree::Array(items) => {
            let before = items.len();
            if info.strategy.merge {
                items.retain(|item| match info.key() {
                    Some(key) => item[key] != few_added(info.item().entry(key).shape),
                    None => *item != json!(ADDED),
                });
            }
            *found += before - items.len();
            for item in items.iter_mut() {
                remove_added(item, info.item(), found);
            }
        }
        _ => {}
    }
}
