//! Macros over the items of lists and maps.

use orch_expression::{
    ast::FoldKind,
    typed::{Fold, Term, TermKind},
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    Translation,
    optional::{self, OrNone},
};
use crate::{
    emit::expression::{
        code,
        code::{Code, Form, Level},
        conversion,
    },
    model::Resolved,
};

/// What a macro looks through.
struct Range<'m> {
    /// An iterator.
    items: TokenStream,
    /// The pattern of one of its items.
    pattern: TokenStream,
    /// The variables of the macro, and the key or position.
    locals: Vec<Code<'m>>,
    can_fail: bool,
}

pub(super) fn fold<'m>(translation: &mut Translation<'_, 'm>, term: &Term, fold: &Fold) -> Code<'m> {
    let expression = translation.emitter.runtime("expression");
    let Range { items, pattern, locals, can_fail } = range(translation, fold);
    let depth = translation.locals.len();
    translation.locals.extend(locals);
    let filter = fold.filter.as_ref().map(|filter| translation.bool(filter));
    let keep = filter.map(|filter| {
        let filter = filter.operand(Level::Unary);
        quote!(if !#filter { return Ok(None); })
    });
    let code = match fold.kind {
        FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => {
            let body = translation.bool(&fold.body);
            judged(&expression, fold.kind, &items, &pattern, &body, can_fail)
        }
        FoldKind::Filter => {
            let body = translation.bool(&fold.body).tokens;
            let single = conversion::value(translation.emitter, &translation.locals[depth]);
            let tokens = quote! {
                #expression::list_of(#items, |#pattern| Ok(if #body { Some(#single) } else { None }))?
            };
            Code::atom(tokens, Form::Value).failing()
        }
        FoldKind::Map | FoldKind::TransformMapEntry => {
            let function = if fold.kind == FoldKind::Map { "list_of" } else { "entries_of" };
            let function = format_ident!("{function}");
            let mut fails = true;
            let body = translation.value(&fold.body, &mut fails);
            let tokens = match keep {
                None => quote!(#expression::#function(#items, |#pattern| Ok(Some(#body)))?),
                Some(keep) => {
                    quote!(#expression::#function(#items, |#pattern| { #keep Ok(Some(#body)) })?)
                }
            };
            Code::atom(tokens, Form::Value).failing()
        }
        FoldKind::TransformMap => {
            let mut fails = true;
            let body = translation.value(&fold.body, &mut fails);
            let key = conversion::value(translation.emitter, &translation.locals[depth]);
            let tokens = quote!(#expression::map_of(#items, |#pattern| { #keep Ok(Some((#key, #body))) })?);
            Code::atom(tokens, Form::Value).failing()
        }
    };
    translation.locals.truncate(depth);
    translation.plain(code, &term.of)
}

/// `all`, `exists` and `exists_one`.
fn judged<'m>(
    expression: &TokenStream,
    kind: FoldKind,
    items: &TokenStream,
    pattern: &TokenStream,
    body: &Code<'m>,
    can_fail: bool,
) -> Code<'m> {
    let holds = &body.tokens;
    let (plain, function) = match kind {
        FoldKind::All => (Some(quote!(all)), "all"),
        FoldKind::Exists => (Some(quote!(any)), "exists"),
        _ => (None, "exists_one"),
    };
    match plain {
        Some(method) if !body.can_fail => {
            Code::atom(quote!(#items.#method(|#pattern| #holds)), Form::Bool).failing_if(can_fail)
        }
        _ => {
            let function = format_ident!("{function}");
            Code::atom(quote!(#expression::#function(#items, |#pattern| Ok(#holds))?), Form::Bool).failing()
        }
    }
}

fn range<'m>(translation: &mut Translation<'_, 'm>, fold: &Fold) -> Range<'m> {
    let emitter = translation.emitter;
    let depth = translation.locals.len();
    let (first, second) = (code::local("item", depth), code::local("item", depth + 1));
    // The key is used where it is shown as such, and by what makes a map of it.
    let uses = |position: usize| {
        let is_key_of_map = position == depth && fold.kind == FoldKind::TransformMap;
        let is_single = position == depth && fold.kind == FoldKind::Filter;
        let parts = [Some(&fold.body), fold.filter.as_ref()];
        let is_local = |term: &Term| matches!(&term.kind, TermKind::Local(found) if *found == position);
        is_key_of_map || is_single || parts.into_iter().flatten().any(|part| part.any(&mut { is_local }))
    };
    let name =
        |position: usize, name: &proc_macro2::Ident| if uses(position) { quote!(#name) } else { quote!(_) };
    let pair = {
        let (first, second) = (name(depth, &first), name(depth + 1, &second));
        quote!((#first, #second))
    };
    let single = name(depth, &first);
    let is_single = fold.variables == 1;
    let Some(items) = items(translation, &fold.range, is_single) else {
        let expression = emitter.runtime("expression");
        let owner = translation.term(&fold.range);
        let value = conversion::value(emitter, &owner);
        let local = |name: &proc_macro2::Ident| Code::atom(quote!(#name.clone()), Form::Value);
        let (function, pattern, locals) = if is_single {
            ("singles", single, vec![local(&first)])
        } else {
            ("pairs", pair, vec![local(&first), local(&second)])
        };
        let function = format_ident!("{function}");
        let items = quote!(#expression::#function(&#value)?.into_iter());
        return Range { items, pattern, locals, can_fail: true };
    };
    let Items { iterator, of, can_fail } = items;
    let key = Code::atom(quote!(#first.as_str()), Form::Text);
    let (pattern, locals) = match (of, is_single) {
        (Resolved::List(item, _), true) => (single, vec![Code::behind(emitter, item, &quote!(#first))]),
        (Resolved::List(item, _), false) => {
            let position = Code::atom(quote!(#first), Form::Int);
            (pair, vec![position, Code::behind(emitter, item, &quote!(#second))])
        }
        (Resolved::Map { value, .. }, false) => {
            (pair, vec![key, Code::behind(emitter, value, &quote!(#second))])
        }
        _ => (single, vec![key]),
    };
    Range { items: iterator, pattern, locals, can_fail }
}

/// The items of a list or map of the object.
struct Items<'m> {
    /// With their positions or keys, where these are wanted. Of maps the keys alone, where one thing is.
    iterator: TokenStream,
    of: Resolved<'m>,
    can_fail: bool,
}

/// Nothing where a term is no part of the object.
fn items<'m>(translation: &mut Translation<'_, 'm>, range: &Term, is_single: bool) -> Option<Items<'m>> {
    let expression = translation.emitter.runtime("expression");
    if let Some(OrNone { found, of, can_fail }) = optional::or_none(translation, range) {
        let all = quote!(#found.into_iter().flatten());
        let iterator = match (of, is_single) {
            (Resolved::List(..), false) => quote!((0_i64..).zip(#all)),
            (Resolved::Map { .. }, true) => quote!(#found.into_iter().flat_map(|map| map.keys())),
            _ => all,
        };
        return Some(Items { iterator, of, can_fail });
    }
    let owner = translation.term(range);
    let (receiver, tokens) = (owner.receiver(), &owner.tokens);
    let of = owner.resolved(translation.emitter.model)?;
    let iterator = match (of, is_single) {
        (Resolved::List(..), false) => quote!(#expression::numbered(#tokens)),
        (Resolved::Map { .. }, true) => quote!(#receiver.keys()),
        (Resolved::List(..) | Resolved::Map { .. }, _) => quote!(#receiver.iter()),
        _ => return None,
    };
    Some(Items { iterator, of, can_fail: owner.can_fail })
}
