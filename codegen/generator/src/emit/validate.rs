//! `Validate`: what the schema says about a value, and about the change of a value.
//!
//! Every rule is one call of a function of the runtime. Fields come in the order of the schema, then what
//! concerns the type as a whole; errors are reported in that order.

mod update;
mod value;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

pub use self::{update::rules as update_rules, value::rules};
use super::scope::Scope;
use crate::model::Type;

/// The `impl Validate` of an object type.
pub fn implementation(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    let validate = scope.import("orch_runtime::object", "Validate");
    let name = format_ident!("{}", ty.name);
    let rules = rules(scope, ty);
    let update_rules = update_rules(scope, ty);
    if rules.is_empty() && update_rules.is_empty() {
        return quote!(impl #validate for #name {});
    }
    let path = scope.import("orch_runtime::path", "Path");
    let validation = scope.import("orch_runtime::field_error", "Validation");
    let validate_method = (!rules.is_empty()).then(|| {
        quote! {
            fn validate(&self, path: &#path<'_>, cx: &mut #validation<'_>) { #(#rules)* }
        }
    });
    let update_method = (!update_rules.is_empty()).then(|| {
        quote! {
            fn validate_update(&self, old: &Self, path: &#path<'_>, cx: &mut #validation<'_>) {
                #(#update_rules)*
            }
        }
    });
    quote! {
        impl #validate for #name {
            #validate_method
            #update_method
        }
    }
}

/// A value of type `T` in generated code, in the forms in which calls want it.
#[derive(Clone, Debug)]
struct Place {
    /// An expression of type `&T`.
    reference: TokenStream,
    /// An expression of type `T`, for values that are copied.
    copy: TokenStream,
    /// What methods are called on.
    receiver: TokenStream,
}

impl Place {
    /// A field of `self` or `old`.
    fn field(owner: &str, name: &proc_macro2::Ident) -> Self {
        let owner = format_ident!("{owner}");
        let receiver = quote!(#owner.#name);
        Place { reference: quote!(&#receiver), copy: receiver.clone(), receiver }
    }

    /// A variable of type `&T`.
    fn variable(name: &proc_macro2::Ident) -> Self {
        Place { reference: quote!(#name), copy: quote!(*#name), receiver: quote!(#name) }
    }
}
