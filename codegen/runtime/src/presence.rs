//! How generated structs read and write the difference between empty, absent and `null`.
//!
//! A field that is not an `Option` reads `null` as its empty value, and so do the items of its list and the
//! values of its map: clients that print zero values as `null` are common.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

/// Reads `null` as the empty value of `T`.
pub fn null_as_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a list; `null` is the empty list, and a `null` item is an empty item.
pub fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let items = Option::<Vec<Option<T>>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(items.into_iter().map(Option::unwrap_or_default).collect())
}

/// Reads a map; `null` is the empty map, and a `null` value is an empty value.
pub fn map<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let entries = Option::<BTreeMap<String, Option<T>>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(entries.into_iter().map(|(key, value)| (key, value.unwrap_or_default())).collect())
}

/// Reads a value whose empty form means that it is absent.
pub fn empty_as_absent<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default + PartialEq,
{
    Ok(Option::<T>::deserialize(deserializer)?.filter(|value| !is_empty(value)))
}

/// Whether a value is the empty one of its type: 0, false, the zero time.
pub fn is_empty<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Fields {
        #[serde(deserialize_with = "null_as_empty")]
        text: String,
        #[serde(deserialize_with = "list")]
        list: Vec<String>,
        #[serde(deserialize_with = "map")]
        map: BTreeMap<String, String>,
        #[serde(deserialize_with = "empty_as_absent")]
        word: Option<String>,
    }

    #[test]
    fn null_is_empty_at_every_place() {
        let table = [
            (json!({}), Fields::default()),
            (json!({"text": null, "list": null, "map": null, "word": null}), Fields::default()),
            (json!({"word": ""}), Fields::default()),
            (
                json!({"list": ["a", null]}),
                Fields { list: vec!["a".into(), String::new()], ..Fields::default() },
            ),
            (
                json!({"map": {"k": null}, "word": "w"}),
                Fields {
                    map: BTreeMap::from([("k".into(), String::new())]),
                    word: Some("w".into()),
                    ..Fields::default()
                },
            ),
        ];
        for (input, expected) in table {
            assert_eq!(serde_json::from_value::<Fields>(input.clone()).unwrap(), expected, "{input}");
        }
        assert!(serde_json::from_value::<Fields>(json!({"text": 1})).is_err());
    }
}
