//! YAML: read into trees, written from trees.
//!
//! Plain scalars are read as in YAML 1.1: `yes` and `y` are booleans, `0755` is octal. The first of several
//! documents is read. If a name occurs twice in a map, it is reported and the last one wins. Aliases, depth
//! and size are limited.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    fmt,
};

use orch_runtime::{Tree, TreeMap, field_error::Shown as _};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::{Spanned, options::DuplicateKeyPolicy};

use crate::json::{
    Limits,
    budget::{Budget, Exceeded},
    decode::{DecodeError, decode_any_strict},
};

mod encode;
mod plain;
mod scalar;

pub use encode::{encode, encode_item};

/// The depth limit of YAML. Its parser needs more of the stack per level than that of JSON.
const MAX_YAML_DEPTH: usize = 64;

/// At most this many duplicate names are reported.
const MAX_DUPLICATES: usize = 100;

/// The number of parser events that all aliases of a short text together may stand for, ten milliseconds or
/// two. A longer text may have one for each byte.
const MIN_REPLAYED_EVENTS: usize = 10_000;

/// The same for any text.
const MAX_REPLAYED_EVENTS: usize = 100_000;

/// The number of bytes that are kept for aliases. An anchor inside of another one counts for both.
const MAX_RECORDED_BYTES: usize = 8 * 1024 * 1024;

/// Greater integers are not exact as floating point numbers.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A document that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The content.
    pub tree: Tree,
    /// Reports of names that occur twice in a map: `line 8: key "k" already set in map`.
    pub duplicates: Vec<String>,
}

/// Reads the first document. JSON is read as YAML too.
///
/// # Errors
/// [`DecodeError::Empty`] if there is no document, [`DecodeError::Syntax`] for text that is not YAML or has
/// no JSON form, and [`DecodeError::TooDeep`].
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Document, DecodeError> {
    if bytes.trim_ascii_start().starts_with(b"{")
        && let Ok(mut json) = decode_any_strict(bytes, limits)
    {
        with_whole_numbers(&mut json.tree);
        let duplicates: Vec<String> = json.strict.iter().map(ToString::to_string).collect();
        let document = Document { tree: json.tree, duplicates };
        // If the text can be read as YAML, its reports with line numbers are used.
        let has_duplicates = !document.duplicates.is_empty();
        return Ok(if has_duplicates { read(bytes, limits).unwrap_or(document) } else { document });
    }
    read(bytes, limits)
}

fn read(bytes: &[u8], limits: &Limits) -> Result<Document, DecodeError> {
    let text = str::from_utf8(bytes).map_err(|error| {
        DecodeError::Syntax(format!("yaml: invalid UTF-8 at offset {}", error.valid_up_to()))
    })?;
    let text = first_document(text);
    // The parser would take a NUL for the end, and what follows would be lost.
    if !text.chars().all(is_allowed) {
        return Err(DecodeError::Syntax("yaml: control characters are not allowed".to_owned()));
    }
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Err(DecodeError::Empty);
    }
    let reading = Reading::within(*limits);
    let depth = limits.effective_depth().min(MAX_YAML_DEPTH);
    let options = options(depth, text.len());
    let tree = serde_saphyr::with_deserializer_from_str_with_options(text, options, |source| {
        Value(&reading).deserialize(source)
    })
    .map_err(|error| match reading.exceeded.get() {
        Some(exceeded) => exceeded.into(),
        None => syntax(&error.without_snippet().to_string(), depth),
    })?;
    Ok(Document { tree, duplicates: reading.duplicates.into_inner() })
}

/// Whether a document may hold a character as it is, without an escape (YAML 1.1, "c-printable").
fn is_allowed(ch: char) -> bool {
    matches!(ch, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'..)
}

fn options(depth: usize, bytes: usize) -> serde_saphyr::Options {
    let replayed_events = bytes.clamp(MIN_REPLAYED_EVENTS, MAX_REPLAYED_EVENTS);
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: depth,
            max_documents: 1,
            max_recorded_anchor_events: MAX_REPLAYED_EVENTS,
            max_recorded_anchor_bytes: MAX_RECORDED_BYTES,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: replayed_events },
        legacy_octal_numbers: true,
        strict_booleans: false,
        with_snippet: false,
    }
}

