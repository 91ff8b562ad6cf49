//! The rules that keywords state, applied to constants of schema files.

use std::collections::BTreeMap;

use orch_runtime::{
    field_error::Validation,
    path::Path,
    rule::{self, Number, Pattern},
};

use super::errors;
use crate::{
    model::Rule,
    source::{Node, Value},
};

/// Applies a rule to a value; nothing where the value is of another type, which is reported elsewhere.
pub(super) fn apply(rule: Rule<'_>, value: &Value, is_double: bool, cx: &mut Validation<'_>) {
    match value {
        Value::Integer(value) if !is_double => number(rule, *value, |limit| limit as i64, cx),
        Value::Integer(value) => number(rule, *value as f64, |limit| limit, cx),
        Value::Number(value) => number(rule, *value, |limit| limit, cx),
        Value::String(value) => text(rule, value, cx),
        Value::List(items) => match rule {
            Rule::MinItems(limit) => rule::min_items(items, limit as usize, &Path::ROOT, cx),
            Rule::MaxItems(limit) => rule::max_items(items, limit as usize, &Path::ROOT, cx),
            _ => {}
        },
        Value::Map(entries) => {
            let map: BTreeMap<String, &Node> =
                entries.iter().map(|(key, node)| (key.value.clone(), node)).collect();
            match rule {
                Rule::MinProperties(limit) => rule::min_properties(&map, limit as usize, &Path::ROOT, cx),
                Rule::MaxProperties(limit) => rule::max_properties(&map, limit as usize, &Path::ROOT, cx),
                _ => {}
            }
        }
        Value::Null | Value::Boolean(_) | Value::Reported => {}
    }
}

fn number<N: Number>(rule: Rule<'_>, value: N, limit: impl Fn(f64) -> N, cx: &mut Validation<'_>) {
    let at = &Path::ROOT;
    match rule {
        Rule::Between(least, greatest) => rule::between(value, limit(least), limit(greatest), at, cx),
        Rule::Minimum(least) => rule::minimum(value, limit(least), at, cx),
        Rule::ExclusiveMinimum(bound) => rule::exclusive_minimum(value, limit(bound), at, cx),
        Rule::Maximum(greatest) => rule::maximum(value, limit(greatest), at, cx),
        Rule::ExclusiveMaximum(bound) => rule::exclusive_maximum(value, limit(bound), at, cx),
        // Any other step is an error of its own.
        Rule::MultipleOf(step) if step > 0.0 => rule::multiple_of(value, limit(step), at, cx),
        _ => {}
    }
}

fn text(rule: Rule<'_>, value: &str, cx: &mut Validation<'_>) {
    let at = &Path::ROOT;
    match rule {
        Rule::OneOf(values) => {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            rule::one_of(value, &values, at, cx);
        }
        Rule::Format(format) => rule::format(value, format.constraint().1, at, cx),
        Rule::Pattern(pattern) => {
            // A pattern that does not compile is reported where it is written.
            if let Ok(pattern) = Pattern::compile(pattern.to_owned()) {
                rule::pattern(value, &pattern, at, cx);
            }
        }
        Rule::MinLength(limit) => rule::min_length(value, limit as usize, at, cx),
        Rule::MaxLength(limit) => rule::max_length(value, limit as usize, at, cx),
        _ => {}
    }
}

/// The items that repeat an earlier one, with what the runtime says; items are given as the rules compare
/// them.
pub(super) fn repetitions(shown: &[String]) -> Vec<(usize, String)> {
    let errors = errors(|cx| rule::unique_keys(shown, |text| text, Clone::clone, &Path::ROOT, cx));
    let index = |field: &str| field.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    errors.into_iter().filter_map(|error| Some((index(&error.field)?, error.body))).collect()
}
