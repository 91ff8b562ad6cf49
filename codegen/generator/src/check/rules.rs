//! `x-orch-rules` and `x-orch-order`: paths lead somewhere, and what is demanded can be asked of what stands
//! there.

use std::collections::BTreeSet;

use super::walk::{self, WrittenObject};
use crate::{
    diagnostic::{Diagnostics, Span, suggest},
    idl::ObjectRule,
    lower::Lowered,
    model::{
        Constant, Demand, LostStep, Model, ObjectType, Resolved, Rule, Shape, Step, Target, Test as Asked,
    },
    source::Spanned,
};

/// All paths of rules lead somewhere.
pub(super) fn paths(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (written, rule) in rules(lowered) {
        for path in paths_of(rule) {
            let Some(steps) = Step::path(&path.value).filter(|steps| !steps.is_empty()) else { continue };
            if let Err(lost) = lowered.model.target(written.object, &steps) {
                report(&lost, &steps, &path.span, diagnostics);
            }
        }
        if let Some(message) = &rule.message {
            for steps in placeholders(&message.value) {
                if let Err(lost) = lowered.model.target(written.object, &steps) {
                    report(&lost, &steps, &message.span, diagnostics);
                }
            }
        }
    }
}

/// What a rule demands can be asked of the value.
pub(super) fn demands(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let model = &lowered.model;
    for written in walk::objects(lowered) {
        for check in &written.object.checks {
            let target = model.target(written.object, &check.field).ok();
            let is_derived = check.expressions.of.is_some() && matches!(check.demand, Demand::Value(..));
            let fault = misfit(model, &check.demand, &check.field, target).filter(|_| !is_derived);
            if let Some((fault, help)) = fault {
                diagnostics.error(&check.span, fault, help);
            }
            for condition in &check.when {
                let Ok(target) = model.target(written.object, &condition.path) else { continue };
                if !fits(model, &condition.test, target) {
                    let help = "compare texts with texts, numbers with whole numbers, and booleans with booleans; \
                                of all others ask `{given: true}`";
                    diagnostics.error(&condition.span, "the value can never be one of these", help);
                }
            }
        }
    }
}

/// The order of fields names each field once.
pub(super) fn order(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::objects(lowered) {
        let mut seen = BTreeSet::new();
        for name in written.schema.order.iter().flatten() {
            let known = |name: &str| written.object.fields.iter().any(|field| field.name == name);
            if !matches!(name.value.as_str(), "*" | ".") && !known(&name.value) {
                let message = format!("the order names the unknown field `{}`", name.value);
                diagnostics.error(&name.span, message, known_fields(&name.value, written.object));
            } else if !seen.insert(&name.value) {
                diagnostics.error(
                    &name.span,
                    format!("`{}` stands twice", name.value),
                    "remove one of the two",
                );
            }
        }
    }
}

fn rules<'l>(lowered: &'l Lowered<'_>) -> Vec<(WrittenObject<'l>, &'l ObjectRule)> {
    let all = walk::objects(lowered).into_iter();
    all.flat_map(|written| written.schema.rules.iter().flatten().map(move |rule| (written, rule))).collect()
}

/// The paths that lead to values; places of errors may be of any name.
fn paths_of(rule: &ObjectRule) -> Vec<&Spanned<String>> {
    let lists = [&rule.unique, &rule.at_least_one, &rule.at_most_one];
    let when = rule.conditions();
    let shows = rule.shows.iter().filter(|shows| shows.value.starts_with('.'));
    let others = rule.refers_to.iter().chain(&rule.differs_from).chain(shows);
    let mut paths: Vec<&Spanned<String>> = rule.field.iter().chain(others).collect();
    paths.extend(lists.into_iter().flatten().flatten());
    paths.extend(when.map(|(path, _)| path));
    paths
}

/// The paths in a message: `{.type}`.
fn placeholders(message: &str) -> Vec<Vec<Step>> {
    let parts = message.split("{.").skip(1).filter_map(|part| part.split_once('}'));
    parts.filter_map(|(path, _)| Step::path(&format!(".{path}"))).collect()
}

fn report(lost: &LostStep<'_>, steps: &[Step], span: &Span, diagnostics: &mut Diagnostics) {
    match (lost.object, steps.get(lost.at)) {
        (Some(object), Some(Step::Field(name))) => {
            diagnostics.error(span, format!("there is no field `{name}`"), known_fields(name, object));
        }
        (_, Some(Step::Field(name))) => {
            let help = "a path goes through objects by `.name`, and through lists and maps by `[*]`";
            diagnostics.error(span, format!("`{name}` is asked of what is no object"), help);
        }
        (_, Some(Step::Each)) => {
            let help = "`[*]` stands for each item of a list, or each value of a map";
            diagnostics.error(span, "`[*]` is asked of what is no list or map", help);
        }
        _ => {
            let help = "`^` and `[key]` are for `fieldPath` alone";
            diagnostics.error(span, "this path leads to no value", help);
        }
    }
}

