//! The rows of the resource table: one static `ResourceDef` and `Kind` per kind, one `GroupVersionDef` per
//! file.

use std::collections::BTreeMap;

use orch_runtime::release::Release;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{
    conversion,
    emitter::{Emitter, upper_snake},
    tables::{feature_gate, option},
};
use crate::model::{
    Column, ColumnValue, FeatureGate, Lifecycle, NameFormat, Replacement, Resource, Scale, Subresource, Type,
    TypeKind, UpdateCheck, Verb,
};

const MODULE: &str = "orch_runtime::resource_def";

/// The kind's table, and the trait that ties the type to it.
pub fn resource(emitter: &Emitter<'_>, resource: &Resource) -> TokenStream {
    let ty = emitter.model.ty(resource.ty);
    let name = format_ident!("{}", ty.name);
    let item = static_name(resource);
    let resource_def = emitter.import(MODULE, "ResourceDef");
    let object = emitter.runtime("object");
    let docs = format!(" The resource table's row of [`{}`].", ty.name);
    let fields = resource_fields(emitter, resource);
    quote! {
        #[doc = #docs]
        pub static #item: #resource_def = #resource_def { #fields };

        impl #object::Kind for #name {
            const RESOURCE: &'static #resource_def = &#item;
        }
    }
}

