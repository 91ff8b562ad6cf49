//! One field of both sides: what belongs to the field, not to its value.

use super::{
    codes,
    comparison::{Comparison, Named, last, shown},
    gates,
    state::EMPTY_TEXTS,
    values,
};
use crate::source::Node;

/// What must stay as it is, with the remedy.
const FIXED: &[(&str, &str, &str)] = &[
    ("x-orch-tag", codes::TAG, "protobuf clients find the field by it: keep the tag"),
    ("x-orch-inline-tag", codes::TAG, "protobuf clients find the field by it: keep the tag"),
    ("default", codes::DEFAULT, DEFAULT_HELP),
    ("x-orch-default", codes::DEFAULT, DEFAULT_HELP),
    ("x-orch-patch-strategy", codes::PATCH, PATCH_HELP),
    ("x-orch-patch-merge-key", codes::PATCH, PATCH_HELP),
    ("x-orch-omit-empty", codes::WRITTEN, WRITTEN_HELP),
    ("x-orch-write-only", codes::WRITTEN, WRITTEN_HELP),
];

const DEFAULT_HELP: &str =
    "objects that leave it out would mean something else: keep it, or make a new version";
const PATCH_HELP: &str = "patches that clients make would do something else: keep it in this version";
const WRITTEN_HELP: &str = "clients read something else: keep it in this version";

/// The name of the gate of a field.
pub(super) fn gate(field: &Node) -> Option<&str> {
    let gate = field.get("x-orch-feature-gate")?;
    gate.text().or_else(|| gate.get("name")?.text())
}

/// Compares a field with the same field now.
pub(super) fn compare<'s>(cx: &mut Comparison<'s>, at: &str, (old, new): (Named<'s>, Named<'s>)) {
    for (keyword, code, help) in FIXED {
        let (was, is) = (old.node.get(keyword), new.node.get(keyword));
        if was.map(Node::to_json) != is.map(Node::to_json) {
            let now = is.map_or_else(|| "gone".to_owned(), shown);
            let message = format!("`{keyword}` of `{}` is {now}", last(at));
            cx.keyword(code, at, keyword, (old, new), (message, help));
        }
    }
    immutable(cx, at, (old, new));
    null(cx, at, (old, new));
    gated(cx, at, (old, new));
    values::compare(cx, at, (old, new));
}

fn immutable<'s>(cx: &mut Comparison<'s>, at: &str, sides: (Named<'s>, Named<'s>)) {
    const KEYWORD: &str = "x-orch-immutable";
    // From free to fixed.
    let strictness = |side: Named<'s>| match side.node.get(KEYWORD).map(Node::to_json) {
        Some(serde_json::Value::Bool(true)) => 2,
        Some(serde_json::Value::String(_)) => 1,
        _ => 0,
    };
    if strictness(sides.1) > strictness(sides.0) {
        let message = format!("`{}` could be changed, and cannot any more", last(at));
        let help = "clients that change it are refused: keep it as it was in this version";
        cx.keyword(codes::IMMUTABLE, at, KEYWORD, sides, (message, help));
    }
}

fn null<'s>(cx: &mut Comparison<'s>, at: &str, sides: (Named<'s>, Named<'s>)) {
    let is_nullable = |side: Named<'s>| {
        let types = side.node.get("type").map(Node::items).unwrap_or_default();
        let flag = side.node.get("nullable").and_then(|node| node.to_json().as_bool());
        flag == Some(true) || types.iter().any(|word| word.text() == Some("null"))
    };
    if is_nullable(sides.0) && !is_nullable(sides.1) {
        let message = format!("null was a value of `{}`, and is none", last(at));
        cx.keyword(
            codes::NULL,
            at,
            "nullable",
            sides,
            (message, "clients may write it: keep it in this version"),
        );
    }
}

/// A field that anybody could set, and that is dropped now.
fn gated<'s>(cx: &mut Comparison<'s>, at: &str, sides: (Named<'s>, Named<'s>)) {
    let Some(name) = gate(sides.1.node).filter(|name| gate(sides.0.node) != Some(name)) else { return };
    let described = cx.new_gates.get(name).copied().flatten();
    if !gates::is_on(described) {
        let message = format!("`{}` is behind the gate `{name}`, which is off", last(at));
        let help = "what clients write is dropped without a word: gates are for new fields, or on by default";
        cx.keyword(codes::GATED, at, "x-orch-feature-gate", sides, (message, help));
    }
}

/// A required text that could be empty, and cannot any more. Rules of the new object that say when it is
/// required are compared with the other rules.
pub(super) fn empty_text<'s>(
    cx: &mut Comparison<'s>,
    at: &str,
    field: &str,
    owners: (Named<'s>, Named<'s>),
    sides: (Named<'s>, Named<'s>),
) {
    let could = accepts_empty(owners.0, values::innermost(cx.old, sides.0.node));
    let can = accepts_empty(owners.1, values::innermost(cx.new, sides.1.node));
    if could && !can && !has_rule(owners.1.node, field) {
        let message = format!("`{}` could be empty, and cannot any more", last(at));
        let help = "keep `minLength: 0`, or `x-orch-empty-texts` of the type or file";
        cx.keyword(codes::BOUNDS, at, "minLength", sides, (message, help));
    }
}

/// Whether a required field is a text that its schema, or that of its object, lets be empty.
fn accepts_empty(owner: Named<'_>, field: &Node) -> bool {
    let least = field.get("minLength").and_then(|least| least.to_json().as_i64());
    let owner_accepts = || owner.node.get(EMPTY_TEXTS).is_some() && values::is_text(field);
    least.map_or_else(owner_accepts, |least| least == 0)
}

/// Whether a rule of an object says when a field is required.
fn has_rule(object: &Node, field: &str) -> bool {
    let rules = object.get("x-orch-rules").map(Node::items).unwrap_or_default();
    rules.iter().any(|rule| {
        let path = rule.get("field").and_then(Node::text);
        rule.get("required").is_some() && path.and_then(|path| path.strip_prefix('.')) == Some(field)
    })
}
