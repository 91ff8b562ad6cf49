//! `Validate`: what the schema says about a value, and about the change of a value.
//!
//! Every rule is one call of a function of the runtime. Fields come in the order of the schema, then what
//! concerns the type as a whole; errors are reported in that order.

mod checks;
mod operand;
mod ratchet;
mod reached;
mod same;
mod scope;
mod shown;
mod standard;
mod told;
mod update;
mod value;

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

pub(in crate::emit) use self::scope::Scope;
pub use self::{update::rules as update_rules, value::rules};
use super::{emitter::Emitter, expression};
use crate::model::Type;

/// The `impl Validate` of an object type.
pub fn implementation(emitter: &Emitter<'_>, ty: &Type) -> TokenStream {
    let validate = emitter.import("orch_runtime::object", "Validate");
    let name = format_ident!("{}", ty.name);
    let rules = rules(emitter, ty);
    let update_rules = update_rules(emitter, ty);
    let ratcheted = ratchet::rules(emitter, ty);
    let ignored = |object: &_, field: &str| checks::ignored(emitter, object, field);
    let expressions = expression::implementation(emitter, emitter.model.id(ty), ty, &ratcheted, &ignored);
    if rules.is_empty() && update_rules.is_empty() && expressions.is_none() {
        return quote!(impl #validate for #name {});
    }
    let path = emitter.import("orch_runtime::path", "Path");
    let validation = emitter.import("orch_runtime::field_error", "Validation");
    let validate_method = (!rules.is_empty()).then(|| {
        quote! {
            fn validate(&self, path: &#path<'_>, cx: &mut #validation<'_>) { #(#rules)* }
        }
    });
    let update_method = (!update_rules.is_empty()).then(|| {
        // Rules about a change may look at the new object alone.
        let is_used = update_rules.iter().any(|rule| mentions(rule, "old"));
        let old = format_ident!("{}", if is_used { "old" } else { "_old" });
        quote! {
            fn validate_update(&self, #old: &Self, path: &#path<'_>, cx: &mut #validation<'_>) {
                #(#update_rules)*
            }
        }
    });
    quote! {
        impl #validate for #name {
            #validate_method
            #update_method
            #expressions
        }
    }
}

/// Whether code uses a name.
fn mentions(code: &TokenStream, name: &str) -> bool {
    code.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(&group.stream(), name),
        _ => false,
    })
}
