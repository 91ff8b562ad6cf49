//! The published OpenAPI v3 component schemas of one group and version, as JSON text.
//!
//! Names are qualified (`core.v1.ConfigMap`), and so are references, so that the server can put documents
//! together from several group versions. What depends on the vocabulary (the group and version of a kind as
//! clients see them) is added by the server.

mod declared;
mod leaf;
mod rules;
mod validations;

use openapiv3::{
    AdditionalProperties, ArrayType, Components, ObjectType, ReferenceOr, Schema, SchemaData, SchemaKind,
    StringType, Type as SchemaType,
};
use serde_json::{Value, json};

use super::emitter::Emitter;
use crate::model::{
    Check, Demand, Field, ListSemantics, Resolved, Resource, Shape, Step, Type, TypeKind, Usage,
};

/// The components of the file's group and version: a JSON object, schema name to schema, as compact text.
pub fn schemas(emitter: &Emitter<'_>) -> String {
    let mut components = Components::default();
    for id in &emitter.group_version.types {
        let ty = emitter.model.ty(*id);
        let schema = match &ty.kind {
            TypeKind::Object(object) => object_schema(emitter, ty, object),
            TypeKind::Alias(usage) if scalar_name(usage) == Some(&*ty.qualified_name) => {
                written_out(emitter, usage)
            }
            TypeKind::Alias(usage) => match usage_schema(emitter, usage) {
                ReferenceOr::Item(schema) => schema,
                reference @ ReferenceOr::Reference { .. } => all_of(reference),
            },
            // Written out where they are used, because tools look for `enum` beside `type`.
            TypeKind::Enum(_) => continue,
        };
        let mut schema = described(schema, &ty.description);
        validations::publish(&ty.validations, &mut schema.schema_data);
        components.schemas.insert(ty.qualified_name.clone(), ReferenceOr::Item(schema));
    }
    for resource in &emitter.group_version.resources {
        let name = format!("{}List", emitter.model.ty(resource.ty).qualified_name);
        components.schemas.insert(name, ReferenceOr::Item(list_schema(emitter, resource)));
    }
    components.schemas.sort_unstable_keys();
    serde_json::to_string(&components.schemas).expect("schemas have string keys and finite numbers")
}

fn object_schema(emitter: &Emitter<'_>, ty: &Type, object: &crate::model::ObjectType) -> Schema {
    let is_kind = emitter
        .group_version
        .resources
        .iter()
        .any(|resource| std::ptr::eq(emitter.model.ty(resource.ty), ty));
    let mut schema = ObjectType::default();
    if is_kind {
        schema.properties.extend(type_meta());
    }
    for field in &object.fields {
        schema.properties.insert(field.name.clone(), ReferenceOr::boxed_item(field_schema(emitter, field)));
        if must_be_given(field) && !is_needed_at_times(object, field) {
            schema.required.push(field.name.clone());
        }
    }
    let mut data = SchemaData::default();
    if object.atomic {
        data.extensions.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
    }
    rules::of_object(object, &mut data);
    declared::publish(object, &mut data);
    Schema { schema_data: data, schema_kind: SchemaKind::Type(SchemaType::Object(schema)) }
}

fn field_schema(emitter: &Emitter<'_>, field: &Field) -> Schema {
    let mut schema = match usage_schema(emitter, &field.usage) {
        ReferenceOr::Item(schema) => schema,
        reference @ ReferenceOr::Reference { .. } => all_of(reference),
    };
    schema = described(schema, &field.description);
    if let SchemaKind::Type(SchemaType::String(text)) = &mut schema.schema_kind
        && rules::is_never_empty(emitter.model, field)
    {
        text.min_length = text.min_length.max(Some(1));
    }
    let data = &mut schema.schema_data;
    if field.presence(emitter.model).optional {
        // Nothing stands for an object that is absent.
        data.default = None;
    }
    if let Some(value) = &field.default {
        // The server fills in what tools cannot take for a default: an object without its required fields.
        let is_complete = !matches!(emitter.model.resolve(&field.usage), Resolved::Object(_, object)
            if value.as_object().is_some_and(serde_json::Map::is_empty) && !may_be_empty(object));
        data.default = is_complete.then(|| value.clone());
    }
    data.write_only = field.write_only;
    data.deprecated = field.deprecated.is_some();
    if !field.validations.is_empty() {
        validations::publish(&field.validations, data);
    }
    rules::of_field(field, data);
    for (name, value) in merge_extensions(field) {
        data.extensions.insert(name.to_owned(), value);
    }
    schema
}