/// What is wrong with a demand on a value, and what to do.
fn misfit(
    model: &Model,
    demand: &Demand,
    path: &[Step],
    target: Option<Target<'_>>,
) -> Option<(&'static str, &'static str)> {
    let loops = path.contains(&Step::Each);
    let resolved = target.map(|target| model.resolve(target.usage));
    let scalar = resolved.is_some_and(|resolved| resolved.is_scalar());
    match demand {
        Demand::AtLeastOne(members) | Demand::AtMostOne(members) => {
            let is_short = members.len() < 2;
            is_short.then_some(("a choice of one", "name two members or more"))
        }
        Demand::Expression => None,
        Demand::Immutable(_) if loops => Some((
            "which item was which is not known",
            "ask it of the whole list, or of a field of the item's type",
        )),
        _ if target.is_none() => path.is_empty().then_some(("a rule without a field", "add `field: .name`")),
        Demand::Required | Demand::Forbidden => {
            let is_field = target.is_some_and(|target| target.field.is_some());
            (!is_field).then_some(("an item is always given", "ask it of a field"))
        }
        Demand::Equals(_) => {
            let is_flag = matches!(resolved, Some(Resolved::Scalar(Shape::Boolean)));
            (!is_flag).then_some(("`equals` is about booleans", "write `enum`, or `minimum` and `maximum`"))
        }
        Demand::Ignored => {
            let is_own = matches!(path, [Step::Field(_)]);
            (!is_own).then_some(("only fields of the object itself are ignored", "write `field: .name`"))
        }
        Demand::Unique { .. } if !loops => Some(("one value is always unique", "write a path with `[*]`")),
        Demand::RefersTo { path: to, .. } | Demand::DiffersFrom(to) if !to.contains(&Step::Each) => {
            Some(("a reference to one value", "write a path with `[*]`"))
        }
        Demand::Unique { by, .. } if !by.is_empty() => {
            let object = match resolved {
                Some(Resolved::Object(_, object)) => Some(object),
                _ => None,
            };
            let is_single = |path: &Vec<Step>| {
                let target = object.and_then(|object| model.target(object, path).ok());
                target.is_some_and(|target| model.resolve(target.usage).is_scalar())
            };
            (!by.iter().all(is_single)).then_some((
                "`by` names single values of an item",
                "end `field` in `[*]`, and name its fields",
            ))
        }
        Demand::Unique { .. } | Demand::RefersTo { .. } | Demand::DiffersFrom(_) => {
            (!scalar).then_some(("only single values are compared", "lead the path to a text or a number"))
        }
        Demand::Value(..) => {
            let stated = demand.rules();
            let fits = stated.iter().all(|rule| match rule.keyword() {
                "minimum" if matches!(resolved, Some(Resolved::Scalar(Shape::Quantity))) => {
                    *rule == Rule::Minimum(0.0)
                }
                "minimum" | "maximum" => {
                    matches!(resolved, Some(Resolved::Scalar(Shape::Int32 | Shape::Int64 | Shape::Double)))
                }
                "minItems" | "maxItems" => matches!(resolved, Some(Resolved::List(..))),
                _ => matches!(resolved, Some(Resolved::Scalar(Shape::String(_)) | Resolved::Enum(..))),
            });
            (!fits).then_some(("the rule does not go with the type", "ask it of a value of its type"))
        }
        Demand::Immutable(_) => None,
    }
}

fn fits(model: &Model, asked: &Asked, target: Target<'_>) -> bool {
    let resolved = model.resolve(target.usage);
    let constants = match asked {
        Asked::OneOf(constants) | Asked::NoneOf(constants) => constants,
        Asked::Matches(_) => {
            return matches!(resolved, Resolved::Scalar(Shape::String(_)) | Resolved::Enum(..));
        }
        Asked::Given(_) => return target.field.is_some(),
        Asked::Changed => return true,
        Asked::Between(..) => {
            let sized = matches!(resolved, Resolved::List(..) | Resolved::Map { .. });
            return sized
                || matches!(resolved, Resolved::Scalar(Shape::Int32 | Shape::Int64 | Shape::String(_)));
        }
    };
    constants.iter().all(|constant| match (constant, resolved) {
        (Constant::Text(text), Resolved::Enum(_, values)) => {
            text.is_empty() || values.iter().any(|value| value.value == *text)
        }
        (Constant::Text(_), Resolved::Scalar(Shape::String(_)))
        | (Constant::Integer(_), Resolved::Scalar(Shape::Int32 | Shape::Int64))
        | (Constant::Boolean(_), Resolved::Scalar(Shape::Boolean)) => true,
        _ => false,
    })
}

fn known_fields(name: &str, object: &ObjectType) -> String {
    suggest::did_you_mean(name, &object.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>())
}
