//! JSON that keeps the order of its keys: a request must be sent as it was recorded, since answers may list
//! things in the order of the body.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{Number, Value};

/// A JSON value whose objects keep their order.
#[derive(Clone, Debug)]
pub enum Ordered {
    /// null, a boolean or a number.
    Plain(Value),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Ordered>),
    /// An object.
    Map(Vec<(String, Ordered)>),
}

impl Default for Ordered {
    fn default() -> Self {
        Ordered::Map(Vec::new())
    }
}

impl Ordered {
    /// Rewrites every text in it, keys too.
    pub fn try_map<E>(&self, rewrite: &impl Fn(&str) -> Result<String, E>) -> Result<Ordered, E> {
        Ok(match self {
            Ordered::Plain(value) => Ordered::Plain(value.clone()),
            Ordered::Text(text) => Ordered::Text(rewrite(text)?),
            Ordered::List(items) => {
                Ordered::List(items.iter().map(|item| item.try_map(rewrite)).collect::<Result<_, _>>()?)
            }
            Ordered::Map(entries) => Ordered::Map(
                entries
                    .iter()
                    .map(|(key, value)| Ok((rewrite(key)?, value.try_map(rewrite)?)))
                    .collect::<Result<_, E>>()?,
            ),
        })
    }

    /// The entries of a map of texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = match self {
            Ordered::Map(entries) => entries.as_slice(),
            _ => panic!("not a map: {self:?}"),
        };
        entries.iter().map(|(key, value)| match value {
            Ordered::Text(text) => (key.as_str(), text.as_str()),
            other => panic!("{key} is no text: {other:?}"),
        })
    }
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Ordered::Plain(value) => value.serialize(serializer),
            Ordered::Text(text) => text.serialize(serializer),
            Ordered::List(items) => items.serialize(serializer),
            Ordered::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Plain(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Ordered, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Ordered::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Ordered, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Ordered::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::Ordered;

    #[test]
    fn order_survives() {
        let text = r#"{"z":1,"a":[true,null,1.5,"x"],"m":{"b":-2,"a":{}}}"#;
        let read: Ordered = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}
