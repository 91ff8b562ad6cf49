//! Sets of fields of an object, in the form of `managedFields` (`FieldsV1`).
//!
//! A set is a tree of path elements. A node may be a member of the set (written as `.`, or as `{}` if nothing
//! is below it), lead to other members, or both. The nodes of a level are a sorted vector: sets are made in
//! this order, and are mostly read from one end to the other.

mod element;
mod written;

use std::cmp::Ordering;

use orch_runtime::{Tree, TreeMap, resource_def::FieldPath};

pub use self::element::{Element, Step};

/// A set of fields. Names are borrowed from the tree that they were read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet<'t> {
    /// Sorted by element, without duplicates.
    nodes: Vec<Node<'t>>,
}

/// An element that is a member itself, or has members below it, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node<'t> {
    element: Element<'t>,
    itself: bool,
    below: FieldSet<'t>,
}

/// A value that is not a set of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FieldSetError(String);

impl<'t> FieldSet<'t> {
    /// The empty set, as a constant.
    pub const EMPTY: FieldSet<'t> = FieldSet { nodes: Vec::new() };

    /// The empty set.
    pub fn new() -> Self {
        FieldSet::EMPTY
    }

    /// Whether the set has no members.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds an element: as a member if `itself` is true, with the members below it. These replace those that
    /// were below it before.
    pub fn put(&mut self, element: Element<'t>, itself: bool, below: FieldSet<'t>) {
        if !itself && below.is_empty() {
            return;
        }
        match self.position(&element) {
            Ok(at) => {
                let node = &mut self.nodes[at];
                node.itself |= itself;
                if !below.is_empty() {
                    node.below = below;
                }
            }
            Err(at) => self.nodes.insert(at, Node { element, itself, below }),
        }
    }

    /// Adds an item of a list. If the element is there already, it counts as a whole, because the parts of
    /// two items with one element cannot be told apart.
    pub fn put_item(&mut self, element: Element<'t>, below: FieldSet<'t>) {
        match self.position(&element) {
            Ok(at) => self.nodes[at].below = FieldSet::EMPTY,
            Err(at) => self.nodes.insert(at, Node { element, itself: true, below }),
        }
    }

    /// Whether an element is a member.
    pub fn has(&self, element: &Element<'_>) -> bool {
        self.position(element).is_ok_and(|at| self.nodes[at].itself)
    }

