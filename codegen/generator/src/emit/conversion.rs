//! The static table of a conversion.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    emitter::Emitter,
    layout::{crate_path, home},
    tables::option,
};
use crate::model::{Conversion, ConversionStep, How, Names, Type};

/// The `ConversionDef` of a kind.
pub fn conversion(emitter: &Emitter<'_>, conversion: &Conversion, own: &Type) -> TokenStream {
    let module = emitter.runtime("conversion");
    let object = emitter.runtime("object");
    let kind = emitter.type_path(emitter.model.ty(conversion.to));
    let steps = conversion.steps.iter().map(|it| step(emitter, &module, it, own));
    let def = emitter.import("orch_runtime::resource_def", "ConversionDef");
    let wholes = emitter.model.wholes(own, conversion);
    let [below, above] = wholes.map(|wholes| places(&wholes));
    quote! {
        #def {
            to: <#kind as #object::Kind>::RESOURCE,
            steps: &[#(#steps),*],
            wholes: #module::Wholes { below: #below, above: #above },
        }
    }
}

fn places(places: &[Names]) -> TokenStream {
    let places = places.iter().map(|place| quote!(&[#(#place),*]));
    quote!(&[#(#places),*])
}

fn step(emitter: &Emitter<'_>, module: &TokenStream, step: &ConversionStep, own: &Type) -> TokenStream {
    let (at, below, above) = (&step.at, places(&step.below), places(&step.above));
    let how = match &step.how {
        How::Move => quote!(Move),
        How::Wrap => quote!(Wrap),
        How::Unwrap => quote!(Unwrap),
        How::Keep => quote!(Keep),
        How::Join(text) => quote!(Join(#text)),
        How::Split(text) => quote!(Split(#text)),
        How::Default(value) => {
            let json = value.to_string();
            quote!(Default(#json))
        }
        How::Constant(value) => {
            let json = value.to_string();
            quote!(Constant(#json))
        }
        How::Values(pairs) => {
            let pairs = pairs.iter().map(|(here, there)| quote!((#here, #there)));
            quote!(Values(&[#(#pairs),*]))
        }
        How::Function(name) => {
            let name = format_ident!("{name}");
            let krate = crate_path(home(emitter.model, own));
            quote!(Function(#krate::conversions::#name))
        }
    };
    let annotation = option(step.annotation.as_ref());
    quote! {
        #module::Step {
            at: &[#(#at),*],
            below: #below,
            above: #above,
            how: #module::How::#how,
            annotation: #annotation,
        }
    }
}
