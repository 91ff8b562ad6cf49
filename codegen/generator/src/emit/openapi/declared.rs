//! Rules about the members of an object, which neither OpenAPI nor its extensions have words for:
//! `x-orch-rules`, as the schema files write them. They say what must hold, and not how a broken one is told:
//! documents are to stay small. Only expressions have their messages, because they are hard to read. A rule
//! that is a function of a crate says nothing to clients and is left out.

use openapiv3::SchemaData;
use serde_json::{Map, Value, json};

use crate::model::{
    Check, Condition, Constant, Constraints, Demand, Expression, Immutability, Moment, ObjectType, Step,
    StringFormat, Test,
};

/// Puts the rules of an object into its schema.
pub fn publish(object: &ObjectType, data: &mut SchemaData) {
    let rules: Vec<Value> = object.checks.iter().filter_map(rule).collect();
    if !rules.is_empty() {
        data.extensions.insert("x-orch-rules".to_owned(), rules.into());
    }
}

fn rule(check: &Check) -> Option<Value> {
    let mut said = demand(check)?;
    if !check.field.is_empty() || check.of_old {
        let before = if check.of_old { "oldSelf" } else { "" };
        said.insert("field".to_owned(), format!("{before}{}", Step::text(&check.field)).into());
    }
    let when = match &check.expressions.when {
        Some(when) => json!(when.text),
        None => conditions(&check.when),
    };
    let moment = match check.moment {
        Moment::Write => Value::Null,
        Moment::Change => json!("change"),
        Moment::Always => json!("always"),
    };
    let flag = |name, holds: bool, word: Value| (name, if holds { word } else { Value::Null });
    let is_expression = matches!(check.demand, Demand::Expression);
    let message = check.words.message.as_ref().filter(|message| is_expression && !message.is_empty());
    let others = [
        ("when", when),
        ("on", moment),
        ("within", path(&check.within)),
        ("of", text(check.expressions.of.as_ref())),
        ("where", text(check.expressions.of_items.as_ref())),
        flag("unchanged", check.accepts_unchanged, json!("accepted")),
        flag("severity", check.words.is_warning, json!("warning")),
        ("message", json!(message)),
    ];
    let others = others.into_iter().filter(|(_, value)| !value.is_null());
    said.extend(others.map(|(name, value)| (name.to_owned(), value)));
    Some(Value::Object(said))
}

fn demand(check: &Check) -> Option<Map<String, Value>> {
    let keyword = check.demand.keyword();
    let demanded = match &check.demand {
        Demand::Function(_) => return None,
        Demand::Value(constraints, format) => return Some(of_value(constraints, *format)),
        Demand::Required | Demand::Forbidden | Demand::Ignored | Demand::Immutable(Immutability::Always) => {
            json!(true)
        }
        Demand::Equals(value) => json!(value),
        Demand::Expression => text(check.expressions.rule.as_ref()),
        Demand::Unique { others, .. } => paths(others),
        Demand::DiffersFrom(other) => path(other),
        Demand::RefersTo { paths, in_old, .. } => {
            let before = if *in_old { "oldSelf" } else { "" };
            let texts: Vec<String> =
                paths.iter().map(|path| format!("{before}{}", Step::text(path))).collect();
            // One that has alternatives is written as one path.
            if let [only] = &texts[..] { json!(only) } else { json!(texts) }
        }
        Demand::Immutable(Immutability::OnceSet) => json!("once-set"),
        Demand::AtLeastOne(members) | Demand::AtMostOne { members, .. } => paths(members),
    };
    let mut said = Map::from_iter([(keyword.to_owned(), demanded)]);
    if !check.demand.by().is_empty() {
        said.insert("by".to_owned(), paths(check.demand.by()));
    }
    if matches!(&check.demand, Demand::RefersTo { is_correct: true, .. }) {
        said.insert("correct".to_owned(), json!(true));
    }
    if !check.exceptions.is_empty() {
        said.insert("except".to_owned(), exceptions(check));
    }
    Some(said)
}

/// What may change, of a value that may not.
fn exceptions(check: &Check) -> Value {
    let expressions = check.expressions.exceptions.iter().map(Option::as_ref);
    let all = check.exceptions.iter().zip(expressions.chain(std::iter::repeat(None)));
    let said = all.map(|(exception, expression)| {
        let field = path(&exception.field);
        match (expression, exception.when.is_empty()) {
            (Some(when), _) => json!({"field": field, "when": when.text}),
            (None, false) => json!({"field": field, "when": conditions(&exception.when)}),
            (None, true) => field,
        }
    });
    said.collect()
}

/// What OpenAPI's own keywords demand.
fn of_value(constraints: &Constraints, format: Option<StringFormat>) -> Map<String, Value> {
    let values = &constraints.enum_values;
    let own = constraints.format_fn.as_ref().map(|format| json!({"fn": format.function}));
    let all = [
        ("enum", if values.is_empty() { Value::Null } else { json!(values) }),
        ("format", json!(format.map(StringFormat::word))),
        ("x-orch-format", json!(own)),
        ("pattern", json!(constraints.pattern)),
        ("minimum", number(constraints.minimum)),
        ("maximum", number(constraints.maximum)),
        ("minLength", json!(constraints.min_length)),
        ("maxLength", json!(constraints.max_length)),
        ("minItems", json!(constraints.min_items)),
        ("maxItems", json!(constraints.max_items)),
    ];
    let given = all.into_iter().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A limit as it is written: `1`, not `1.0`.
fn number(limit: Option<f64>) -> Value {
    limit.map_or(Value::Null, |limit| {
        // Beyond that not all whole numbers are exact.
        let is_whole = limit.fract() == 0.0 && limit.abs() < 9e15;
        if is_whole { json!(limit as i64) } else { json!(limit) }
    })
}

fn conditions(when: &[Condition]) -> Value {
    if when.is_empty() {
        return Value::Null;
    }
    when.iter().map(|condition| (Step::text(&condition.path), test(&condition.test))).collect()
}

fn test(test: &Test) -> Value {
    match test {
        Test::OneOf(values) => constants(values),
        Test::NoneOf(values) => json!({"not": constants(values)}),
        Test::Given(given) => json!({"given": given}),
        Test::Matches(pattern) => json!({"matches": pattern}),
        Test::Changed(changed) => json!({"changed": changed}),
        Test::Between(least, most) => {
            let bounds = [("least", least), ("most", most)];
            let given = bounds.into_iter().filter_map(|(name, bound)| Some((name.to_owned(), (*bound)?)));
            given.map(|(name, bound)| (name, json!(bound))).collect()
        }
    }
}

/// One constant, or a list of them.
fn constants(values: &[Constant]) -> Value {
    let constant = |value: &Constant| match value {
        Constant::Boolean(value) => json!(value),
        Constant::Integer(value) => json!(value),
        Constant::Text(value) => json!(value),
    };
    if let [only] = values { constant(only) } else { values.iter().map(constant).collect() }
}

fn text(expression: Option<&Expression>) -> Value {
    json!(expression.map(|expression| &expression.text))
}

/// A path; null where it is empty.
fn path(steps: &[Step]) -> Value {
    if steps.is_empty() { Value::Null } else { json!(Step::text(steps)) }
}

fn paths(all: &[Vec<Step>]) -> Value {
    all.iter().map(|steps| json!(Step::text(steps))).collect()
}
