//! What an emitter knows while it writes one group and version: the model, and which names are in scope.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use super::{
    layout::{Layout, crate_path, home},
    reach::Reach,
};
use crate::model::{GroupVersion, Model, Shape, Type, TypeId, Usage};

/// Writes the code of one group and version; other files of `emit` say what, each about one thing.
#[derive(Debug)]
pub struct Emitter<'m> {
    /// Everything.
    pub model: &'m Model,
    /// What the file is about.
    pub group_version: &'m GroupVersion,
    /// Which types have defaults and rules.
    pub reach: &'m Reach,
    /// Object types of which rules make values of the expression language; with `true`, a kind or its own
    /// `metadata`, of which rules of `x-orch-validations` see less.
    pub values: RefCell<BTreeSet<(TypeId, bool)>>,
    layout: &'m Layout,
    imports: RefCell<BTreeSet<(&'static str, &'static str)>>,
}

impl<'m> Emitter<'m> {
    /// The emitter of a new file.
    pub fn new(
        model: &'m Model,
        layout: &'m Layout,
        reach: &'m Reach,
        group_version: &'m GroupVersion,
    ) -> Self {
        Emitter {
            model,
            group_version,
            reach,
            values: RefCell::default(),
            layout,
            imports: RefCell::default(),
        }
    }

    /// The name of an item of another crate: imported, unless a type of the schema has the same name.
    pub fn import(&self, module: &'static str, item: &'static str) -> TokenStream {
        let name = format_ident!("{item}");
        if self.group_version.types.iter().any(|id| self.model.ty(*id).name == item) {
            let module: TokenStream = module.parse().expect("module paths are valid");
            return quote!(#module::#name);
        }
        self.imports.borrow_mut().insert((module, item));
        quote!(#name)
    }

    /// An item of the runtime: `runtime("path", "Path")`.
    pub fn runtime(&self, module: &'static str) -> TokenStream {
        self.import("orch_runtime", module)
    }

    /// The `use` lines for everything that was imported so far: the standard library first, then one line for
    /// each crate.
    pub fn uses(&self) -> TokenStream {
        // Crate, then module, then what is used of it: items, or the module itself.
        let mut by_crate: BTreeMap<(bool, &str), BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
        for (module, item) in self.imports.borrow().iter() {
            let (krate, module, item) = match module.split_once("::") {
                Some((krate, module)) => (krate, module, *item),
                None => (*module, *item, "self"),
            };
            by_crate.entry((krate != "std", krate)).or_default().entry(module).or_default().push(item);
        }
        let uses = by_crate.iter().map(|((_, krate), modules)| {
            let krate = format_ident!("{krate}");
            let modules = modules.iter().map(|(module, items)| {
                let module = format_ident!("{module}");
                let items: Vec<_> = items
                    .iter()
                    .map(|item| {
                        if *item == "self" { quote!(self) } else { format_ident!("{item}").to_token_stream() }
                    })
                    .collect();
                match items.as_slice() {
                    [only] if only.to_string() == "self" => quote!(#module),
                    [only] => quote!(#module::#only),
                    _ => quote!(#module::{#(#items),*}),
                }
            });
            quote!(use #krate::{#(#modules),*};)
        });
        quote!(#(#uses)*)
    }

    /// A named type as it is written in this file.
    pub fn type_path(&self, ty: &Type) -> TokenStream {
        self.item_path(ty, &ty.name)
    }

    /// The static table of an object type: `crate::meta::v1::OBJECT_META_TYPE`.
    pub fn type_def_path(&self, ty: &Type) -> TokenStream {
        self.item_path(ty, &type_def_name(ty))
    }

    /// A hand-written function that the type names: it stands in the type's own crate.
    pub fn validator(&self, ty: &Type, name: &str) -> TokenStream {
        let name = format_ident!("{name}");
        let krate = crate_path(home(self.model, ty));
        quote!(#krate::validators::#name)
    }

    /// A hand-written function that fills in defaults of a type.
    pub fn defaulter(&self, ty: &Type, name: &str) -> TokenStream {
        let name = format_ident!("{name}");
        let krate = crate_path(home(self.model, ty));
        quote!(#krate::defaults::#name)
    }

    /// A hand-written function that a column of the kind names.
    pub fn column_function(&self, ty: &Type, name: &str) -> TokenStream {
        let name = format_ident!("{name}");
        let krate = crate_path(home(self.model, ty));
        quote!(#krate::columns::#name)
    }

    /// The Rust type of a value, without regard to its being optional.
    pub fn rust_type(&self, usage: &Usage) -> TokenStream {
        match &usage.shape {
            Shape::Boolean => quote!(bool),
            Shape::Int32 => quote!(i32),
            Shape::Int64 => quote!(i64),
            Shape::Double => quote!(f64),
            Shape::String(_) => quote!(String),
            Shape::Bytes => self.import("orch_runtime::scalar", "ByteString"),
            Shape::Time => self.import("orch_runtime::scalar", "Time"),
            Shape::MicroTime => self.import("orch_runtime::scalar", "MicroTime"),
            Shape::Duration => self.import("orch_runtime::scalar", "Duration"),
            Shape::Quantity => self.import("orch_runtime::scalar", "Quantity"),
            Shape::IntOrString => self.import("orch_runtime::scalar", "IntOrString"),
            Shape::Any => self.runtime("Tree"),
            Shape::Named(id) => self.type_path(self.model.ty(*id)),
            Shape::List { item, .. } => {
                let item = self.rust_type(item);
                quote!(Vec<#item>)
            }
            Shape::Map { value, .. } => {
                let map = self.import("std::collections", "BTreeMap");
                let value = self.rust_type(value);
                quote!(#map<String, #value>)
            }
        }
    }

    fn item_path(&self, ty: &Type, item: &str) -> TokenStream {
        let item = format_ident!("{item}");
        let home = home(self.model, ty);
        if home.group == self.group_version.group && home.version == self.group_version.version {
            return quote!(#item);
        }
        let module = self.layout.module_path(home);
        quote!(#module::#item)
    }
}

/// The static that holds an object type's table: `CONFIG_MAP_TYPE`.
pub fn type_def_name(ty: &Type) -> String {
    format!("{}_TYPE", upper_snake(&ty.name))
}

/// `CSIDriver` becomes `CSI_DRIVER`.
pub fn upper_snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (index, ch) in chars.iter().enumerate() {
        let starts_word = ch.is_ascii_uppercase()
            && index > 0
            && (!chars[index - 1].is_ascii_uppercase()
                || chars.get(index + 1).is_some_and(char::is_ascii_lowercase));
        if starts_word {
            out.push('_');
        }
        out.push(ch.to_ascii_uppercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::upper_snake;

    #[test]
    fn words_are_found_in_camel_case() {
        for (name, expected) in [
            ("ConfigMap", "CONFIG_MAP"),
            ("CSIDriver", "CSI_DRIVER"),
            ("NodeCSI", "NODE_CSI"),
            ("Lease", "LEASE"),
            ("FieldsV1", "FIELDS_V1"),
        ] {
            assert_eq!(upper_snake(name), expected);
        }
    }
}
