//! The templates that a daemon set had: one controller revision for each, so that people can go back to them.
//!
//! A revision holds the patch that brings its template back. Its name ends in a hash of the template, which
//! is also a label of the pods that were made from it.

use std::collections::BTreeSet;

use orch_api::apps::v1::ControllerRevision;
use orch_runtime::Tree;
use serde_json::json;

use super::state::HASH_LABEL;

/// The letters of hashes: no vowels, so they are no words, and nothing that looks like something else.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The revisions of a set, told apart.
#[derive(Debug, PartialEq)]
pub(super) struct History {
    /// The one with the template that the set has now.
    pub(super) current: Option<ControllerRevision>,
    pub(super) others: Vec<ControllerRevision>,
}

impl History {
    /// Of a set whose template is in `data`. Of several revisions with that template the newest counts.
    pub(super) fn of(mut revisions: Vec<ControllerRevision>, data: &Tree) -> Self {
        revisions.sort_by(|a, b| (a.revision, &a.metadata.name).cmp(&(b.revision, &b.metadata.name)));
        let current = revisions.iter().rposition(|it| it.data.as_ref().is_some_and(|it| same(it, data)));
        let current = current.map(|position| revisions.remove(position));
        History { current, others: revisions }
    }

    /// The hashes of other revisions with the template in `data`.
    pub(super) fn twins(&self, data: &Tree) -> Vec<String> {
        let has_it = |it: &&ControllerRevision| it.data.as_ref().is_some_and(|it| same(it, data));
        self.others.iter().filter(has_it).map(|it| hash_of(it).to_owned()).collect()
    }

    /// The number that the current revision should have: it is the newest.
    pub(super) fn number(&self) -> i64 {
        let newest = self.others.iter().map(|it| it.revision).max().unwrap_or_default().saturating_add(1);
        self.current.as_ref().map_or(newest, |current| current.revision.max(newest))
    }

    /// The revisions beyond the limit, oldest first. Those that pods were made from stay.
    pub(super) fn surplus(&self, limit: usize, live: &BTreeSet<&str>) -> Vec<&ControllerRevision> {
        let surplus = self.others.len().saturating_sub(limit);
        self.others.iter().filter(|it| !live.contains(hash_of(it))).take(surplus).collect()
    }
}

/// The label of the pods that were made from a revision.
pub(super) fn hash_of(revision: &ControllerRevision) -> &str {
    revision.metadata.labels.get(HASH_LABEL).unwrap_or(&revision.metadata.name)
}

/// The patch that gives a set this template.
pub(super) fn data_of(template: &Tree) -> Tree {
    let mut template = template.clone();
    template["$patch"] = "replace".into();
    json!({"spec": {"template": template}})
}

/// A hash of a template, and of how often its name was taken already: `FNV-1a` of 32 bits, in letters.
pub(super) fn hash(data: &Tree, collisions: i32) -> String {
    let mut bytes = data.to_string().into_bytes();
    if collisions > 0 {
        bytes.extend(collisions.to_le_bytes());
    }
    let hash =
        bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|digit| char::from(LETTERS[usize::from(digit) % LETTERS.len()])).collect()
}

/// Whether two are the same. Other programs write fields that are null, which say nothing.
pub(super) fn same(a: &Tree, b: &Tree) -> bool {
    match (a, b) {
        (Tree::Object(a), Tree::Object(b)) => {
            let present = |it: &&Tree| !it.is_null();
            a.iter()
                .filter(|(_, value)| present(value))
                .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
                && a.values().filter(present).count() == b.values().filter(present).count()
        }
        (Tree::Array(a), Tree::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use orch_meta::meta::v1::ObjectMeta;

    use super::*;

    fn data(image: &str) -> Tree {
        data_of(&json!({"spec": {"image": image}}))
    }

    fn revision(name: &str, number: i64, image: &str) -> ControllerRevision {
        let labels = [(HASH_LABEL.to_owned(), format!("hash-{name}"))].into();
        let metadata = ObjectMeta { name: name.to_owned(), labels, ..ObjectMeta::default() };
        ControllerRevision { metadata, data: Some(data(image)), revision: number }
    }

    fn names<'r>(revisions: impl IntoIterator<Item = &'r ControllerRevision>) -> Vec<&'r str> {
        revisions.into_iter().map(|it| it.metadata.name.as_str()).collect()
    }

    #[test]
    fn the_current_revision_has_the_template_and_the_highest_number() {
        let all = || vec![revision("c", 3, "z"), revision("a", 1, "x"), revision("b", 2, "y")];
        for (image, current, number, others) in [
            ("z", Some("c"), 3, &["a", "b"][..]),
            ("x", Some("a"), 4, &["b", "c"]),
            ("w", None, 4, &["a", "b", "c"]),
        ] {
            let history = History::of(all(), &data(image));
            let found = history.current.as_ref().map(|it| it.metadata.name.as_str());
            assert_eq!((found, history.number(), names(&history.others)), (current, number, others.to_vec()));
        }
        assert_eq!(History::of(Vec::new(), &data("x")).number(), 1);
        let two = History::of(vec![revision("a", 1, "x"), revision("b", 2, "x")], &data("x"));
        assert_eq!(two.current.as_ref().map(hash_of), Some("hash-b"));
        assert_eq!(two.twins(&data("x")), ["hash-a"]);
    }

    #[test]
    fn old_revisions_beyond_the_limit_go_unless_pods_have_them() {
        let all = ["a", "b", "c", "d"].iter().zip(1..).map(|(name, number)| revision(name, number, name));
        let history = History::of(all.collect(), &data("d"));
        for (limit, live, expected) in [
            (3, &[][..], &[][..]),
            (2, &[], &["a"]),
            (2, &["hash-a"], &["b"]),
            (0, &["hash-b"], &["a", "c"]),
            (0, &[], &["a", "b", "c"]),
        ] {
            let live = live.iter().copied().collect();
            assert_eq!(names(history.surplus(limit, &live)), expected, "{limit} {live:?}");
        }
    }

    #[test]
    fn hashes_are_of_templates_and_collisions() {
        assert_eq!(hash(&data("x"), 0), hash(&data("x"), 0));
        let all: BTreeSet<String> = [("x", 0), ("x", 1), ("x", 2), ("y", 0)]
            .map(|(image, collisions)| hash(&data(image), collisions))
            .into();
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|hash| hash.bytes().all(|letter| LETTERS.contains(&letter))), "{all:?}");
    }

    #[test]
    fn null_says_nothing() {
        for (a, b, expected) in [
            (json!({"a": 1}), json!({"a": 1, "b": null}), true),
            (json!({"a": [{"b": null}]}), json!({"a": [{}]}), true),
            (json!({"a": 1}), json!({"a": 2}), false),
            (json!({"a": 1}), json!({"b": 1}), false),
            (json!({"a": [1]}), json!({"a": [1, 2]}), false),
        ] {
            assert_eq!((same(&a, &b), same(&b, &a)), (expected, expected), "{a} {b}");
        }
    }
}
