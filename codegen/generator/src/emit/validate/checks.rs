//! `x-orch-rules`: each rule as straight code, told in its own words at its own place.

mod choices;
mod compared;
mod loops;

use orch_runtime::field_error::Reason;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

pub(super) use self::choices::Choices;
use self::{
    compared::{compared, known},
    loops::looped,
};
use super::{
    operand::Operand,
    reached::{Reached, given, if_given},
    same,
    scope::Scope,
    told::Told,
};
use crate::{
    emit::{emitter::Emitter, expression},
    expression::conditions::is_about_item,
    model::{Check, Condition, Demand, Immutability, ObjectType, Step},
};

/// The field that a rule is told with: the first of its path.
pub(super) fn field_of(check: &Check) -> Option<&str> {
    match check.field.first() {
        Some(Step::Field(name)) => Some(name),
        _ => None,
    }
}

/// The members of a choice of which each one after the first is refused at its own place; its own rules are
/// not judged then.
pub(super) fn members(check: &Check) -> Option<Vec<&str>> {
    let Demand::AtMostOne { members, .. } = &check.demand else { return None };
    let is_plain = check.words.place.is_none() && !check.accepts_unchanged;
    if !is_plain || !check.when.is_empty() || !check.field.is_empty() {
        return None;
    }
    members.iter().map(|member| own_field(member)).collect()
}

fn own_field(path: &[Step]) -> Option<&str> {
    match path {
        [Step::Field(name)] => Some(name),
        _ => None,
    }
}

/// Rules about an object as code, without those about a change. Those that go through the same items one
/// after the other are judged item by item.
pub(super) fn rules<'m>(
    emitter: &Emitter<'m>,
    object: &'m ObjectType,
    checks: impl Iterator<Item = &'m Check>,
) -> Vec<TokenStream> {
    let checks: Vec<&Check> = checks.filter(|check| check.is_judged_on_write()).collect();
    runs(emitter, object, &checks)
}

/// The same for the rules about a change.
pub(super) fn update_rules<'m>(emitter: &Emitter<'m>, object: &'m ObjectType) -> Vec<TokenStream> {
    let checks: Vec<&Check> = object.checks.iter().filter(|check| check.is_judged_on_change()).collect();
    runs(emitter, object, &checks)
}

pub(super) fn runs<'m>(
    emitter: &Emitter<'m>,
    object: &'m ObjectType,
    checks: &[&'m Check],
) -> Vec<TokenStream> {
    let same = |one: &&Check, other: &&Check| {
        let loops = first_loop(one, 0).zip(first_loop(other, 0));
        let is_apart = one.of_old != other.of_old || other.is_anew || one.is_told_once;
        !is_apart && loops.is_some_and(|(one, other)| one == other)
    };
    let runs = checks.chunk_by(same);
    let parts = runs.map(|run| match run {
        [check] if first_loop(check, 0).is_none() => (*check, judged(emitter, object, check)),
        _ => (run[0], looped(emitter, object, run)),
    });
    chained(parts.collect())
}

