//! Looking into trees by path.

use std::borrow::Cow;

use orch_runtime::{
    Tree,
    type_def::{Scalar, Shape, TypeDef},
};

/// The value at a path of names from the root; none where a step is missing or is not an object.
pub fn at<'t>(tree: &'t Tree, path: &[&str]) -> Option<&'t Tree> {
    path.iter().try_fold(tree, |value, name| value.get(name))
}

/// The string at a path; empty where there is none.
pub fn str_at<'t>(tree: &'t Tree, path: &[&str]) -> &'t str {
    at(tree, path).and_then(Tree::as_str).unwrap_or_default()
}

/// The value at a path as field selectors compare it: strings as they are, numbers and booleans as text. An
/// absent value reads as the empty value of its type: `""`, `false`, `0`.
pub fn selector_text<'t>(tree: &'t Tree, def: &'static TypeDef, path: &[&str]) -> Cow<'t, str> {
    match at(tree, path) {
        Some(Tree::String(text)) => Cow::Borrowed(text),
        Some(Tree::Bool(value)) => Cow::Borrowed(if *value { "true" } else { "false" }),
        Some(Tree::Number(number)) => Cow::Owned(number.to_string()),
        Some(Tree::Null | Tree::Array(_) | Tree::Object(_)) | None => Cow::Borrowed(empty_text(def, path)),
    }
}

fn empty_text(def: &'static TypeDef, path: &[&str]) -> &'static str {
    match shape_at(def, path) {
        Some(Shape::Scalar(Scalar::Boolean)) => "false",
        Some(Shape::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Double)) => "0",
        _ => "",
    }
}

/// What a type has at a path of field names; none where the path leaves the type.
pub fn shape_at(def: &'static TypeDef, path: &[&str]) -> Option<&'static Shape> {
    let (last, parents) = path.split_last()?;
    let owner = parents.iter().try_fold(def, |def, name| match def.field(name)?.shape {
        Shape::Object(next) => Some(next),
        _ => None,
    })?;
    owner.field(last).map(|field| &field.shape)
}

/// How many lists and objects are nested in a tree: 0 for a single value.
pub fn depth(tree: &Tree) -> usize {
    match tree {
        Tree::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Tree::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// About how many bytes a tree takes as JSON. Never 0.
pub fn weight(tree: &Tree) -> usize {
    match tree {
        Tree::Null | Tree::Bool(_) => 5,
        Tree::Number(_) => 8,
        Tree::String(text) => text.len() + 2,
        Tree::Array(items) => 2 + items.iter().map(|item| weight(item) + 1).sum::<usize>(),
        Tree::Object(map) => {
            2 + map.iter().map(|(name, value)| name.len() + 4 + weight(value)).sum::<usize>()
        }
    }
}

#[cfg(test)]
pub(crate) use strategies::{arbitrary, arbitrary_of};

/// Trees for property tests.
#[cfg(test)]
mod strategies {
    use orch_runtime::{
        Tree,
        type_def::{Scalar, Shape, TypeDef},
    };
    use proptest::{collection, prelude::*, sample};

    /// Names that occur in the types of the tests, so that arbitrary documents hit them.
    const NAMES: &[&str] = &[
        "metadata",
        "name",
        "labels",
        "finalizers",
        "data",
        "any",
        "spec",
        "containers",
        "env",
        "kind",
        "apiVersion",
        "a",
        "b",
        "$patch",
        "$retainKeys",
        "$setElementOrder/containers",
        "$deleteFromPrimitiveList/finalizers",
    ];

    /// Any small JSON document.
    pub(crate) fn arbitrary() -> impl Strategy<Value = Tree> {
        let leaf = prop_oneof![
            Just(Tree::Null),
            any::<bool>().prop_map(Tree::from),
            any::<i64>().prop_map(Tree::from),
            (-1e9..1e9).prop_map(Tree::from),
            sample::select(vec!["", "a", "b", "replace", "delete", "merge"]).prop_map(Tree::from),
            "\\PC{0,6}".prop_map(Tree::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                collection::vec(inner.clone(), 0..4).prop_map(Tree::from),
                collection::btree_map(sample::select(NAMES), inner, 0..5)
                    .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            ]
        })
    }

    /// A document that fits a type.
    pub(crate) fn arbitrary_of(def: &'static TypeDef) -> BoxedStrategy<Tree> {
        let fields: Vec<_> = def
            .fields
            .iter()
            .map(|field| {
                prop::option::of(shape(&field.shape))
                    .prop_map(|value| value.map(|value| (field.name.to_owned(), value)))
            })
            .collect();
        fields.prop_map(|fields| fields.into_iter().flatten().collect()).boxed()
    }

    fn shape(shape_of: &'static Shape) -> BoxedStrategy<Tree> {
        match shape_of {
            Shape::Scalar(scalar) => match scalar {
                Scalar::Boolean => any::<bool>().prop_map(Tree::from).boxed(),
                Scalar::Int32 => any::<i32>().prop_map(Tree::from).boxed(),
                Scalar::Int64 => any::<i64>().prop_map(Tree::from).boxed(),
                Scalar::Double => (-1e300..1e300).prop_map(Tree::from).boxed(),
                _ => "[a-c\\PC]{0,3}".prop_map(Tree::from).boxed(),
            },
            Shape::Object(def) => arbitrary_of(def),
            Shape::List { item, .. } => collection::vec(shape(item), 0..3).prop_map(Tree::from).boxed(),
            Shape::Map { value, .. } => collection::btree_map("[a-c]{1,2}", shape(value), 0..3)
                .prop_map(|map| map.into_iter().collect())
                .boxed(),
            Shape::Any => arbitrary().boxed(),
        }
    }

    #[test]
    fn absent_values_read_as_empty_ones() {
        use serde_json::json;

        use crate::{fixture::WORKLOAD, tree::selector_text};

        let tree = json!({"spec": {"replicas": 3}, "status": {"phase": "x"}});
        let cases: [(&[&str], &str); 4] = [
            (&["status", "phase"], "x"),
            (&["spec", "replicas"], "3"),
            (&["status", "ready"], "0"),
            (&["spec", "nothing"], ""),
        ];
        for (path, expected) in cases {
            assert_eq!(selector_text(&tree, &WORKLOAD, path), expected, "{path:?}");
        }
    }
}
