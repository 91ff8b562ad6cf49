//! What a rule is about: a value of generated code, in the forms in which calls want it.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::{
    emit::emitter::Emitter,
    model::{Resolved, Shape},
};

/// A value of type `T`.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// An expression of type `&T`.
    pub reference: TokenStream,
    /// An expression of type `T`, for values that are copied.
    pub copy: TokenStream,
    /// What methods are called on.
    pub receiver: TokenStream,
}

impl Operand {
    /// A field of `self` or `old`.
    pub fn field(owner: &str, name: &Ident) -> Self {
        let owner = format_ident!("{owner}");
        let receiver = quote!(#owner.#name);
        Operand { reference: quote!(&#receiver), copy: receiver.clone(), receiver }
    }

    /// A variable of type `&T`.
    pub fn variable(name: &Ident) -> Self {
        Operand { reference: quote!(#name), copy: quote!(*#name), receiver: quote!(#name) }
    }

    /// Whether a value that is not an `Option` is the empty one of its type, as an expression.
    pub fn is_empty(&self, emitter: &Emitter<'_>, resolved: Resolved<'_>) -> TokenStream {
        let (reference, receiver) = (&self.reference, &self.receiver);
        match resolved {
            Resolved::Scalar(Shape::String(_)) | Resolved::List(..) | Resolved::Map { .. } => {
                quote!(#receiver.is_empty())
            }
            Resolved::Any => quote!(#receiver.is_null()),
            _ => {
                let module = emitter.runtime("presence");
                quote!(#module::is_empty(#reference))
            }
        }
    }
}

/// A variable of a loop that may be inside of others: `item`, `item_1`.
pub(super) fn name_at(stem: &str, depth: usize) -> Ident {
    if depth == 0 { format_ident!("{stem}") } else { format_ident!("{stem}_{depth}") }
}
