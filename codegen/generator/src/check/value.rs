//! Whether a constant satisfies a schema: the runtime reads its scalars and judges it by the rules, as it
//! will do with the same value in a request.

mod rule;
mod scalar;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    rule::{Member, one_of, union_at_most_one, union_by_discriminator, union_exactly_one},
    vocabulary::Vocabulary,
};

use crate::{
    diagnostic::Span,
    model::{EnumValue, Model, ObjectType, Resolved, Rule, Shape, Union, Usage},
    source::{Node, Spanned, Value},
};

/// What is wrong with a part of a constant.
pub(super) struct Fault<'n> {
    /// The part.
    pub span: &'n Span,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// What to do where nothing better is known.
const CHANGE: &str = "change the default, or the rule that it breaks";

/// Everything that is wrong with a constant in a place; nothing for a good one.
pub(super) fn faults<'n>(model: &Model, usage: &Usage, node: &'n Node) -> Vec<Fault<'n>> {
    let mut checker = Checker { model, faults: Vec::new() };
    checker.usage(usage, node);
    checker.faults
}

/// What to do about a value that would be right with quotes, or without.
fn quotes(shape: &Shape, value: &Value) -> Option<&'static str> {
    let without = match (shape, value) {
        (Shape::Int32 | Shape::Int64 | Shape::Double, Value::String(text)) => text.parse::<f64>().is_ok(),
        (Shape::Boolean, Value::String(text)) => text.parse::<bool>().is_ok(),
        (Shape::String(_), Value::Integer(_) | Value::Number(_) | Value::Boolean(_)) => {
            return Some("put it in quotes");
        }
        _ => false,
    };
    without.then_some("write it without quotes")
}

struct Checker<'m, 'n> {
    model: &'m Model,
    faults: Vec<Fault<'n>>,
}

impl<'m, 'n> Checker<'m, 'n> {
    fn fault(&mut self, span: &'n Span, what: impl Into<String>) {
        self.faults.push(Fault { span, what: what.into(), remedy: CHANGE });
    }

    /// Reports what the runtime says about a part.
    fn judge(&mut self, span: &'n Span, judge: impl FnOnce(&mut Validation<'_>)) {
        for error in errors(judge) {
            self.fault(span, error.body);
        }
    }

    fn usage(&mut self, usage: &'m Usage, node: &'n Node) {
        match (self.model.resolve(usage), &node.value) {
            (_, Value::Null) if !usage.nullable => self.fault(&node.span, "it is null"),
            (_, Value::Null | Value::Reported) | (Resolved::Any, _) => {}
            (Resolved::Scalar(shape), _) => self.scalar(usage, shape, node),
            (Resolved::Enum(_, values), Value::String(text)) => self.listed(values, text, node),
            (Resolved::Object(_, object), Value::Map(entries)) => self.object(object, entries, node),
            (Resolved::List(item, _), Value::List(items)) => self.list(usage, item, items, node),
            (Resolved::Map { keys, value, .. }, Value::Map(entries)) => {
                for (key, node) in entries {
                    self.rules(keys, &Value::String(key.value.clone()), &key.span);
                    self.usage(value, node);
                }
                self.rules(usage, &node.value, &node.span);
            }
            _ => self.fault(&node.span, format!("it is {}", node.noun())),
        }
    }

    fn scalar(&mut self, usage: &'m Usage, shape: &Shape, node: &'n Node) {
        match scalar::shown(shape, node) {
            Ok(_) => self.rules(usage, &node.value, &node.span),
            Err(what) => {
                let remedy = quotes(shape, &node.value).unwrap_or(CHANGE);
                self.faults.push(Fault { span: &node.span, what, remedy });
            }
        }
    }

    fn listed(&mut self, values: &[EnumValue], text: &str, node: &'n Node) {
        let words: Vec<&str> = values.iter().map(|value| value.value.as_str()).collect();
        self.judge(&node.span, |cx| one_of(text, &words, &Path::ROOT, cx));
    }

    /// The rules about a value itself.
    fn rules(&mut self, usage: &'m Usage, value: &Value, span: &'n Span) {
        let is_double = matches!(self.model.resolve(usage), Resolved::Scalar(Shape::Double));
        for rule in self.model.rules(usage) {
            self.judge(span, |cx| rule::apply(rule, value, is_double, cx));
        }
    }

    fn list(&mut self, usage: &'m Usage, item: &'m Usage, items: &'n [Node], node: &'n Node) {
        for node in items {
            self.usage(item, node);
        }
        for rule in self.model.rules(usage) {
            match rule {
                Rule::UniqueItems => self.unique(items, |model, node| shown(model, item, node)),
                Rule::UniqueKeys(keys) => {
                    self.unique(items, |model, node| keys_shown(model, item, keys, node));
                }
                _ => self.judge(&node.span, |cx| rule::apply(rule, &node.value, false, cx)),
            }
        }
    }

    /// Each repeated item is reported at its own place.
    fn unique(&mut self, items: &'n [Node], shown: impl Fn(&Model, &Node) -> String) {
        let shown: Vec<String> = items.iter().map(|item| shown(self.model, item)).collect();
        for (index, what) in rule::repetitions(&shown) {
            self.fault(&items[index].span, what);
        }
    }

    fn object(&mut self, object: &'m ObjectType, entries: &'n [(Spanned<String>, Node)], node: &'n Node) {
        for (key, node) in entries {
            match object.fields.iter().find(|field| field.name == key.value) {
                Some(field) => self.usage(&field.usage, node),
                None => self.fault(&key.span, format!("there is no field `{}`", key.value)),
            }
        }
        let given = |name: &str| entries.iter().any(|(key, _)| key.value == name);
        for field in object.fields.iter().filter(|field| field.required && !given(&field.name)) {
            self.fault(&node.span, format!("it lacks the required field `{}`", field.name));
        }
        if let Some(union) = &object.union {
            self.judge(&node.span, |cx| judge_union(object, union, entries, cx));
        }
    }
}

