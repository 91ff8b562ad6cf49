//! `x-orch-rules` and `x-orch-order`: paths lead somewhere, and what is demanded can be asked of what stands
//! there.

use std::collections::BTreeSet;

use super::walk::{self, WrittenObject};
use crate::{
    diagnostic::{Diagnostics, Span, suggest},
    idl::{self, ObjectRule, When, each_path},
    lower::Lowered,
    model::{
        Check, Condition, Constant, Demand, LostStep, Model, Moment, ObjectType, Resolved, Rule, Shape, Step,
        Target, Test as Asked,
    },
    source::Spanned,
};

/// All paths of rules lead somewhere.
pub(super) fn paths(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (written, rule) in rules(lowered) {
        for path in paths_of(rule).iter().flat_map(|path| each(path)) {
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
    told_at(lowered, diagnostics);
}

/// What a rule demands can be asked of the value.
pub(super) fn demands(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let model = &lowered.model;
    for written in walk::objects(lowered) {
        for check in &written.object.checks {
            let target = model.target(written.object, &check.field).ok();
            let is_derived = check.expressions.of.is_some() && matches!(check.demand, Demand::Value(..));
            let fault = misfit(model, &check.demand, &check.field, target).filter(|_| !is_derived);
            let fault = fault
                .or_else(|| misplaced(check))
                .or_else(|| unkept(check))
                .or_else(|| misdirected(check))
                .or_else(|| unratcheted(check));
            if let Some((fault, help)) = fault {
                diagnostics.error(&check.span, fault, help);
            }
            let of_exceptions = check.exceptions.iter().flat_map(|exception| &exception.when);
            for condition in check.when.iter().chain(of_exceptions) {
                if let Some((fault, help)) = unasked(check, condition) {
                    diagnostics.error(&condition.span, fault, help);
                    continue;
                }
                let Ok(target) = model.target(written.object, &condition.path) else { continue };
                let is_entry = matches!(condition.path.last(), Some(Step::Key(_)));
                if is_entry && matches!(condition.test, Asked::Given(_)) {
                    continue;
                }
                if !fits(model, &condition.test, target) {
                    let help = "compare texts with texts, numbers with whole numbers, and booleans with booleans; \
                                of all others ask `{given: true}`";
                    diagnostics.error(&condition.span, "the value can never be one of these", help);
                }
            }
        }
    }
}

/// Errors are told at other places than those of fields that are there.
fn told_at(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::objects(lowered) {
        for (from, _) in written.schema.told_at.iter().flat_map(|told_at| &told_at.0) {
            let steps = Step::path(&from.value).unwrap_or_default();
            if let Err(lost) = lowered.model.target(written.object, &steps) {
                report(&lost, &steps, &from.span, diagnostics);
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
    let of = |name: &str| {
        let position = lowered.model.types.iter().position(|ty| ty.qualified_name == name);
        position.map(|position| lowered.written[position])
    };
    let all = walk::objects(lowered).into_iter();
    all.flat_map(|written| idl::with_shared(written.schema, of).map(move |rule| (written, rule))).collect()
}

/// The paths that one with alternatives stands for.
fn each(path: &Spanned<String>) -> impl Iterator<Item = Spanned<String>> {
    let (path, _) = idl::of_old(path);
    each_path(&path.value).into_iter().map(move |text| Spanned { value: text, span: path.span.clone() })
}

/// The paths that lead to values; places of errors may be of any name.
fn paths_of(rule: &ObjectRule) -> Vec<&Spanned<String>> {
    let lists = [&rule.unique, &rule.at_least_one, &rule.at_most_one];
    let when = rule.conditions();
    let shows = rule.shows.iter().filter(|shows| shows.value.starts_with('.'));
    let others = rule.refers_to.iter().chain(&rule.differs_from).chain(&rule.within).chain(shows);
    let mut paths: Vec<&Spanned<String>> = rule.field.iter().chain(others).collect();
    paths.extend(lists.into_iter().flatten().flatten());
    paths.extend(when.map(|(path, _)| path));
    for exception in rule.exceptions() {
        paths.push(exception.field());
        paths.extend(exception.when().into_iter().flat_map(When::conditions).map(|(path, _)| path));
    }
    paths
}

/// The paths in a message: `{.type}`.
fn placeholders(message: &str) -> Vec<Vec<Step>> {
    let parts = message.split("{.").skip(1).filter_map(|part| part.split_once('}'));
    parts.filter_map(|(path, _)| Step::path(&format!(".{path}"))).collect()
}

pub(super) fn report(lost: &LostStep<'_>, steps: &[Step], span: &Span, diagnostics: &mut Diagnostics) {
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
        (_, Some(Step::Key(key))) => {
            let help = "`[key]` is what a map has under a key; a path goes through objects by `.name`";
            diagnostics.error(span, format!("`[{key}]` is asked of what is no map"), help);
        }
        _ => {
            let help = "`^` is for `fieldPath` alone";
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
    match demand {
        Demand::AtLeastOne(members) => misfit_of_choice(members, &[]),
        Demand::AtMostOne { members, told_as } => misfit_of_choice(members, told_as),
        Demand::Expression => None,
        Demand::Function(_) if path.is_empty() => None,
        Demand::Immutable(_) if loops => Some((
            "which item was which is not known",
            "ask it of the whole list, or of a field of the item's type",
        )),
        _ if target.is_none() => path.is_empty().then_some(("a rule without a field", "add `field: .name`")),
        Demand::Required | Demand::Forbidden => {
            let is_entry = matches!(path.last(), Some(Step::Key(_)));
            let is_field = is_entry || target.is_some_and(|target| target.field.is_some());
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
        Demand::RefersTo { .. } | Demand::DiffersFrom(_)
            if !demand.others().iter().all(|to| to.contains(&Step::Each)) =>
        {
            Some(("a reference to one value", "write a path with `[*]`"))
        }
        Demand::Unique { by, .. } | Demand::RefersTo { by, .. } if !by.is_empty() => {
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
            let is_single = resolved.is_some_and(|resolved| resolved.is_scalar());
            (!is_single).then_some(("only single values are compared", "lead the path to a text or a number"))
        }
        Demand::Value(..) => (!demand.rules().iter().all(|rule| goes_with(rule, resolved)))
            .then_some(("the rule does not go with the type", "ask it of a value of its type")),
        Demand::Immutable(_) | Demand::Function(_) => None,
    }
}

/// What is wrong with a choice between members.
fn misfit_of_choice(
    members: &[Vec<Step>],
    told_as: &[(String, String)],
) -> Option<(&'static str, &'static str)> {
    let is_member = |name: &String| members.iter().any(|path| path[..] == [Step::Field(name.clone())]);
    if !told_as.iter().all(|(name, _)| is_member(name)) {
        return Some(("`toldAs` names what is no member", "name members of the choice"));
    }
    (members.len() < 2).then_some(("a choice of one", "name two members or more"))
}

/// Whether a rule goes with the type of a value.
fn goes_with(rule: &Rule<'_>, resolved: Option<Resolved<'_>>) -> bool {
    match rule.keyword() {
        "minimum" if matches!(resolved, Some(Resolved::Scalar(Shape::Quantity))) => {
            *rule == Rule::Minimum(0.0)
        }
        "minimum" | "maximum" => {
            matches!(resolved, Some(Resolved::Scalar(Shape::Int32 | Shape::Int64 | Shape::Double)))
        }
        "minItems" | "maxItems" => matches!(resolved, Some(Resolved::List(..))),
        _ => matches!(resolved, Some(Resolved::Scalar(Shape::String(_)) | Resolved::Enum(..))),
    }
}

/// What is wrong with the items in which a rule compares values, or with those that count.
fn misplaced(check: &Check) -> Option<(&'static str, &'static str)> {
    let others = check.demand.others();
    let compares = !others.is_empty() || matches!(check.demand, Demand::Unique { .. });
    let is_within = |path: &[Step]| path.len() > check.within.len() && path.starts_with(&check.within);
    let ends_well = check.within.last().is_none_or(|step| *step == Step::Each);
    if check.expressions.of_items.is_some() && others.is_empty() {
        return Some((
            "`where` chooses among the items that a rule compares with",
            "name these: add `refersTo`",
        ));
    }
    if !check.within.is_empty() && !compares {
        return Some(("`within` is about rules that compare values", "remove it"));
    }
    let fits = ends_well && is_within(&check.field) && others.iter().all(|path| is_within(path));
    (!fits && !check.within.is_empty()).then_some((
        "`within` names items in which all values of the rule are",
        "end it in `[*]`, and begin the other paths with it",
    ))
}

/// Whether a rule is told in one place of its code.
fn compares_or_says(check: &Check) -> bool {
    !matches!(check.demand, Demand::Value(..) | Demand::Immutable(_) | Demand::Function(_))
        && !check.words.is_warning
}

/// What is wrong with where a rule looks.
fn misdirected(check: &Check) -> Option<(&'static str, &'static str)> {
    let in_old = matches!(check.demand, Demand::RefersTo { in_old: true, .. });
    if (check.of_old || in_old) && (check.moment != Moment::Change || !check.within.is_empty()) {
        return Some((
            "only a change has an object before",
            "add `on: change`, or write a path without `oldSelf`",
        ));
    }
    let loops = check.field.iter().filter(|step| **step == Step::Each).count();
    if check.is_told_once && (loops != 1 || !compares_or_says(check)) {
        return Some((
            "`once` is about a rule for the items of one list",
            "end `field` in a path with one `[*]`",
        ));
    }
    let is_derived = check.expressions.of.is_some();
    let takes_derived =
        matches!(check.demand, Demand::Value(..) | Demand::RefersTo { .. } | Demand::DiffersFrom(_));
    (is_derived && !takes_derived)
        .then_some(("`of` makes a text that keywords judge, or that refers to another", "write it in `rule`"))
}

/// What is wrong with accepting values that stay as they were.
fn unratcheted(check: &Check) -> Option<(&'static str, &'static str)> {
    let has_moment = check.moment != Moment::Write || check.is_about_change();
    let has_place = check.is_first || check.is_last || check.is_otherwise || check.stops;
    let is_ignored = matches!(check.demand, Demand::Ignored);
    (check.accepts_unchanged && (has_moment || has_place || is_ignored)).then_some((
        "`unchanged` is about a rule that is judged whenever an object is written",
        "remove `on`, `first`, `last`, `otherwise` and `stop`: such a rule is judged after all others",
    ))
}

/// What is wrong with asking whether a value has changed.
fn unasked(check: &Check, condition: &Condition) -> Option<(&'static str, &'static str)> {
    if !matches!(condition.test, Asked::Changed(_)) {
        return None;
    }
    if condition.path.contains(&Step::Each) {
        return Some((
            "which item was which is not known",
            "ask whether the whole list has changed: end the path before the `[*]`",
        ));
    }
    let knows_both = check.moment == Moment::Change && !check.of_old;
    (!knows_both || matches!(check.demand, Demand::Immutable(_))).then_some((
        "this rule does not see both objects, the one before and the new one",
        "`changed` goes with `on: change`; `immutable` and a `field` of `oldSelf` ask the object before alone",
    ))
}

/// What is wrong with what a rule may let change, or with what it does to others.
fn unkept(check: &Check) -> Option<(&'static str, &'static str)> {
    let is_immutable = matches!(check.demand, Demand::Immutable(_));
    if !check.exceptions.is_empty() && !is_immutable {
        return Some(("`except` is about what does not change", "add `immutable: true`, or remove it"));
    }
    let is_inside = |path: &[Step]| path.len() > check.field.len() && path.starts_with(&check.field);
    let ends_well = |path: &[Step]| !path[..path.len() - 1].iter().any(|step| matches!(step, Step::Key(_)));
    if !check.exceptions.iter().all(|exception| is_inside(&exception.field) && ends_well(&exception.field)) {
        return Some((
            "`except` names what is inside of the field",
            "begin the paths with that of `field`; where one has a `[key]`, end it there",
        ));
    }
    if check.stops && !check.is_about_change() {
        return Some(("`stop` is for rules about a change", "add `on: change`, or remove it"));
    }
    let is_standard = matches!(check.demand, Demand::Value(..)) && check.words.message.is_none();
    let is_weak = check.words.is_warning || is_standard;
    (is_weak && (check.is_alone || check.stops)).then_some((
        "`alone` and `stop` are for errors in words of their own",
        "add `message`, or remove them",
    ))
}

pub(super) fn fits(model: &Model, asked: &Asked, target: Target<'_>) -> bool {
    let resolved = model.resolve(target.usage);
    let constants = match asked {
        Asked::OneOf(constants) | Asked::NoneOf(constants) => constants,
        Asked::Matches(_) => {
            return matches!(resolved, Resolved::Scalar(Shape::String(_)) | Resolved::Enum(..));
        }
        Asked::Given(_) => return target.field.is_some(),
        Asked::Changed(_) => return true,
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
