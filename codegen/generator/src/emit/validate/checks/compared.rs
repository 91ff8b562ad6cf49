//! Rules that compare several values: which were met, and what a value is compared by.

use orch_runtime::field_error::Reason;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    super::{
        operand::Operand,
        reached::{Reached, if_given},
        scope::Scope,
    },
    root, told,
};
use crate::{
    emit::{emitter::Emitter, expression},
    model::{Check, Demand, Resolved, Shape, Step},
};

/// What is to be known of other values before those of a rule are looked at.
pub(super) fn known<'m>(
    emitter: &Emitter<'m>,
    scope: &Scope<'m>,
    check: &'m Check,
    seen: &Ident,
) -> TokenStream {
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
pub(super) fn compared<'m>(
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
