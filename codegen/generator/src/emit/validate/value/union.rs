//! Unions: objects of which only some fields may be given together.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::{
    emit::{emitter::Emitter, validate::operand::Operand},
    model::{Field, ObjectType, Resolved, Union},
};

/// How many members of the object may be given.
pub(super) fn rule(emitter: &Emitter<'_>, object: &ObjectType, union: &Union) -> TokenStream {
    let rule = emitter.runtime("rule");
    let members = union.members.iter().filter_map(|name| {
        let field = object.fields.iter().find(|field| field.name == *name)?;
        Some((name, given(emitter, field)))
    });
    let Some((discriminator, values)) = &union.discriminator else {
        let members = members.map(|(name, given)| quote!((#name, #given)));
        let function =
            format_ident!("{}", if union.exactly_one { "union_exactly_one" } else { "union_at_most_one" });
        return quote!(#rule::#function(&[#(#members),*], path, cx););
    };
    let field = object.fields.iter().find(|field| field.name == *discriminator);
    let value = field.map(|field| discriminator_text(emitter, field));
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
fn given(emitter: &Emitter<'_>, field: &Field) -> TokenStream {
    let resolved = emitter.model.resolve(&field.usage);
    let name = format_ident!("{}", field.rust_name);
    if field.presence(emitter.model).optional {
        return quote!(self.#name.is_some());
    }
    let is_empty = Operand::field("self", &name).is_empty(emitter, resolved);
    quote!(!#is_empty)
}

/// The discriminator's text, as an expression of type `&str`; empty when it is not given.
fn discriminator_text(emitter: &Emitter<'_>, field: &Field) -> TokenStream {
    let resolved = emitter.model.resolve(&field.usage);
    let name = format_ident!("{}", field.rust_name);
    let optional = field.presence(emitter.model).optional;
    let as_str = if matches!(resolved, Resolved::Enum(..)) {
        let text_enum = emitter.import("orch_runtime::text_enum", "TextEnum");
        quote!(#text_enum::as_str)
    } else {
        quote!(String::as_str)
    };
    if optional { quote!(self.#name.as_ref().map_or("", #as_str)) } else { quote!(#as_str(&self.#name)) }
}
