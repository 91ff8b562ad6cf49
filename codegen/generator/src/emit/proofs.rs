//! Tests of conversions: one for each two forms of the same objects, with the laws of `orch_proof`.
//!
//! They are written for whoever has the name `api` for the module of the generated code, be it in the crate
//! or in a test of it.

use std::iter;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    layout::{Layout, crate_path, home},
    text::{self, Item},
};
use crate::model::{GroupVersion, Model, Resource, Type, TypeId};

/// The tests of the kinds that are generated.
pub fn proofs<'m>(
    model: &'m Model,
    layout: &Layout,
    generated: impl Iterator<Item = &'m GroupVersion>,
) -> String {
    let items = generated.flat_map(|group_version| &group_version.resources).flat_map(|resource| {
        let below = model.ty(resource.ty);
        forms_above(model, resource).map(move |above| (below, model.ty(above)))
    });
    let items: Vec<Item> = items.map(|(below, above)| proof(model, layout, below, above).into()).collect();
    text::source(&items)
}

/// The kind that objects are converted to, the one that those are converted to, and so on.
fn forms_above<'m>(model: &'m Model, resource: &'m Resource) -> impl Iterator<Item = TypeId> + 'm {
    let above = |resource: &Resource| Some(resource.conversion.as_ref()?.to);
    let resource_of = |id: &TypeId| {
        let mut resources = model.group_versions.iter().flat_map(|group_version| &group_version.resources);
        resources.find(|resource| resource.ty == *id)
    };
    iter::successors(above(resource), move |id| above(resource_of(id)?))
}

fn proof(model: &Model, layout: &Layout, below: &Type, above: &Type) -> TokenStream {
    let [lower, upper] = [below, above].map(|ty| {
        let module = layout.module_within(home(model, ty)).to_string().replace(" :: ", "_");
        format!("{module}_{}", ty.name.to_ascii_lowercase())
    });
    let name = format_ident!("{lower}_and_{upper}");
    let [lower, upper] = [below, above].map(|ty| {
        let group_version = home(model, ty);
        let module = layout.module_within(group_version);
        let krate =
            if group_version.extern_crate.is_some() { crate_path(group_version) } else { quote!(api) };
        let kind = format_ident!("{}", ty.name);
        quote!(<#krate::#module::#kind as orch_runtime::object::Kind>::RESOURCE)
    });
    quote! {
        #[test]
        fn #name() {
            orch_proof::prove(#lower, #upper);
        }
    }
}
