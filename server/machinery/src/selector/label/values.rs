//! The values of a requirement, in as little memory as their text.
//!
//! A watch keeps its selectors for as long as it is open, and a set may have thousands of short values. A
//! string for each would take ten times the bytes that the client has sent.

use std::{cmp::Ordering, fmt};

/// Texts, sorted, each once.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// All texts, one after the other.
    text: Box<str>,
    /// Where each of them ends.
    ends: Box<[u32]>,
}

impl Values {
    pub(super) fn new(mut values: Vec<String>) -> Self {
        values.sort_unstable();
        values.dedup();
        let mut end = 0;
        let ends = values.iter().map(|value| {
            end += value.len();
            u32::try_from(end).expect("a selector is a part of a request's head or of an object")
        });
        Values { ends: ends.collect(), text: values.concat().into() }
    }

    pub(super) fn has(&self, value: &str) -> bool {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.at(middle).cmp(value) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return true,
            }
        }
        false
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|index| self.at(index))
    }

    fn at(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[index] as usize]
    }
}

/// As the list of texts that it is.
impl fmt::Debug for Values {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn each_text_is_there_once_in_order() {
        for texts in [vec![], vec!["b"], vec!["b", "", "ab", "b", "a", "abc"]] {
            let values = Values::new(texts.iter().map(|text| (*text).to_owned()).collect());
            let mut sorted = texts.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(values.iter().collect::<Vec<_>>(), sorted);
            assert_eq!(format!("{values:?}"), format!("{sorted:?}"));
            for text in ["", "a", "aa", "ab", "abc", "b", "c"] {
                assert_eq!(values.has(text), texts.contains(&text), "{text} in {texts:?}");
            }
        }
    }
}
