//! Schemas to shapes and constraints.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Lowering,
    keywords::{Class, Position},
};
use crate::{
    diagnostic::Span,
    idl::{Additional, Format, ListType, MapType, Schema, TypeName},
    model::{Constraints, ListSemantics, OwnFormat, Shape, StringFormat, Usage},
    source::Spanned,
};

/// Whether a named schema is an object with fields.
pub(super) fn is_object(schema: &Schema) -> bool {
    schema.reference.is_none()
        && ["properties", "x-orch-resource", "x-orch-union"].iter().any(|keyword| is_written(schema, keyword))
        && schema.additional.is_none()
}

/// Whether a named schema is a string with a closed set of values.
pub(super) fn is_enum(schema: &Schema) -> bool {
    schema.enumeration.is_some()
        && schema.reference.is_none()
        && schema.format.is_none()
        && types(schema).is_some_and(|types| types == [TypeName::String])
}

/// Whether a keyword is written, rightly or wrongly.
fn is_written(schema: &Schema, keyword: &str) -> bool {
    schema.keys.iter().any(|key| key.value == keyword)
}

/// The text of an optional keyword.
pub(super) fn text(keyword: Option<&Spanned<String>>) -> String {
    keyword.map(|text| text.value.trim().to_owned()).unwrap_or_default()
}

/// The words of `type`.
fn types(schema: &Schema) -> Option<Vec<TypeName>> {
    schema.types.as_ref().map(|types| types.0.iter().map(|word| word.value).collect())
}

impl Lowering<'_, '_> {
    /// What stands at one place. `schema` is not an object with fields.
    pub(super) fn usage(&mut self, schema: &Schema, position: Position) -> Usage {
        self.usage_at(schema, position, &schema.span)
    }

    /// The same, with the place at which errors about the whole are reported.
    pub(super) fn usage_at(&mut self, schema: &Schema, position: Position, span: &Span) -> Usage {
        self.check_keywords(schema, position);
        let (class, shape) = self.shape(schema, span);
        self.check_class(schema, class);
        let null = types(schema).is_some_and(|types| types.len() > 1 && types.contains(&TypeName::Null));
        if null && matches!(position, Position::Type | Position::Key) {
            let help = "whether a value may be null is said where the type is used: remove \"null\"";
            self.diagnostics
                .error(schema.key_span("type"), "a named type or a key cannot be null", help)
                .code("E0208");
        }
        Usage {
            rounds_up: schema.round_up.is_some(),
            shape,
            constraints: self.constraints(schema),
            words: self.words(schema),
            nullable: null || schema.nullable.as_ref().is_some_and(|nullable| nullable.value),
            description: text(schema.description.as_ref()),
            span: span.clone(),
        }
    }

    /// The values of `enum`, each once.
    pub(super) fn unique_values(&mut self, schema: &Schema) -> Vec<String> {
        let Some(values) = &schema.enumeration else { return Vec::new() };
        if values.value.is_empty() {
            self.diagnostics
                .error(&values.span, "`enum` has no values", "list the values, or remove it")
                .code("E0206");
        }
        let mut seen = BTreeSet::new();
        for value in &values.value {
            if !seen.insert(&value.value) {
                let message = format!("duplicate value `{}`", value.value);
                self.diagnostics.error(&value.span, message, "remove one of the two").code("E0206");
            }
        }
        let mut seen = BTreeSet::new();
        values
            .value
            .iter()
            .filter(|value| seen.insert(&value.value))
            .map(|value| value.value.clone())
            .collect()
    }

    fn shape(&mut self, schema: &Schema, span: &Span) -> (Class, Shape) {
        if let Some(reference) = &schema.reference {
            return (Class::Reference, self.reference(reference).map_or(Shape::Any, Shape::Named));
        }
        let Some(types) = types(schema) else { return self.untyped(schema) };
        let mut types: Vec<TypeName> = types.into_iter().filter(|name| *name != TypeName::Null).collect();
        types.sort_unstable();
        let format = schema.format.as_ref().map(|format| format.value);
        match (types.as_slice(), format) {
            ([TypeName::String, TypeName::Integer], None | Some(Format::IntOrString)) => {
                (Class::Fixed, Shape::IntOrString)
            }
            ([TypeName::String, TypeName::Number], Some(Format::Quantity)) => {
                (Class::Quantity, Shape::Quantity)
            }
            ([TypeName::String], format) => self.string(schema, format),
            ([TypeName::Integer], None | Some(Format::Int64)) => (Class::Number, Shape::Int64),
            ([TypeName::Integer], Some(Format::Int32)) => (Class::Number, Shape::Int32),
            ([TypeName::Number], None | Some(Format::Double)) => (Class::Number, Shape::Double),
            ([TypeName::Boolean], None) => (Class::Fixed, Shape::Boolean),
            ([TypeName::Array], None) => (Class::List, self.list(schema)),
            ([TypeName::Object], None) => self.object_shape(schema, span),
            ([_], Some(format)) => self.wrong_format(schema, format),
            _ => {
                let help = "one type, or one type and \"null\"; `[integer, string]` for both of them";
                self.diagnostics.error(schema.key_span("type"), "a value has one type", help).code("E0203");
                (Class::Unknown, Shape::Any)
            }
        }
    }