/// `pub static GROUP_VERSION: GroupVersionDef`: what the file's group and version serve and publish.
pub fn group_version(emitter: &Emitter<'_>, schemas_file: &str) -> TokenStream {
    let def = emitter.import(MODULE, "GroupVersionDef");
    let (group, version) = (&emitter.group_version.group, &emitter.group_version.version);
    let resources = emitter.group_version.resources.iter().map(static_name);
    let fields = emitter.group_version.types.iter().flat_map(|id| match &emitter.model.ty(*id).kind {
        TypeKind::Object(object) => object.fields.as_slice(),
        _ => &[],
    });
    let gates: BTreeMap<&str, &FeatureGate> = fields
        .filter_map(|field| field.feature_gate.as_ref())
        .map(|gate| (gate.name.as_str(), gate))
        .collect();
    let gates = gates.into_values().map(|gate| feature_gate(emitter, gate));
    quote! {
        /// The kinds and published types of this group and version.
        pub static GROUP_VERSION: #def = #def {
            group: #group,
            version: #version,
            resources: &[#(&#resources),*],
            feature_gates: &[#(#gates),*],
            schemas: include_str!(#schemas_file),
        };
    }
}

fn static_name(resource: &Resource) -> proc_macro2::Ident {
    format_ident!("{}_RESOURCE", upper_snake(&resource.kind))
}

fn resource_fields(emitter: &Emitter<'_>, resource: &Resource) -> TokenStream {
    let ty = emitter.model.ty(resource.ty);
    let name = format_ident!("{}", ty.name);
    let object = emitter.runtime("object");
    let type_def = emitter.type_def_path(ty);
    let schema_name = &ty.qualified_name;
    let Resource { kind, plural, singular, short_names, categories, .. } = resource;
    let (group, version) = (&ty.group, &ty.version);
    let list_kind = format!("{kind}List");
    let scope_name = emitter.import(MODULE, "Scope");
    let scope = resource.scope;
    let scope_variant = format_ident!("{scope:?}");
    let verbs = verbs(emitter, &resource.verbs);
    let stored = !resource.is_virtual;
    let subresources = resource.subresources.iter().map(|sub| subresource(emitter, sub));
    let name_format = name_format(emitter, resource.name_format);
    let Resource {
        create_on_update,
        unconditional_update,
        counts_generation,
        delete_returns_object,
        storage_version,
        ..
    } = resource;
    let update_checks = update_checks(emitter, &resource.update_checks);
    let metadata_rules_name = emitter.import(MODULE, "MetadataRules");
    let rules = resource.metadata_rules;
    let metadata_rules = format_ident!("{rules:?}");
    let columns = resource.columns.iter().map(|it| column(emitter, ty, it));
    let selectable = selectable(emitter, resource);
    let indexed_fields = resource.indexed_fields.iter().map(|path| path.join("."));
    let indexed_labels = &resource.indexed_labels;
    let lifecycle = lifecycle(emitter, &resource.lifecycle, version);
    let conversion = option(resource.conversion.as_ref().map(|it| conversion::conversion(emitter, it, ty)));
    quote! {
        group: #group,
        version: #version,
        kind: #kind,
        list_kind: #list_kind,
        plural: #plural,
        singular: #singular,
        short_names: &[#(#short_names),*],
        categories: &[#(#categories),*],
        scope: #scope_name::#scope_variant,
        verbs: #verbs,
        stored: #stored,
        subresources: &[#(#subresources),*],
        name_format: #name_format,
        create_on_update: #create_on_update,
        unconditional_update: #unconditional_update,
        update_checks: #update_checks,
        metadata_rules: #metadata_rules_name::#metadata_rules,
        counts_generation: #counts_generation,
        delete_returns_object: #delete_returns_object,
        columns: &[#(#columns),*],
        selectable_fields: &[#(#selectable),*],
        indexed_fields: &[#(#indexed_fields),*],
        indexed_labels: &[#(#indexed_labels),*],
        lifecycle: #lifecycle,
        storage_version: #storage_version,
        conversion: #conversion,
        type_def: &#type_def,
        schema_name: #schema_name,
        from_tree: #object::from_tree::<#name>,
    }
}

/// What field selectors may name.
fn selectable<'e>(
    emitter: &'e Emitter<'_>,
    resource: &'e Resource,
) -> impl Iterator<Item = TokenStream> + use<'e> {
    let fields = resource.selectable_fields.iter().map(|path| (path.join("."), vec![path.clone()]));
    fields.chain(resource.selectable_names.iter().cloned()).map(|(label, paths)| {
        let def = emitter.import(MODULE, "SelectableField");
        let paths = paths.iter().map(|path| quote!(&[#(#path),*]));
        quote!(#def { label: #label, paths: &[#(#paths),*] })
    })
}

fn update_checks(emitter: &Emitter<'_>, checks: &[UpdateCheck]) -> TokenStream {
    let name = emitter.import(MODULE, "UpdateCheck");
    if checks == UpdateCheck::USUAL {
        return quote!(#name::USUAL);
    }
    let checks = checks.iter().map(|check| {
        let variant = format_ident!("{check:?}");
        quote!(#name::#variant)
    });
    quote!(&[#(#checks),*])
}

fn verbs(emitter: &Emitter<'_>, verbs: &[Verb]) -> TokenStream {
    let name = emitter.import(MODULE, "Verb");
    if verbs == Verb::ALL {
        return quote!(#name::ALL);
    }
    let verbs = verbs.iter().map(|verb| {
        let variant = format_ident!("{verb:?}");
        quote!(#name::#variant)
    });
    quote!(&[#(#verbs),*])
}

fn subresource(emitter: &Emitter<'_>, sub: &Subresource) -> TokenStream {
    let def = emitter.import(MODULE, "SubresourceDef");
    let name = &sub.name;
    let verbs = verbs(emitter, &sub.verbs);
    let body = option(sub.body.map(|id| {
        let body_kind = emitter.import(MODULE, "BodyKind");
        let ty = emitter.model.ty(id);
        let (group, version, kind) = (&ty.group, &ty.version, &ty.name);
        let type_def = emitter.type_def_path(ty);
        quote!(#body_kind { group: #group, version: #version, kind: #kind, type_def: &#type_def })
    }));
    let scale = option(sub.scale.as_ref().map(|scale| self::scale(emitter, scale)));
    quote!(#def { name: #name, verbs: #verbs, body: #body, scale: #scale })
}

fn scale(emitter: &Emitter<'_>, scale: &Scale) -> TokenStream {
    let def = emitter.import(MODULE, "ScaleDef");
    let Scale { replicas, status_replicas, selector } = scale;
    let selector = option(selector.as_ref().map(|path| quote!(&[#(#path),*])));
    quote! {
        #def {
            replicas: &[#(#replicas),*],
            status_replicas: &[#(#status_replicas),*],
            selector: #selector,
        }
    }
}

fn name_format(emitter: &Emitter<'_>, format: NameFormat) -> TokenStream {
    let name = emitter.import(MODULE, "NameFormat");
    let variant = format_ident!("{format:?}");
    quote!(#name::#variant)
}

fn column(emitter: &Emitter<'_>, ty: &Type, column: &Column) -> TokenStream {
    let def = emitter.import(MODULE, "ColumnDef");
    let value_name = emitter.import(MODULE, "ColumnValue");
    let Column { name, column_type, format, description, priority, empty, value } = column;
    let priority = Literal::i32_unsuffixed(*priority);
    let value = match value {
        ColumnValue::Path(path) => quote!(#value_name::Path(&[#(#path),*])),
        ColumnValue::Age(path) => quote!(#value_name::Age(&[#(#path),*])),
        ColumnValue::Count(paths) => {
            let paths = paths.iter().map(|path| quote!(&[#(#path),*]));
            quote!(#value_name::Count(&[#(#paths),*]))
        }
        ColumnValue::Computed(function) => {
            let function = emitter.column_function(ty, function);
            quote!(#value_name::Computed(#function))
        }
    };
    quote! {
        #def {
            name: #name,
            column_type: #column_type,
            format: #format,
            description: #description,
            priority: #priority,
            empty: #empty,
            value: #value,
        }
    }
}

fn lifecycle(emitter: &Emitter<'_>, lifecycle: &Lifecycle, version: &str) -> TokenStream {
    let name = emitter.import(MODULE, "Lifecycle");
    let stability_name = emitter.import(MODULE, "Stability");
    let stability = if version.contains("alpha") {
        quote!(Alpha)
    } else if version.contains("beta") {
        quote!(Beta)
    } else {
        quote!(Stable)
    };
    let release = |release: Option<Release>| {
        option(release.map(|Release { major, minor }| {
            let release = emitter.import("orch_runtime::release", "Release");
            quote!(#release::new(#major, #minor))
        }))
    };
    let introduced = release(lifecycle.introduced);
    let deprecated = release(lifecycle.deprecated);
    let removed = release(lifecycle.removed);
    let replacement = option(lifecycle.replacement.as_ref().map(|Replacement { group, version, kind }| {
        let replacement = emitter.import(MODULE, "Replacement");
        quote!(#replacement { group: #group, version: #version, kind: #kind })
    }));
    quote! {
        #name {
            stability: #stability_name::#stability,
            introduced: #introduced,
            deprecated: #deprecated,
            removed: #removed,
            replacement: #replacement,
        }
    }
}
