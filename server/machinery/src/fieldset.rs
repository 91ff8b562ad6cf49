//! Sets of fields of an object, as `managedFields` keeps them (`FieldsV1`).
//!
//! A set is a tree of path elements in their written form: `f:<field>`, `k:<key fields of a list item>`,
//! `v:<value of a set>`, `i:<position>`. A node of the tree can be in the set itself (written as `.`, or as `{}` where
//! nothing is below it), lead to others, or both.

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::{Tree, TreeMap};

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Elements that are in the set.
    members: BTreeSet<String>,
    /// Elements with members below them; none of the sets is empty.
    children: BTreeMap<String, FieldSet>,
}

/// A text that is no set of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FieldSetError(String);

impl FieldSet {
    /// The empty set.
    pub fn new() -> Self {
        FieldSet::default()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// The empty set, as a constant.
    pub const EMPTY: FieldSet = FieldSet { members: BTreeSet::new(), children: BTreeMap::new() };

    /// Adds an element: as a member where `itself` says so, with what is below it.
    pub fn put(&mut self, element: String, itself: bool, below: FieldSet) {
        match (itself, below.is_empty()) {
            (false, true) => {}
            (true, true) => drop(self.members.insert(element)),
            (false, false) => drop(self.children.insert(element, below)),
            (true, false) => {
                self.members.insert(element.clone());
                self.children.insert(element, below);
            }
        }
    }

    /// Whether an element is a member.
    pub fn has(&self, element: &str) -> bool {
        self.members.contains(element)
    }

    /// The fields below an element; none where there are none.
    pub fn below(&self, element: &str) -> Option<&FieldSet> {
        self.children.get(element)
    }

    /// Rewrites the elements that lead to others: whether each is a member itself, and what is below it.
    #[must_use]
    pub fn map_children(self, mut change: impl FnMut(&str, FieldSet, bool) -> (bool, FieldSet)) -> FieldSet {
        let FieldSet { mut members, children } = self;
        let mut changed = BTreeMap::new();
        for (element, child) in children {
            let (itself, child) = change(&element, child, members.contains(&element));
            if itself {
                members.insert(element.clone());
            }
            if !child.is_empty() {
                changed.insert(element, child);
            }
        }
        FieldSet { members, children: changed }
    }

    /// Adds the field at a path of elements. The empty path is not a field.
    pub fn insert<S: AsRef<str>>(&mut self, path: &[S]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.as_ref().to_owned());
            }
            [first, rest @ ..] => match self.children.get_mut(first.as_ref()) {
                Some(child) => child.insert(rest),
                None => self.children.entry(first.as_ref().to_owned()).or_default().insert(rest),
            },
        }
    }

    /// Whether the field itself is in the set.
    pub fn contains<S: AsRef<str>>(&self, path: &[S]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last.as_ref()),
            [first, rest @ ..] => self.children.get(first.as_ref()).is_some_and(|child| child.contains(rest)),
        }
    }

    /// What is in either.
    #[must_use]
    pub fn union(mut self, other: FieldSet) -> FieldSet {
        self.members.extend(other.members);
        for (element, child) in other.children {
            let merged = self.children.remove(&element).unwrap_or_default().union(child);
            self.children.insert(element, merged);
        }
        self
    }

    /// What is in this one and not in the other. What is below a field that leaves stays.
    #[must_use]
    pub fn difference(mut self, other: &FieldSet) -> FieldSet {
        self.members.retain(|element| !other.members.contains(element));
        for (element, below) in &other.children {
            if let Some(child) = self.children.remove(element) {
                self.put_child(element.clone(), child.difference(below));
            }
        }
        self
    }

    /// Whether everything in this one is in the other.
    pub fn is_subset(&self, other: &FieldSet) -> bool {
        self.members.is_subset(&other.members)
            && self
                .children
                .iter()
                .all(|(element, child)| other.below(element).is_some_and(|below| child.is_subset(below)))
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let mut common = FieldSet::new();
        common.members.extend(self.members.intersection(&other.members).cloned());
        for (element, child) in &self.children {
            if let Some(below) = other.below(element) {
                common.put_child(element.clone(), child.intersection(below));
            }
        }
        common
    }

    /// Removes the field at a path, and everything below it.
    #[must_use]
    pub fn without<S: AsRef<str>>(mut self, path: &[S]) -> FieldSet {
        match path {
            [] => {}
            [last] => {
                self.members.remove(last.as_ref());
                self.children.remove(last.as_ref());
            }
            [first, rest @ ..] => {
                if let Some(child) = self.children.remove(first.as_ref()) {
                    self.put_child(first.as_ref().to_owned(), child.without(rest));
                }
            }
        }
        self
    }

    /// The paths of all fields in the set: of each level the fields, then what is below them, as conflicts are told.
    pub fn paths(&self) -> Vec<Vec<&str>> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    /// Whether something in it is in a set in its written form, as this server writes it.
    pub fn meets(&self, written: &Tree) -> bool {
        self.members.iter().any(|element| written.get(element).is_some_and(is_member))
            || self
                .children
                .iter()
                .any(|(element, child)| written.get(element).is_some_and(|below| child.meets(below)))
    }

    /// Whether everything in it is in a set in its written form, as this server writes it.
    pub fn is_within(&self, written: &Tree) -> bool {
        self.members.iter().all(|element| written.get(element).is_some_and(is_member))
            && self
                .children
                .iter()
                .all(|(element, child)| written.get(element).is_some_and(|below| child.is_within(below)))
    }

    /// The written form.
    pub fn into_tree(self) -> Tree {
        let FieldSet { mut members, children } = self;
        let mut tree = TreeMap::new();
        for (element, child) in children {
            let mut below = child.into_tree();
            if let (true, Some(below)) = (members.remove(&element), below.as_object_mut()) {
                below.insert(".".to_owned(), Tree::Object(TreeMap::new()));
            }
            tree.insert(element, below);
        }
        tree.extend(members.into_iter().map(|element| (element, Tree::Object(TreeMap::new()))));
        Tree::Object(tree)
    }

    /// Reads the written form. Key fields and values are brought into the one form that this server writes.
    pub fn parse(tree: &Tree) -> Result<FieldSet, FieldSetError> {
        let Tree::Object(map) = tree else {
            return Err(FieldSetError("a set of fields must be an object".to_owned()));
        };
        let mut set = FieldSet::new();
        for (element, below) in map.iter().filter(|(element, _)| *element != ".") {
            let element = canonical(element)?;
            let child = FieldSet::parse(below)?;
            if child.is_empty() || below.get(".").is_some() {
                set.members.insert(element.clone());
            }
            set.put_child(element, child);
        }
        Ok(set)
    }

    fn put_child(&mut self, element: String, child: FieldSet) {
        if !child.is_empty() {
            self.children.insert(element, child);
        }
    }

    fn collect_paths<'s>(&'s self, at: &mut Vec<&'s str>, paths: &mut Vec<Vec<&'s str>>) {
        let here = at.len();
        for element in &self.members {
            paths.push([&at[..], &[element.as_str()]].concat());
        }
        for (element, child) in &self.children {
            at.push(element);
            child.collect_paths(at, paths);
            at.truncate(here);
        }
    }
}

