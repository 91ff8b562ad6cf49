//! The rules about the change of a value: immutable fields, here and below.
//!
//! Items of a list are compared only where the list says what identifies them; in all other lists a changed
//! item is a new item.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    checks,
    operand::{Operand, name_at},
};
use crate::{
    emit::emitter::Emitter,
    model::{Field, Immutability, ListSemantics, Resolved, Shape, Type, TypeKind, Usage},
};

/// The body of `validate_update`; empty where there is nothing to check.
pub fn rules(emitter: &Emitter<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let mut rules: Vec<TokenStream> =
        object.fields.iter().filter_map(|field| field_rules(emitter, field)).collect();
    rules.extend(checks::update_rules(emitter, object));
    rules.retain(|rule| !rule.is_empty());
    rules.extend(ty.update_validator.as_ref().map(|name| {
        let function = emitter.validator(ty, name);
        quote!(#function(self, old, path, cx);)
    }));
    rules
}

fn field_rules(emitter: &Emitter<'_>, field: &Field) -> Option<TokenStream> {
    let resolved = emitter.model.resolve(&field.usage);
    let name = format_ident!("{}", field.rust_name);
    let (new, old) = (Operand::field("self", &name), Operand::field("old", &name));
    let mut rules: Vec<TokenStream> =
        field.immutable.map(|how| immutable(emitter, field, resolved, how)).into_iter().collect();
    if field.presence(emitter.model).optional {
        let (new_name, old_name) = (format_ident!("new"), format_ident!("old"));
        let below = rules_below(
            emitter,
            &field.usage,
            &Operand::variable(&new_name),
            &Operand::variable(&old_name),
            0,
        );
        rules.extend(below.map(|below| {
            let (new, old) = (&new.reference, &old.reference);
            quote!(if let (Some(new), Some(old)) = (#new, #old) { #below })
        }));
    } else {
        rules.extend(rules_below(emitter, &field.usage, &new, &old, 0));
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

fn immutable(emitter: &Emitter<'_>, field: &Field, resolved: Resolved<'_>, how: Immutability) -> TokenStream {
    let rule = emitter.runtime("rule");
    let name = format_ident!("{}", field.rust_name);
    let optional = field.presence(emitter.model).optional;
    let is_text = matches!(resolved, Resolved::Scalar(Shape::String(_)));
    let shows_itself = matches!(resolved, Resolved::Scalar(_) | Resolved::Enum(..));
    match how {
        Immutability::Always if shows_itself => quote!(#rule::immutable(&self.#name, &old.#name, &at, cx);),
        Immutability::Always => {
            let json = emitter.import("orch_runtime::field_error", "json");
            quote!(#rule::immutable_shown(self.#name != old.#name, || #json(&self.#name), &at, cx);)
        }
        Immutability::OnceSet if shows_itself && (optional || is_text) => {
            quote!(#rule::once_set(&self.#name, &old.#name, &at, cx);)
        }
        Immutability::OnceSet => {
            let json = emitter.import("orch_runtime::field_error", "json");
            let was_given = if optional {
                quote!(old.#name.is_some())
            } else {
                let is_empty = Operand::field("old", &name).is_empty(emitter, resolved);
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
    emitter: &Emitter<'_>,
    usage: &Usage,
    new: &Operand,
    old: &Operand,
    depth: usize,
) -> Option<TokenStream> {
    match emitter.model.resolve(usage) {
        Resolved::Object(id, _) => emitter.reach.updates.contains(&id).then(|| {
            let (receiver, old) = (&new.receiver, &old.reference);
            quote!(#receiver.validate_update(#old, &at, cx);)
        }),
        Resolved::List(item, ListSemantics::Map(keys)) => list_rules(emitter, item, keys, new, old, depth),
        Resolved::Map { value, .. } => map_rules(emitter, value, new, old, depth),
        _ => None,
    }
}

fn list_rules(
    emitter: &Emitter<'_>,
    item: &Usage,
    keys: &[String],
    new: &Operand,
    old: &Operand,
    depth: usize,
) -> Option<TokenStream> {
    let Resolved::Object(_, object) = emitter.model.resolve(item) else { return None };
    let (new_item, old_item) = (name_at("new", depth), name_at("old", depth));
    let below =
        rules_below(emitter, item, &Operand::variable(&new_item), &Operand::variable(&old_item), depth + 1)?;
    let keys: Vec<TokenStream> = keys
        .iter()
        .filter_map(|key| object.fields.iter().find(|field| field.name == *key))
        .map(|field| {
            let name = format_ident!("{}", field.rust_name);
            quote!(&item.#name)
        })
        .collect();
    let key = if let [key] = keys.as_slice() { key.clone() } else { quote!((#(#keys),*)) };
    let rule = emitter.runtime("rule");
    let (new, old) = (&new.reference, &old.reference);
    Some(quote! {
        for (index, #new_item, #old_item) in #rule::pairs(#new, #old, |item| #key) {
            let at = at.index(index);
            #below
        }
    })
}

fn map_rules(
    emitter: &Emitter<'_>,
    value: &Usage,
    new: &Operand,
    old: &Operand,
    depth: usize,
) -> Option<TokenStream> {
    let (new_value, old_value) = (name_at("new", depth), name_at("old", depth));
    let below = rules_below(
        emitter,
        value,
        &Operand::variable(&new_value),
        &Operand::variable(&old_value),
        depth + 1,
    )?;
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
