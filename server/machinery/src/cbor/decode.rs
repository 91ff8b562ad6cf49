//! Reads CBOR as the source of the pass that reads documents of all formats ([`crate::json::decode`]).

use std::{borrow::Cow, collections::BTreeSet};

use orch_runtime::{
    Tree,
    scalar::{ByteString, MicroTime, Time},
    type_def::TypeDef,
};
use serde::{
    de::{DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor},
    forward_to_deserialize_any,
};

use super::{
    MAX_ITEMS, MAX_LEVELS, SELF_DESCRIBED,
    fault::Fault,
    head::{BREAK, FALSE, Head, NULL, TRUE},
    tag,
};
use crate::json::{
    Limits,
    decode::{BASE64_TEXT, DecodeError, Decoded, decode_from},
};

/// Reads a top-level object of type `def`. `apiVersion` and `kind` are kept besides the fields of the type.
///
/// # Errors
/// What is wrong with the document. A name that a map has twice is an error, not a report.
pub fn decode(bytes: &[u8], def: &'static TypeDef, limits: &Limits) -> Result<Decoded, DecodeError> {
    read(bytes, Some(def), limits)
}

/// Reads a document without a type, such as the configuration of an apply.
///
/// # Errors
/// As [`decode`].
pub fn decode_any(bytes: &[u8], limits: &Limits) -> Result<Tree, DecodeError> {
    read(bytes, None, limits).map(|decoded| decoded.tree)
}

/// Whether a document is null.
pub fn is_null(bytes: &[u8]) -> bool {
    bytes.strip_prefix(SELF_DESCRIBED).unwrap_or(bytes) == [0xf6]
}

fn read(bytes: &[u8], def: Option<&'static TypeDef>, limits: &Limits) -> Result<Decoded, DecodeError> {
    let mut source = Source { rest: bytes, level: 0, encoding: None, wants_base64: false };
    let decoded = decode_from(&mut source, def, limits).map_err(|error| match error {
        DecodeError::Type { what, .. } => DecodeError::Syntax(format!("cbor: cannot unmarshal {what}")),
        other => other,
    })?;
    match source.rest.len() {
        0 => Ok(decoded),
        left => Err(DecodeError::Syntax(format!("cbor: {left} bytes follow the document"))),
    }
}

/// As which text bytes are written, where they stand for a text.
#[derive(Clone, Copy)]
enum Encoding {
    Base64Url,
    Base64,
    Base16,
}

impl Encoding {
    fn text(self, bytes: &[u8]) -> String {
        let base64 = || ByteString(bytes.to_vec()).to_string();
        match self {
            Encoding::Base64 => base64(),
            Encoding::Base64Url => base64().trim_end_matches('=').replace('+', "-").replace('/', "_"),
            Encoding::Base16 => {
                let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
                digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
            }
        }
    }
}

/// The bytes that are not read yet.
struct Source<'de> {
    rest: &'de [u8],
    /// The number of lists, maps and tags around the next item.
    level: usize,
    /// What the tags around the next item say.
    encoding: Option<Encoding>,
    /// Whether the next item is a field of bytes, whose text is base64 whatever a tag says.
    wants_base64: bool,
}

impl<'de> Source<'de> {
    /// The head of the next item, behind its tags, whose meaning is kept in the fields.
    fn untagged(&mut self) -> Result<Head, Fault> {
        let mut is_first = true;
        loop {
            let head = Head::read(&mut self.rest)?;
            let Head::Tag(number) = head else { return Ok(head) };
            // Of tags in a row the first one is no level.
            if !is_first {
                self.enter()?;
            }
            is_first = false;
            match number {
                tag::TIME_TEXT if !matches!(self.rest.first().map(|byte| byte >> 5), Some(2 | 3)) => {
                    return Err(Fault::of("a time with tag 0 is not a text"));
                }
                tag::TIME_NUMBER => return Ok(head),
                tag::UNSIGNED_BIGNUM | tag::NEGATIVE_BIGNUM => {
                    return Err(Fault::of("numbers beyond 64 bits are not accepted"));
                }
                tag::BASE64_URL => self.encoding = Some(Encoding::Base64Url),
                tag::BASE64 => self.encoding = Some(Encoding::Base64),
                tag::BASE16 => self.encoding = Some(Encoding::Base16),
                _ => {}
            }
        }
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.level += 1;
        if self.level > MAX_LEVELS {
            return Err(Fault::with(format!("exceeded max nested level {MAX_LEVELS}")));
        }
        Ok(())
    }

