//! The root file: a module per group and version, the registry, the vocabularies.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    clients,
    layout::{Layout, crate_path},
    text::{self, Item},
    vocabulary,
};
use crate::model::{GroupVersion, Model};

/// The root file's text, with the modules for clients or not.
pub fn root(model: &Model, layout: &Layout, clients: bool) -> String {
    let mut by_group: BTreeMap<&str, Vec<&GroupVersion>> = BTreeMap::new();
    for group_version in in_folder(model) {
        by_group.entry(layout.group_module(group_version)).or_default().push(group_version);
    }
    let mut items: Vec<Item> =
        by_group.iter().map(|(module, versions)| group_module(module, versions, clients).into()).collect();
    items.push(registry(model, layout).into());
    items.push(vocabulary::vocabularies(&model.vocabularies).into());
    text::source(&items)
}

/// What the schema folder holds, whichever crate the code is in.
fn in_folder(model: &Model) -> impl Iterator<Item = &GroupVersion> {
    model.group_versions.iter().filter(|group_version| group_version.in_folder)
}

/// The module of a group; where another crate holds it, that crate's module is passed on.
fn group_module(module: &str, versions: &[&GroupVersion], clients: bool) -> TokenStream {
    let name = format_ident!("{module}");
    let first = versions.first().expect("a group has versions");
    if first.extern_crate.is_some() {
        let krate = crate_path(first);
        return quote!(pub use #krate::#name;);
    }
    let group = first.group.as_str();
    let docs =
        if group.is_empty() { " The core group.".to_owned() } else { format!(" The group `{group}`.") };
    let versions = versions.iter().map(|group_version| {
        let version = Layout::version_module(group_version);
        let name = format_ident!("{version}");
        let docs = format!(" Version `{}`.", group_version.version);
        let file = format!("{module}/{version}.rs");
        let clients = (clients && clients::has_any(group_version)).then(|| {
            let file = format!("{module}/{}", clients::file_name(&version));
            quote! {
                /// The kinds as the client library `kube` takes them.
                pub mod client {
                    include!(#file);
                }
            }
        });
        quote! {
            #[doc = #docs]
            pub mod #name {
                include!(#file);
                #clients
            }
        }
    });
    quote! {
        #[doc = #docs]
        #[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
        pub mod #name { #(#versions)* }
    }
}

fn registry(model: &Model, layout: &Layout) -> TokenStream {
    let tables = in_folder(model).map(|group_version| {
        let module = layout.module_within(group_version);
        quote!(&#module::GROUP_VERSION)
    });
    quote! {
        /// Every group and version of this crate, with its kinds and published schemas.
        pub fn registry() -> &'static [&'static orch_runtime::resource_def::GroupVersionDef] {
            static GROUP_VERSIONS: &[&orch_runtime::resource_def::GroupVersionDef] = &[#(#tables),*];
            GROUP_VERSIONS
        }
    }
}
