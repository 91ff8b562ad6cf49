//! The values of a few fields of an object, read from its stored text without making a tree of the rest:
//! selectors and indexes look at those of many objects.

use std::{borrow::Cow, fmt};

use orch_runtime::Tree;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The values at some paths of the stored text of an object, each where there is one. Null is none.
///
/// # Errors
/// Why the text is not JSON, for the log.
pub fn values_at(bytes: &[u8], paths: &[&[&str]]) -> Result<Vec<Option<Tree>>, String> {
    let mut found = vec![None; paths.len()];
    let wanted: Vec<Wanted<'_>> = paths.iter().copied().enumerate().collect();
    let mut text = serde_json::Deserializer::from_slice(bytes);
    Descent { wanted: &wanted, found: &mut found }
        .deserialize(&mut text)
        .and_then(|()| text.end())
        .map_err(|error| error.to_string())?;
    Ok(found)
}

/// The number of a path, and the rest of it.
type Wanted<'a> = (usize, &'a [&'a str]);

/// Descends to the values that are wanted.
struct Descent<'a> {
    wanted: &'a [Wanted<'a>],
    found: &'a mut [Option<Tree>],
}

impl<'de> DeserializeSeed<'de> for Descent<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        if self.wanted.iter().all(|(_, rest)| !rest.is_empty()) {
            return source.deserialize_any(self);
        }
        let tree = <Tree as serde::Deserialize>::deserialize(source)?;
        for (number, rest) in self.wanted {
            let value = rest.iter().try_fold(&tree, |tree, name| tree.get(name));
            self.found[*number] = value.filter(|value| !value.is_null()).cloned();
        }
        Ok(())
    }
}

/// Whatever is no object has none of the fields.
impl<'de> Visitor<'de> for Descent<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            let below = self.wanted.iter().filter_map(|(number, path)| {
                let (first, rest) = path.split_first()?;
                (key == *first).then_some((*number, rest))
            });
            let below: Vec<Wanted<'_>> = below.collect();
            if below.is_empty() {
                entries.next_value::<IgnoredAny>()?;
            } else {
                entries.next_value_seed(Descent { wanted: &below, found: self.found })?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::values_at;

    #[test]
    fn values_are_found_wherever_they_stand() {
        let text = br#"{"kind":"P","n":null,"spec":{"x":[{"a":1}],"a":"t\u0000\"","b":true,"o":{"p":7}},
            "a":"other","status":"text","list":[[1,2.5],{"a":null}],"end":-1}
"#;
        let paths: &[&[&str]] = &[
            &["spec", "a"],
            &["spec", "b"],
            &["spec", "o", "p"],
            &["spec", "o"],
            &["status", "phase"],
            &["spec", "x", "a"],
            &["n"],
            &["none"],
            &["end"],
            &["spec", "a"],
        ];
        let found = values_at(text, paths).unwrap();
        let expected = [
            Some(json!("t\0\"")),
            Some(json!(true)),
            Some(json!(7)),
            Some(json!({"p": 7})),
            None,
            None,
            None,
            None,
            Some(json!(-1)),
            Some(json!("t\0\"")),
        ];
        assert_eq!(found, expected);
        assert_eq!(values_at(b"[1]", paths).unwrap(), vec![None; paths.len()]);
    }

    #[test]
    fn what_is_no_json_has_no_values() {
        for text in ["", "{", r#"{"spec":{"a":"1"}"#, r#"{"spec":{"a":"1"}} x"#, r#"{"b":[1,}"#, "\u{0}"] {
            assert!(values_at(text.as_bytes(), &[&["spec", "a"]]).is_err(), "{text}");
        }
    }
}
