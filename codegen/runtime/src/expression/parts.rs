//! Texts that are put together from parts, compared without being made.

use std::collections::BTreeMap;

/// Whether a text begins with these, one after the other.
pub fn begins(text: &str, parts: &[&str]) -> bool {
    rest(text, parts).is_some()
}

/// Whether a text consists of these, one after the other.
pub fn consists(text: &str, parts: &[&str]) -> bool {
    rest(text, parts) == Some("")
}

fn rest<'t>(text: &'t str, parts: &[&str]) -> Option<&'t str> {
    parts.iter().try_fold(text, |rest, part| rest.strip_prefix(part))
}

/// What a map has under the key that consists of these texts, one after the other. The key is not made: most
/// maps are small, and most have no such key.
pub fn entry_of_parts<'m, T>(map: &'m BTreeMap<String, T>, parts: &[&str]) -> Option<&'m T> {
    map.iter().find(|(key, _)| consists(key, parts)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_compared_part_by_part() {
        let map = BTreeMap::from([("a.b/c".to_owned(), 1), ("a.b/c-d".to_owned(), 2), ("b/c".to_owned(), 3)]);
        for (parts, found) in [
            (["a.", "b", "/c"], Some(1)),
            (["a.", "b", "/c-d"], Some(2)),
            (["", "b", "/c"], Some(3)),
            (["a", "", ""], None),
        ] {
            assert_eq!(entry_of_parts(&map, &parts).copied(), found, "{parts:?}");
        }
    }
}
