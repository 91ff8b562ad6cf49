//! Types read themselves from a tree.
//!
//! A text may be any scalar, as it is typed: `port: 6443` and `port: "6443"` are the same to a field that
//! is a text. Truth and numbers stand without quotes. Nothing (`null`) is as good as no field for an option,
//! an empty list or an empty map.

use std::{fmt, rc::Rc, slice, str::FromStr};

use serde::{
    de::{
        self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess,
        Unexpected, Visitor,
    },
    forward_to_deserialize_any,
};

use crate::{
    Fault, Place,
    node::{Content, Node},
    spanned,
};

/// Spellings of truth and of its opposite.
const TRUE: &[&str] = &["true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"];
const FALSE: &[&str] = &["false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"];

/// Reads a value from a tree.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    T::deserialize(node).map_err(|error| (error.place.unwrap_or(node.place), error.problem))
}

/// The longest name of a field, in bytes.
const LONGEST_NAME: usize = 40;

/// What is wrong; the place is known as soon as the error has left the node.
#[derive(Debug)]
pub(crate) struct Unreadable {
    place: Option<Place>,
    problem: String,
}

impl Unreadable {
    fn at(self, place: Place) -> Self {
        Self { place: self.place.or(Some(place)), ..self }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.problem)
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(problem: T) -> Self {
        Self { place: None, problem: problem.to_string() }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("field", field, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("variant", variant, expected)
    }
}

impl Unreadable {
    /// What is longer than any name is a value in the wrong place, which could be a key.
    fn unknown(what: &str, name: &str, expected: &'static [&'static str]) -> Self {
        let name = if name.len() <= LONGEST_NAME { format!(" `{name}`") } else { String::new() };
        let problem = match expected {
            [] => format!("unknown {what}{name}, there are none"),
            [one] => format!("unknown {what}{name}, expected `{one}`"),
            [one, other] => format!("unknown {what}{name}, expected `{one}` or `{other}`"),
            many => format!("unknown {what}{name}, expected one of `{}`", many.join("`, `")),
        };
        Self { place: None, problem }
    }
}

impl Node {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.content {
            Content::Scalar(..) if self.is_null() => Unexpected::Unit,
            // Where a key of encryption was put in the wrong place, it must not come into a log.
            Content::Scalar(..) => Unexpected::Other("another value"),
            Content::List(_) => Unexpected::Seq,
            Content::Map(_) => Unexpected::Map,
        }
    }

    fn wrong<'de, V: Visitor<'de>>(&self, visitor: &V) -> Unreadable {
        <Unreadable as de::Error>::invalid_type(self.unexpected(), visitor).at(self.place)
    }

    /// A scalar without quotes, read as something else than text.
    fn plain<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        match &self.content {
            Content::Scalar(text, false) => read(text),
            _ => None,
        }
    }

    fn truth(text: &str) -> Option<bool> {
        if TRUE.contains(&text) { Some(true) } else { FALSE.contains(&text).then_some(false) }
    }

    fn number<T: FromStr>(text: &str) -> Option<T> {
        text.parse().ok()
    }
}

/// Methods for scalars that are read from their text.
macro_rules! scalars {
    ($($method:ident => $visit:ident: $read:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
            match self.plain($read) {
                Some(value) => visitor.$visit(value).map_err(|error: Unreadable| error.at(self.place)),
                None => Err(self.wrong(&visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Unreadable;

    scalars! {
        deserialize_bool => visit_bool: Node::truth;
        deserialize_i64 => visit_i64: Node::number;
        deserialize_u64 => visit_u64: Node::number;
        deserialize_f64 => visit_f64: Node::number;
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match &self.content {
            Content::List(_) => self.deserialize_seq(visitor),
            Content::Map(_) => self.deserialize_map(visitor),
            Content::Scalar(..) if self.is_null() => visitor.visit_unit(),
            Content::Scalar(..) if self.plain(Node::truth).is_some() => self.deserialize_bool(visitor),
            Content::Scalar(..) if self.plain(Node::number::<i64>).is_some() => self.deserialize_i64(visitor),
            Content::Scalar(..) if self.plain(Node::number::<f64>).is_some() => self.deserialize_f64(visitor),
            Content::Scalar(..) => self.deserialize_str(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match &self.content {
            Content::Scalar(text, _) if !self.is_null() => {
                visitor.visit_str(text).map_err(|error: Unreadable| error.at(self.place))
            }
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        let (line, column) = self.place;
        match name {
            spanned::NAME => visitor.visit_seq(Parts { node: self, places: [line, column], next: 0 }),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        let items = match &self.content {
            Content::List(items) => items.as_slice(),
            _ if self.is_null() => &[],
            _ => return Err(self.wrong(&visitor)),
        };
        visitor.visit_seq(Items(items.iter())).map_err(|error| error.at(self.place))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        let entries = match &self.content {
            Content::Map(entries) => entries.as_slice(),
            _ if self.is_null() => &[],
            _ => return Err(self.wrong(&visitor)),
        };
        visitor
            .visit_map(Entries { entries: entries.iter(), value: None })
            .map_err(|error| error.at(self.place))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        match &self.content {
            Content::Scalar(text, _) => visitor
                .visit_enum(text.as_str().into_deserializer())
                .map_err(|error: Unreadable| error.at(self.place)),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

/// Line, column and node, for a value with its place.
struct Parts<'de> {
    node: &'de Node,
    places: [u64; 2],
    next: usize,
}

impl<'de> SeqAccess<'de> for Parts<'de> {
    type Error = Unreadable;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        let next = self.next;
        self.next += 1;
        match self.places.get(next) {
            Some(place) => seed.deserialize((*place).into_deserializer()).map(Some),
            None => seed.deserialize(self.node).map(Some),
        }
    }
}

struct Items<'de>(slice::Iter<'de, Rc<Node>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Unreadable;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        self.0.next().map(|node| seed.deserialize(&**node)).transpose()
    }
}

struct Entries<'de> {
    entries: slice::Iter<'de, (String, Place, Rc<Node>)>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Unreadable;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unreadable> {
        let Some((name, place, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        let name = de::value::StrDeserializer::<Unreadable>::new(name);
        seed.deserialize(name).map(Some).map_err(|error| error.at(*place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unreadable> {
        let missing = || <Unreadable as de::Error>::custom("a value is asked for before its name");
        let value = self.value.take().ok_or_else(missing)?;
        seed.deserialize(value).map_err(|error| error.at(value.place))
    }
}
