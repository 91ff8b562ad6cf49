//! Rules that go through the same items: one loop for all of them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    super::scope::Scope,
    chained,
    compared::{compared, known},
    conditions, demand, first_loop, root,
};
use crate::{
    emit::emitter::Emitter,
    model::{Check, Demand, ObjectType},
};

/// Rules that go through the same items.
pub(super) fn looped<'m>(emitter: &Emitter<'m>, object: &'m ObjectType, run: &[&'m Check]) -> TokenStream {
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
