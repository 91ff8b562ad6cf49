//! The static `TypeDef` of every object type.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::emitter::{Emitter, type_def_name};
use crate::model::{FeatureGate, Field, ListSemantics, ObjectType, Patch, Resolved, Shape, Type, Usage};

/// From how many fields on one is found by its name.
const SEARCHED_BY_NAME: usize = 8;

/// `pub static CONFIG_MAP_TYPE: TypeDef = ...;`, and the way from the Rust type to it.
pub fn type_def(emitter: &Emitter<'_>, ty: &Type, object: &ObjectType) -> TokenStream {
    let type_def = emitter.import("orch_runtime::type_def", "TypeDef");
    let object_type = emitter.import("orch_runtime::object", "ObjectType");
    let docs = format!(" The table of [`{}`].", ty.name);
    let name = format_ident!("{}", ty.name);
    let item = format_ident!("{}", type_def_name(ty));
    let (qualified, short, atomic) = (&ty.qualified_name, &ty.name, object.atomic);
    let fields = object.fields.iter().map(|field| field_def(emitter, field));
    let by_name = by_name(&object.fields);
    quote! {
        #[doc = #docs]
        pub static #item: #type_def = #type_def {
            name: #qualified,
            short_name: #short,
            fields: &[#(#fields),*],
            by_name: &[#(#by_name),*],
            atomic: #atomic,
            size: size_of::<#name>(),
        };

        impl #object_type for #name {
            const TYPE: &'static #type_def = &#item;
        }
    }
}

/// The positions of the fields in the order of their names; none where looking at one after the other is as
/// fast.
fn by_name(fields: &[Field]) -> Vec<Literal> {
    if fields.len() < SEARCHED_BY_NAME {
        return Vec::new();
    }
    let mut positions: Vec<usize> = (0..fields.len()).collect();
    positions.sort_unstable_by_key(|position| &fields[*position].name);
    positions.into_iter().map(Literal::usize_unsuffixed).collect()
}

