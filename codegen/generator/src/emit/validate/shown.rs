//! How errors show values.

use proc_macro2::TokenStream;
use quote::quote;

use super::operand::Operand;
use crate::{
    emit::emitter::Emitter,
    model::{Resolved, Shape, Usage},
};

/// A value as errors show it, as an expression of type `String`.
pub(super) fn shown(emitter: &Emitter<'_>, usage: &Usage, operand: &Operand) -> TokenStream {
    let reference = &operand.reference;
    match emitter.model.resolve(usage) {
        Resolved::Enum(..)
        | Resolved::Scalar(
            Shape::Boolean
            | Shape::Int32
            | Shape::Int64
            | Shape::Double
            | Shape::String(_)
            | Shape::IntOrString
            | Shape::Time
            | Shape::MicroTime,
        ) => {
            let shown = emitter.import("orch_runtime::field_error", "Shown");
            quote!(#shown::shown(#reference))
        }
        Resolved::Scalar(_) => {
            let shown = emitter.import("orch_runtime::field_error", "Shown");
            quote!(#shown::shown(&(#reference).to_string()))
        }
        _ => {
            let json = emitter.import("orch_runtime::field_error", "json");
            quote!(#json(#reference))
        }
    }
}

/// A value as messages name it, as an expression that can be displayed.
pub(super) fn plain(emitter: &Emitter<'_>, usage: &Usage, operand: &Operand) -> TokenStream {
    let reference = &operand.reference;
    match emitter.model.resolve(usage) {
        Resolved::Enum(..) | Resolved::Scalar(_) => quote!((#reference).to_string()),
        _ => {
            let json = emitter.import("orch_runtime::field_error", "json");
            quote!(#json(#reference))
        }
    }
}