/// The element of a field.
pub fn field_element(name: &str) -> String {
    ["f:", name].concat()
}

/// The element of an item of a set.
pub fn value_element(value: &Tree) -> String {
    format!("v:{value}")
}

/// Whether what is written below an element says that the element is in the set itself.
fn is_member(below: &Tree) -> bool {
    below.as_object().is_none_or(|below| below.is_empty() || below.contains_key("."))
}

fn canonical(element: &str) -> Result<String, FieldSetError> {
    let bad = || FieldSetError(format!("{element:?} is not an element of a field's path"));
    let (kind, rest) = element.split_once(':').ok_or_else(bad)?;
    match kind {
        "f" => Ok(element.to_owned()),
        "i" if rest.parse::<u32>().is_ok() => Ok(element.to_owned()),
        "k" => match serde_json::from_str(rest).map_err(|_| bad())? {
            keys @ Tree::Object(_) => Ok(format!("k:{keys}")),
            _ => Err(bad()),
        },
        "v" => serde_json::from_str(rest).map(|value: Tree| value_element(&value)).map_err(|_| bad()),
        _ => Err(bad()),
    }
}

#[cfg(test)]
pub(crate) use strategies::arbitrary_set;

/// Sets for property tests.
#[cfg(test)]
mod strategies {
    use proptest::{collection, prelude::*, sample};

