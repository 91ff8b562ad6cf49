//! Conditions: when a rule applies.

use std::borrow::Cow;

use schemars::{JsonSchema, SchemaGenerator, json_schema};

use super::super::reading::{Entries, Read, idl_object};
use crate::{
    diagnostic::Diagnostics,
    source::{Node, Spanned, Value},
};

idl_object! {
    /// What a condition asks of a value.
    pub struct Question, "a condition", refused: &[("is", "write the value itself: `{.type: Local}`")], {
        /// Whether it is given.
        "given" => given: Option<Spanned<bool>>,
        /// It is none of these.
        "not" => not: Option<Node>,
        /// The text matches this pattern.
        "matches" => matches: Option<Spanned<String>>,
        /// The number, the length or the count of items is this or more.
        "least" => least: Option<Spanned<f64>>,
        /// The number, the length or the count of items is this or less.
        "most" => most: Option<Spanned<f64>>,
        /// It is another one than before.
        "changed" => changed: Option<Spanned<bool>>,
    }
}

/// What must hold of a value for a rule to apply: it is one of these, or answers a question.
#[derive(Debug)]
pub enum Test {
    /// One value, or a list of them.
    Values(Node),
    /// `{given: true}` and the like.
    Question(Box<Question>),
}

impl Read for Test {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Map(_) => Box::read(node, diagnostics).map(Test::Question),
            _ => Some(Test::Values(node.clone())),
        }
    }
}

impl JsonSchema for Test {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Test".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let question = generator.subschema_for::<Question>();
        let scalar = json_schema!({ "type": ["string", "number", "boolean"] });
        json_schema!({ "anyOf": [scalar, { "type": "array", "items": scalar }, question] })
    }
}

/// When a rule applies.
#[derive(Debug)]
pub enum When {
    /// Each path with the values, or the question, that must hold.
    Conditions(Entries<Test>),
    /// An expression.
    Expression(Spanned<String>),
}

impl When {
    /// The conditions that are written as paths.
    pub fn conditions(&self) -> &[(Spanned<String>, Test)] {
        match self {
            When::Conditions(entries) => &entries.0,
            When::Expression(_) => &[],
        }
    }

    /// The expression.
    pub fn expression(&self) -> Option<&Spanned<String>> {
        if let When::Expression(text) = self { Some(text) } else { None }
    }
}

impl Read for When {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::String(_) => Spanned::read(node, diagnostics).map(When::Expression),
            _ => Entries::read(node, diagnostics).map(When::Conditions),
        }
    }
}

impl JsonSchema for When {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "When".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let conditions = generator.subschema_for::<Entries<Test>>();
        json_schema!({ "anyOf": [{ "type": "string" }, conditions] })
    }
}
