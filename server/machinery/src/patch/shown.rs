//! Values in messages about patches, in the notation of the reference server.

use orch_runtime::{Tree, field_error::Shown as _};

/// A tree in the form `map[a:1 b:[x y]]`.
pub fn listing(tree: &Tree) -> String {
    match tree {
        Tree::Null => "<nil>".to_owned(),
        Tree::String(text) => text.clone(),
        Tree::Bool(_) | Tree::Number(_) => tree.to_string(),
        Tree::Array(items) => format!("[{}]", items.iter().map(listing).collect::<Vec<_>>().join(" ")),
        Tree::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(name, value)| format!("{name}:{}", listing(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// A tree as a literal: `map[string]interface {}{"a":1, "b":[]interface {}{"x"}}`.
pub fn literal(tree: &Tree) -> String {
    match tree {
        Tree::Null => "interface {}(nil)".to_owned(),
        Tree::String(text) => text.shown(),
        Tree::Bool(_) | Tree::Number(_) => tree.to_string(),
        Tree::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Tree::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(name, value)| format!("{}:{}", name.shown(), literal(value))).collect();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
    }
}

/// The name of a value's type in errors of JSON readers.
pub fn json_type(tree: &Tree) -> &'static str {
    match tree {
        Tree::Null => "null",
        Tree::Bool(_) => "bool",
        Tree::Number(_) => "number",
        Tree::String(_) => "string",
        Tree::Array(_) => "array",
        Tree::Object(_) => "object",
    }
}

/// The error for a value of the wrong type. `wanted` is the name of the right type in the reference server.
pub fn cannot_unmarshal(tree: &Tree, wanted: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {wanted}", json_type(tree))
}

/// The name of a value's type in errors about wrong types.
pub fn type_name(tree: &Tree) -> &'static str {
    match tree {
        Tree::Null => "%!s(<nil>)",
        Tree::Bool(_) => "bool",
        Tree::Number(number) if number.is_f64() => "float64",
        Tree::Number(_) => "int64",
        Tree::String(_) => "string",
        Tree::Array(_) => "[]interface {}",
        Tree::Object(_) => "map[string]interface {}",
    }
}

/// A value where text is expected; values of other types are marked.
pub(super) fn as_text(tree: &Tree) -> String {
    match tree {
        Tree::String(text) => text.clone(),
        Tree::Null => type_name(tree).to_owned(),
        Tree::Bool(_) | Tree::Number(_) => format!("%!s({}={tree})", type_name(tree)),
        Tree::Array(items) => format!("[{}]", items.iter().map(as_inner_text).collect::<Vec<_>>().join(" ")),
        Tree::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(name, value)| format!("{name}:{}", as_inner_text(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

fn as_inner_text(tree: &Tree) -> String {
    if tree.is_null() { listing(tree) } else { as_text(tree) }
}
