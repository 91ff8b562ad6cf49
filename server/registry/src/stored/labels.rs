//! The labels of an object, read from its stored text without decoding the rest: lists and indexes look at
//! those of many objects.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The labels in the stored text of an object. The text after them is not read.
pub fn labels_of(bytes: &[u8]) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    // The reader reports the rest of the text as an error, which is expected.
    let _ = serde_json::Deserializer::from_slice(bytes)
        .deserialize_map(Descent(&["metadata", "labels"], &mut labels));
    labels
}

/// Descends a path of field names to a map of texts.
struct Descent<'a>(&'static [&'static str], &'a mut BTreeMap<String, String>);

impl<'de> Visitor<'de> for Descent<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((name, rest)) = self.0.split_first() else {
            while let Some((key, value)) = entries.next_entry()? {
                self.1.insert(key, value);
            }
            return Ok(());
        };
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            if key == *name {
                return entries.next_value_seed(Descent(rest, self.1));
            }
            entries.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Descent<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

#[cfg(test)]
mod tests {
    use super::labels_of;

    #[test]
    fn labels_are_found_wherever_they_stand() {
        for (text, expected) in [
            (r#"{"kind":"K","metadata":{"name":"n","labels":{"a":"1","b":""}},"spec":{}}"#, "a=1 b="),
            (r#"{"spec":{"metadata":{"labels":{"x":"y"}}},"metadata":{"labels":{"a":"1"}}}"#, "a=1"),
            (r#"{"metadata":{"annotations":{"labels":"x"}}}"#, ""),
            (r#"{"metadata":{"labels":{}}}"#, ""),
            ("{}", ""),
            ("no JSON", ""),
        ] {
            let labels = labels_of(text.as_bytes());
            let found: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