/// A single value as the rules compare it: `1` and `1.0` are one number.
fn shown(model: &Model, usage: &Usage, node: &Node) -> String {
    match model.resolve(usage) {
        Resolved::Scalar(shape) => scalar::shown(shape, node).ok(),
        _ => None,
    }
    .unwrap_or_else(|| node.to_json().to_string())
}

/// The key fields of an item, as the rules compare them.
fn keys_shown(model: &Model, item: &Usage, keys: &[String], node: &Node) -> String {
    let (Resolved::Object(_, object), Value::Map(entries)) = (model.resolve(item), &node.value) else {
        return node.to_json().to_string();
    };
    let key = |key: &String| {
        let field = object.fields.iter().find(|field| field.name == *key)?;
        let (_, node) = entries.iter().find(|(name, _)| name.value == *key)?;
        Some(shown(model, &field.usage, node))
    };
    keys.iter().map(|name| key(name).unwrap_or_default()).collect::<Vec<_>>().join(", ")
}

/// What the runtime says. Rules that keywords state compare with no product word.
fn errors(judge: impl FnOnce(&mut Validation<'_>)) -> Vec<FieldError> {
    let mut cx = Validation::new(&Vocabulary::EMPTY);
    judge(&mut cx);
    cx.into_errors()
}

fn judge_union(
    object: &ObjectType,
    union: &Union,
    entries: &[(Spanned<String>, Node)],
    cx: &mut Validation<'_>,
) {
    let value = |name: &str| entries.iter().find(|(key, _)| key.value == name).map(|(_, node)| &node.value);
    let Some((discriminator, values)) = &union.discriminator else {
        let members: Vec<(&str, bool)> =
            union.members.iter().map(|name| (name.as_str(), value(name).is_some())).collect();
        let rule = if union.exactly_one { union_exactly_one } else { union_at_most_one };
        return rule(&members, &Path::ROOT, cx);
    };
    let default = object.fields.iter().find(|field| field.name == *discriminator);
    let default = default.and_then(|field| field.default.as_ref()?.as_str());
    let selected = match value(discriminator) {
        Some(Value::String(text)) => text,
        _ => default.unwrap_or_default(),
    };
    let members = union.members.iter().map(|name| {
        let selected_by = values.get(name).unwrap_or(name).as_str();
        // Where at most one is asked for, the selected member may be missing.
        let given = value(name).is_some() || (!union.exactly_one && selected == selected_by);
        Member { selected_by, field: name, given }
    });
    union_by_discriminator(discriminator, selected, &members.collect::<Vec<_>>(), &Path::ROOT, cx);
}
