//! The root file: a module per group and version, the registry, the vocabularies.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    layout::Layout,
    own_group_versions,
    text::{self, Item},
    vocabulary,
};
use crate::model::{GroupVersion, Model};

/// The root file's text.
pub fn root(model: &Model, layout: &Layout) -> String {
    let mut by_group: BTreeMap<&str, Vec<&GroupVersion>> = BTreeMap::new();
    for group_version in own_group_versions(model) {
        by_group.entry(layout.group_module(group_version)).or_default().push(group_version);
    }
    let mut items: Vec<Item> =
        by_group.iter().map(|(module, versions)| group_module(module, versions).into()).collect();
    items.push(registry(model, layout).into());
    items.push(vocabulary::vocabularies(&model.vocabularies).into());
    text::source(&items)
}

fn group_module(module: &str, versions: &[&GroupVersion]) -> TokenStream {
    let name = format_ident!("{module}");
    let group = versions.first().map_or("", |first| first.group.as_str());
    let docs =
        if group.is_empty() { " The core group.".to_owned() } else { format!(" The group `{group}`.") };
    let versions = versions.iter().map(|group_version| {
        let version = Layout::version_module(group_version);
        let name = format_ident!("{version}");
        let docs = format!(" Version `{}`.", group_version.version);
        let file = format!("{module}/{version}.rs");
        quote! {
            #[doc = #docs]
            pub mod #name {
                include!(#file);
            }
        }
    });
    quote! {
        #[doc = #docs]
        #[allow(clippy::pedantic)]
        pub mod #name { #(#versions)* }
    }
}

fn registry(model: &Model, layout: &Layout) -> TokenStream {
    let tables = own_group_versions(model).map(|group_version| {
        let group = format_ident!("{}", layout.group_module(group_version));
        let version = format_ident!("{}", Layout::version_module(group_version));
        quote!(&#group::#version::GROUP_VERSION)
    });
    quote! {
        /// Every group and version of this crate, with its kinds and published schemas.
        pub fn registry() -> &'static [&'static orch_runtime::resource_def::GroupVersionDef] {
            static GROUP_VERSIONS: &[&orch_runtime::resource_def::GroupVersionDef] = &[#(#tables),*];
            GROUP_VERSIONS
        }
    }
}
