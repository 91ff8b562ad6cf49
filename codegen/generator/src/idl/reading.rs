//! Trees to typed constructs, with a report of every key and value that does not fit.
//!
//! [`idl_object!`] declares a map with fixed keys, [`idl_words!`] a closed set of words. Reading never stops
//! at a mistake: it is reported, and what can be read is read.

use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{
    diagnostic::{Diagnostics, suggest},
    source::{Node, Spanned, Value},
};

/// Something that can stand in a schema file.
pub trait Read: Sized {
    /// Reads it. `None`: it does not fit, which has been reported.
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self>;

    /// What an absent key means. `None`: the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// A closed set of words.
pub trait Word: Sized + Copy + 'static {
    /// Every word, as written in schema files.
    const WORDS: &'static [(&'static str, Self)];
}

/// The JSON schema of one word of a closed set: `#[schemars(with = "OneOf<Verb>")]` gives it to a field whose
/// type is an enum of another crate.
pub(super) struct OneOf<T>(PhantomData<T>);

impl<T: Word> JsonSchema for OneOf<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OneOf".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

/// A map with free keys, in the order written.
#[derive(Debug)]
pub struct Entries<T>(pub Vec<(Spanned<String>, T)>);

/// The keys that a map may have, for messages and suggestions.
pub(super) struct Keys {
    /// What the map is: `x-orch-resource`.
    pub noun: &'static str,
    /// Every key.
    pub known: &'static [&'static str],
    /// Keys that one could expect, with what to write instead.
    pub refused: &'static [(&'static str, &'static str)],
}

/// Declares a map with fixed keys: the struct, its reader and its JSON schema.
macro_rules! idl_object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident, $noun:literal, refused: $refused:expr, {
            $( $(#[$doc:meta])* $key:literal => $field:ident: $ty:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields)]
        pub struct $name {
            $( $(#[$doc])* #[schemars(rename = $key)] pub $field: $ty, )*
            /// The keys that are written, known ones only.
            #[schemars(skip)]
            pub keys: Vec<$crate::source::Spanned<String>>,
            /// Where it is written.
            #[schemars(skip)]
            pub span: $crate::diagnostic::Span,
        }

        impl $crate::idl::reading::Read for $name {
            fn read(
                node: &$crate::source::Node,
                diagnostics: &mut $crate::diagnostic::Diagnostics,
            ) -> Option<Self> {
                use $crate::idl::reading::{Keys, key, known_keys, object};
                const KEYS: Keys = Keys { noun: $noun, known: &[$( $key ),*], refused: $refused };
                let entries = object(node, &KEYS, diagnostics)?;
                // Every key is read before the first one that is missing ends the reading.
                $( let $field = key(entries, $key, node, &KEYS, diagnostics); )*
                let keys = known_keys(entries, &KEYS);
                Some(Self { $( $field: $field?, )* keys, span: node.span.clone() })
            }
        }
    };
}

/// Declares a closed set of words: the enum, its reader and its JSON schema.
macro_rules! idl_words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$doc:meta])* $variant:ident = $word:literal, )* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $( $(#[$doc])* $variant, )* }
        $crate::idl::reading::idl_word_list!($name { $( $variant = $word, )* });

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::idl::reading::OneOf::<$name>::json_schema(generator)
            }
        }
    };
}

/// Gives words to an enum of the runtime, and its reader.
macro_rules! idl_word_list {
    ($name:ident { $( $variant:ident = $word:literal, )* }) => {
        impl $crate::idl::reading::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$( ($word, $name::$variant), )*];
        }

        impl $crate::idl::reading::Read for $name {
            fn read(
                node: &$crate::source::Node,
                diagnostics: &mut $crate::diagnostic::Diagnostics,
            ) -> Option<Self> {
                $crate::idl::reading::word(node, diagnostics)
            }
        }
    };
}

pub(super) use {idl_object, idl_word_list, idl_words};

/// The entries of a map with fixed keys, after reporting the unknown ones.
pub(super) fn object<'n>(
    node: &'n Node,
    keys: &Keys,
    diagnostics: &mut Diagnostics,
) -> Option<&'n [(Spanned<String>, Node)]> {
    let Value::Map(entries) = &node.value else {
        mismatch(node, &format!("{} as a map", keys.noun), "write a map: `{key: value}`", diagnostics);
        return None;
    };
    for (key, _) in entries {
        if !keys.known.contains(&key.value.as_str()) {
            unknown_key(key, keys, diagnostics);
        }
    }
    Some(entries)
}

/// The keys of a map that are known ones.
pub(super) fn known_keys(entries: &[(Spanned<String>, Node)], keys: &Keys) -> Vec<Spanned<String>> {
    let written = entries.iter().map(|(key, _)| key);
    written.filter(|key| keys.known.contains(&key.value.as_str())).cloned().collect()
}

/// The value of one key; `None` where it is required and missing, or wrong.
pub(super) fn key<T: Read>(
    entries: &[(Spanned<String>, Node)],
    name: &str,
    owner: &Node,
    keys: &Keys,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    match entries.iter().find(|(key, _)| key.value == name) {
        Some((_, node)) => T::read(node, diagnostics).or_else(T::absent),
        None => T::absent().or_else(|| {
            let message = format!("{} has no `{name}`", keys.noun);
            diagnostics.error(&owner.span, message, format!("add `{name}:`")).code("E0123");
            None
        }),
    }
}

