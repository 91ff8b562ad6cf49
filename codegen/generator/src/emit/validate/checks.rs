//! `x-orch-rules`: each rule as straight code, told in its own words at its own place.

use orch_runtime::field_error::Reason;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    scope::{Reached, Scope, given, if_given},
    told::Told,
};
use crate::{
    emit::emitter::Emitter,
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
    let Demand::AtMostOne(members) = &check.demand else { return None };
    if check.words.place.is_some() || !check.when.is_empty() || !check.field.is_empty() {
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

/// The rule as code; nothing for a rule about a change.
pub(super) fn rule<'m>(emitter: &Emitter<'m>, object: &'m ObjectType, check: &'m Check) -> TokenStream {
    let scope = Scope::new(object, "self");
    let is_inner = |condition: &&Condition| is_of_loop(check, condition);
    let outer = scope.conditions(emitter, check.when.iter().filter(|condition| !is_inner(condition)));
    let code = match &check.demand {
        Demand::AtLeastOne(members) => {
            let given = any_given(emitter, &scope, members);
            let report = told(emitter, &scope, check).report(Reason::Required, "", None);
            quote!(if !(#given) { #report })
        }
        Demand::AtMostOne(members) => {
            let counts = members.iter().map(|member| {
                let given = scope.given(emitter, member);
                quote!(usize::from(#given))
            });
            let message = "may not specify more than one of these";
            let report = told(emitter, &scope, check).report(Reason::Invalid, message, None);
            quote!(if #(#counts)+* > 1 { #report })
        }
        Demand::Unique(others) => unique(emitter, &scope, check, others),
        Demand::RefersTo(targets) => refers_to(emitter, &scope, check, targets),
        Demand::Immutable(_) => return TokenStream::new(),
        _ => scope.each(emitter, &check.field, &|scope, reached| {
            let code = demand(emitter, scope, check, reached);
            match scope.conditions(emitter, check.when.iter().filter(is_inner)) {
                Some(conditions) => quote!(if #conditions { #code }),
                None => code,
            }
        }),
    };
    match outer {
        Some(conditions) => quote!(if #conditions { #code }),
        None => code,
    }
}

/// The rule about a change as code; nothing for another rule.
pub(super) fn update_rule<'m>(
    emitter: &Emitter<'m>,
    object: &'m ObjectType,
    check: &'m Check,
) -> TokenStream {
    let Demand::Immutable(how) = &check.demand else { return TokenStream::new() };
    let (new, old) = (Scope::new(object, "self"), Scope::new(object, "old"));
    let (value, old_value) = (new.value(emitter, &check.field), old.value(emitter, &check.field));
    let mut conditions: Vec<TokenStream> = old.conditions(emitter, check.when.iter()).into_iter().collect();
    let message = match how {
        Immutability::Always => "field is immutable",
        Immutability::OnceSet => {
            conditions.push(old.given(emitter, &check.field));
            "field is immutable once set"
        }
    };
    conditions.push(quote!(#value != #old_value));
    let mut told = told(emitter, &new, check);
    told.shows = Some(&check.field);
    let report = told.report(Reason::Invalid, message, None);
    quote!(if #(#conditions)&&* { #report })
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
    let place = scope.place(check.words.place.as_ref().unwrap_or(&check.field));
    Told { emitter, scope, words: &check.words, place, value: None, shows: None }
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

fn unique<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    others: &[Vec<Step>],
) -> TokenStream {
    let others = others.iter().map(|path| insert_all(emitter, scope, path));
    let is_wrong = |key: TokenStream| quote!(!seen.insert(#key));
    with_seen(emitter, scope, check, &quote!(#(#others)*), &is_wrong, Reason::Duplicate)
}

fn refers_to<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    targets: &[Step],
) -> TokenStream {
    let targets = insert_all(emitter, scope, targets);
    let is_wrong = |key: TokenStream| quote!(!seen.contains(#key));
    with_seen(emitter, scope, check, &targets, &is_wrong, Reason::NotFound)
}

/// Asks of each value of the field whether it is wrong, given the values in `seen`, into which `known` puts
/// the first ones.
fn with_seen<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    known: &TokenStream,
    is_wrong: &dyn Fn(TokenStream) -> TokenStream,
    reason: Reason,
) -> TokenStream {
    let seen = emitter.import("orch_runtime::rule", "Seen");
    let own = scope.each(emitter, &check.field, &|scope, reached| {
        let code = if_given(emitter, reached, &|operand| {
            let mut told = told(emitter, scope, check);
            told.value = Some((reached.usage, operand.clone()));
            let (is_wrong, report) =
                (is_wrong(key(emitter, reached, operand)), told.report(reason, "", None));
            quote!(if #is_wrong { #report })
        });
        let inner = check.when.iter().filter(|condition| is_of_loop(check, condition));
        match scope.conditions(emitter, inner) {
            Some(conditions) => quote!(if #conditions { #code }),
            None => code,
        }
    });
    quote! {
        {
            let mut seen = #seen::new();
            #known
            #own
        }
    }
}

fn insert_all<'m>(emitter: &Emitter<'m>, scope: &Scope<'m>, path: &[Step]) -> TokenStream {
    scope.each(emitter, path, &|_, reached| {
        if_given(emitter, reached, &|operand| {
            let key = key(emitter, reached, operand);
            quote!(seen.insert(#key);)
        })
    })
}

/// What values are compared by: texts as they stand, all others as copies.
fn key(emitter: &Emitter<'_>, reached: &Reached<'_>, operand: &super::operand::Operand) -> TokenStream {
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
    /// The rules of a field, if it is a member of a choice: after the first member that is given, each one is
    /// refused, and else its own rules are judged.
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
            told.place = scope.place(&path);
            let report = told.report(Reason::Forbidden, "may not specify more than one of these", None);
            let remember = (self.met[index] < members.len()).then(|| quote!(#taken |= #given;));
            own = quote! {
                if #taken && #given { #report } else { #own #remember }
            };
        }
        own
    }
}