/// The text of the first document. A line that begins with `---` or `...` ends it. Such a line before any
/// content begins it instead.
fn first_document(text: &str) -> &str {
    let mut offset = 0;
    let mut has_content = false;
    for line in text.split_inclusive('\n') {
        let is_marker = ["---", "..."].iter().any(|marker| {
            line.strip_prefix(marker)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        });
        if is_marker && has_content {
            return &text[..offset];
        }
        let trimmed = line.trim();
        let after_marker = if is_marker { trimmed.trim_start_matches('-').trim_start() } else { trimmed };
        has_content |=
            !(after_marker.is_empty() || after_marker.starts_with('#') || trimmed.starts_with('%'));
        offset += line.len();
    }
    text
}

fn syntax(message: &str, depth: usize) -> DecodeError {
    if message.contains("budget") && message.contains("depth") {
        return DecodeError::TooDeep(depth);
    }
    let message: Vec<&str> = message.split_whitespace().collect();
    DecodeError::Syntax(format!("yaml: {}", message.join(" ")))
}

struct Reading {
    duplicates: RefCell<Vec<String>>,
    budget: Cell<Budget>,
    /// The limit that ended the reading.
    exceeded: Cell<Option<Exceeded>>,
}

impl Reading {
    fn within(limits: Limits) -> Self {
        let budget = Cell::new(Budget::of(limits));
        Reading { duplicates: RefCell::default(), budget, exceeded: Cell::default() }
    }

    /// Ends the reading where a limit is exceeded.
    fn spend<E: de::Error>(&self, count: impl FnOnce(&mut Budget) -> Result<(), Exceeded>) -> Result<(), E> {
        let mut budget = self.budget.get();
        let spent = count(&mut budget);
        self.budget.set(budget);
        spent.map_err(|exceeded| {
            self.exceeded.set(Some(exceeded));
            E::custom("refused")
        })
    }

    fn report(&self, line: u64, key: &str) {
        let mut duplicates = self.duplicates.borrow_mut();
        if duplicates.len() < MAX_DUPLICATES {
            duplicates.push(format!("line {line}: key {} already set in map", key.shown()));
        }
    }
}

/// Reads any value.
struct Value<'r>(&'r Reading);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Tree, D::Error> {
        self.0.spend(Budget::value)?;
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value that JSON has too")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Tree, E> {
        number(value).map(Tree::Number).ok_or_else(|| E::custom(format_args!("{value} is no JSON number")))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Tree, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Tree, E> {
        self.0.spend(|budget| budget.text(&value))?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Value(self.0))? {
            list.push(item);
        }
        Ok(Tree::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut map = TreeMap::new();
        while let Some(key) = entries.next_key::<Spanned<Key<'de>>>()? {
            let name = key.value.0.into_owned();
            self.0.spend(|budget| budget.entry(map.len(), &name))?;
            let value = entries.next_value_seed(Value(self.0))?;
            if map.contains_key(&name) {
                self.0.report(key.referenced.line(), &name);
            }
            map.insert(name, value);
        }
        Ok(Tree::Object(map))
    }
}

/// Whole numbers become integers, as in the reference server.
fn number(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() < MAX_EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and within 53 bits")]
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

/// The same for a document that was read as JSON, where `1.0` and `1e2` are floating point numbers.
fn with_whole_numbers(tree: &mut Tree) {
    match tree {
        Tree::Number(written) if written.is_f64() => {
            if let Some(whole) = written.as_f64().and_then(number) {
                *written = whole;
            }
        }
        Tree::Array(items) => items.iter_mut().for_each(with_whole_numbers),
        Tree::Object(map) => map.values_mut().for_each(with_whole_numbers),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => {}
    }
}

/// A name in a map: any single value, as text.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_unit<E>(self) -> Result<Key<'de>, E> {
        Ok(Key("null".into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Key<'de>, E> {
        Ok(Key(value.to_string().into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Key<'de>, E> {
        Ok(Key(value.to_string().into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Key<'de>, E> {
        Ok(Key(value.to_string().into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Key<'de>, E> {
        Ok(Key(value.to_string().into()))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Key<'de>, E> {
        Ok(Key(value.to_owned().into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Key<'de>, E> {
        Ok(Key(value.into()))
    }
}

#[cfg(test)]
mod tests;