/// Whether an object without the field is invalid. One that may be null may be left out as well; but one that
/// cannot change later has to be there from the beginning.
fn must_be_given(field: &Field) -> bool {
    field.required && (!field.usage.nullable || field.immutable.is_some())
}

/// Whether rules demand the field, and only under conditions: then it may be left out at other times.
fn is_needed_at_times(object: &crate::model::ObjectType, field: &Field) -> bool {
    let is_about = |check: &Check| matches!(&check.field[..], [Step::Field(name)] if *name == field.name);
    let is_demanded = |check: &&Check| matches!(check.demand, Demand::Required) && is_about(check);
    let mut demands = object.checks.iter().filter(is_demanded).peekable();
    demands.peek().is_some()
        && demands.all(|check| !check.when.is_empty() || check.expressions.when.is_some())
}

fn may_be_empty(object: &crate::model::ObjectType) -> bool {
    !object.fields.iter().any(must_be_given)
}

fn merge_extensions(field: &Field) -> Vec<(&'static str, Value)> {
    let mut extensions = Vec::new();
    if field.granular {
        extensions.push(("x-kubernetes-map-type", json!("granular")));
    }
    if let Some(key) = &field.patch.merge_key {
        extensions.push(("x-kubernetes-patch-merge-key", json!(key)));
    }
    let patch = &field.patch;
    let words = [(patch.merge, "merge"), (patch.retain_keys, "retainKeys"), (patch.replace, "replace")];
    let strategy: Vec<&str> =
        words.into_iter().filter_map(|(applies, word)| applies.then_some(word)).collect();
    if !strategy.is_empty() {
        extensions.push(("x-kubernetes-patch-strategy", json!(strategy.join(","))));
    }
    extensions
}

/// What stands at a place. Named objects and aliases become references; a reference has no siblings, so
/// callers that add some wrap it by [`all_of`].
fn usage_schema(emitter: &Emitter<'_>, usage: &Usage) -> ReferenceOr<Schema> {
    let resolved = emitter.model.resolve(usage);
    if let (Shape::Named(id), false) = (&usage.shape, matches!(resolved, Resolved::Enum(..))) {
        let reference =
            ReferenceOr::ref_(&format!("#/components/schemas/{}", emitter.model.ty(*id).qualified_name));
        // A type that requires fields cannot have a default without fields.
        if !matches!(resolved, Resolved::Object(_, object) if may_be_empty(object)) {
            return reference;
        }
        let mut schema = all_of(reference);
        schema.schema_data.default = Some(json!({}));
        return ReferenceOr::Item(schema);
    }
    match named_scalar(emitter, usage) {
        Some(reference) if usage.nullable || !usage.description.is_empty() => {
            let mut schema = described(all_of(reference), &usage.description);
            schema.schema_data.nullable = usage.nullable;
            ReferenceOr::Item(schema)
        }
        Some(reference) => reference,
        None => ReferenceOr::Item(written_out(emitter, usage)),
    }
}

/// The type of scalars that JSON has in two forms. Clients show its name, and have one type for all of them.
fn scalar_name(usage: &Usage) -> Option<&'static str> {
    match usage.shape {
        Shape::Quantity => Some("meta.v1.Quantity"),
        Shape::IntOrString => Some("meta.v1.IntOrString"),
        _ => None,
    }
}

/// A reference to the type of such a scalar, where that type is known.
fn named_scalar(emitter: &Emitter<'_>, usage: &Usage) -> Option<ReferenceOr<Schema>> {
    let name = scalar_name(usage)?;
    let is_known = emitter.model.types.iter().any(|ty| ty.qualified_name == name);
    is_known.then(|| ReferenceOr::ref_(&format!("#/components/schemas/{name}")))
}