    fn item<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Fault> {
        let wants_base64 = std::mem::take(&mut self.wants_base64);
        match self.untagged()? {
            Head::Unsigned(number) => match i64::try_from(number) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => Err(Fault::with(format!("{number} is beyond 64 bits with a sign"))),
            },
            Head::Negative(number) => match i64::try_from(number) {
                Ok(number) => visitor.visit_i64(-1 - number),
                Err(_) => Err(Fault::with(format!("-1-{number} is beyond 64 bits with a sign"))),
            },
            Head::Bytes(length) => {
                let bytes = self.bytes(length)?;
                match self.encoding {
                    None => visit_text(text(bytes)?, visitor),
                    Some(_) if wants_base64 => visitor.visit_string(Encoding::Base64.text(&bytes)),
                    Some(encoding) => visitor.visit_string(encoding.text(&bytes)),
                }
            }
            Head::Text(length) => visit_text(self.text(length)?, visitor),
            Head::Array(length) => {
                self.enter()?;
                visitor.visit_seq(Items { source: self, length: Length::of(length)? })
            }
            Head::Map(length) => {
                self.enter()?;
                let length = Length::of(length)?;
                visitor.visit_map(Entries { source: self, length, names: BTreeSet::new() })
            }
            Head::Tag(_) => visitor.visit_string(self.time()?),
            Head::Simple(FALSE) => visitor.visit_bool(false),
            Head::Simple(TRUE) => visitor.visit_bool(true),
            Head::Simple(NULL) => visitor.visit_unit(),
            Head::Simple(value) => Err(Fault::with(format!("simple value {value} is not accepted"))),
            Head::Float(value) if value.is_finite() => visitor.visit_f64(value),
            Head::Float(_) => Err(Fault::of("a number is not finite")),
            Head::Break => Err(Fault::of("a break stands where nothing ends")),
        }
    }

    /// The number of seconds behind tag 1, as text.
    fn time(&mut self) -> Result<String, Fault> {
        const LATEST: f64 = 253_402_300_799.0;
        let seconds = match Head::read(&mut self.rest)? {
            Head::Unsigned(number) => number as f64,
            Head::Negative(number) => -1.0 - number as f64,
            Head::Float(number) => number,
            _ => return Err(Fault::of("a time with tag 1 is not a number")),
        };
        if !(-LATEST..=LATEST).contains(&seconds) {
            return Err(Fault::of("a time is beyond the year 9999"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is far below 2^63")]
        Ok(if seconds.fract() == 0.0 {
            Time::from_unix_seconds(seconds as i64).to_string()
        } else {
            MicroTime::from_unix_micros((seconds * 1e6).round() as i64).to_string()
        })
    }

    /// The content of a byte string, in one piece.
    fn bytes(&mut self, length: Option<u64>) -> Result<Cow<'de, [u8]>, Fault> {
        let Some(length) = length else {
            let mut all = Vec::new();
            loop {
                match Head::read(&mut self.rest)? {
                    Head::Bytes(Some(length)) => all.extend_from_slice(self.take(length)?),
                    Head::Break => return Ok(Cow::Owned(all)),
                    _ => return Err(Fault::of("a part of a byte string is something else")),
                }
            }
        };
        self.take(length).map(Cow::Borrowed)
    }

    /// The content of a text string, in one piece. Each part of one is UTF-8.
    fn text(&mut self, length: Option<u64>) -> Result<Cow<'de, str>, Fault> {
        let Some(length) = length else {
            let mut all = String::new();
            loop {
                match Head::read(&mut self.rest)? {
                    Head::Text(Some(length)) => all += &text(Cow::Borrowed(self.take(length)?))?,
                    Head::Break => return Ok(Cow::Owned(all)),
                    _ => return Err(Fault::of("a part of a text string is something else")),
                }
            }
        };
        text(Cow::Borrowed(self.take(length)?))
    }

    fn take(&mut self, length: u64) -> Result<&'de [u8], Fault> {
        let length = usize::try_from(length).map_err(|_| Fault::END)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Fault::END)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The name of an entry of a map.
    fn name(&mut self) -> Result<Cow<'de, str>, Fault> {
        match Head::read(&mut self.rest)? {
            Head::Bytes(length) => text(self.bytes(length)?),
            Head::Text(length) => self.text(length),
            _ => Err(Fault::of("a name in a map is not a text")),
        }
    }
}

fn text(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>, Fault> {
    let read = match bytes {
        Cow::Borrowed(bytes) => str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    };
    read.ok_or(Fault::of("invalid UTF-8 string"))
}

fn visit_text<'de, V: Visitor<'de>>(text: Cow<'de, str>, visitor: V) -> Result<V::Value, Fault> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

impl<'de> Deserializer<'de> for &mut Source<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let (level, encoding) = (self.level, self.encoding);
        let value = self.item(visitor)?;
        (self.level, self.encoding) = (level, encoding);
        Ok(value)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.wants_base64 = name == BASE64_TEXT;
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// How many items or entries follow.
struct Length {
    /// Absent where a break ends them.
    left: Option<u64>,
    seen: usize,
}

impl Length {
    fn of(length: Option<u64>) -> Result<Self, Fault> {
        match length {
            Some(length) if length > MAX_ITEMS as u64 => Err(too_many()),
            left => Ok(Length { left, seen: 0 }),
        }
    }

    /// Whether another one follows.
    fn goes_on(&mut self, source: &mut Source<'_>) -> Result<bool, Fault> {
        match &mut self.left {
            Some(0) => return Ok(false),
            Some(left) => *left -= 1,
            None if source.rest.first() == Some(&BREAK) => {
                source.rest = &source.rest[1..];
                self.left = Some(0);
                return Ok(false);
            }
            None => {}
        }
        self.seen += 1;
        if self.seen > MAX_ITEMS { Err(too_many()) } else { Ok(true) }
    }
}

fn too_many() -> Fault {
    Fault::with(format!("exceeded max number of elements {MAX_ITEMS}"))
}

struct Items<'s, 'de> {
    source: &'s mut Source<'de>,
    length: Length,
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        if !self.length.goes_on(self.source)? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.source).map(Some)
    }
}

struct Entries<'s, 'de> {
    source: &'s mut Source<'de>,
    length: Length,
    names: BTreeSet<Cow<'de, str>>,
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        if !self.length.goes_on(self.source)? {
            return Ok(None);
        }
        let name = self.source.name()?;
        if !self.names.insert(name.clone()) {
            return Err(Fault::with(format!("found duplicate map key {name:?}")));
        }
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        seed.deserialize(&mut *self.source)
    }
}