    /// No `type`: any JSON, unless another keyword shows that the type was forgotten.
    fn untyped(&mut self, schema: &Schema) -> (Class, Shape) {
        const IMPLYING: &[(&str, &str)] = &[
            ("properties", "object"),
            ("additionalProperties", "object"),
            ("items", "array"),
            ("enum", "string"),
            ("pattern", "string"),
            ("format", "string"),
            ("minimum", "integer"),
            ("maximum", "integer"),
        ];
        if is_written(schema, "type") {
            // What stands there is reported already.
            return (Class::Unknown, Shape::Any);
        }
        if let Some((keyword, name)) = IMPLYING.iter().find(|(keyword, _)| is_written(schema, keyword)) {
            let message = format!("`{keyword}` without a `type`");
            self.diagnostics
                .error(schema.key_span(keyword), message, format!("add `type: {name}`"))
                .code("E0203");
            return (Class::Unknown, Shape::Any);
        }
        (Class::Any, Shape::Any)
    }

    fn wrong_format(&mut self, schema: &Schema, format: Format) -> (Class, Shape) {
        let name = match format {
            Format::Int32 | Format::Int64 => "integer",
            Format::Double => "number",
            _ => "string",
        };
        let message = format!("the format `{}` does not go with this type", format.word());
        self.diagnostics
            .error(schema.key_span("format"), message, format!("write `type: {name}`"))
            .code("E0203");
        (Class::Unknown, Shape::Any)
    }

    fn string(&mut self, schema: &Schema, format: Option<Format>) -> (Class, Shape) {
        match format {
            None => (Class::Text, Shape::String(None)),
            Some(Format::Byte) => (Class::Fixed, Shape::Bytes),
            Some(Format::DateTime) => (Class::Fixed, Shape::Time),
            Some(Format::MicroTime) => (Class::Fixed, Shape::MicroTime),
            Some(Format::Quantity) => (Class::Quantity, Shape::Quantity),
            Some(Format::IntOrString) => (Class::Fixed, Shape::IntOrString),
            Some(Format::Duration) => (Class::Fixed, Shape::Duration),
            Some(format @ (Format::Int32 | Format::Int64 | Format::Double)) => {
                self.wrong_format(schema, format)
            }
            Some(format) => (Class::Text, Shape::String(StringFormat::of_word(format.word()))),
        }
    }

    fn list(&mut self, schema: &Schema) -> Shape {
        let item = if let Some(items) = &schema.items {
            self.usage(items, Position::Item)
        } else {
            let help = "add `items:` with the type of each item";
            self.diagnostics.error(schema.key_span("type"), "a list without `items`", help).code("E0205");
            any(&schema.span)
        };
        Shape::List { item: Box::new(item), semantics: self.list_semantics(schema) }
    }

    fn list_semantics(&mut self, schema: &Schema) -> ListSemantics {
        let list_type = schema.list_type.as_ref().map_or(ListType::Atomic, |list_type| list_type.value);
        match (list_type, &schema.list_map_keys) {
            (ListType::Map, Some(keys)) if !keys.value.is_empty() => {
                ListSemantics::Map(keys.value.iter().map(|key| key.value.clone()).collect())
            }
            (ListType::Map, _) => {
                let help = "add `x-orch-list-map-keys: [...]` with the fields that identify an item";
                let span = schema.key_span("x-orch-list-type");
                self.diagnostics.error(span, "a list of type `map` without keys", help).code("E0209");
                ListSemantics::Atomic
            }
            (list_type, keys) => {
                if let Some(keys) = keys {
                    let help = "add `x-orch-list-type: map`, or remove the keys";
                    self.diagnostics
                        .error(&keys.span, "keys for a list that is not of type `map`", help)
                        .code("E0209");
                }
                if list_type == ListType::Set { ListSemantics::Set } else { ListSemantics::Atomic }
            }
        }
    }

