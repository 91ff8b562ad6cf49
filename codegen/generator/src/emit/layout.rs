//! Where generated things live: crates, modules and the paths between them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use crate::model::{GroupVersion, Model, Type};

/// Modules of functions that schemas name, beside the generated ones.
const HAND_WRITTEN: &[&str] = &["columns", "conversions", "defaults", "formats", "validators"];

/// The module of each group, by crate and group.
#[derive(Debug)]
pub struct Layout {
    modules: BTreeMap<(Option<String>, String), String>,
    /// The module of the crate that holds everything, where it is not the root.
    within: Option<String>,
}

impl Layout {
    /// Names a module for every group: its first segment (`coordination.orch.io` is `coordination`, the core
    /// group is `core`), or the whole name where another group of the crate begins with the same segment.
    pub fn new(model: &Model) -> Self {
        let groups: BTreeSet<(Option<String>, String)> = model
            .group_versions
            .iter()
            .map(|group_version| (group_version.extern_crate.clone(), group_version.group.clone()))
            .collect();
        let same_start = |(krate, group): &(Option<String>, String)| {
            groups.iter().filter(|(k, g)| k == krate && first_segment(g) == first_segment(group)).count()
        };
        let modules = groups
            .iter()
            .map(|key| {
                let name = if same_start(key) == 1 { first_segment(&key.1) } else { &key.1 };
                (key.clone(), module_name(name))
            })
            .collect();
        Layout { modules, within: None }
    }

    /// The same in a module of the crate.
    pub fn within(mut self, module: Option<&str>) -> Self {
        self.within = module.map(str::to_owned);
        self
    }

    /// The group's module: `coordination`.
    pub fn group_module(&self, group_version: &GroupVersion) -> &str {
        let key = (group_version.extern_crate.clone(), group_version.group.clone());
        self.modules.get(&key).expect("every group of the model has a module")
    }

    /// The version's module within the group's: `v1`.
    pub fn version_module(group_version: &GroupVersion) -> String {
        module_name(&group_version.version)
    }

    /// The module's path from anywhere in the crate that is being generated: `crate::core::v1`.
    pub fn module_path(&self, group_version: &GroupVersion) -> TokenStream {
        let krate = crate_path(group_version);
        let module = self.module_within(group_version);
        if let Some(within) = self.within.as_ref().filter(|_| group_version.extern_crate.is_none()) {
            let within = format_ident!("{within}");
            quote!(#krate::#within::#module)
        } else {
            quote!(#krate::#module)
        }
    }

    /// The module's path within its crate: `core::v1`.
    pub fn module_within(&self, group_version: &GroupVersion) -> TokenStream {
        let group = format_ident!("{}", self.group_module(group_version));
        let version = format_ident!("{}", Self::version_module(group_version));
        quote!(#group::#version)
    }
}

/// The crate that holds the generated code: `crate` itself, or `orch_api`.
pub fn crate_path(group_version: &GroupVersion) -> TokenStream {
    let krate = group_version.extern_crate.as_deref().map(|name| format_ident!("{name}"));
    krate.map_or_else(|| quote!(crate), ToTokens::into_token_stream)
}

/// The group and version that a type belongs to.
pub fn home<'m>(model: &'m Model, ty: &Type) -> &'m GroupVersion {
    model
        .group_versions
        .iter()
        .find(|group_version| group_version.group == ty.group && group_version.version == ty.version)
        .expect("every type belongs to a group version of the model")
}

fn first_segment(group: &str) -> &str {
    if group.is_empty() { "core" } else { group.split('.').next().unwrap_or(group) }
}

fn module_name(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|ch| if ch.is_ascii_alphanumeric() { ch.to_ascii_lowercase() } else { '_' })
        .collect();
    // A keyword such as `type` cannot be a module's name as it is.
    let is_free = syn::parse_str::<syn::Ident>(&name).is_ok() && !HAND_WRITTEN.contains(&name.as_str());
    if is_free { name } else { format!("{name}_") }
}
