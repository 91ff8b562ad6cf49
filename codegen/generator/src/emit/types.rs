//! Structs, enums and aliases, with serde in wire form.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{emitter::Emitter, text::Item};
use crate::model::{EnumValue, Field, ObjectType, Omitted, Presence, Resolved, Shape, Type, TypeKind, Usage};

/// The definition of a named type.
pub fn definition(emitter: &Emitter<'_>, ty: &Type) -> Item {
    match &ty.kind {
        TypeKind::Object(object) => structure(emitter, ty, object).into(),
        TypeKind::Enum(values) => Item::Text(enumeration(ty, values)),
        TypeKind::Alias(usage) => alias(emitter, ty, usage).into(),
    }
}

/// A description as doc comments; where there is none, the name stands for it.
pub fn docs(description: &str, name: &str) -> TokenStream {
    let lines = doc_lines(description, name);
    quote!(#(#[doc = #lines])*)
}

fn doc_lines(description: &str, name: &str) -> Vec<String> {
    let description = description.trim();
    if description.is_empty() {
        return vec![format!(" `{name}`.")];
    }
    description.lines().flat_map(wrapped).collect()
}

/// A line of prose as lines of comments that fit the width of source text.
fn wrapped(line: &str) -> Vec<String> {
    const WIDTH: usize = 100;
    if line.is_empty() {
        return vec![String::new()];
    }
    let mut lines = vec![String::new()];
    for word in line.split(' ') {
        let last = lines.last_mut().expect("it starts with one line");
        if last.chars().count() + word.chars().count() >= WIDTH && !last.is_empty() {
            lines.push(format!(" {word}"));
        } else {
            last.push(' ');
            last.push_str(word);
        }
    }
    lines
}

fn structure(emitter: &Emitter<'_>, ty: &Type, object: &ObjectType) -> TokenStream {
    let docs = docs(&ty.description, &ty.name);
    let name = format_ident!("{}", ty.name);
    let serialize = emitter.import("serde", "Serialize");
    let deserialize = emitter.import("serde", "Deserialize");
    let fields = object.fields.iter().map(|field| structure_field(emitter, field));
    let (derived, written) = debug(ty, object);
    quote! {
        #docs
        #[derive(Clone, #derived Default, PartialEq, #serialize, #deserialize)]
        #[serde(default)]
        pub struct #name { #(#fields)* }

        #written
    }
}

/// How a structure is printed: what is derived, with a comma, and what is written out. Secrets are hidden.
pub fn debug(ty: &Type, object: &ObjectType) -> (TokenStream, TokenStream) {
    if !object.fields.iter().any(|field| field.secret) {
        return (quote!(Debug,), TokenStream::new());
    }
    let (name, text) = (format_ident!("{}", ty.name), &ty.name);
    let shown = object.fields.iter().map(|field| {
        let (rust_name, text) = (format_ident!("{}", field.rust_name), &field.rust_name);
        if field.secret {
            quote!(.field(#text, &format_args!("<hidden>")))
        } else {
            quote!(.field(#text, &self.#rust_name))
        }
    });
    let written = quote! {
        impl std::fmt::Debug for #name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.debug_struct(#text)#(#shown)*.finish()
            }
        }
    };
    (TokenStream::new(), written)
}

/// One field of a structure.
pub fn structure_field(emitter: &Emitter<'_>, field: &Field) -> TokenStream {
    let mut docs = docs(&field.description, &field.name);
    if let Some(text) = &field.deprecated {
        let line = format!(" Deprecated: {text}");
        docs.extend(quote!(#[doc = ""] #[doc = #line]));
    }
    let resolved = emitter.model.resolve(&field.usage);
    let presence = field.presence(emitter.model);
    let name = format_ident!("{}", field.rust_name);
    let mut ty = emitter.rust_type(&field.usage);
    if presence.optional {
        ty = quote!(Option<#ty>);
    }
    let serde = serde_attribute(emitter, field, resolved, presence);
    quote!(#docs #serde pub #name: #ty,)
}

fn serde_attribute(
    emitter: &Emitter<'_>,
    field: &Field,
    resolved: Resolved<'_>,
    presence: Presence,
) -> TokenStream {
    let mut parts = Vec::new();
    if field.rust_name != field.name {
        let name = &field.name;
        parts.push(quote!(rename = #name));
    }
    let skip = left_out_when(emitter, field);
    let read = match (presence.optional, resolved) {
        (true, Resolved::Enum(..)) => Some("presence::empty_as_absent"),
        // Any JSON reads `null` as itself.
        (true, _) | (false, Resolved::Any) => None,
        (false, Resolved::List(..)) => Some("presence::list"),
        (false, Resolved::Map { .. }) => Some("presence::map"),
        (false, _) => Some("presence::null_as_empty"),
    };
    // The attributes name functions in strings; what they name must be in scope.
    if read.is_some_and(|text| text.starts_with("presence::")) {
        emitter.runtime("presence");
    }
    parts.extend(skip.map(|text| quote!(skip_serializing_if = #text)));
    parts.extend(read.map(|text| quote!(deserialize_with = #text)));
    if parts.is_empty() { TokenStream::new() } else { quote!(#[serde(#(#parts),*)]) }
}

/// The function that says of a field's value that it is not written; what it names is in scope.
pub fn left_out_when(emitter: &Emitter<'_>, field: &Field) -> Option<&'static str> {
    match (field.presence(emitter.model).omitted, emitter.model.resolve(&field.usage)) {
        (Omitted::Never, _) => None,
        (Omitted::None, _) => Some("Option::is_none"),
        (Omitted::Empty, Resolved::Scalar(Shape::String(_))) => Some("String::is_empty"),
        (Omitted::Empty, Resolved::List(..)) => Some("Vec::is_empty"),
        (Omitted::Empty, Resolved::Map { .. }) => {
            emitter.import("std::collections", "BTreeMap");
            Some("BTreeMap::is_empty")
        }
        (Omitted::Empty, _) => {
            emitter.runtime("presence");
            Some("presence::is_empty")
        }
    }
}

fn enumeration(ty: &Type, values: &[EnumValue]) -> String {
    let mut lines = vec!["orch_runtime::text_enum! {".to_owned()];
    lines.extend(doc_lines(&ty.description, &ty.name).iter().map(|line| format!("    ///{line}")));
    lines.push(format!("    pub enum {} {{", ty.name));
    lines.extend(
        values
            .iter()
            .map(|value| format!("        {} = {:?},", format_ident!("{}", value.rust_name), value.value)),
    );
    lines.extend(["    }", "}", ""].map(str::to_owned));
    lines.join("\n")
}

fn alias(emitter: &Emitter<'_>, ty: &Type, usage: &Usage) -> TokenStream {
    let docs = docs(&ty.description, &ty.name);
    let name = format_ident!("{}", ty.name);
    let target = emitter.rust_type(usage);
    quote!(#docs pub type #name = #target;)
}
