//! `x-orch-rules`: each rule as straight code, told in its own words at its own place.

use orch_runtime::field_error::Reason;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

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
    model::{Check, Condition, Demand, Immutability, ObjectType, Resolved, Shape, Step},
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

/// What errors call a member of a choice.
fn told_as<'c>(check: &'c Check, name: &'c str) -> &'c str {
    let Demand::AtMostOne { told_as, .. } = &check.demand else { return name };
    told_as.iter().find(|(field, _)| field == name).map_or(name, |(_, told)| told)
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

/// Rules that go through the same items.
fn looped<'m>(emitter: &Emitter<'m>, object: &'m ObjectType, run: &[&'m Check]) -> TokenStream {
    let scope = Scope::new(object, root(run[0].of_old));
    let is_alone = run.len() == 1;
    let prepared: Vec<Prepared<'m>> = run
        .iter()
        .enumerate()
        .map(|(index, check)| prepared(emitter, &scope, check, is_alone, index))
        .collect();
    let before = prepared.iter().map(|prepared| &prepared.before);
    let items = items(emitter, &scope, &prepared, 0);
    let mut code = quote!(#(#before)* #items);
    if !prepared.iter().all(|prepared| prepared.before.is_empty())
        && let Some([list @ .., _]) = first_loop(run[0], 0)
    {
        // What is known of other values is not looked for where there is nothing to judge.
        let given = scope.given(emitter, list);
        code = quote!(if #given { #code });
    }
    match (is_alone, conditions(emitter, &scope, run[0], false)) {
        (true, Some(conditions)) => quote!(if #conditions { #code }),
        _ if prepared.iter().any(|prepared| !prepared.before.is_empty()) => quote!({ #code }),
        _ => code,
    }
}

/// A rule, and what is to be known before its items are looked at.
struct Prepared<'m> {
    check: &'m Check,
    before: TokenStream,
    /// The name of the values that were met, for rules about several values.
    seen: Ident,
    /// The name of the answer whether the rule applies at all.
    applies: Option<Ident>,
}

fn prepared<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    is_alone: bool,
    index: usize,
) -> Prepared<'m> {
    let name = |stem: &str| if is_alone { format_ident!("{stem}") } else { format_ident!("{stem}_{index}") };
    let seen = name("seen");
    let outer = conditions(emitter, scope, check, false).filter(|_| !is_alone);
    let applies = outer.as_ref().map(|_| name("applies"));
    let asked = outer.map(|outer| quote!(let #applies = #outer;));
    let known = check.within.is_empty().then(|| known(emitter, scope, check, &seen));
    Prepared { check, before: quote!(#asked #known), seen, applies }
}

/// The loop through the items of the rules, and the loops inside of it.
fn items<'m>(emitter: &Emitter<'m>, scope: &Scope<'m>, run: &[Prepared<'m>], done: usize) -> TokenStream {
    let Some(way) = run.first().and_then(|prepared| first_loop(prepared.check, done)) else {
        return TokenStream::new();
    };
    scope.each_from(emitter, way, done, &|scope, _| {
        let same = |one: &Prepared<'m>, other: &Prepared<'m>| {
            let loops = first_loop(one.check, way.len()).zip(first_loop(other.check, way.len()));
            loops.is_some_and(|(one, other)| one == other)
        };
        let parts = run.chunk_by(same).map(|part| match part {
            [prepared] if first_loop(prepared.check, way.len()).is_none() => {
                (prepared.check, of_item(emitter, scope, prepared, way.len()))
            }
            _ => (part[0].check, items(emitter, scope, part, way.len())),
        });
        let parts = chained(parts.collect());
        let inside = run.iter().filter(|prepared| prepared.check.within == way);
        let known = inside.map(|prepared| known(emitter, scope, prepared.check, &prepared.seen));
        quote!(#(#known)* #(#parts)*)
    })
}

/// One rule about an item of its innermost loop.
fn of_item<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    prepared: &Prepared<'m>,
    done: usize,
) -> TokenStream {
    let check = prepared.check;
    scope.each_from(emitter, &check.field, done, &|scope, reached| {
        let code = match &check.demand {
            Demand::Unique { .. } | Demand::RefersTo { .. } | Demand::DiffersFrom(_) => {
                compared(emitter, scope, check, reached, &prepared.seen)
            }
            _ => demand(emitter, scope, check, reached),
        };
        let inner = conditions(emitter, scope, check, true);
        match (&prepared.applies, inner) {
            (None, None) => code,
            (Some(applies), None) => quote!(if #applies { #code }),
            (None, Some(conditions)) => quote!(if #conditions { #code }),
            (Some(applies), Some(conditions)) => quote!(if #applies && #conditions { #code }),
        }
    })
}

/// What is to be known of other values before those of a rule are looked at.
fn known<'m>(emitter: &Emitter<'m>, scope: &Scope<'m>, check: &'m Check, seen: &Ident) -> TokenStream {
    let is_correct = match &check.demand {
        Demand::RefersTo { is_correct, .. } => *is_correct,
        Demand::Unique { .. } | Demand::DiffersFrom(_) => false,
        _ => return TokenStream::new(),
    };
    let other_scope = match &check.demand {
        Demand::RefersTo { in_old, .. } if *in_old != check.of_old => {
            Some(Scope::new(scope.object(), root(*in_old)))
        }
        _ => None,
    };
    let scope = other_scope.as_ref().unwrap_or(scope);
    let others = check.demand.others().iter().map(|path| {
        let done = check.within.len();
        let end = path.iter().skip(done).position(|step| *step == Step::Each).filter(|_| is_correct);
        let list = end.map_or(&path[..0], |end| &path[..done + end]);
        let values = insert_all(emitter, scope, check, path, list, seen);
        let place = scope.place(emitter, list);
        let wrong = (!list.is_empty()).then(|| quote!(let wrong = cx.items_with_errors(#place);));
        quote!(#wrong #values)
    });
    let values = quote!(#(#others)*);
    let ty = emitter.import("orch_runtime::rule", "Seen");
    quote!(let mut #seen = #ty::new(); #values)
}

/// A rule about several values: one that was met, or was not.
fn compared<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    reached: &Reached<'m>,
    seen: &Ident,
) -> TokenStream {
    if let Some((of, owner)) = check.expressions.of.as_ref().zip(check.expressions.owner) {
        let text = expression::borrowed(emitter, &scope.variables(owner), of);
        let operand = Operand::variable(&format_ident!("text"));
        let code = met(emitter, scope, check, (reached, &operand), seen, &quote!(text));
        return quote!(if let Some(text) = #text { #code });
    }
    if_given(emitter, reached, &|operand| {
        let by = check.demand.by();
        let key = if by.is_empty() {
            key(emitter, reached, operand)
        } else {
            together(emitter, scope, &check.field, by)
        };
        met(emitter, scope, check, (reached, operand), seen, &key)
    })
}

/// What is reported of a value that was met, or was not.
fn met<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    (reached, operand): (&Reached<'m>, &Operand),
    seen: &Ident,
    key: &TokenStream,
) -> TokenStream {
    let mut told = told(emitter, scope, check);
    told.value = Some((reached.usage, operand.clone()));
    told.is_text = check.expressions.of.is_some();
    let (is_wrong, reason) = match &check.demand {
        Demand::Unique { .. } => (quote!(!#seen.insert(#key)), Reason::Duplicate),
        Demand::RefersTo { .. } => (quote!(!#seen.contains(#key)), Reason::NotFound),
        _ => (quote!(#seen.contains(#key)), Reason::Invalid),
    };
    let report = told.report(reason, "", None);
    quote!(if #is_wrong { #report })
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

/// Puts the values at a path into `seen`; not those of items of `list` that are wrong.
fn insert_all<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    path: &[Step],
    list: &[Step],
    seen: &Ident,
) -> TokenStream {
    let by = check.demand.by();
    scope.each_from(emitter, path, check.within.len(), &|scope, reached| {
        let code = if_given(emitter, reached, &|operand| {
            let key = if by.is_empty() {
                key(emitter, reached, operand)
            } else {
                together(emitter, scope, path, by)
            };
            quote!(#seen.insert(#key);)
        });
        let chosen = check.expressions.of_items.as_ref().zip(check.expressions.owner);
        let chosen =
            chosen.map(|(text, owner)| expression::holds(emitter, &scope.variables(owner), text, true));
        let code = chosen.map_or(code.clone(), |chosen| quote!(if #chosen { #code }));
        match scope.subscript().filter(|_| !list.is_empty()) {
            Some(position) => quote!(if !wrong.contains(&#position) { #code }),
            None => code,
        }
    })
}

/// What items are compared by: several of their fields.
fn together<'m>(emitter: &Emitter<'m>, scope: &Scope<'m>, item: &[Step], by: &[Vec<Step>]) -> TokenStream {
    let parts = by.iter().map(|below| scope.value(emitter, &[item, below].concat()));
    let parts: Vec<TokenStream> = parts.collect();
    if let [part] = parts.as_slice() { part.clone() } else { quote!((#(#parts),*)) }
}

/// What values are compared by: texts as they stand, all others as copies.
fn key(emitter: &Emitter<'_>, reached: &Reached<'_>, operand: &Operand) -> TokenStream {
    let (reference, receiver, copy) = (&operand.reference, &operand.receiver, &operand.copy);
    match emitter.model.resolve(reached.usage) {
        Resolved::Scalar(Shape::String(_)) => quote!(#receiver.as_str()),
        Resolved::Enum(..) => {
            let text_enum = emitter.import("orch_runtime::text_enum", "TextEnum");
            quote!(#text_enum::as_str(#reference))
        }
        _ => copy.clone(),
    }
}

/// The members of choices, as their rules are written one after the other.
#[derive(Default)]
pub(super) struct Choices {
    /// How many members each choice has met.
    met: Vec<usize>,
}

impl Choices {
    /// The rules of a field and about it, if it is a member of a choice: after the first member that is
    /// given, each one is refused, and else its own rules are judged.
    pub fn member<'m>(
        &mut self,
        emitter: &Emitter<'m>,
        object: &'m ObjectType,
        name: &str,
        mut own: TokenStream,
    ) -> TokenStream {
        for (index, check) in object.checks.iter().enumerate() {
            let Some(members) = members(check).filter(|members| members.contains(&name)) else { continue };
            self.met.resize(object.checks.len(), 0);
            self.met[index] += 1;
            let taken = format_ident!("taken_{index}");
            let scope = Scope::new(object, "self");
            let path = vec![Step::Field(name.to_owned())];
            let given = scope.given(emitter, &path);
            if self.met[index] == 1 {
                let mutable = (members.len() > 2).then(|| quote!(mut));
                own = quote!(#own let #mutable #taken = #given;);
                continue;
            }
            let mut told = told(emitter, &scope, check);
            told.place = scope.place(emitter, &[Step::Field(told_as(check, name).to_owned())]);
            let report = told.report(Reason::Forbidden, "may not specify more than one of these", None);
            let remember = (self.met[index] < members.len()).then(|| quote!(#taken |= #given;));
            own = quote! {
                if #taken && #given { #report } else { #own #remember }
            };
        }
        own
    }
}
