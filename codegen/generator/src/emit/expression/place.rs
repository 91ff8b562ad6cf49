//! Where rules are looked at: the object itself, its fields, and all that is below them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    code::{Code, Form},
    conversion, rule,
};
use crate::{
    emit::emitter::Emitter,
    model::{Field, ListSemantics, ObjectType, Omitted, Resolved, Type, TypeId, TypeKind, Usage},
};

/// The constant and the method of `Validate`; nothing for a type without such rules.
pub fn implementation(emitter: &Emitter<'_>, id: TypeId, ty: &Type) -> Option<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return None };
    if !emitter.reach.expressions.contains(&id) {
        return None;
    }
    let path = emitter.import("orch_runtime::path", "Path");
    let validation = emitter.import("orch_runtime::field_error", "Validation");
    let own = own_rules(emitter, id, ty, object);
    let fields = object.fields.iter().filter_map(|field| field_rules(emitter, field));
    Some(quote! {
        const HAS_EXPRESSIONS: bool = true;

        #[allow(clippy::all, reason = "it says what the schema file says")]
        fn validate_expressions(&self, old: Option<&Self>, path: &#path<'_>, cx: &mut #validation<'_>) {
            #(#own)*
            #(#fields)*
        }
    })
}

fn own_rules(emitter: &Emitter<'_>, id: TypeId, ty: &Type, object: &ObjectType) -> Vec<TokenStream> {
    let behind = |reference: &TokenStream| Code::atom(reference.clone(), Form::Object(id));
    let (value, at) = (format_ident!("self"), format_ident!("path"));
    rule::rules(emitter, &ty.validations, Resolved::Object(id, object), &value, &behind, &at)
}

/// The rules of a field and of what is below it, where it is given.
fn field_rules(emitter: &Emitter<'_>, field: &Field) -> Option<TokenStream> {
    let rules = usage_rules(emitter, &field.usage, &field.validations)?;
    let name = format_ident!("{}", field.rust_name);
    let text = &field.name;
    let presence = field.presence(emitter.model);
    if presence.optional {
        return Some(quote! {
            if let Some(value) = &self.#name {
                let at = &path.field(#text);
                let old = old.and_then(|old| old.#name.as_ref());
                #rules
            }
        });
    }
    if presence.omitted == Omitted::Empty {
        let is_empty = conversion::is_empty(emitter, field, &quote!(self.#name));
        let was_empty = conversion::is_empty(emitter, field, &quote!(old.#name));
        return Some(quote! {
            if !#is_empty {
                let at = &path.field(#text);
                let value = &self.#name;
                let old = old.filter(|old| !#was_empty).map(|old| &old.#name);
                #rules
            }
        });
    }
    Some(quote! {
        {
            let at = &path.field(#text);
            let value = &self.#name;
            let old = old.map(|old| &old.#name);
            #rules
        }
    })
}

/// The rules about the variable `value` at the place `at`, with its old state in `old`.
fn usage_rules(
    emitter: &Emitter<'_>,
    usage: &Usage,
    own: &[crate::model::ValidationRule],
) -> Option<TokenStream> {
    let resolved = emitter.model.resolve(usage);
    let (value, at) = (format_ident!("value"), format_ident!("at"));
    let behind = |reference: &TokenStream| Code::behind(emitter, usage, reference);
    let judge = |rules: &[crate::model::ValidationRule], value: &Ident| {
        rule::rules(emitter, rules, resolved, value, &behind, &at)
    };
    let mut rules = judge(own, &value);
    for ty in emitter.model.names(usage).into_iter().filter(|ty| !matches!(ty.kind, TypeKind::Object(_))) {
        rules.extend(judge(&ty.validations, &value));
    }
    rules.extend(match resolved {
        Resolved::Object(id, _) => {
            emitter.reach.expressions.contains(&id).then(|| quote!(value.validate_expressions(old, at, cx);))
        }
        Resolved::List(item, semantics) => list_rules(emitter, item, semantics),
        Resolved::Map { keys, value, atomic } => map_rules(emitter, keys, value, atomic),
        _ => None,
    });
    (!rules.is_empty()).then(|| quote!(#(#rules)*))
}

fn list_rules(emitter: &Emitter<'_>, item: &Usage, semantics: &ListSemantics) -> Option<TokenStream> {
    let rules = usage_rules(emitter, item, &[])?;
    let expression = emitter.runtime("expression");
    let object = match emitter.model.resolve(item) {
        Resolved::Object(_, object) => Some(object),
        _ => None,
    };
    if let (ListSemantics::Map(keys), Some(object)) = (semantics, object) {
        let fields: Vec<TokenStream> = keys
            .iter()
            .filter_map(|key| object.fields.iter().find(|field| field.name == *key))
            .map(|field| {
                let name = format_ident!("{}", field.rust_name);
                quote!(#name)
            })
            .collect();
        let key = |item: &TokenStream| match fields.as_slice() {
            [only] => quote!(&#item.#only),
            several => quote!((#(&#item.#several),*)),
        };
        let (of_old, of_new) = (key(&quote!(item)), key(&quote!(value)));
        return Some(quote! {
            let olds = #expression::by_key(old, |item| #of_old);
            for (index, value) in value.iter().enumerate() {
                let at = &at.index(index);
                let old = olds.get(&#of_new).copied();
                #rules
            }
        });
    }
    Some(quote! {
        for (index, value) in value.iter().enumerate() {
            let at = &at.index(index);
            let old = #expression::no_old(value);
            #rules
        }
    })
}

fn map_rules(emitter: &Emitter<'_>, keys: &Usage, value: &Usage, atomic: bool) -> Option<TokenStream> {
    let expression = emitter.runtime("expression");
    let key_rules = usage_rules(emitter, keys, &[]).map(|rules| {
        quote! {
            for value in value.keys() {
                let at = &at.key(value);
                let old = #expression::no_old(value);
                #rules
            }
        }
    });
    let value_rules = usage_rules(emitter, value, &[]).map(|rules| {
        let old = if atomic {
            quote!(#expression::no_old(value))
        } else {
            quote!(old.and_then(|old| old.get(key)))
        };
        quote! {
            for (key, value) in value {
                let at = &at.key(key);
                let old = #old;
                #rules
            }
        }
    });
    let all: Vec<TokenStream> = key_rules.into_iter().chain(value_rules).collect();
    (!all.is_empty()).then(|| quote!(#(#all)*))
}
