//! The labels of an object, kept with it once they were needed: lists and watches look at those of many
//! objects.

use crate::stored;

/// Ends a key, and an entry. Neither is in a label.
const AFTER_KEY: char = '\u{1}';
const AFTER_VALUE: char = '\0';

/// All of them in one allocation, sorted by key. An object may have tens of thousands, and a selector has
/// many requirements for each of many watches, so a key is found in logarithmic time.
#[derive(Debug)]
pub(super) struct Labels(Box<str>);

impl Labels {
    /// Those of a stored form.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut text = String::new();
        for (key, value) in stored::labels_of(bytes) {
            text.push_str(&key);
            text.push(AFTER_KEY);
            text.push_str(&value);
            text.push(AFTER_VALUE);
        }
        Labels(text.into())
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        // Whole entries. The one in the middle is looked at.
        let mut rest = &*self.0;
        while let Some(last) = rest.len().checked_sub(1) {
            let start = rest.as_bytes()[..last / 2].iter().rposition(|byte| *byte == 0);
            let start = start.map_or(0, |end| end + 1);
            let end = start + rest[start..].find(AFTER_VALUE)?;
            let (known, value) = rest[start..end].split_once(AFTER_KEY)?;
            match key.cmp(known) {
                std::cmp::Ordering::Equal => return Some(value),
                std::cmp::Ordering::Less => rest = &rest[..start],
                std::cmp::Ordering::Greater => rest = &rest[end + 1..],
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(count: usize) -> Labels {
        // Not in order, and of different lengths.
        let entries: Vec<String> = (0..count)
            .map(|n| format!(r#""k{}":"{}""#, n * 7919 % count.max(1), "v".repeat(n % 5)))
            .collect();
        let text = format!(r#"{{"v":"","metadata":{{"labels":{{{}}}}}}}"#, entries.join(","));
        Labels::of(text.as_bytes())
    }

    #[test]
    fn each_key_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 10, 1000] {
            let labels = labels(count);
            for n in 0..count {
                let key = format!("k{}", n * 7919 % count);
                assert_eq!(labels.get(&key), Some(&*"v".repeat(n % 5)), "{key} of {count}");
            }
            for key in ["", "a", "k", "k0x", "z", "k99999"] {
                assert_eq!(labels.get(key), None, "{key} of {count}");
            }
        }
    }
}