    /// The members below an element, if there are any.
    pub fn below(&self, element: &Element<'_>) -> Option<&FieldSet<'t>> {
        let below = &self.nodes[self.position(element).ok()?].below;
        (!below.is_empty()).then_some(below)
    }

    /// Changes the elements with members below: `change` gets the element, the members below it and whether
    /// it is a member, and returns the new values of the last two.
    #[must_use]
    pub fn map_children(
        mut self,
        mut change: impl FnMut(&Element<'t>, FieldSet<'t>, bool) -> (bool, FieldSet<'t>),
    ) -> Self {
        for node in self.nodes.iter_mut().filter(|node| !node.below.is_empty()) {
            let below = std::mem::take(&mut node.below);
            (node.itself, node.below) = change(&node.element, below, node.itself);
        }
        self.nodes.retain(Node::is_in_use);
        self
    }

    /// The members of one or both sets.
    #[must_use]
    pub fn union(self, other: FieldSet<'t>) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let mut nodes = Vec::with_capacity(self.nodes.len() + other.nodes.len());
        let mut others = other.nodes.into_iter().peekable();
        for mut node in self.nodes {
            while let Some(smaller) = others.next_if(|other| other.element < node.element) {
                nodes.push(smaller);
            }
            if let Some(same) = others.next_if(|other| other.element == node.element) {
                node.itself |= same.itself;
                node.below = std::mem::take(&mut node.below).union(same.below);
            }
            nodes.push(node);
        }
        nodes.extend(others);
        FieldSet { nodes }
    }

    /// The members of all sets. Sets of like sizes are united first: uniting them one after the other would
    /// visit the first ones again and again.
    pub fn union_of(mut sets: Vec<FieldSet<'t>>) -> Self {
        while sets.len() > 1 {
            let mut rest = sets.into_iter();
            sets = Vec::with_capacity(rest.len().div_ceil(2));
            while let Some(one) = rest.next() {
                sets.push(one.union(rest.next().unwrap_or_default()));
            }
        }
        sets.pop().unwrap_or_default()
    }

    /// The members of this set that the other does not have. Members below a removed one stay.
    #[must_use]
    pub fn difference(mut self, other: &FieldSet<'_>) -> Self {
        let mut others = &other.nodes[..];
        self.nodes.retain_mut(|node| {
            let Some(same) = find(&mut others, &node.element) else { return true };
            node.itself &= !same.itself;
            if !same.below.is_empty() {
                node.below = std::mem::take(&mut node.below).difference(&same.below);
            }
            node.is_in_use()
        });
        self
    }

    /// Whether the other set has all members of this one.
    pub fn is_subset(&self, other: &FieldSet<'_>) -> bool {
        let mut others = &other.nodes[..];
        self.nodes.iter().all(|node| {
            find(&mut others, &node.element)
                .is_some_and(|same| (!node.itself || same.itself) && node.below.is_subset(&same.below))
        })
    }

    /// The members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet<'_>) -> Self {
        let mut others = &other.nodes[..];
        let mut common = FieldSet::new();
        for node in &self.nodes {
            let Some(same) = find(&mut others, &node.element) else { continue };
            let below = node.below.intersection(&same.below);
            let itself = node.itself && same.itself;
            if itself || !below.is_empty() {
                common.nodes.push(Node { element: node.element.clone(), itself, below });
            }
        }
        common
    }

    /// Removes the fields with these names and, below each, the fields with the names beside it. Other
    /// members below them stay.
    #[must_use]
    pub fn without_named(mut self, names: &[(&str, &[&str])]) -> Self {
        self.nodes.retain_mut(|node| {
            let Some((_, below)) = names.iter().find(|(name, _)| node.element.is_field(name)) else {
                return true;
            };
            node.itself = false;
            node.below.nodes.retain_mut(|node| {
                node.itself &= !below.iter().any(|name| node.element.is_field(name));
                node.is_in_use()
            });
            node.is_in_use()
        });
        self
    }

    /// Removes the field at a path of names, and all members below it.
    #[must_use]
    pub fn without(mut self, path: FieldPath) -> Self {
        let Some((first, rest)) = path.split_first() else { return self };
        let Ok(at) = self.position(&Element::field(first)) else { return self };
        let node = &mut self.nodes[at];
        if rest.is_empty() {
            node.itself = false;
            node.below = FieldSet::EMPTY;
        } else {
            node.below = std::mem::take(&mut node.below).without(rest);
        }
        if !node.is_in_use() {
            self.nodes.remove(at);
        }
        self
    }

    /// The paths of all members: on each level first the fields of the level, then those below them. This is
    /// the order in conflict messages.
    pub fn paths(&self) -> Vec<Vec<&Element<'t>>> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    /// Whether a set in its written form has a member of this one. The set must have been written by this
    /// server.
    pub fn meets(&self, written: &Tree) -> bool {
        let Tree::Object(map) = written else { return false };
        let meets =
            |node: &Node<'t>, there: &Tree| (node.itself && is_member(there)) || node.below.meets(there);
        // The smaller side is searched for in the other one.
        if map.len() < self.nodes.len() {
            return map.iter().any(|(name, there)| {
                let element = Element::of_stored(name).ok();
                let at = element.and_then(|element| self.position(&element).ok());
                at.is_some_and(|at| meets(&self.nodes[at], there))
            });
        }
        self.nodes.iter().any(|node| map.get(&node.element.written()).is_some_and(|there| meets(node, there)))
    }

    /// Whether a set in its written form has all members of this one. The set must have been written by this
    /// server.
    pub fn is_within(&self, written: &Tree) -> bool {
        if self.nodes.len() > written.as_object().map_or(0, TreeMap::len) {
            return false;
        }
        self.nodes.iter().all(|node| {
            let there = written.get(node.element.written());
            there.is_some_and(|there| (!node.itself || is_member(there)) && node.below.is_within(there))
        })
    }

    /// The same set with owned names.
    pub fn into_owned(self) -> FieldSet<'static> {
        let nodes = self.nodes.into_iter().map(|node| Node {
            element: node.element.into_owned(),
            itself: node.itself,
            below: node.below.into_owned(),
        });
        FieldSet { nodes: nodes.collect() }
    }

    /// The index of an element, or the index at which it belongs. Mostly elements are added at the end.
    fn position(&self, element: &Element<'_>) -> Result<usize, usize> {
        match self.nodes.last().map(|last| last.element.cmp(element)) {
            None | Some(Ordering::Less) => Err(self.nodes.len()),
            Some(Ordering::Equal) => Ok(self.nodes.len() - 1),
            Some(Ordering::Greater) => self.nodes.binary_search_by(|node| node.element.cmp(element)),
        }
    }