    /// `type: object` that is not a named object with fields.
    fn object_shape(&mut self, schema: &Schema, span: &Span) -> (Class, Shape) {
        if schema.properties.is_some() {
            let (message, help) = if schema.additional.is_some() {
                (
                    "`properties` and `additionalProperties` in one object",
                    "an object has fields, or is a map: keep one",
                )
            } else {
                (
                    "an object with fields in place",
                    "name it under components.schemas, and write `$ref: '#/components/schemas/<Name>'` here",
                )
            };
            self.diagnostics.error(span, message, help).code("E0203");
            return (Class::Unknown, Shape::Any);
        }
        let value = match schema.additional.as_ref().map(|additional| &additional.value) {
            None if schema.property_names.is_none() => return (Class::Any, Shape::Any),
            None | Some(Additional::Any(true)) => any(span),
            Some(Additional::Any(false)) => {
                let help = "objects are closed already: remove it, and give the object `properties`";
                self.diagnostics
                    .error(schema.key_span("additionalProperties"), "an object without fields", help)
                    .code("E0205");
                return (Class::Map, Shape::Any);
            }
            Some(Additional::Schema(value)) => self.usage(value, Position::Value),
        };
        let keys = match &schema.property_names {
            Some(names) => self.map_keys(names),
            None => Usage { shape: Shape::String(None), ..any(span) },
        };
        let atomic = schema.map_type.as_ref().is_some_and(|map_type| map_type.value == MapType::Atomic);
        (Class::Map, Shape::Map { keys: Box::new(keys), value: Box::new(value), atomic })
    }

    /// `propertyNames`: a rule for strings, in which `type` may be left out.
    fn map_keys(&mut self, names: &Schema) -> Usage {
        if names.reference.is_none() && names.types.is_none() {
            self.check_keywords(names, Position::Key);
            let (class, shape) = self.string(names, names.format.as_ref().map(|format| format.value));
            self.check_class(names, class);
            let (constraints, words) = (self.constraints(names), self.words(names));
            return Usage { shape: self.key_shape(names, shape), constraints, words, ..any(&names.span) };
        }
        let usage = self.usage(names, Position::Key);
        Usage { shape: self.key_shape(names, usage.shape), ..usage }
    }

    fn key_shape(&mut self, names: &Schema, shape: Shape) -> Shape {
        if matches!(shape, Shape::String(_) | Shape::Named(_)) {
            return shape;
        }
        self.diagnostics
            .error(&names.span, "keys are strings", "write `type: string`, and a format for strings")
            .code("E0205");
        Shape::String(None)
    }

    fn constraints(&mut self, schema: &Schema) -> Constraints {
        let number = |keyword: &Option<Spanned<f64>>| keyword.as_ref().map(|number| number.value);
        let count = |keyword: &Option<Spanned<u64>>| keyword.as_ref().map(|count| count.value);
        Constraints {
            enum_values: self.unique_values(schema),
            format_fn: schema.own_format.as_ref().map(own_format),
            pattern: schema.pattern.as_ref().map(|pattern| pattern.value.clone()),
            minimum: number(&schema.minimum),
            maximum: number(&schema.maximum),
            exclusive_minimum: number(&schema.exclusive_minimum),
            exclusive_maximum: number(&schema.exclusive_maximum),
            multiple_of: number(&schema.multiple_of),
            min_length: count(&schema.min_length),
            max_length: count(&schema.max_length),
            min_items: count(&schema.min_items),
            max_items: count(&schema.max_items),
            unique_items: schema.unique_items.as_ref().is_some_and(|unique| unique.value),
            repeated_items: schema.unique_items.as_ref().is_some_and(|unique| !unique.value),
            min_properties: count(&schema.min_properties),
            max_properties: count(&schema.max_properties),
        }
    }
}

/// Any JSON, without constraints.
pub(super) fn any(span: &Span) -> Usage {
    Usage {
        rounds_up: false,
        shape: Shape::Any,
        constraints: Constraints::default(),
        words: BTreeMap::new(),
        nullable: false,
        description: String::new(),
        span: span.clone(),
    }
}

/// `x-orch-format`.
pub(super) fn own_format(written: &crate::idl::FormatFunction) -> OwnFormat {
    let takes_words = written.words.as_ref().is_some_and(|words| words.value);
    OwnFormat { function: written.function.value.clone(), takes_words }
}
