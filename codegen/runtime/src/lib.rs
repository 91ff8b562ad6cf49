//! The small library that generated code is written against.
//!
//! The generator (`orch-codegen`) turns schema files into thin Rust: structs, defaults, validators and
//! static tables. Everything with an algorithm in it lives here instead, written and tested once:
//!
//! - [`scalar`]: the value types with a canonical text form (quantities, times, durations ...);
//! - [`mod@text_enum`], [`presence`]: closed sets of strings, and how empty, absent and `null` are told
//!   apart;
//! - [`constraint`]: the rules behind the schema's formats, each a function that returns messages;
//! - [`rule`]: the rules that generated validators are made of;
//! - [`expression`]: what rules in the expression language are made of;
//! - [`age`]: how long something has been, in words;
//! - [`mod@same_text`]: whether two texts are the same, where both are often empty;
//! - [`path`], [`field_error`]: where a value stands in an object, and what is wrong with it;
//! - [`object`]: the traits that generated types implement;
//! - [`conversion`]: how objects of one version of a kind become objects of another one;
//! - [`release`]: the releases in which kinds come and go;
//! - [`type_def`], [`resource_def`]: the static tables that every codec, patch and route is driven by;
//! - [`vocabulary`]: the product words, which are data.
//!
//! This crate knows no kind, does no IO and depends on nothing else of the workspace.

pub mod age;
mod api_object;
pub mod constraint;
pub mod conversion;
pub mod expression;
pub mod field_error;
pub mod object;
pub mod path;
pub mod presence;
pub mod release;
pub mod resource_def;
pub mod rule;
pub mod same_text;
pub mod scalar;
pub mod text_enum;
pub mod tree_reader;
pub mod type_def;
pub mod vocabulary;

/// A decoded object in its structural form: what codecs produce and patches work on.
pub type Tree = serde_json::Value;

/// The fields of an object in its structural form.
pub type TreeMap = serde_json::Map<String, serde_json::Value>;