    fn collect_paths<'s>(&'s self, at: &mut Vec<&'s Element<'t>>, paths: &mut Vec<Vec<&'s Element<'t>>>) {
        let here = at.len();
        let mut nodes: Vec<&Node<'t>> = self.nodes.iter().collect();
        nodes.sort_by_cached_key(|node| node.element.told());
        for node in nodes.iter().filter(|node| node.itself) {
            paths.push([&at[..], &[&node.element]].concat());
        }
        for node in nodes.iter().filter(|node| !node.below.is_empty()) {
            at.push(&node.element);
            node.below.collect_paths(at, paths);
            at.truncate(here);
        }
    }
}

impl Node<'_> {
    fn is_in_use(&self) -> bool {
        self.itself || !self.below.is_empty()
    }
}

/// Finds the node of an element, and drops the smaller nodes: the next search is for a greater element.
///
/// The search doubles its reach. So two sets that are alike cost one visit of each node, and a small set does
/// not visit all nodes of a large one.
fn find<'n, 't>(nodes: &mut &'n [Node<'t>], element: &Element<'_>) -> Option<&'n Node<'t>> {
    let is_smaller = |node: &Node<'_>| node.element < *element;
    let mut reach = 1;
    while nodes.get(reach - 1).is_some_and(is_smaller) {
        reach *= 2;
    }
    let from = reach / 2;
    let to = (reach - 1).min(nodes.len());
    let at = from + nodes[from..to].partition_point(is_smaller);
    *nodes = &nodes[at..];
    nodes.first().filter(|node| node.element == *element)
}

/// Whether the value that is written for an element says that it is a member itself.
fn is_member(below: &Tree) -> bool {
    below.as_object().is_none_or(|below| below.is_empty() || below.contains_key("."))
}

#[cfg(test)]
pub(crate) use strategies::arbitrary_set;

/// Sets for property tests.
#[cfg(test)]
mod strategies {
    use proptest::{collection, prelude::*, sample};

    use super::{Element, FieldSet};

    const ELEMENTS: &[&str] = &["f:a", "f:b", "f:", "k:{\"name\":\"x\"}", "v:1", "i:0"];

