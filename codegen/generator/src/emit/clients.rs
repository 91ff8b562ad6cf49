//! Kinds as the client library `kube` takes them: the same fields and types, but with the metadata of that
//! library, and written with `apiVersion` and `kind`.
//!
//! They have a module of their own, `client`, beside the types of a version, and are only written for
//! packages that have a feature of that name ([`crate::driver`]). Groups are spelled as in the schema files:
//! servers of the other vocabulary answer in the spelling that they are asked in.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{emitter::Emitter, text, types};
use crate::model::{Field, GroupVersion, ObjectType, Resource, Scope, Type, TypeKind};

/// The field that differs.
const METADATA: &str = "metadata";

/// Sub-resources that the client library has methods for, where the kind has this trait.
const TRAITS: &[(&str, &str)] = &[("eviction", "Evict"), ("log", "Log"), ("resize", "Resize")];

/// The file of a version's clients within the folder of its group.
pub fn file_name(version: &str) -> String {
    format!("{version}.client.rs")
}

/// Whether a version has kinds.
pub fn has_any(group_version: &GroupVersion) -> bool {
    !group_version.resources.is_empty()
}

/// The text of the module.
pub fn module(emitter: &Emitter<'_>) -> String {
    let objects: Vec<_> = emitter
        .group_version
        .resources
        .iter()
        .filter_map(|resource| {
            let ty = emitter.model.ty(resource.ty);
            match &ty.kind {
                TypeKind::Object(object) => Some(self::object(emitter, resource, ty, object)),
                TypeKind::Enum(_) | TypeKind::Alias(_) => None,
            }
        })
        .collect();
    let uses = emitter.uses();
    let mut items: Vec<text::Item> = vec![quote!(#[allow(unused_imports)] use super::*; #uses).into()];
    items.extend(objects.into_iter().map(text::Item::from));
    text::source(&items)
}

fn object(emitter: &Emitter<'_>, resource: &Resource, ty: &Type, object: &ObjectType) -> TokenStream {
    let name = format_ident!("{}", ty.name);
    let docs = types::docs(&ty.description, &ty.name);
    let deserialize = emitter.import("serde", "Deserialize");
    let fields = object.fields.iter().map(|field| {
        if field.name == METADATA { metadata(emitter) } else { types::structure_field(emitter, field) }
    });
    let written = written(emitter, resource, ty, object);
    let (derived, shown) = types::debug(ty, object);
    let is_resource = is_resource(emitter, resource, ty);
    let traits = TRAITS.iter().filter(|(path, _)| resource.subresources.iter().any(|sub| sub.name == *path));
    let traits = traits.map(|(_, implemented)| {
        let implemented = format_ident!("{implemented}");
        quote!(impl orch_client::kube::api::#implemented for #name {})
    });
    quote! {
        #docs
        #[derive(Clone, #derived Default, PartialEq, #deserialize)]
        #[serde(default)]
        pub struct #name { #(#fields)* }

        #shown

        #written
        #is_resource
        #(#traits)*
    }
}

fn metadata(emitter: &Emitter<'_>) -> TokenStream {
    emitter.runtime("presence");
    quote! {
        /// Standard object metadata.
        #[serde(deserialize_with = "presence::null_as_empty")]
        pub metadata: orch_client::kube::core::ObjectMeta,
    }
}

/// Objects are sent with their type in front, which a server asks of an apply.
fn written(emitter: &Emitter<'_>, resource: &Resource, ty: &Type, object: &ObjectType) -> TokenStream {
    let name = format_ident!("{}", ty.name);
    let (api_version, kind) = (api_version(ty), &resource.kind);
    let entries = object.fields.iter().map(|field| entry(emitter, field));
    let [serialize, serializer] = ["Serialize", "Serializer"].map(|item| emitter.import("serde", item));
    let map = emitter.import("serde::ser", "SerializeMap");
    quote! {
        impl #serialize for #name {
            fn serialize<S: #serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut fields = serializer.serialize_map(None)?;
                #map::serialize_entry(&mut fields, "apiVersion", #api_version)?;
                #map::serialize_entry(&mut fields, "kind", #kind)?;
                #(#entries)*
                #map::end(fields)
            }
        }
    }
}

fn entry(emitter: &Emitter<'_>, field: &Field) -> TokenStream {
    let (rust_name, name) = (format_ident!("{}", field.rust_name), &field.name);
    let map = emitter.import("serde::ser", "SerializeMap");
    let write = quote!(#map::serialize_entry(&mut fields, #name, &self.#rust_name)?;);
    match types::left_out_when(emitter, field) {
        Some(is_left_out) if field.name != METADATA => {
            let is_left_out: TokenStream = is_left_out.parse().expect("the path of a function is valid");
            quote!(if !#is_left_out(&self.#rust_name) { #write })
        }
        _ => write,
    }
}

fn is_resource(emitter: &Emitter<'_>, resource: &Resource, ty: &Type) -> TokenStream {
    let cow = emitter.import("std::borrow", "Cow");
    let name = format_ident!("{}", ty.name);
    let scope = match resource.scope {
        Scope::Namespaced => format_ident!("NamespaceResourceScope"),
        Scope::Cluster => format_ident!("ClusterResourceScope"),
    };
    let texts = [
        ("kind", &resource.kind),
        ("group", &ty.group),
        ("version", &ty.version),
        ("plural", &resource.plural),
    ];
    let functions = texts.iter().map(|(function, text)| {
        let function = format_ident!("{function}");
        let text = Literal::string(text);
        quote! {
            fn #function(_: &()) -> #cow<'_, str> {
                #cow::Borrowed(#text)
            }
        }
    });
    quote! {
        impl orch_client::kube::Resource for #name {
            type DynamicType = ();
            type Scope = orch_client::kube::core::#scope;

            #(#functions)*

            fn meta(&self) -> &orch_client::kube::core::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut orch_client::kube::core::ObjectMeta {
                &mut self.metadata
            }
        }
    }
}

/// As the schema files spell it.
fn api_version(ty: &Type) -> String {
    if ty.group.is_empty() { ty.version.clone() } else { format!("{}/{}", ty.group, ty.version) }
}