fn field_def(emitter: &Emitter<'_>, field: &Field) -> TokenStream {
    let field_def = emitter.import("orch_runtime::type_def", "FieldDef");
    let name = &field.name;
    let shape =
        if field.granular { granular(emitter, &field.usage) } else { shape_table(emitter, &field.usage) };
    let tag = field.tag.map(|tag| {
        let tag = Literal::u32_unsuffixed(tag);
        quote!(tag: Some(#tag),)
    });
    let inline_tag = field.inline_tag.map(|tag| {
        let tag = Literal::u32_unsuffixed(tag);
        quote!(inline_tag: Some(#tag),)
    });
    let default = field.default.as_ref().filter(|value| is_scalar(value)).map(ToString::to_string);
    let texts = [("default", &default), ("deprecated", &field.deprecated)]
        .into_iter()
        .filter_map(|(name, text)| Some((format_ident!("{name}"), text.as_ref()?)))
        .map(|(name, text)| quote!(#name: Some(#text),));
    let gate = field.feature_gate.as_ref().map(|gate| {
        let gate = feature_gate(emitter, gate);
        quote!(feature_gate: Some(#gate),)
    });
    let patch = (field.patch != Patch::default()).then(|| patch(emitter, &field.patch));
    let omit_empty = field.omit_empty || (!field.required && is_enum(emitter, field));
    let flags = [
        ("required", field.required),
        ("omit_empty", omit_empty),
        ("nullable", field.usage.nullable),
        ("null_when_absent", field.null_when_absent),
        ("write_only", field.write_only),
    ]
    .into_iter()
    .filter(|(_, is_set)| *is_set)
    .map(|(flag, _)| {
        let flag = format_ident!("{flag}");
        quote!(#flag: true,)
    });
    quote!(#field_def {
        name: #name, #tag #inline_tag shape: #shape,
        #(#flags)* #patch #(#texts)* #gate ..#field_def::PLAIN
    })
}

/// The gate, as a reference to a constant.
pub fn feature_gate(emitter: &Emitter<'_>, gate: &FeatureGate) -> TokenStream {
    let feature_gate = emitter.import("orch_runtime::type_def", "FeatureGate");
    let stage = emitter.import("orch_runtime::type_def", "GateStage");
    let FeatureGate { name, stage: wanted, default } = gate;
    let wanted = format_ident!("{wanted:?}");
    quote!(&#feature_gate { name: #name, stage: #stage::#wanted, default: #default })
}

/// Defaults of lists and objects are not needed as data: only single values identify list items.
fn is_scalar(value: &serde_json::Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn is_enum(emitter: &Emitter<'_>, field: &Field) -> bool {
    matches!(emitter.model.resolve(&field.usage), Resolved::Enum(..))
}

fn shape_table(emitter: &Emitter<'_>, usage: &Usage) -> TokenStream {
    let shape = emitter.import("orch_runtime::type_def", "Shape");
    match emitter.model.resolve(usage) {
        Resolved::Object(id, _) => {
            let table = emitter.type_def_path(emitter.model.ty(id));
            quote!(#shape::Object(&#table))
        }
        Resolved::Enum(..) => scalar(emitter, "String"),
        Resolved::Any => quote!(#shape::Any),
        Resolved::List(item, semantics) => {
            let item = shape_table(emitter, item);
            let semantics = list_semantics(emitter, semantics);
            quote!(#shape::List { item: &#item, semantics: #semantics })
        }
        Resolved::Map { value, atomic, .. } => {
            let value = shape_table(emitter, value);
            quote!(#shape::Map { value: &#value, atomic: #atomic })
        }
        Resolved::Scalar(leaf) => scalar(emitter, scalar_name(leaf)),
    }
}

/// The table of an atomic type, for a field in which merges go into the object.
fn granular(emitter: &Emitter<'_>, usage: &Usage) -> TokenStream {
    let Resolved::Object(id, _) = emitter.model.resolve(usage) else {
        unreachable!("only references to objects are granular")
    };
    let shape = emitter.import("orch_runtime::type_def", "Shape");
    let type_def = emitter.import("orch_runtime::type_def", "TypeDef");
    let table = emitter.type_def_path(emitter.model.ty(id));
    quote!(#shape::Object(&#type_def { atomic: false, ..#table }))
}

fn scalar(emitter: &Emitter<'_>, name: &str) -> TokenStream {
    let shape = emitter.import("orch_runtime::type_def", "Shape");
    let scalar = emitter.import("orch_runtime::type_def", "Scalar");
    let name = format_ident!("{name}");
    quote!(#shape::Scalar(#scalar::#name))
}

fn scalar_name(shape: &Shape) -> &'static str {
    match shape {
        Shape::Boolean => "Boolean",
        Shape::Int32 => "Int32",
        Shape::Int64 => "Int64",
        Shape::Double => "Double",
        Shape::String(_) => "String",
        Shape::Bytes => "Bytes",
        Shape::Time => "Time",
        Shape::MicroTime => "MicroTime",
        Shape::Duration => "Duration",
        Shape::Quantity => "Quantity",
        Shape::IntOrString => "IntOrString",
        Shape::Any | Shape::Named(_) | Shape::List { .. } | Shape::Map { .. } => {
            unreachable!("a resolved scalar is none of these")
        }
    }
}

fn list_semantics(emitter: &Emitter<'_>, semantics: &ListSemantics) -> TokenStream {
    let name = emitter.import("orch_runtime::type_def", "ListSemantics");
    match semantics {
        ListSemantics::Atomic => quote!(#name::Atomic),
        ListSemantics::Set => quote!(#name::Set),
        ListSemantics::Map(keys) => quote!(#name::Map { keys: &[#(#keys),*] }),
    }
}

fn patch(emitter: &Emitter<'_>, patch: &Patch) -> TokenStream {
    let name = emitter.import("orch_runtime::type_def", "PatchStrategy");
    let (merge, retain_keys, replace) = (patch.merge, patch.retain_keys, patch.replace);
    let merge_key = option(patch.merge_key.as_ref());
    let value = quote!(merge: #merge, retain_keys: #retain_keys, replace: #replace, merge_key: #merge_key);
    quote!(patch: #name { #value },)
}

/// An optional value as an expression.
pub fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}