    use super::FieldSet;

    const ELEMENTS: &[&str] = &["f:a", "f:b", "f:", "k:{\"name\":\"x\"}", "v:1", "i:0"];

    pub(crate) fn arbitrary_set() -> impl Strategy<Value = FieldSet> {
        let path = collection::vec(sample::select(ELEMENTS), 1..4);
        collection::vec(path, 0..8).prop_map(|paths| {
            let mut set = FieldSet::new();
            for path in &paths {
                set.insert(path);
            }
            set
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::tree::arbitrary;

    #[test]
    fn the_written_form_tells_members_from_ways() {
        let mut set = FieldSet::new();
        set.insert(&["f:data"]);
        set.insert(&["f:data", "f:a"]);
        set.insert(&["f:spec", "f:containers", "k:{\"name\":\"c\"}", "f:image"]);
        set.insert(&["f:spec", "f:finalizers", "v:\"x\""]);
        let written = json!({
            "f:data": {".": {}, "f:a": {}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}}, "f:finalizers": {"v:\"x\"": {}}},
        });
        assert_eq!(set.clone().into_tree(), written);
        assert_eq!(FieldSet::parse(&written), Ok(set.clone()));
        assert!(set.contains(&["f:data"]) && !set.contains(&["f:spec"]));
        let mut paths = set.clone();
        paths.insert(&["f:type"]);
        let paths: Vec<String> = paths.paths().iter().map(|path| path.join(".")).collect();
        assert_eq!(paths[..3], ["f:data", "f:type", "f:data.f:a"], "a level is told before what is below it");
        assert!(
            set.without(&["f:data"]).without(&["f:spec", "f:containers"]).without(&["f:spec"]).is_empty()
        );
    }

    #[test]
    fn differences_are_about_single_fields() {
        let parse = |tree| FieldSet::parse(&tree).unwrap();
        let set = parse(json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}}));
        let rest = set.clone().difference(&parse(json!({"f:data": {"f:a": {}, "f:b": {}}})));
        assert_eq!(rest.clone().into_tree(), json!({"f:data": {}}));
        assert_eq!(set.clone().difference(&rest).into_tree(), json!({"f:data": {"f:a": {}, "f:b": {}}}));
        assert_eq!(set.intersection(&rest).into_tree(), json!({"f:data": {}}));
    }

    #[test]
    fn elements_are_read_into_one_form() {
        let set =
            FieldSet::parse(&json!({"k:{ \"b\": 1, \"a\": 2 }": {}, "v: \"x\"": {}, "i:3": {}})).unwrap();
        assert_eq!(set.clone().into_tree(), json!({"k:{\"a\":2,\"b\":1}": {}, "v:\"x\"": {}, "i:3": {}}));
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

    proptest! {
        #[test]
        fn reading_gives_back_what_was_written(set in arbitrary_set()) {
            prop_assert_eq!(FieldSet::parse(&set.clone().into_tree()), Ok(set));
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
            let written = b.clone().into_tree();
            prop_assert_eq!(a.meets(&written), !a.intersection(&b).is_empty());
            prop_assert_eq!(a.is_within(&written), a.difference(&b).is_empty());
        }

        #[test]
        fn arbitrary_trees_never_panic(tree in arbitrary()) {
            if let Ok(set) = FieldSet::parse(&tree) {
                prop_assert_eq!(FieldSet::parse(&set.clone().into_tree()), Ok(set));
            }
        }
    }
}