    pub(crate) fn arbitrary_set() -> impl Strategy<Value = FieldSet<'static>> {
        let path = collection::vec(sample::select(ELEMENTS), 1..4);
        collection::vec(path, 0..8).prop_map(|paths| {
            let mut set = FieldSet::new();
            for path in &paths {
                add(&mut set, path);
            }
            set
        })
    }

    pub(crate) fn add(set: &mut FieldSet<'static>, path: &[&'static str]) {
        let Some((first, rest)) = path.split_first() else { return };
        let element = Element::of_stored(first).unwrap();
        let mut below = set.below(&element).cloned().unwrap_or_default();
        add(&mut below, rest);
        set.put(element, rest.is_empty(), below);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{strategies::add, *};
    use crate::tree::arbitrary;

    #[test]
    fn the_written_form_marks_members() {
        let mut set = FieldSet::new();
        add(&mut set, &["f:data"]);
        add(&mut set, &["f:data", "f:a"]);
        add(&mut set, &["f:spec", "f:containers", "k:{\"name\":\"c\"}", "f:image"]);
        add(&mut set, &["f:spec", "f:finalizers", "v:\"x\""]);
        let written = json!({
            "f:data": {".": {}, "f:a": {}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}},
                "f:finalizers": {"v:\"x\"": {}}},
        });
        assert_eq!(set.to_tree(), written);
        assert_eq!(FieldSet::parse(&written), Ok(set.clone()));
        assert_eq!(FieldSet::of_stored(&written), Ok(set.clone()));
        let [data, spec] = ["data", "spec"].map(Element::field);
        assert!(set.has(&data) && !set.has(&spec));
        let mut paths = set.clone();
        add(&mut paths, &["f:type"]);
        let paths: Vec<String> = paths
            .paths()
            .iter()
            .map(|path| path.iter().map(ToString::to_string).collect::<Vec<_>>().join("."))
            .collect();
        assert_eq!(
            paths[..3],
            ["f:data", "f:type", "f:data.f:a"],
            "a level comes before the levels below it"
        );
        assert!(set.without(&["data"]).without(&["spec", "containers"]).without(&["spec"]).is_empty());
    }

    #[test]
    fn differences_are_about_single_fields() {
        let [all, parts] = [json!({".": {}, "f:a": {}, "f:b": {}}), json!({"f:a": {}, "f:b": {}})];
        let [all, parts] = [all, parts].map(|data| json!({"f:data": data}));
        let [set, parts] = [&all, &parts].map(|tree| FieldSet::parse(tree).unwrap());
        let rest = set.clone().difference(&parts);
        assert_eq!(rest.to_tree(), json!({"f:data": {}}));
        assert_eq!(set.clone().difference(&rest), parts);
        assert_eq!(set.intersection(&rest).to_tree(), json!({"f:data": {}}));
    }

    #[test]
    fn named_fields_go_and_what_is_below_them_stays() {
        let written = json!({
            "f:kind": {}, "f:spec": {"f:kind": {}},
            "f:metadata": {".": {}, "f:name": {}, "f:labels": {".": {}, "f:a": {}},
                "f:uid": {".": {}, "f:b": {}}},
        });
        let set = FieldSet::parse(&written).unwrap();
        let left = set.without_named(&[("kind", &[]), ("metadata", &["name", "uid"]), ("none", &["a"])]);
        assert_eq!(
            left.to_tree(),
            json!({
                "f:spec": {"f:kind": {}},
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:uid": {"f:b": {}}},
            })
        );
    }

    #[test]
    fn elements_are_read_into_one_form() {
        let loose = json!({"k:{ \"b\": 1, \"a\": 2 }": {}, "v: \"x\"": {}, "i:3": {}});
        let set = FieldSet::parse(&loose).unwrap();
        assert_eq!(set.to_tree(), json!({"k:{\"a\":2,\"b\":1}": {}, "v:\"x\"": {}, "i:3": {}}));
        for bad in [
            json!({"x": {}}),
            json!({"k:1": {}}),
            json!({"v:": {}}),
            json!({"i:a": {}}),
            json!({"f:a": 1}),
            json!([]),
        ] {
            assert!(FieldSet::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn items_of_one_element_have_no_parts() {
        let item = || Element::key("{\"name\":\"x\"}".to_owned());
        let mut parts = FieldSet::new();
        add(&mut parts, &["f:image"]);
        let mut set = FieldSet::new();
        set.put_item(item(), parts.clone());
        assert_eq!(set.below(&item()), Some(&parts));
        set.put_item(item(), parts);
        assert!(set.has(&item()) && set.below(&item()).is_none());
    }

    proptest! {
        #[test]
        fn reading_gives_back_what_was_written(set in arbitrary_set()) {
            let written = set.to_tree();
            prop_assert_eq!(FieldSet::parse(&written), Ok(set.clone()));
            prop_assert_eq!(FieldSet::of_stored(&written), Ok(set.clone()));
            let mut text = Vec::new();
            set.write(&mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), written.to_string());
        }

        #[test]
        fn set_laws_hold(a in arbitrary_set(), b in arbitrary_set()) {
            let both = a.intersection(&b);
            let only_a = a.clone().difference(&b);
            prop_assert_eq!(only_a.clone().union(both.clone()), a.clone());
            prop_assert!(only_a.intersection(&b).is_empty());
            prop_assert_eq!(a.is_subset(&b), only_a.is_empty());
            prop_assert!(both.is_subset(&a) && both.is_subset(&b));
            prop_assert_eq!(both, b.intersection(&a));
            let all = a.clone().union(b.clone());
            prop_assert_eq!(&all, &b.clone().union(a.clone()));
            prop_assert_eq!(all.intersection(&a), a.clone());
            prop_assert!(a.difference(&all).is_empty());
            prop_assert_eq!(all.clone().union(all.clone()), all);
        }

        #[test]
        fn a_written_set_answers_as_a_read_one(a in arbitrary_set(), b in arbitrary_set()) {
            let written = b.to_tree();
            prop_assert_eq!(a.meets(&written), !a.intersection(&b).is_empty());
            prop_assert_eq!(a.is_within(&written), a.difference(&b).is_empty());
        }

        #[test]
        fn arbitrary_trees_never_panic(tree in arbitrary()) {
            if let Ok(set) = FieldSet::parse(&tree) {
                let written = set.to_tree();
                prop_assert_eq!(FieldSet::parse(&written), Ok(set.clone()));
                prop_assert_eq!(FieldSet::of_stored(&written), Ok(set));
            }
        }
    }
}
