//! Compiled rules report what the interpreter finds, for random rules and random values. Values are the same
//! in each run: `ORCH_TEST_SEED=8 cargo test -p orch-agreement` makes others. The build script makes the
//! rules.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::collections::BTreeMap;

use orch_agreement::{
    SCHEMA,
    agreement::v1::{Random0, Random1, Random2, Random3, Subject},
    dice::Dice,
    schemas::SCHEMAS,
};
use orch_codegen::{
    Inputs,
    expression::{escape, scope::Scope},
    load,
    model::{ListSemantics, Model, ObjectType, Resolved, Shape, TypeId, TypeKind, Usage},
};
use orch_expression::{
    fault::Fault,
    program::Program,
    types::Type,
    value::{Key, List, ListKind, Value},
};
use orch_runtime::{
    field_error::Validation, object::Validate, path::Path, scalar::Time, vocabulary::EXAMPLE,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value as Json, json};

const VALUES: usize = 300;

/// What values are made from, unless the variable says otherwise.
const SEED: u64 = 7;

/// A rule, and what is known of it.
struct Written {
    rule: Program,
    message: Option<Program>,
    is_about_change: bool,
    tells_old: bool,
}

/// How often something went wrong in some way.
type Seen = BTreeMap<String, usize>;

#[test]
fn compiled_and_interpreted_rules_agree() {
    let loaded = load(&Inputs { schema: std::path::Path::new(SCHEMA).into(), imports: Vec::new() });
    let number = std::env::var("ORCH_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED);
    println!("ORCH_TEST_SEED={number}");
    let (mut dice, mut seen) = (Dice::new(number), Seen::new());
    agree::<Subject>("Subject", &loaded.model, &mut dice, &mut seen);
    agree::<Random0>("Random0", &loaded.model, &mut dice, &mut seen);
    agree::<Random1>("Random1", &loaded.model, &mut dice, &mut seen);
    agree::<Random2>("Random2", &loaded.model, &mut dice, &mut seen);
    agree::<Random3>("Random3", &loaded.model, &mut dice, &mut seen);
    assert_eq!(SCHEMAS, 4, "each random type is asked");
    for class in ["false", "no such key", "integer overflow", "division by zero", "index out of bounds"] {
        // Others may go wrong less often.
        let is_seen = seen.get(class).is_some_and(|count| *count > 10);
        assert!(is_seen || number != SEED, "{class}: {seen:?}");
    }
}

fn agree<T: Validate + Serialize + DeserializeOwned + PartialEq>(
    name: &str,
    model: &Model,
    dice: &mut Dice,
    seen: &mut Seen,
) {
    let position = model.types.iter().position(|ty| ty.name == name).unwrap();
    let ty = &model.types[position];
    let TypeKind::Object(object) = &ty.kind else { panic!("no object") };
    let of = Scope::new(model).object(TypeId(position), object).unwrap();
    let environment = Scope::new(model).environment(&of, false);
    let compile = |text: &str, of: &Type| Program::compile(text, &environment, of).unwrap();
    let rules: Vec<Written> = ty
        .validations
        .iter()
        .map(|rule| Written {
            rule: compile(&rule.rule.text, &Type::Bool),
            message: rule.message_expression.as_ref().map(|message| compile(&message.text, &Type::Text)),
            is_about_change: rule.is_about_change(),
            tells_old: rule.tells_old(),
        })
        .collect();
    for _ in 0..VALUES {
        let (new, old): (T, T) = (subject(dice, object), subject(dice, object));
        let old = (dice.below(3) > 0).then_some(old);
        let compiled = compiled(&new, old.as_ref());
        let interpreted = interpreted(model, position, &rules, &new, old.as_ref());
        for (one, (other, number)) in compiled.iter().zip(&interpreted) {
            assert_eq!(one, other, "{name} {}\n{}", shown(&new), rules[*number].rule.text());
        }
        assert_eq!(compiled.len(), interpreted.len(), "{name} {}", shown(&new));
        for (error, _) in interpreted {
            let class = error.split(" evaluating rule").next().unwrap_or_default();
            let class = if error.contains("evaluating") { class } else { "false" };
            *seen.entry(class.split(':').nth(2).unwrap_or("false").trim().to_owned()).or_default() += 1;
        }
    }
}

fn shown<T: Serialize>(subject: &T) -> String {
    serde_json::to_string(subject).unwrap()
}

fn compiled<T: Validate>(new: &T, old: Option<&T>) -> Vec<String> {
    let mut cx = Validation::new(&EXAMPLE);
    new.validate_expressions(old, &Path::ROOT, &mut cx);
    cx.into_errors().iter().map(ToString::to_string).collect()
}

/// The errors, each with the number of its rule.
fn interpreted<T: Serialize + PartialEq>(
    model: &Model,
    position: usize,
    rules: &[Written],
    new: &T,
    old: Option<&T>,
) -> Vec<(String, usize)> {
    let value = |subject: &T| object(model, position, &serde_json::to_value(subject).unwrap());
    let mut variables = vec![("self", value(new))];
    variables.extend(old.map(|old| ("oldSelf", value(old))));
    let mut errors = Vec::new();
    for (number, written) in rules.iter().enumerate() {
        let is_about_change = written.is_about_change;
        if is_about_change && old.is_none() || !is_about_change && old == Some(new) {
            continue;
        }
        let found = match written.rule.evaluate(&variables) {
            Ok(Value::Bool(true)) => continue,
            Ok(_) => {
                let knows_old = old.is_some() || !written.tells_old;
                let made = written.message.as_ref().filter(|_| knows_old);
                let made = made.and_then(|message| told(message.evaluate(&variables).ok()?));
                made.unwrap_or_else(|| format!("r{number}"))
            }
            Err(error) => match error.problem {
                orch_expression::error::Problem::Evaluation(Fault::NoSuchOverload(_)) => format!(
                    "'no such overload': call arguments did not match a supported operator, function or macro \
                     signature for rule: r{number}"
                ),
                problem => format!("{problem} evaluating rule: r{number}"),
            },
        };
        errors.push((format!("Invalid value: \"object\": {found}"), number));
    }
    errors
}

/// A message that can be told: one line that is not empty.
fn told(made: Value) -> Option<String> {
    let Value::Text(text) = made else { return None };
    let text = text.trim();
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}

/// An object of the schema as a value.
fn object(model: &Model, position: usize, json: &Json) -> Value {
    let TypeKind::Object(object) = &model.types[position].kind else { panic!("no object") };
    let fields = object.fields.iter().filter_map(|field| {
        let json = json.get(&field.name)?;
        Some((Key::from(escape::field(&field.name)?.as_str()), value(model, &field.usage, json)))
    });
    Value::map(fields.collect())
}

fn value(model: &Model, usage: &Usage, json: &Json) -> Value {
    if json.is_null() {
        return Value::Null;
    }
    match model.resolve(usage) {
        Resolved::Object(id, _) => object(model, id.0, json),
        Resolved::List(item, semantics) => {
            let items = json.as_array().unwrap().iter().map(|json| value(model, item, json)).collect();
            let kind = match semantics {
                ListSemantics::Atomic => ListKind::Plain,
                ListSemantics::Set => ListKind::Set,
                ListSemantics::Map(_) => ListKind::Keyed(&["name"]),
            };
            Value::from(List::new(items, kind))
        }
        Resolved::Map { value: item, .. } => {
            let entries = json.as_object().unwrap().iter();
            Value::map(
                entries.map(|(key, json)| (Key::from(key.as_str()), value(model, item, json))).collect(),
            )
        }
        Resolved::Scalar(Shape::Double) => Value::Double(json.as_f64().unwrap()),
        Resolved::Scalar(Shape::Quantity) => {
            Value::from(json.as_str().unwrap().parse::<orch_runtime::scalar::Quantity>().unwrap())
        }
        Resolved::Scalar(Shape::Time) => {
            let time: Time = serde_json::from_value(json.clone()).unwrap();
            orch_runtime::expression::time(time)
        }
        Resolved::Scalar(Shape::Bytes) => {
            let bytes: orch_runtime::scalar::ByteString = serde_json::from_value(json.clone()).unwrap();
            Value::from(bytes.as_ref())
        }
        _ => Value::from_json(json),
    }
}

/// A random value; optional fields are often absent.
fn subject<T: DeserializeOwned>(dice: &mut Dice, object: &ObjectType) -> T {
    let mut tree = json!({});
    for field in &object.fields {
        let made = match field.name.as_str() {
            "least" | "most" | "maybe" => number(dice),
            "nothing" => nullable(dice, number),
            "whole" | "share" => share(dice),
            "flag" | "maybeFlag" => json!(dice.below(2) == 0),
            "port" if dice.below(2) == 0 => number(dice),
            "title" | "must" | "note" | "port" => text(dice),
            "silence" => nullable(dice, text),
            "mode" => mode(dice),
            "modes" => many(dice, mode),
            "numbers" => many(dice, number),
            "texts" => many(dice, text),
            "tags" => json!({ dice.one(&["a", "b", ""]): text(dice), dice.one(&["a", "c"]): text(dice) }),
            "parts" => many(dice, part),
            "part" => part(dice),
            "amount" => json!(dice.one(&["1", "1Gi", "300m", "-5k", "0"])),
            "when" => json!(dice.one(&["2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"])),
            "about" => json!({"name": text(dice), "annotations": {dice.one(&["a", "b"]): text(dice)}}),
            "data" => json!("AAEC"),
            other => panic!("no values are known for {other}"),
        };
        if field.required || dice.below(3) > 0 {
            tree[&field.name] = made;
        }
    }
    serde_json::from_value(tree.clone()).unwrap_or_else(|error| panic!("{error}: {tree}"))
}

fn nullable(dice: &mut Dice, make: fn(&mut Dice) -> Json) -> Json {
    if dice.below(2) == 0 { Json::Null } else { make(dice) }
}

fn mode(dice: &mut Dice) -> Json {
    json!(dice.one(&["a", "b", "Slow"]))
}

fn number(dice: &mut Dice) -> Json {
    json!(match dice.below(8) {
        0 => i64::from(i32::MAX),
        1 => i64::from(i32::MIN),
        other => other as i64 - 3,
    })
}

fn share(dice: &mut Dice) -> Json {
    json!([0.0, 0.5, -1.0, 3.0, 1e19, -0.0][dice.below(6)])
}

fn text(dice: &mut Dice) -> Json {
    json!(dice.one(&["", "a", "b", "ab", "é", "A"]))
}

fn many(dice: &mut Dice, make: fn(&mut Dice) -> Json) -> Json {
    (0..dice.below(4)).map(|_| make(dice)).collect()
}

fn part(dice: &mut Dice) -> Json {
    if dice.below(2) == 0 {
        json!({"name": text(dice)})
    } else {
        json!({"name": text(dice), "weight": number(dice)})
    }
}
