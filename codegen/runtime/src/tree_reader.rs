//! Reads typed values from trees.
//!
//! It differs from [`serde_json::from_value`] in one rule: a struct is read from an object only. The library
//! also takes an array, as the fields in their order, which no format of an API object means. Generated code
//! for it would be a fifth of what reading kinds takes in a program.

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor,
    value::StringDeserializer,
};
use serde_json::{Error, Map, map};

use crate::Tree;

/// Reads a value from a tree, which it takes apart.
///
/// # Errors
/// Where the tree has another shape than the type.
pub fn read<T: DeserializeOwned>(tree: Tree) -> Result<T, Error> {
    T::deserialize(TreeReader(tree))
}

struct TreeReader(Tree);

struct Items(std::vec::IntoIter<Tree>);

struct Fields {
    rest: map::IntoIter,
    value: Option<Tree>,
}

impl TreeReader {
    /// What an error calls a tree of a wrong shape.
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.0 {
            Tree::Null => Unexpected::Unit,
            Tree::Bool(value) => Unexpected::Bool(*value),
            Tree::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), ..) => Unexpected::Unsigned(value),
                (_, Some(value), _) => Unexpected::Signed(value),
                (.., Some(value)) => Unexpected::Float(value),
                _ => Unexpected::Other("number"),
            },
            Tree::String(text) => Unexpected::Str(text),
            Tree::Array(_) => Unexpected::Seq,
            Tree::Object(_) => Unexpected::Map,
        }
    }

    fn invalid<'de, V: Visitor<'de>>(&self, visitor: &V) -> Error {
        Error::invalid_type(self.unexpected(), visitor)
    }
}

fn visit_items<'de, V: Visitor<'de>>(items: Vec<Tree>, visitor: V) -> Result<V::Value, Error> {
    visitor.visit_seq(Items(items.into_iter()))
}

fn visit_fields<'de, V: Visitor<'de>>(fields: Map<String, Tree>, visitor: V) -> Result<V::Value, Error> {
    visitor.visit_map(Fields { rest: fields.into_iter(), value: None })
}

impl<'de> Deserializer<'de> for TreeReader {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(value) => visitor.visit_bool(value),
            Tree::Number(number) => number.deserialize_any(visitor),
            Tree::String(text) => visitor.visit_string(text),
            Tree::Array(items) => visit_items(items, visitor),
            Tree::Object(fields) => visit_fields(fields, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Tree::Object(fields) => visit_fields(fields, visitor),
            _ => Err(self.invalid(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Tree::Array(items) => visit_items(items, visitor),
            _ => Err(self.invalid(&visitor)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Tree::String(text) => visitor.visit_string(text),
            _ => Err(self.invalid(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier
    }
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        self.0.next().map(|item| seed.deserialize(TreeReader(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(StringDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let value = self.value.take().ok_or_else(|| Error::custom("a value is read before its name"))?;
        seed.deserialize(TreeReader(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::{from_value, json};

    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default, rename_all = "camelCase")]
    struct Part {
        some_text: String,
        number: Option<i32>,
        large: u64,
        ratio: f64,
        flag: Option<bool>,
        list: Vec<Part>,
        map: BTreeMap<String, Vec<String>>,
        any: Tree,
        pair: Option<(i8, String)>,
        way: Option<Way>,
        boxed: Option<Box<Part>>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    enum Way {
        Up,
        Down(u8),
    }

    #[test]
    fn values_are_read_as_the_library_reads_them() {
        for tree in [
            json!({}),
            json!({
                "someText": "a", "number": -5, "large": u64::MAX, "ratio": 1, "flag": null, "other": [{}],
            }),
            json!({"list": [{"someText": "a"}, {"list": [{}, {"number": 7}]}]}),
            json!({"map": {"a": ["b", "c"], "d": []}, "any": [1, {"a": null}]}),
            json!({"pair": [3, "x"], "way": "Up", "boxed": {"way": {"Down": 3}}}),
            json!({"way": "Left"}),
            json!({"number": 1.5}),
            json!({"number": 1_i64 << 40}),
            json!({"someText": 1}),
            json!({"list": {}}),
            json!({"map": []}),
            json!({"flag": "true"}),
            json!({"pair": [1]}),
            json!("text"),
            json!(null),
        ] {
            let (ours, theirs) = (read::<Part>(tree.clone()), from_value::<Part>(tree.clone()));
            let in_words = |error: Error| error.to_string();
            assert_eq!(ours.map_err(in_words), theirs.map_err(in_words), "{tree}");
        }
    }

    #[test]
    fn an_array_is_no_struct() {
        assert!(from_value::<Part>(json!(["a"])).is_ok());
        let error = read::<Part>(json!(["a"])).unwrap_err();
        assert_eq!(error.to_string(), "invalid type: sequence, expected struct Part");
        let error = read::<Part>(json!({"list": [[]]})).unwrap_err();
        assert_eq!(error.to_string(), "invalid type: sequence, expected struct Part");
    }
}
