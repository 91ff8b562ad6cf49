//! What stands at one place: its shape, and the keywords that say which values are good.

use std::collections::BTreeSet;

use super::{
    codes,
    comparison::{Comparison, Named, last, shown},
    rules,
    state::{State, words},
};
use crate::source::Node;

/// The shape of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape<'s> {
    /// A single value: `text`, `int32`, `date-time`.
    Single(&'s str),
    /// A type with fields, of the state.
    Object(&'s str),
    /// A type of an imported folder.
    Imported(&'s str),
    /// A list.
    List,
    /// A map.
    Map,
    /// Any JSON.
    Any,
}

impl Shape<'_> {
    fn word(&self) -> &str {
        match self {
            Shape::Single(word) => word,
            Shape::Object(_) => "an object",
            Shape::Imported(name) => name,
            Shape::List => "a list",
            Shape::Map => "a map",
            Shape::Any => "any JSON",
        }
    }
}

/// Formats that make another type of a text or number; others are rules.
const TYPES: &[&str] = &["byte", "date-time", "micro-time", "quantity", "int-or-string", "duration"];

/// Formats of names, each of which allows all that the ones before it allow.
const WIDER: &[&str] = &["dns-1035-label", "dns-label", "dns-subdomain", "path-segment"];

/// Whether a format allows all that another one allows.
pub(super) fn is_wider(old: &str, new: &str) -> bool {
    let width = |format| WIDER.iter().position(|known| *known == format);
    old == new || matches!((width(old), width(new)), (Some(old), Some(new)) if old <= new)
}

/// More references than this go in circles, which is an error of its own.
const MAX_REFERENCES: usize = 64;

/// The schema behind the references that are only other names.
pub(super) fn innermost<'s>(state: &'s State, node: &'s Node) -> &'s Node {
    let mut node = node;
    for _ in 0..MAX_REFERENCES {
        let Some(ty) = node.get("$ref").and_then(Node::text).and_then(|name| state.ty(name)) else { break };
        node = &ty.schema;
    }
    node
}

/// The shape of a named type.
pub(super) fn named<'s>(state: &'s State, name: &'s str) -> Shape<'s> {
    let Some((name, ty)) = state.types.get_key_value(name) else { return Shape::Imported(name) };
    let is_object =
        ["properties", "x-orch-resource", "x-orch-union"].iter().any(|key| ty.schema.get(key).is_some());
    if is_object && ty.schema.get("additionalProperties").is_none() {
        return Shape::Object(name);
    }
    shape(state, &ty.schema)
}

fn shape<'s>(state: &'s State, node: &'s Node) -> Shape<'s> {
    let mut node = node;
    for _ in 0..MAX_REFERENCES {
        let Some(name) = node.get("$ref").and_then(Node::text) else { return plain(node) };
        match state.types.get_key_value(name) {
            None => return Shape::Imported(name),
            Some((_, ty)) if ty.schema.get("$ref").is_some() => node = &ty.schema,
            Some((name, _)) => return named(state, name),
        }
    }
    Shape::Any
}

/// Whether a schema that is no reference is one of texts.
pub(super) fn is_text(node: &Node) -> bool {
    plain(node) == Shape::Single("text")
}

/// The shape of a schema that is no reference.
fn plain(node: &Node) -> Shape<'_> {
    let stated = node.get("type");
    let mut types: BTreeSet<&str> = stated.and_then(Node::text).into_iter().collect();
    types.extend(stated.map(Node::items).unwrap_or_default().iter().filter_map(Node::text));
    types.remove("null");
    let format = node.get("format").and_then(Node::text).unwrap_or_default();
    if let Some(ty) = TYPES.iter().find(|known| **known == format) {
        return Shape::Single(ty);
    }
    let types: Vec<&str> = types.into_iter().collect();
    match (types.as_slice(), format) {
        (["integer", "string"], _) => Shape::Single("int-or-string"),
        (["integer"], "int32") => Shape::Single("int32"),
        (["integer"], _) => Shape::Single("int64"),
        (["number"], _) => Shape::Single("number"),
        (["boolean"], _) => Shape::Single("boolean"),
        (["string"], _) => Shape::Single("text"),
        (["array"], _) => Shape::List,
        (["object"], _)
            if node.get("additionalProperties").is_some_and(|node| !node.entries().is_empty()) =>
        {
            Shape::Map
        }
        _ => Shape::Any,
    }
}

/// Compares what stands at one place with what stands there now.
pub(super) fn compare<'s>(cx: &mut Comparison<'s>, at: &str, (old, new): (Named<'s>, Named<'s>)) {
    let (old_shape, new_shape) = (shape(cx.old, old.node), shape(cx.new, new.node));
    let inner = |state: &'s State, side: Named<'s>| Named { node: innermost(state, side.node), ..side };
    let sides = (inner(cx.old, old), inner(cx.new, new));
    match (old_shape, new_shape) {
        (Shape::Object(old_name), Shape::Object(new_name)) => {
            map_type(cx, at, (old, new));
            cx.types(old_name, new_name);
        }
        (Shape::List, Shape::List) => {
            lists(cx, at, sides);
            keywords(cx, at, sides);
            inside(cx, &format!("{at}[*]"), "items", sides);
        }
        (Shape::Map, Shape::Map) => {
            map_type(cx, at, sides);
            keywords(cx, at, sides);
            inside(cx, &format!("{at} (keys)"), "propertyNames", sides);
            inside(cx, &format!("{at}[*]"), "additionalProperties", sides);
        }
        (old_shape, new_shape) if old_shape != new_shape => {
            let message = format!("`{}` was {}, and is {}", last(at), old_shape.word(), new_shape.word());
            let help = "keep it, and add a field of another name; or make a new version";
            let keyword = ["type", "$ref", "format"].into_iter().find(|key| new.node.get(key).is_some());
            cx.keyword(codes::TYPE, at, keyword.unwrap_or("type"), (old, new), (message, help));
        }
        _ => keywords(cx, at, sides),
    }
    rules::compare(cx, at, (old, new));
}

