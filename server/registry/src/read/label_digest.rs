//! Digests of labels: 64 bits that the store keeps for each object, which rule out most objects that a label
//! selector does not select.
//!
//! Every label of an object sets one bit for its key and two for its key with its value. A selector that
//! needs a label to exist, or to have one of some values, needs such bits; an object without them is skipped.
//! An object with all of them may still not match: a digest can only reject. It is a Bloom filter.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    num::NonZeroU64,
};

use orch_machinery::selector::label::{LabelSelector, Operator, Requirement};

/// Set in every digest, so that none is 0. Labels use the bits below it.
const KNOWN: u64 = 1 << LABEL_BITS;
const LABEL_BITS: u64 = 63;

/// The digest of an object whose labels are not known.
pub const ANYTHING: NonZeroU64 = NonZeroU64::MAX;

/// The digest of an object with these labels.
pub fn of<'l>(labels: impl IntoIterator<Item = (&'l str, &'l str)>) -> NonZeroU64 {
    let bits =
        labels.into_iter().fold(KNOWN, |bits, (key, value)| bits | key_bit(key) | pair_bits(key, value));
    NonZeroU64::new(bits).expect("a bit is always set")
}

/// The bits that a selector needs.
#[derive(Debug)]
pub struct Wanted(
    /// Of each of these, at least one alternative must be set.
    Vec<Vec<u64>>,
);

impl Wanted {
    /// `None` where digests cannot help: `!=`, `notin` and `!key` also select objects without the label.
    pub fn of(selector: &LabelSelector) -> Option<Self> {
        let wanted: Vec<_> = selector.requirements().iter().filter_map(alternatives).collect();
        (!wanted.is_empty()).then_some(Wanted(wanted))
    }

    /// Whether an object with this digest may be selected.
    pub fn admits(&self, digest: NonZeroU64) -> bool {
        let has = |bits: &u64| digest.get() & bits == *bits;
        self.0.iter().all(|alternatives| alternatives.iter().any(has))
    }
}

fn alternatives(requirement: &Requirement) -> Option<Vec<u64>> {
    let key = requirement.key();
    match requirement.operator() {
        Operator::In | Operator::Equals | Operator::DoubleEquals => {
            let bits = |value: &str| key_bit(key) | pair_bits(key, value);
            Some(requirement.values().map(bits).collect())
        }
        Operator::Exists | Operator::GreaterThan | Operator::LessThan => Some(vec![key_bit(key)]),
        Operator::NotIn | Operator::NotEquals | Operator::DoesNotExist => None,
    }
}

fn key_bit(key: &str) -> u64 {
    bit(hash(key))
}

fn pair_bits(key: &str, value: &str) -> u64 {
    let hash = hash((key, value));
    bit(hash & u64::from(u32::MAX)) | bit(hash >> 32)
}

fn bit(hash: u64) -> u64 {
    1 << (hash % LABEL_BITS)
}

fn hash(part: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    part.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_selected_is_admitted() {
        let values = [None, Some(""), Some("x"), Some("y"), Some("5")];
        let selectors = [
            "a=x",
            "a==5",
            "a=",
            "a",
            "!a",
            "a!=x",
            "a in (x,y)",
            "a in (,5)",
            "a notin (x)",
            "a>4",
            "a<4",
            "a=x,b=y",
            "a,b!=x",
            "a in (x,y),b in (y,5)",
            "a,!b",
            "",
        ];
        let mut selected = 0;
        for a in values {
            for b in values {
                let labels: Vec<_> =
                    [a.map(|a| ("a", a)), b.map(|b| ("b", b))].into_iter().flatten().collect();
                let label =
                    |key: &str| labels.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
                for text in selectors {
                    let selector = LabelSelector::parse(text).unwrap();
                    let admits = |digest| Wanted::of(&selector).is_none_or(|wanted| wanted.admits(digest));
                    let selects = selector.matches(label);
                    selected += usize::from(selects);
                    assert!(admits(of(labels.iter().copied())) || !selects, "{text} {labels:?}");
                    assert!(admits(ANYTHING), "{text}");
                }
            }
        }
        assert!(selected > 100, "{selected}");
    }

    #[test]
    fn most_of_what_is_not_selected_is_rejected() {
        let wrongly_admitted = |selector: &str| {
            let wanted = Wanted::of(&LabelSelector::parse(selector).unwrap()).unwrap();
            let digest = |number: usize| {
                let unique = format!("v{number}");
                of([("app", unique.as_str()), ("tier", "web"), ("zone", "a"), ("hash", unique.as_str())])
            };
            (0..10_000).filter(|number| wanted.admits(digest(*number))).count()
        };
        for selector in ["app=none", "app in (none,nothing)", "app=v1,zone=b", "nothing=x"] {
            assert!(wrongly_admitted(selector) < 500, "{selector}: {}", wrongly_admitted(selector));
        }
    }

    #[test]
    fn what_may_lack_a_label_wants_no_bits() {
        for selector in ["", "a!=x", "a notin (x)", "!a"] {
            assert!(Wanted::of(&LabelSelector::parse(selector).unwrap()).is_none(), "{selector}");
        }
    }
}