/// One of a closed set of words.
pub(super) fn word<T: Word>(node: &Node, diagnostics: &mut Diagnostics) -> Option<T> {
    let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
    let Value::String(text) = &node.value else {
        mismatch(node, "a word", &format!("known here: {}", suggest::listed(&words)), diagnostics);
        return None;
    };
    let found = T::WORDS.iter().find(|(word, _)| word == text);
    if found.is_none() {
        let shown = text.replace('\n', " ");
        diagnostics
            .error(&node.span, format!("unknown value `{shown}`"), suggest::meant_or_all(text, &words))
            .code("E0125");
    }
    found.map(|(_, value)| *value)
}

/// Reports a value of the wrong type.
pub(super) fn mismatch(node: &Node, expected: &str, help: &str, diagnostics: &mut Diagnostics) {
    if !matches!(node.value, Value::Reported) {
        let found = match &node.value {
            Value::Integer(value) => value.to_string(),
            _ => node.noun().to_owned(),
        };
        diagnostics.error(&node.span, format!("expected {expected}, found {found}"), help).code("E0124");
    }
}

fn unknown_key(key: &Spanned<String>, keys: &Keys, diagnostics: &mut Diagnostics) {
    let name = key.value.as_str();
    if let Some((_, remedy)) = keys.refused.iter().find(|(refused, _)| *refused == name) {
        diagnostics
            .error(&key.span, format!("`{name}` has no place in {}", keys.noun), *remedy)
            .code("E0122");
        return;
    }
    let Some(stem) = name.strip_prefix("x-") else {
        let help = suggest::did_you_mean(name, keys.known);
        diagnostics.error(&key.span, format!("unknown key `{name}` in {}", keys.noun), help).code("E0121");
        return;
    };
    // `x-<vendor>-list-type` is taken for `x-orch-list-type`.
    let extensions: Vec<&str> = keys.known.iter().copied().filter(|known| known.starts_with("x-")).collect();
    let foreign = stem.split_once('-').map(|(_, rest)| format!("x-orch-{rest}"));
    let help = match foreign.as_deref().and_then(|name| suggest::nearest(name, extensions.iter().copied())) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => suggest::did_you_mean(name, &extensions),
    };
    diagnostics.error(&key.span, format!("unknown extension `{name}` in {}", keys.noun), help).code("E0121");
}

impl Read for Node {
    fn read(node: &Node, _: &mut Diagnostics) -> Option<Self> {
        Some(node.clone())
    }
}

impl<T: Read> Read for Spanned<T> {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        T::read(node, diagnostics).map(|value| Spanned { value, span: node.span.clone() })
    }
}

impl<T: Read> Read for Box<T> {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        T::read(node, diagnostics).map(Box::new)
    }
}

impl<T: Read> Read for Option<T> {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        T::read(node, diagnostics).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Value::List(items) = &node.value else {
            mismatch(node, "a list", "write `[a, b]`, or one item per line after dashes", diagnostics);
            return None;
        };
        let read: Vec<T> = items.iter().filter_map(|item| T::read(item, diagnostics)).collect();
        // A list of which nothing can be read is no empty one.
        (items.is_empty() || !read.is_empty()).then_some(read)
    }
}

impl<T: Read> Read for Entries<T> {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            mismatch(node, "a map", "write one `name: ...` per line", diagnostics);
            return None;
        };
        let read = |(key, node): &(Spanned<String>, Node)| Some((key.clone(), T::read(node, diagnostics)?));
        Some(Entries(entries.iter().filter_map(read).collect()))
    }
}

impl Read for String {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Value::String(text) = &node.value {
            return Some(text.clone());
        }
        let help = match node.value {
            Value::List(_) | Value::Map(_) => "write a text, in quotes if need be",
            Value::Null => "write a text; in quotes where it begins with `#`, which begins a comment",
            _ => "put it in quotes",
        };
        mismatch(node, "a string", help, diagnostics);
        None
    }
}

impl Read for bool {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Value::Boolean(value) = node.value {
            return Some(value);
        }
        mismatch(node, "a boolean", "write `true` or `false`", diagnostics);
        None
    }
}

impl Read for f64 {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Integer(value) => Some(value as f64),
            Value::Number(value) => Some(value),
            _ => {
                mismatch(node, "a number", "write it without quotes", diagnostics);
                None
            }
        }
    }
}

macro_rules! read_integer {
    ($($integer:ty, $expected:literal;)*) => {$(
        impl Read for $integer {
            fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
                let value = if let Value::Integer(value) = node.value { value.try_into().ok() } else { None };
                if value.is_none() {
                    mismatch(node, $expected, "write a whole number in this range, without quotes", diagnostics);
                }
                value
            }
        }
    )*};
}
read_integer! {
    i32, "an integer of 32 bits";
    u32, "an integer of 32 bits, 0 or more";
    u64, "an integer, 0 or more";
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("MapOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}
