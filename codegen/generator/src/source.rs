//! Schema files as text and as trees in which everything remembers where it was written.

mod yaml;

use std::{borrow::Cow, io, path::Path, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::diagnostic::{Diagnostics, Span};

/// A value with the place where it is written.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub span: Span,
}

/// A node of a YAML document.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it is written; of a list or map that spans lines, its first line.
    pub span: Span,
    /// What it holds.
    pub value: Value,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`, or nothing.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// Text.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// A map; keys are unique, in the order written.
    Map(Vec<(Spanned<String>, Node)>),
    /// Something that has been reported already: readers skip it in silence.
    Reported,
}

impl Node {
    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[(Spanned<String>, Node)] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(written, _)| written.value == key).map(|(_, node)| node)
    }

    /// Where a key of a map is written; the map where it is not.
    pub fn place(&self, key: &str) -> &Span {
        let mut keys = self.entries().iter().map(|(written, _)| written);
        keys.find(|written| written.value == key).map_or(&self.span, |written| &written.span)
    }

    /// What a person would call the value.
    pub fn noun(&self) -> &'static str {
        match self.value {
            Value::Null | Value::Reported => "nothing",
            Value::Boolean(_) => "a boolean",
            Value::Integer(_) => "an integer",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// The value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null | Value::Reported => serde_json::Value::Null,
            Value::Boolean(value) => (*value).into(),
            Value::Integer(value) => (*value).into(),
            Value::Number(value) => (*value).into(),
            Value::String(value) => value.as_str().into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                entries.iter().map(|(key, node)| (key.value.clone(), node.to_json())).collect()
            }
        }
    }
}

/// Reads and parses a file, or the text that is remembered for it. What is wrong with it is reported; the
/// result is empty where nothing of it can be used.
pub fn read(path: &Path, diagnostics: &mut Diagnostics) -> Option<Node> {
    let text = match diagnostics.shared_source(path) {
        Some(text) => Ok(text),
        None => std::fs::read_to_string(path).map(Arc::from),
    };
    match text {
        Ok(text) => {
            diagnostics.add_source(path, Arc::clone(&text));
            yaml::parse(&Arc::new(path.to_path_buf()), &text, diagnostics)
        }
        Err(error) => {
            diagnostics
                .error(&Span::whole_file(path), format!("cannot read the file: {error}"), remedy(&error))
                .code("E0101");
            None
        }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::InvalidData => "schema files are UTF-8 text",
        _ => "check the path and its permissions",
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Any JSON.
impl JsonSchema for Node {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}
