//! The rules about the change of a value: immutable fields, here and below.
//!
//! Items of a list are compared only where the list says what identifies them; in all other lists a changed
//! item is a new item.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Place, value::is_empty};
use crate::{
    emit::{
        scope::Scope,
        shape::{Resolved, presence},
        types::rust_ident,
    },
    model::{Field, Immutability, ListSemantics, Shape, Type, TypeKind, Usage},
};

/// The body of `validate_update`; empty where there is nothing to check.
pub fn rules(scope: &Scope<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let mut rules: Vec<TokenStream> =
        object.fields.iter().filter_map(|field| field_rules(scope, field)).collect();
    rules.extend(ty.update_validator.as_ref().map(|name| {
        let function = scope.validator(ty, name);
        quote!(#function(self, old, path, cx);)
    }));
    rules
}

fn field_rules(scope: &Scope<'_>, field: &Field) -> Option<TokenStream> {
    let resolved = scope.resolve(&field.usage);
    let name = rust_ident(&field.rust_name);
    let (new, old) = (Place::field("self", &name), Place::field("old", &name));
    let mut rules: Vec<TokenStream> =
        field.immutable.map(|how| immutable(scope, field, resolved, how)).into_iter().collect();
    if presence(field, resolved).optional {
        let (new_name, old_name) = (format_ident!("new"), format_ident!("old"));
        let below =
            rules_below(scope, &field.usage, &Place::variable(&new_name), &Place::variable(&old_name), 0);
        rules.extend(below.map(|below| {
            let (new, old) = (&new.reference, &old.reference);
            quote!(if let (Some(new), Some(old)) = (#new, #old) { #below })
        }));
    } else {
        rules.extend(rules_below(scope, &field.usage, &new, &old, 0));
    }
    if rules.is_empty() {
        return None;
    }
    let text = &field.name;
    Some(quote! {
        let at = path.field(#text);
        #(#rules)*
    })
}

fn immutable(scope: &Scope<'_>, field: &Field, resolved: Resolved<'_>, how: Immutability) -> TokenStream {
    let rule = scope.runtime("rule");
    let name = rust_ident(&field.rust_name);
    let optional = presence(field, resolved).optional;
    let is_text = matches!(resolved, Resolved::Scalar(Shape::String(_)));
    let shows_itself = matches!(resolved, Resolved::Scalar(_) | Resolved::Enum(..));
    match how {
        Immutability::Always if shows_itself => quote!(#rule::immutable(&self.#name, &old.#name, &at, cx);),
        Immutability::Always => {
            let json = scope.import("orch_runtime::field_error", "json");
            quote!(#rule::immutable_shown(self.#name != old.#name, || #json(&self.#name), &at, cx);)
        }
        Immutability::OnceSet if shows_itself && (optional || is_text) => {
            quote!(#rule::once_set(&self.#name, &old.#name, &at, cx);)
        }
        Immutability::OnceSet => {
            let json = scope.import("orch_runtime::field_error", "json");
            let was_given = if optional {
                quote!(old.#name.is_some())
            } else {
                let is_empty = is_empty(scope, resolved, &Place::field("old", &name));
                quote!(!#is_empty)
            };
            quote! {
                let changed = #was_given && self.#name != old.#name;
                #rule::once_set_shown(changed, || #json(&self.#name), &at, cx);
            }
        }
    }
}

fn rules_below(
    scope: &Scope<'_>,
    usage: &Usage,
    new: &Place,
    old: &Place,
    depth: usize,
) -> Option<TokenStream> {
    match scope.resolve(usage) {
        Resolved::Object(id, _) => scope.reach.updates.contains(&id).then(|| {
            let (receiver, old) = (&new.receiver, &old.reference);
            quote!(#receiver.validate_update(#old, &at, cx);)
        }),
        Resolved::List(item, ListSemantics::Map(keys)) => list_rules(scope, item, keys, new, old, depth),
        Resolved::Map { value, .. } => map_rules(scope, value, new, old, depth),
        _ => None,
    }
}

fn list_rules(
    scope: &Scope<'_>,
    item: &Usage,
    keys: &[String],
    new: &Place,
    old: &Place,
    depth: usize,
) -> Option<TokenStream> {
    let Resolved::Object(_, object) = scope.resolve(item) else { return None };
    let (new_item, old_item) = (name_at("new", depth), name_at("old", depth));
    let below =
        rules_below(scope, item, &Place::variable(&new_item), &Place::variable(&old_item), depth + 1)?;
    let keys: Vec<TokenStream> = keys
        .iter()
        .filter_map(|key| object.fields.iter().find(|field| field.name == *key))
        .map(|field| {
            let name = rust_ident(&field.rust_name);
            quote!(&item.#name)
        })
        .collect();
    let key = if let [key] = keys.as_slice() { key.clone() } else { quote!((#(#keys),*)) };
    let rule = scope.runtime("rule");
    let (new, old) = (&new.reference, &old.reference);
    Some(quote! {
        for (index, #new_item, #old_item) in #rule::pairs(#new, #old, |item| #key) {
            let at = at.index(index);
            #below
        }
    })
}

fn map_rules(
    scope: &Scope<'_>,
    value: &Usage,
    new: &Place,
    old: &Place,
    depth: usize,
) -> Option<TokenStream> {
    let (new_value, old_value) = (name_at("new", depth), name_at("old", depth));
    let below =
        rules_below(scope, value, &Place::variable(&new_value), &Place::variable(&old_value), depth + 1)?;
    let (new, old) = (&new.reference, &old.receiver);
    Some(quote! {
        for (key, #new_value) in #new {
            if let Some(#old_value) = #old.get(key) {
                let at = at.key(key);
                #below
            }
        }
    })
}

fn name_at(stem: &str, depth: usize) -> Ident {
    if depth == 0 { format_ident!("{stem}") } else { format_ident!("{stem}_{depth}") }
}
