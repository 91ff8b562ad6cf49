//! Unions: objects of which only some fields may be given together.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::is_empty;
use crate::{
    emit::{
        scope::Scope,
        shape::{Resolved, presence},
        types::rust_ident,
        validate::Place,
    },
    model::{Field, ObjectType, Union},
};

/// How many members of the object may be given.
pub(super) fn rule(scope: &Scope<'_>, object: &ObjectType, union: &Union) -> TokenStream {
    let rule = scope.runtime("rule");
    let members = union.members.iter().filter_map(|name| {
        let field = object.fields.iter().find(|field| field.name == *name)?;
        Some((name, given(scope, field)))
    });
    let Some((discriminator, values)) = &union.discriminator else {
        let members = members.map(|(name, given)| quote!((#name, #given)));
        let function =
            format_ident!("{}", if union.exactly_one { "union_exactly_one" } else { "union_at_most_one" });
        return quote!(#rule::#function(&[#(#members),*], path, cx););
    };
    let field = object.fields.iter().find(|field| field.name == *discriminator);
    let value = field.map(|field| discriminator_text(scope, field));
    let members = members.map(|(name, given)| {
        let selected_by = values.get(name).unwrap_or(name);
        // Where at most one is asked for, the selected member may be missing.
        let given = if union.exactly_one { given } else { quote!(#given || selected == #selected_by) };
        quote!(#rule::Member { selected_by: #selected_by, field: #name, given: #given })
    });
    quote! {
        let selected = #value;
        #rule::union_by_discriminator(#discriminator, selected, &[#(#members),*], path, cx);
    }
}

/// Whether a field has a value, as an expression.
fn given(scope: &Scope<'_>, field: &Field) -> TokenStream {
    let resolved = scope.resolve(&field.usage);
    let name = rust_ident(&field.rust_name);
    if presence(field, resolved).optional {
        return quote!(self.#name.is_some());
    }
    let is_empty = is_empty(scope, resolved, &Place::field("self", &name));
    quote!(!#is_empty)
}

/// The discriminator's text, as an expression of type `&str`; empty when it is not given.
fn discriminator_text(scope: &Scope<'_>, field: &Field) -> TokenStream {
    let resolved = scope.resolve(&field.usage);
    let name = rust_ident(&field.rust_name);
    let optional = presence(field, resolved).optional;
    let as_str = if matches!(resolved, Resolved::Enum(..)) {
        let text_enum = scope.import("orch_runtime::text_enum", "TextEnum");
        quote!(#text_enum::as_str)
    } else {
        quote!(String::as_str)
    };
    if optional { quote!(self.#name.as_ref().map_or("", #as_str)) } else { quote!(#as_str(&self.#name)) }
}
