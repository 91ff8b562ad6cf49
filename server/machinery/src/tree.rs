//! Values in trees by path, and the size of trees.

use orch_runtime::Tree;

/// The value at a path of names from the root. None if a name is missing, or leads into a value that is not
/// an object.
pub fn at<'t>(tree: &'t Tree, path: &[&str]) -> Option<&'t Tree> {
    path.iter().try_fold(tree, |value, name| value.get(name))
}

/// How many lists and objects are nested in a tree: 0 for a single value.
pub fn depth(tree: &Tree) -> usize {
    match tree {
        Tree::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Tree::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The approximate length of a tree as JSON, in bytes. Never 0.
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

    /// Names of the types in the tests, so that arbitrary documents have fields that the types know.
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
}
