//! Removes from an answer what differs from server to server.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

const VOLATILE_KEYS: &[&str] = &[
    "auditID",
    "continue",
    "deletionTimestamp",
    "lastTransitionTime",
    "observedGeneration",
    "resourceVersion",
    "selfLink",
    "time",
    "uid",
];

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("the pattern is valid")
});
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z")
        .expect("the pattern is valid")
});

/// The age of an object in a cell of a table: how long ago that was depends on the machine.
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[0-9]+s$").expect("the pattern is valid"));

/// What is not compared in one step.
pub struct Ignored {
    pointers: Vec<Vec<String>>,
    /// Also leave out the records of field ownership.
    pub managed_fields: bool,
}

impl Ignored {
    /// Reads the pointers of a step.
    pub fn new(pointers: &[String]) -> Self {
        let pointers =
            pointers.iter().map(|pointer| pointer.split('/').skip(1).map(str::to_owned).collect()).collect();
        Ignored { pointers, managed_fields: false }
    }

    fn holds(&self, path: &[String]) -> bool {
        let matches = |pointer: &Vec<String>| {
            pointer.len() == path.len()
                && pointer.iter().zip(path).all(|(want, have)| want == "*" || want == have)
        };
        let owned_by = self.managed_fields
            && matches!(path, [.., metadata, last] if metadata == "metadata" && last == "managedFields");
        owned_by || self.pointers.iter().any(matches)
    }
}

/// The value with volatile parts replaced by their form and ignored parts left out.
pub fn scrub(value: &Value, ignored: &Ignored) -> Value {
    scrub_at(value, &mut Vec::new(), ignored).unwrap_or(Value::Null)
}

/// `None` for what is ignored.
fn scrub_at(value: &Value, path: &mut Vec<String>, ignored: &Ignored) -> Option<Value> {
    if ignored.holds(path) {
        return None;
    }
    Some(match value {
        Value::Object(entries) => {
            let mut kept = Map::new();
            for (key, value) in entries {
                // Each server has its own descriptions.
                if key == "description" && value.is_string() {
                    continue;
                }
                if VOLATILE_KEYS.contains(&key.as_str()) && is_volatile(value) {
                    kept.insert(key.clone(), Value::String(format!("<{key}>")));
                    continue;
                }
                path.push(key.clone());
                if let Some(value) = scrub_at(value, path, ignored) {
                    kept.insert(key.clone(), value);
                }
                path.pop();
            }
            Value::Object(kept)
        }
        Value::Array(items) => {
            let mut kept = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                path.push(index.to_string());
                // The place of an ignored item still counts.
                kept.push(scrub_at(item, path, ignored).unwrap_or(Value::Null));
                path.pop();
            }
            Value::Array(kept)
        }
        Value::String(text) if AGE.is_match(text) && path.iter().any(|segment| segment == "cells") => {
            Value::String("<age>".to_owned())
        }
        Value::String(text) => Value::String(scrub_text(text)),
        other => other.clone(),
    })
}

fn scrub_text(text: &str) -> String {
    TIME.replace_all(&UID.replace_all(text, "<uid>"), "<time>").into_owned()
}

fn is_volatile(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => !number.is_f64(),
        Value::Bool(_) => true,
        _ => false,
    }
}

/// The value with every list sorted, for steps in which order has no meaning.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Ignored, scrub};

    #[test]
    fn volatile_values_keep_their_form_and_ignored_ones_go() {
        let ignored = Ignored::new(&["/items/*/data".to_owned()]);
        let value = json!({
            "items": [{"data": 1, "metadata": {"uid": "a", "name": "n", "resourceVersion": ""}}],
            "message": "b9c2ae2f-0d51-4bba-8d6e-6a8f5f0d3a0e at 2026-11-20T15:14:13.5Z",
            "description": "prose",
        });
        let scrubbed = json!({
            "items": [{"metadata": {"uid": "<uid>", "name": "n", "resourceVersion": ""}}],
            "message": "<uid> at <time>",
        });
        assert_eq!(scrub(&value, &ignored), scrubbed);
    }
}
