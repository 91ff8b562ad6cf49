//! The values of a list that were met before.

use std::{collections::HashSet, hash::Hash};

/// So many values are compared one by one; a table is made for more.
const FEW: usize = 16;

/// A set of borrowed texts, or of numbers. It takes time linear in the number of values, and allocates
/// nothing up to 16 of them.
#[derive(Debug)]
pub struct Seen<K> {
    few: [Option<K>; FEW],
    count: usize,
    many: HashSet<K>,
}

impl<K: Copy + Eq + Hash> Seen<K> {
    /// The empty set.
    pub fn new() -> Self {
        Seen { few: [None; FEW], count: 0, many: HashSet::new() }
    }

    /// Adds a value; false if it is there already.
    pub fn insert(&mut self, value: K) -> bool {
        if self.many.is_empty() {
            if self.contains(value) {
                return false;
            }
            if self.count < FEW {
                self.few[self.count] = Some(value);
                self.count += 1;
                return true;
            }
            self.many.extend(self.few.iter().copied().flatten());
        }
        self.many.insert(value)
    }

    /// Whether the value is there.
    pub fn contains(&self, value: K) -> bool {
        if self.many.is_empty() {
            self.few[..self.count].contains(&Some(value))
        } else {
            self.many.contains(&value)
        }
    }
}

impl<K: Copy + Eq + Hash> Default for Seen<K> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn values_are_remembered_whether_few_or_many() {
        let mut seen = Seen::new();
        for value in 0..100 {
            assert!(!seen.contains(value) && seen.insert(value), "{value}");
            assert!(seen.contains(value) && !seen.insert(value), "{value}");
            assert!(seen.contains(0) && !seen.insert(0), "{value}");
        }
        let mut texts = Seen::new();
        assert!(texts.insert("a") && texts.insert("b") && !texts.insert("a"));
    }
}
