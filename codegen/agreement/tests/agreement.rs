//! Compiled rules report what the interpreter finds, for random rules and random values.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::collections::BTreeMap;

use orch_agreement::{SCHEMA, agreement::v1::Subject, dice::Dice};
use orch_codegen::{
    Inputs,
    expression::{escape, scope::Scope},
    load,
    model::{ListSemantics, Model, Resolved, Shape, TypeKind, Usage},
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
use serde_json::{Value as Json, json};

const VALUES: usize = 300;

#[test]
fn compiled_and_interpreted_rules_agree() {
    let loaded = load(&Inputs { schema: std::path::Path::new(SCHEMA).into(), imports: Vec::new() });
    let model = &loaded.model;
    let position = model.types.iter().position(|ty| ty.name == "Subject").unwrap();
    let ty = &model.types[position];
    let TypeKind::Object(object) = &ty.kind else { panic!("no object") };
    let of = Scope::new(model).object(orch_codegen::model::TypeId(position), object).unwrap();
    let environment = Scope::new(model).environment(&of, false);
    let programs: Vec<(Program, bool)> = ty
        .validations
        .iter()
        .map(|rule| (Program::compile(&rule.rule.text, &environment, &Type::Bool).unwrap(), rule.uses_old()))
        .collect();
    let mut dice = Dice::new(7);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..VALUES {
        let (new, old) = (subject(&mut dice), subject(&mut dice));
        let old = (dice.below(3) > 0).then_some(old);
        let compiled = compiled(&new, old.as_ref());
        let interpreted = interpreted(model, position, &programs, &new, old.as_ref());
        for (one, other) in compiled.iter().zip(&interpreted) {
            assert_eq!(one, other, "{}\n{}", shown(&new), rule_of(one, other, &programs));
        }
        assert_eq!(compiled.len(), interpreted.len(), "{}", shown(&new));
        for error in interpreted {
            let class = error.split(" evaluating rule").next().unwrap_or_default();
            let class = if error.contains("evaluating") { class } else { "false" };
            *seen.entry(class.split(':').nth(2).unwrap_or("false").trim().to_owned()).or_default() += 1;
        }
    }
    for class in ["false", "no such key", "integer overflow", "division by zero", "index out of bounds"] {
        assert!(seen.get(class).is_some_and(|count| *count > 10), "{class}: {seen:?}");
    }
}

fn rule_of(one: &str, other: &str, programs: &[(Program, bool)]) -> String {
    let number = |text: &str| text.rsplit('r').next().and_then(|number| number.parse::<usize>().ok());
    let found = number(one).into_iter().chain(number(other)).min();
    found.map_or(String::new(), |number| programs[number].0.text().to_owned())
}

fn shown(subject: &Subject) -> String {
    serde_json::to_string(subject).unwrap()
}

fn compiled(new: &Subject, old: Option<&Subject>) -> Vec<String> {
    let mut cx = Validation::new(&EXAMPLE);
    new.validate_expressions(old, &Path::ROOT, &mut cx);
    cx.into_errors().iter().map(ToString::to_string).collect()
}

fn interpreted(
    model: &Model,
    position: usize,
    programs: &[(Program, bool)],
    new: &Subject,
    old: Option<&Subject>,
) -> Vec<String> {
    let value = |subject: &Subject| object(model, position, &serde_json::to_value(subject).unwrap());
    let mut variables = vec![("self", value(new))];
    variables.extend(old.map(|old| ("oldSelf", value(old))));
    let mut errors = Vec::new();
    for (number, (program, uses_old)) in programs.iter().enumerate() {
        if *uses_old && old.is_none() || !uses_old && old == Some(new) {
            continue;
        }
        let found = match program.evaluate(&variables) {
            Ok(Value::Bool(true)) => continue,
            Ok(_) => format!("r{number}"),
            Err(error) => match error.problem {
                orch_expression::error::Problem::Evaluation(Fault::NoSuchOverload(_)) => format!(
                    "'no such overload': call arguments did not match a supported operator, function or macro \
                     signature for rule: r{number}"
                ),
                problem => format!("{problem} evaluating rule: r{number}"),
            },
        };
        errors.push(format!("Invalid value: \"object\": {found}"));
    }
    errors
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
fn subject(dice: &mut Dice) -> Subject {
    let mut tree = json!({
        "least": number(dice), "most": number(dice), "whole": share(dice), "flag": dice.below(2) == 0,
        "title": text(dice), "must": text(dice),
    });
    let mut give = |dice: &mut Dice, name: &str, value: Json| {
        if dice.below(3) > 0 {
            tree[name] = value;
        }
    };
    let made = number(dice);
    give(dice, "maybe", made);
    let made = share(dice);
    give(dice, "share", made);
    let made = json!(dice.below(2) == 0);
    give(dice, "maybeFlag", made);
    let made = text(dice);
    give(dice, "note", made);
    let made = json!(dice.one(&["a", "b", "Slow"]));
    give(dice, "mode", made);
    let made = many(dice, number);
    give(dice, "numbers", made);
    let made = many(dice, text);
    give(dice, "texts", made);
    let made = json!({ dice.one(&["a", "b", ""]): text(dice), dice.one(&["a", "c"]): text(dice) });
    give(dice, "tags", made);
    let made = many(dice, part);
    give(dice, "parts", made);
    let made = part(dice);
    give(dice, "part", made);
    let made = json!(dice.one(&["1", "1Gi", "300m", "-5k", "0"]));
    give(dice, "amount", made);
    let made = json!(dice.one(&["2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"]));
    give(dice, "when", made);
    let made = if dice.below(2) == 0 { number(dice) } else { text(dice) };
    give(dice, "port", made);
    serde_json::from_value(tree).unwrap()
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