/// Where a rule is judged only if the one before it is not broken, their code asks for that.
fn chained(parts: Vec<(&Check, TokenStream)>) -> Vec<TokenStream> {
    let is_otherwise: Vec<bool> = parts.iter().map(|(check, _)| check.is_otherwise).collect();
    let begins = |index: usize| !is_otherwise[index] && is_otherwise.get(index + 1) == Some(&true);
    let code = parts.into_iter().enumerate().map(|(index, (_, code))| {
        if index > 0 && is_otherwise[index] {
            quote!(if cx.found() == found { #code })
        } else if begins(index) {
            quote!(let found = cx.found(); #code)
        } else {
            code
        }
    });
    code.collect()
}

/// The way to the next items that a rule goes through, after so many steps; none for a rule that goes through
/// none, or asks for several places at once.
fn first_loop(check: &Check, done: usize) -> Option<&[Step]> {
    let asks_once = matches!(
        check.demand,
        Demand::AtLeastOne(_) | Demand::AtMostOne { .. } | Demand::Immutable(_) | Demand::Ignored
    );
    let end = check.field.iter().skip(done).position(|step| *step == Step::Each).filter(|_| !asks_once)?;
    Some(&check.field[..=done + end])
}

/// What a rule calls the object that it is about.
fn root(of_old: bool) -> &'static str {
    if of_old { "old" } else { "self" }
}

/// The conditions under which the rules of a field itself are not judged.
pub(super) fn ignored<'m>(emitter: &Emitter<'m>, object: &'m ObjectType, name: &str) -> Option<TokenStream> {
    let is_it = |check: &&Check| matches!(check.demand, Demand::Ignored) && field_of(check) == Some(name);
    let scope = Scope::new(object, "self");
    let all = object.checks.iter().filter(is_it).map(|check| {
        let conditions = conditions(emitter, &scope, check, false);
        conditions.unwrap_or_else(|| quote!(true))
    });
    all.reduce(|all, next| quote!(#all || #next))
}

/// A rule that goes through no items.
fn judged<'m>(emitter: &Emitter<'m>, object: &'m ObjectType, check: &'m Check) -> TokenStream {
    let scope = Scope::new(object, root(check.of_old));
    let code = match &check.demand {
        Demand::AtLeastOne(members) => {
            let given = any_given(emitter, &scope, members);
            let report = told(emitter, &scope, check).report(Reason::Required, "", None);
            quote!(if !(#given) { #report })
        }
        Demand::AtMostOne { members, .. } => {
            let counts = members.iter().map(|member| {
                let given = scope.given(emitter, member);
                quote!(usize::from(#given))
            });
            let message = "may not specify more than one of these";
            let report = told(emitter, &scope, check).report(Reason::Invalid, message, None);
            quote!(if #(#counts)+* > 1 { #report })
        }
        Demand::Immutable(how) => return immutable(emitter, object, check, *how),
        Demand::Ignored => return TokenStream::new(),
        Demand::Expression if check.field.is_empty() => expression_rule(emitter, &scope, check, None),
        Demand::Function(name) if check.field.is_empty() => {
            let (name, place) = (format_ident!("{name}"), told(emitter, &scope, check).place);
            let old = check.is_about_change().then(|| quote!(old,));
            quote!(crate::validators::#name(self, #old #place, cx);)
        }
        Demand::Unique { .. } | Demand::RefersTo { .. } | Demand::DiffersFrom(_) => {
            let seen = format_ident!("seen");
            let known = known(emitter, &scope, check, &seen);
            let own = scope.each(emitter, &check.field, &|scope, reached| {
                compared(emitter, scope, check, reached, &seen)
            });
            quote!({ #known #own })
        }
        _ => scope.each(emitter, &check.field, &|scope, reached| demand(emitter, scope, check, reached)),
    };
    match conditions(emitter, &scope, check, false) {
        Some(conditions) => quote!(if #conditions { #code }),
        None => code,
    }
}

/// A value that does not change.
fn immutable<'m>(
    emitter: &Emitter<'m>,
    object: &'m ObjectType,
    check: &'m Check,
    how: Immutability,
) -> TokenStream {
    let (new, old) = (Scope::new(object, "self"), Scope::new(object, "old"));
    let (value, old_value) = (new.value(emitter, &check.field), old.value(emitter, &check.field));
    let mut conditions: Vec<TokenStream> = old.conditions(emitter, check.when.iter()).into_iter().collect();
    conditions.extend(said_condition(emitter, &new, check, false));
    let message = match how {
        Immutability::Always => "field is immutable",
        Immutability::OnceSet => {
            conditions.push(old.given(emitter, &check.field));
            "field is immutable once set"
        }
    };
    conditions.push(if check.exceptions.is_empty() {
        quote!(#value != #old_value)
    } else {
        same::differs(emitter, &new, &old, check)
    });
    let mut told = told(emitter, &new, check);
    told.shows = Some(&check.field);
    let report = told.report(Reason::Invalid, message, None);
    quote!(if #(#conditions)&&* { #report })
}

/// The conditions of a rule: those about the item of its loop, or the others.
fn conditions<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    is_inner: bool,
) -> Option<TokenStream> {
    let stated = check.when.iter().filter(|condition| is_of_loop(check, condition) == is_inner);
    let stated = scope.conditions(emitter, stated);
    let both = stated.into_iter().chain(said_condition(emitter, scope, check, is_inner));
    both.reduce(|one, other| quote!(#one && (#other)))
}

fn said_condition<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    is_inner: bool,
) -> Option<TokenStream> {
    let when = check.expressions.when.as_ref().filter(|when| is_about_item(when) == is_inner)?;
    let variables = scope.variables(check.expressions.owner?);
    Some(expression::holds(emitter, &variables, when, true))
}

/// A rule in the expression language, about the value that was reached.
fn expression_rule<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    reached: Option<&Reached<'m>>,
) -> TokenStream {
    let Some((rule, owner)) = check.expressions.rule.as_ref().zip(check.expressions.owner) else {
        return TokenStream::new();
    };
    let is_broken = expression::holds(emitter, &scope.variables(owner), rule, false);
    let mut told = told(emitter, scope, check);
    match reached {
        Some(reached) if !reached.optional => told.value = Some((reached.usage, reached.operand.clone())),
        Some(_) => told.shows = Some(&check.field),
        None => {}
    }
    let message = format!("failed rule: {}", rule.text);
    let report = told.report(Reason::Invalid, &message, None);
    quote!(if #is_broken { #report })
}

/// Whether a condition is about the item that the rule is about.
fn is_of_loop(check: &Check, condition: &Condition) -> bool {
    let end = check.field.iter().rposition(|step| *step == Step::Each);
    end.is_some_and(|end| condition.path.len() > end + 1 && condition.path.starts_with(&check.field[..=end]))
}

fn any_given(emitter: &Emitter<'_>, scope: &Scope<'_>, members: &[Vec<Step>]) -> TokenStream {
    let given = members.iter().map(|member| scope.given(emitter, member));
    quote!(#(#given)||*)
}

fn told<'t, 'm>(emitter: &'t Emitter<'m>, scope: &'t Scope<'m>, check: &'t Check) -> Told<'t, 'm> {
    let place = scope.place(emitter, check.words.place.as_ref().unwrap_or(&check.field));
    let expressions = &check.expressions;
    let variables = expressions.owner.map(|owner| scope.variables(owner));
    let made = expressions.message.as_ref().zip(variables.as_ref());
    let made = made.map(|(text, variables)| expression::text(emitter, variables, text));
    let made_shown = expressions.shows.as_ref().zip(variables.as_ref());
    let made_shown = made_shown.map(|(text, variables)| expression::shown(emitter, variables, text));
    let (is_alone, stops, ends_loop) = (check.is_alone, check.stops, check.is_told_once);
    Told { made, made_shown, is_alone, stops, ends_loop, ..Told::new(emitter, scope, &check.words, place) }
}

/// What is demanded of one value.
fn demand<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    reached: &Reached<'m>,
) -> TokenStream {
    let mut told = told(emitter, scope, check);
    match &check.demand {
        Demand::Required => {
            let (given, report) = (given(emitter, reached), told.report(Reason::Required, "", None));
            quote!(if !(#given) { #report })
        }
        Demand::Forbidden => {
            let given = given(emitter, reached);
            told.shows = Some(&check.field);
            let report = told.report(Reason::Forbidden, "", None);
            quote!(if #given { #report })
        }
        Demand::Equals(wanted) => {
            let flag = &reached.operand.copy;
            told.value = (!reached.optional).then(|| (reached.usage, reached.operand.clone()));
            let report = told.report(Reason::Invalid, &format!("must be {wanted}"), None);
            let wanted = if reached.optional { quote!(Some(#wanted)) } else { quote!(#wanted) };
            quote!(if #flag != #wanted { #report })
        }
        Demand::Expression => expression_rule(emitter, scope, check, Some(reached)),
        Demand::Function(name) => if_given(emitter, reached, &|operand| {
            let (name, place, reference) = (format_ident!("{name}"), &told.place, &operand.reference);
            quote!(crate::validators::#name(#reference, #place, cx);)
        }),
        Demand::Value(..) if check.expressions.of.is_some() => derived(emitter, scope, check, reached),
        Demand::Value(..) => if_given(emitter, reached, &|operand| {
            let mut told = self::told(emitter, scope, check);
            told.value = Some((reached.usage, operand.clone()));
            let rules = check.demand.rules();
            let rules = rules.into_iter().map(|rule| told.value_rule(rule, reached.usage, operand));
            quote!(#(#rules)*)
        }),
        _ => TokenStream::new(),
    }
}

/// What is demanded of a text that an expression makes of the value.
fn derived<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    reached: &Reached<'m>,
) -> TokenStream {
    let Some((of, owner)) = check.expressions.of.as_ref().zip(check.expressions.owner) else {
        return TokenStream::new();
    };
    let text = expression::borrowed(emitter, &scope.variables(owner), of);
    let operand = Operand::variable(&format_ident!("text"));
    let mut told = told(emitter, scope, check);
    told.value = Some((reached.usage, operand.clone()));
    told.is_text = true;
    let rules = check.demand.rules();
    let rules = rules.into_iter().map(|rule| told.value_rule(rule, reached.usage, &operand));
    quote!(if let Some(text) = #text { #(#rules)* })
}
