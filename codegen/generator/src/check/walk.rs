//! Walks over the model beside what was written, so that a rule can blame the very keyword.

use crate::{
    idl::{Additional, ResourceExtension, Schema},
    lower::Lowered,
    model::{Field, GroupVersion, ObjectType, Resource, Shape, TypeKind, Usage},
};

/// An object type.
#[derive(Clone, Copy)]
pub(super) struct WrittenObject<'l> {
    pub object: &'l ObjectType,
    pub schema: &'l Schema,
}

/// A field that is written, not implied.
#[derive(Clone, Copy)]
pub(super) struct WrittenField<'l> {
    pub object: WrittenObject<'l>,
    pub field: &'l Field,
    pub schema: &'l Schema,
}

/// A kind.
#[derive(Clone, Copy)]
pub(super) struct WrittenResource<'l> {
    pub group_version: &'l GroupVersion,
    pub resource: &'l Resource,
    pub extension: &'l ResourceExtension,
}

/// All object types.
pub(super) fn objects<'l>(lowered: &'l Lowered<'_>) -> Vec<WrittenObject<'l>> {
    let all = lowered.model.types.iter().zip(&lowered.written);
    all.filter_map(|(ty, schema)| match &ty.kind {
        TypeKind::Object(object) => Some(WrittenObject { object, schema }),
        _ => None,
    })
    .collect()
}

/// All fields of all object types.
pub(super) fn fields<'l>(lowered: &'l Lowered<'_>) -> Vec<WrittenField<'l>> {
    objects(lowered).into_iter().flat_map(fields_of).collect()
}

fn fields_of(object: WrittenObject<'_>) -> Vec<WrittenField<'_>> {
    let properties = object.schema.properties.iter().flat_map(|properties| &properties.0);
    properties
        .filter_map(|(name, schema)| {
            let field = object.object.fields.iter().find(|field| field.span == name.span)?;
            Some(WrittenField { object, field, schema })
        })
        .collect()
}

/// Everything that stands somewhere: aliases, fields, and the items, keys and values below them.
pub(super) fn usages<'l>(lowered: &'l Lowered<'_>) -> Vec<(&'l Usage, &'l Schema)> {
    let mut all = Vec::new();
    for (ty, schema) in lowered.model.types.iter().zip(&lowered.written) {
        if let TypeKind::Alias(usage) = &ty.kind {
            below(usage, schema, &mut all);
        }
    }
    for field in fields(lowered) {
        below(&field.field.usage, field.schema, &mut all);
    }
    all
}

fn below<'l>(usage: &'l Usage, schema: &'l Schema, all: &mut Vec<(&'l Usage, &'l Schema)>) {
    all.push((usage, schema));
    match &usage.shape {
        Shape::List { item, .. } => {
            if let Some(items) = &schema.items {
                below(item, items, all);
            }
        }
        Shape::Map { keys, value, .. } => {
            if let Some(names) = &schema.property_names {
                below(keys, names, all);
            }
            if let Some(Additional::Schema(values)) = schema.additional.as_ref().map(|written| &written.value)
            {
                below(value, values, all);
            }
        }
        _ => {}
    }
}

/// All kinds. Those of other crates come first, so that a conflict is reported at the folder's own kind.
pub(super) fn resources<'l>(lowered: &'l Lowered<'_>) -> Vec<WrittenResource<'l>> {
    let mut group_versions: Vec<&GroupVersion> = lowered.model.group_versions.iter().collect();
    group_versions.sort_by_key(|group_version| group_version.extern_crate.is_none());
    group_versions
        .into_iter()
        .flat_map(|group_version| {
            group_version.resources.iter().map(move |resource| (group_version, resource))
        })
        .filter_map(|(group_version, resource)| {
            let extension = lowered.written[resource.ty.0].resource.as_ref()?;
            Some(WrittenResource { group_version, resource, extension })
        })
        .collect()
}
