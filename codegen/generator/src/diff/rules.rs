//! Rules beside the keywords: what is added or said in another way may refuse what was good.

use super::{
    codes,
    comparison::{Comparison, Finding, Named, last, shown},
};
use crate::source::{Node, Value};

/// Lists of rules. A rule counts without the words in which it is told.
const LISTS: &[&str] = &["x-orch-rules", "x-orch-validations"];

/// The words of a rule.
const WORDS: &[&str] = &[
    "message",
    "messageExpression",
    "reason",
    "fieldPath",
    "shows",
    "showsExpression",
    "first",
    "last",
    "alone",
    "stop",
    "once",
    "anew",
];

/// One rule, or the name of a function.
const SINGLE: &[&str] =
    &["x-orch-union", "x-orch-validator", "x-orch-first-validator", "x-orch-update-validator"];

/// What fills in several fields.
const DEFAULTS: &[&str] = &["x-orch-defaulter", "x-orch-defaults", "x-orch-round-up"];

/// Keywords that other parts compare, or that clients do not notice.
const KNOWN: &[&str] = &[
    "$ref",
    "type",
    "format",
    "nullable",
    "default",
    "enum",
    "required",
    "properties",
    "additionalProperties",
    "propertyNames",
    "items",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "title",
    "description",
    "example",
    "examples",
    "deprecated",
    "x-orch-resource",
    "x-orch-tag",
    "x-orch-inline-tag",
    "x-orch-list-type",
    "x-orch-list-map-keys",
    "x-orch-map-type",
    "x-orch-patch-strategy",
    "x-orch-patch-merge-key",
    "x-orch-default",
    "x-orch-immutable",
    "x-orch-write-only",
    "x-orch-secret",
    "x-orch-feature-gate",
    "x-orch-deprecated",
    "x-orch-errors",
    "x-orch-order",
    "x-orch-error-order",
    "x-orch-told-at",
    "x-orch-format",
    "x-orch-omit-empty",
    "x-orch-empty-texts",
];

const HELP: &str = "it may refuse what was good: leave it out, make it a warning, or make a new version";

/// Compares the rules at one place, and keywords that nothing else compares.
pub(super) fn compare<'s>(cx: &mut Comparison<'s>, at: &str, (old, new): (Named<'s>, Named<'s>)) {
    for keyword in LISTS {
        let list = |side: Named<'s>| side.node.get(keyword).map(Node::items).unwrap_or_default();
        let before: Vec<_> = list(old).iter().filter_map(refusing).collect();
        for rule in list(new) {
            if refusing(rule).is_some_and(|rule| !before.contains(&rule) && !before.contains(&strict(&rule)))
            {
                let message = format!("`{}` has a new rule: {}", last(at), shown(rule));
                let (new, old) = (rule.span.clone(), old.span.clone());
                let (at, help, was) = (at.to_owned(), HELP.to_owned(), "it was not there".to_owned());
                cx.found.push(Finding { code: codes::RULE, at, message, help, new, old, was });
            }
        }
    }
    for keyword in SINGLE {
        let json = |side: Named<'s>| side.node.get(keyword).map(Node::to_json);
        if json(new).is_some() && json(old) != json(new) {
            let message = format!("`{keyword}` of `{}` is added or changed", last(at));
            cx.keyword(codes::RULE, at, keyword, (old, new), (message, HELP));
        }
    }
    others(cx, at, (old, new));
}

/// A rule that refuses values, without its words; none where it only warns.
fn refusing(rule: &Node) -> Option<serde_json::Value> {
    let is_warning = rule.get("severity").and_then(Node::text) == Some("warning");
    let mut rule = rule.clone();
    if let Value::Map(entries) = &mut rule.value {
        entries.retain(|(key, _)| !WORDS.contains(&key.value.as_str()) && key.value != "severity");
    }
    (!is_warning).then(|| rule.to_json())
}

/// The rule as it is for new objects: one that accepts unchanged values refuses less than one that does not.
fn strict(rule: &serde_json::Value) -> serde_json::Value {
    let mut rule = rule.clone();
    if let Some(rule) = rule.as_object_mut() {
        rule.remove("unchanged");
    }
    rule
}

/// A keyword of which it is not known what its change means is taken to break.
fn others<'s>(cx: &mut Comparison<'s>, at: &str, (old, new): (Named<'s>, Named<'s>)) {
    let is_other = |key: &str| {
        !KNOWN.contains(&key) && !LISTS.contains(&key) && !SINGLE.contains(&key) && !DEFAULTS.contains(&key)
    };
    let mut keys: Vec<&str> = [old, new]
        .iter()
        .flat_map(|side| side.node.entries())
        .map(|(key, _)| key.value.as_str())
        .filter(|key| is_other(key))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    for (keyword, code) in keys
        .into_iter()
        .map(|keyword| (keyword, codes::KEYWORD))
        .chain(DEFAULTS.iter().map(|keyword| (*keyword, codes::DEFAULT)))
    {
        let json = |side: Named<'s>| side.node.get(keyword).map(Node::to_json);
        if json(old) != json(new) {
            let message = format!("`{keyword}` of `{}` changed", last(at));
            let help =
                "look at what it does to objects and clients, and allow it where it does nothing to them";
            cx.keyword(code, at, keyword, (old, new), (message, help));
        }
    }
}