/// A value that has no name.
fn written_out(emitter: &Emitter<'_>, usage: &Usage) -> Schema {
    let resolved = emitter.model.resolve(usage);
    let mut data = SchemaData { nullable: usage.nullable, ..SchemaData::default() };
    let kind = match resolved {
        Resolved::Scalar(shape) => {
            leaf::scalar(shape, &emitter.model.innermost(usage).constraints, &mut data)
        }
        Resolved::Enum(id, values) => {
            validations::publish(&emitter.model.ty(id).validations, &mut data);
            let values = values.iter().map(|value| Some(value.value.clone())).collect();
            SchemaKind::Type(SchemaType::String(StringType { enumeration: values, ..StringType::default() }))
        }
        Resolved::Any | Resolved::Object(..) => leaf::any_json(&mut data),
        Resolved::List(item, semantics) => list(emitter, usage, item, semantics, &mut data),
        Resolved::Map { keys, value, atomic } => {
            if atomic {
                data.extensions.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
            }
            rules::of_keys(emitter.model.innermost(keys), &mut data);
            SchemaKind::Type(SchemaType::Object(ObjectType {
                additional_properties: Some(AdditionalProperties::Schema(Box::new(usage_schema(
                    emitter, value,
                )))),
                min_properties: usage.constraints.min_properties.map(|min| min as usize),
                max_properties: usage.constraints.max_properties.map(|max| max as usize),
                ..ObjectType::default()
            }))
        }
    };
    described(Schema { schema_data: data, schema_kind: kind }, &usage.description)
}

fn boxed(schema: ReferenceOr<Schema>) -> ReferenceOr<Box<Schema>> {
    match schema {
        ReferenceOr::Item(schema) => ReferenceOr::boxed_item(schema),
        ReferenceOr::Reference { reference } => ReferenceOr::Reference { reference },
    }
}

fn list(
    emitter: &Emitter<'_>,
    usage: &Usage,
    item: &Usage,
    semantics: &ListSemantics,
    data: &mut SchemaData,
) -> SchemaKind {
    let word = match semantics {
        ListSemantics::Atomic => "atomic",
        ListSemantics::Set => "set",
        ListSemantics::Map(keys) => {
            data.extensions.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
            "map"
        }
    };
    data.extensions.insert("x-kubernetes-list-type".to_owned(), json!(word));
    SchemaKind::Type(SchemaType::Array(ArrayType {
        items: Some(boxed(usage_schema(emitter, item))),
        min_items: usage.constraints.min_items.map(|min| min as usize),
        max_items: usage.constraints.max_items.map(|max| max as usize),
        unique_items: usage.constraints.unique_items,
    }))
}

fn list_schema(emitter: &Emitter<'_>, resource: &Resource) -> Schema {
    let ty = emitter.model.ty(resource.ty);
    let mut metadata = all_of(ReferenceOr::ref_("#/components/schemas/meta.v1.ListMeta"));
    metadata.schema_data.default = Some(json!({}));
    let items = SchemaKind::Type(SchemaType::Array(ArrayType {
        items: Some(ReferenceOr::ref_(&format!("#/components/schemas/{}", ty.qualified_name))),
        min_items: None,
        max_items: None,
        unique_items: false,
    }));
    let mut schema = ObjectType { required: vec!["items".to_owned()], ..ObjectType::default() };
    schema.properties.extend(type_meta());
    for (name, property) in [
        ("metadata", described(metadata, "What concerns the list as a whole.")),
        ("items", described(plain(items), "The objects.")),
    ] {
        schema.properties.insert(name.to_owned(), ReferenceOr::boxed_item(property));
    }
    let schema = plain(SchemaKind::Type(SchemaType::Object(schema)));
    described(schema, &format!("A list of objects of kind {}.", resource.kind))
}

/// The two fields that every object has beside its own.
fn type_meta() -> [(String, ReferenceOr<Box<Schema>>); 2] {
    let text = |description: &str| {
        let kind = SchemaKind::Type(SchemaType::String(StringType::default()));
        ReferenceOr::boxed_item(described(plain(kind), description))
    };
    [
        ("apiVersion".to_owned(), text("Group and version of the object's kind. Follows from the URL.")),
        ("kind".to_owned(), text("What the object is. Follows from the URL.")),
    ]
}

/// A schema that gives a reference the siblings which it cannot have itself.
fn all_of(reference: ReferenceOr<Schema>) -> Schema {
    plain(SchemaKind::AllOf { all_of: vec![reference] })
}

fn plain(kind: SchemaKind) -> Schema {
    Schema { schema_data: SchemaData::default(), schema_kind: kind }
}

fn described(mut schema: Schema, description: &str) -> Schema {
    let description = description.trim();
    if !description.is_empty() {
        schema.schema_data.description = Some(description.to_owned());
    }
    schema
}
