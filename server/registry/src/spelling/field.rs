//! Which fields of an object name API groups, and which hold what only its user knows.

use std::collections::{HashMap, HashSet};

use orch_runtime::type_def::{Shape, TypeDef};

/// The fields that hold the name of a group, alone or with a version, or a list of such names. It is a
/// convention of all kinds.
const GROUPS: &[&str] = &["apiVersion", "apiGroup", "apiGroups", "group"];

/// The fields of all kinds that hold what only the user knows: maps with values of his own, and values that
/// the schema says nothing about.
#[derive(Debug)]
pub(super) struct Fields {
    free: HashSet<&'static str>,
}

/// Where in an object a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In an object with fields of the schema, or in a list.
    Fields,
    /// In a field that names groups.
    Group,
    /// Somewhere in what only the user knows.
    Free,
}

impl Fields {
    /// Those of these types and of all types below them. Where two types have fields of one name, it must be
    /// free in both.
    pub(super) fn of(types: impl IntoIterator<Item = &'static TypeDef>) -> Self {
        let mut is_free: HashMap<&'static str, bool> = HashMap::new();
        let (mut known, mut waiting) = (HashSet::new(), types.into_iter().collect::<Vec<_>>());
        while let Some(def) = waiting.pop() {
            if !known.insert(def.name) {
                continue;
            }
            for field in def.fields {
                let object = object_in(&field.shape);
                waiting.extend(object);
                *is_free.entry(field.name).or_insert(true) &= object.is_none() && is_open(&field.shape);
            }
        }
        Fields { free: is_free.into_iter().filter_map(|(name, is_free)| is_free.then_some(name)).collect() }
    }

    /// Where the value of a name stands in an object that stands at `place`.
    pub(super) fn below(&self, place: Place, name: &str) -> Place {
        match place {
            Place::Free => Place::Free,
            Place::Fields | Place::Group if GROUPS.contains(&name) => Place::Group,
            Place::Fields | Place::Group if self.free.contains(name) => Place::Free,
            Place::Fields | Place::Group => Place::Fields,
        }
    }
}

/// The type of the objects in a shape.
fn object_in(shape: &'static Shape) -> Option<&'static TypeDef> {
    match shape {
        Shape::Object(def) => Some(def),
        Shape::List { item: inner, .. } | Shape::Map { value: inner, .. } => object_in(inner),
        Shape::Scalar(_) | Shape::Any => None,
    }
}

/// Whether there are names in a shape that no schema has.
fn is_open(shape: &'static Shape) -> bool {
    match shape {
        Shape::Map { .. } | Shape::Any => true,
        Shape::List { item, .. } => is_open(item),
        Shape::Scalar(_) | Shape::Object(_) => false,
    }
}