/// What is inside of a list or map. A side that says nothing about keys allows all.
fn inside<'s>(cx: &mut Comparison<'s>, at: &str, keyword: &str, (old, new): (Named<'s>, Named<'s>)) {
    static ANY_KEY: std::sync::LazyLock<Node> = std::sync::LazyLock::new(|| Node {
        span: crate::diagnostic::Span::whole_file(std::path::Path::new("")),
        value: crate::source::Value::Map(Vec::new()),
    });
    let side = |side: Named<'s>| match side.node.get(keyword) {
        Some(node) => Named { node, span: side.node.place(keyword) },
        None => Named { node: &ANY_KEY, span: side.span },
    };
    if keyword == "propertyNames" {
        keywords(cx, at, (side(old), side(new)));
    } else {
        compare(cx, at, (side(old), side(new)));
    }
}

/// What to do about a change of how values merge.
pub(super) const MERGE_HELP: &str = "what managers own would mean something else: keep it in this version";

fn lists<'s>(cx: &mut Comparison<'s>, at: &str, (old, new): (Named<'s>, Named<'s>)) {
    let word = |side: Named<'s>| side.node.get("x-orch-list-type").and_then(Node::text).unwrap_or("atomic");
    if word(old) != word(new) {
        let message =
            format!("the list `{}` was of the type `{}`, and is `{}`", last(at), word(old), word(new));
        cx.keyword(codes::MERGE, at, "x-orch-list-type", (old, new), (message, MERGE_HELP));
    } else if words(old.node, "x-orch-list-map-keys") != words(new.node, "x-orch-list-map-keys") {
        let message = format!("the items of `{}` are identified by other fields", last(at));
        cx.keyword(codes::MERGE, at, "x-orch-list-map-keys", (old, new), (message, MERGE_HELP));
    }
}

fn map_type<'s>(cx: &mut Comparison<'s>, at: &str, (old, new): (Named<'s>, Named<'s>)) {
    let word = |side: Named<'s>| side.node.get("x-orch-map-type").and_then(Node::text).unwrap_or("granular");
    if word(old) != word(new) {
        let message = format!("`{}` was {}, and is {}", last(at), word(old), word(new));
        cx.keyword(codes::MERGE, at, "x-orch-map-type", (old, new), (message, MERGE_HELP));
    }
}

/// The greatest values: a smaller one refuses what was good.
const UPPER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/// The least values.
const LOWER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];

/// What a text has to match; two patterns are not compared with each other.
const MATCHED: &[&str] = &["pattern", "x-orch-format", "format"];

/// Compares the keywords that say which values are good.
fn keywords<'s>(cx: &mut Comparison<'s>, at: &str, (old, new): (Named<'s>, Named<'s>)) {
    const HELP: &str = "values that were good are refused: keep it as wide as it was, or make a new version";
    let number = |side: Named<'s>, key: &str| side.node.get(key).and_then(|node| node.to_json().as_f64());
    let narrower = |cx: &mut Comparison<'s>, code, key: &str, message: String| {
        cx.keyword(code, at, key, (old, new), (message, HELP));
    };
    let name = last(at);
    for (keys, is_upper) in [(UPPER, true), (LOWER, false)] {
        for key in keys {
            let Some(is) = number(new, key) else { continue };
            // Nothing is shorter than nothing.
            let is_nothing = !is_upper && is <= 0.0 && key.starts_with("min") && *key != "minimum";
            let is_narrower = number(old, key).is_none_or(|was| if is_upper { is < was } else { is > was });
            if is_narrower && !is_nothing {
                narrower(cx, codes::BOUNDS, key, format!("`{key}` of `{name}` is {is}"));
            }
        }
    }
    let json = |side: Named<'s>, key: &str| side.node.get(key).map(Node::to_json);
    for (key, off) in [("multipleOf", None), ("uniqueItems", Some(serde_json::Value::Bool(false)))] {
        let is = json(new, key).filter(|value| Some(value) != off.as_ref());
        if is.is_some() && is != json(old, key) {
            narrower(
                cx,
                codes::BOUNDS,
                key,
                format!("`{key}` of `{name}` is {}", new.node.get(key).map(shown).unwrap_or_default()),
            );
        }
    }
    for key in MATCHED {
        let text = |side: Named<'s>| side.node.get(key).and_then(Node::text).unwrap_or_default();
        let is_only_wider = *key == "format" && is_wider(text(old), text(new));
        if let Some(value) = new.node.get(key)
            && json(old, key) != json(new, key)
            && !is_only_wider
        {
            narrower(cx, codes::FORMAT, key, format!("`{key}` of `{name}` is {}", shown(value)));
        }
    }
    if new.node.get("enum").is_none() {
        return;
    }
    if old.node.get("enum").is_none() {
        narrower(cx, codes::VALUES, "enum", format!("`{name}` was any text, and is one of a few"));
    }
    for lost in words(old.node, "enum").difference(&words(new.node, "enum")) {
        narrower(cx, codes::VALUES, "enum", format!("`{lost}` is no value of `{name}` any more"));
    }
}
