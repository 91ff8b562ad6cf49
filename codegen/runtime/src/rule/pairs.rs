//! The two states of each item of a list whose items have keys.

use std::collections::BTreeMap;

/// The items of `new` that `old` has too, by their key: place in `new`, new state, old state. Rules about a
/// change apply to these; items that came or went were not changed.
pub fn pairs<'l, T, K: Ord>(
    new: &'l [T],
    old: &'l [T],
    key: impl Fn(&'l T) -> K,
) -> impl Iterator<Item = (usize, &'l T, &'l T)> {
    // Collected from the end, so that the first of several equal keys counts.
    let old: BTreeMap<K, &T> = old.iter().rev().map(|item| (key(item), item)).collect();
    new.iter().enumerate().filter_map(move |(index, item)| Some((index, item, *old.get(&key(item))?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_by_key() {
        let old = [("a", 1), ("b", 2), ("b", 3), ("c", 4)];
        let new = [("c", 5), ("x", 6), ("b", 7), ("b", 8)];
        let found: Vec<_> = pairs(&new, &old, |item| &item.0).collect();
        assert_eq!(found, [(0, &("c", 5), &("c", 4)), (2, &("b", 7), &("b", 2)), (3, &("b", 8), &("b", 2))]);
        let both_fields: Vec<_> = pairs(&new, &old, |item| (&item.0, &item.1)).collect();
        assert_eq!(both_fields, []);
        assert_eq!(pairs(&new, &[], |item| item.0).count(), 0);
    }
}
