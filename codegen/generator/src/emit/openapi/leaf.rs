//! Schemas of single values, in the forms that client tools expect.

use openapiv3::{
    AnySchema, BooleanType, IntegerFormat, IntegerType, NumberFormat, NumberType, ObjectType, ReferenceOr,
    Schema, SchemaData, SchemaKind, StringFormat as PublishedFormat, StringType, Type as SchemaType,
    VariantOrUnknownOrEmpty,
};
use serde_json::json;

use crate::model::{Constraints, Shape, StringFormat, Usage};

/// A scalar with the constraints of all its layers.
pub fn scalar(shape: &Shape, layers: &[&Usage], data: &mut SchemaData) -> SchemaKind {
    let constraints: Vec<&Constraints> = layers.iter().map(|layer| &layer.constraints).collect();
    let first = |pick: fn(&Constraints) -> Option<f64>| constraints.iter().copied().find_map(pick);
    let kind = match shape {
        Shape::Boolean => SchemaType::Boolean(BooleanType::default()),
        Shape::Int32 | Shape::Int64 => {
            let format =
                if matches!(shape, Shape::Int32) { IntegerFormat::Int32 } else { IntegerFormat::Int64 };
            let (minimum, exclusive_minimum) = bound(first(|it| it.minimum), first(|it| it.exclusive_minimum));
            let (maximum, exclusive_maximum) = bound(first(|it| it.maximum), first(|it| it.exclusive_maximum));
            SchemaType::Integer(IntegerType {
                format: VariantOrUnknownOrEmpty::Item(format),
                multiple_of: first(|it| it.multiple_of).map(|step| step as i64),
                exclusive_minimum,
                exclusive_maximum,
                minimum: minimum.map(|limit| limit as i64),
                maximum: maximum.map(|limit| limit as i64),
                enumeration: Vec::new(),
            })
        }
        Shape::Double => {
            let (minimum, exclusive_minimum) = bound(first(|it| it.minimum), first(|it| it.exclusive_minimum));
            let (maximum, exclusive_maximum) = bound(first(|it| it.maximum), first(|it| it.exclusive_maximum));
            SchemaType::Number(NumberType {
                format: VariantOrUnknownOrEmpty::Item(NumberFormat::Double),
                multiple_of: first(|it| it.multiple_of),
                exclusive_minimum,
                exclusive_maximum,
                minimum,
                maximum,
                enumeration: Vec::new(),
            })
        }
        Shape::IntOrString => return int_or_string(data),
        Shape::Quantity => return one_of(None, [text(None), plain(SchemaType::Number(NumberType::default()))]),
        _ => SchemaType::String(StringType {
            format: text_format(shape),
            pattern: constraints.iter().find_map(|it| it.pattern.clone()),
            enumeration: constraints
                .iter()
                .flat_map(|it| it.enum_values.iter().cloned().map(Some))
                .collect(),
            min_length: constraints.iter().find_map(|it| it.min_length).map(|min| min as usize),
            max_length: constraints.iter().find_map(|it| it.max_length).map(|max| max as usize),
        }),
    };
    SchemaKind::Type(kind)
}

/// JSON of which the schema knows nothing.
pub fn any_json(data: &mut SchemaData) -> SchemaKind {
    data.extensions.insert("x-kubernetes-preserve-unknown-fields".to_owned(), json!(true));
    SchemaKind::Type(SchemaType::Object(ObjectType::default()))
}

fn int_or_string(data: &mut SchemaData) -> SchemaKind {
    data.extensions.insert("x-kubernetes-int-or-string".to_owned(), json!(true));
    one_of(Some("int-or-string"), [plain(SchemaType::Integer(IntegerType::default())), text(None)])
}

fn one_of(format: Option<&str>, choices: [Schema; 2]) -> SchemaKind {
    SchemaKind::Any(AnySchema {
        format: format.map(str::to_owned),
        one_of: choices.into_iter().map(ReferenceOr::Item).collect(),
        ..AnySchema::default()
    })
}

fn text(format: Option<PublishedFormat>) -> Schema {
    let format = format.map_or(VariantOrUnknownOrEmpty::Empty, VariantOrUnknownOrEmpty::Item);
    plain(SchemaType::String(StringType { format, ..StringType::default() }))
}

fn plain(ty: SchemaType) -> Schema {
    Schema { schema_data: SchemaData::default(), schema_kind: SchemaKind::Type(ty) }
}

/// OpenAPI 3.0 has one limit and a flag for "exclusive".
fn bound(inclusive: Option<f64>, exclusive: Option<f64>) -> (Option<f64>, bool) {
    (exclusive.or(inclusive), exclusive.is_some())
}

fn text_format(shape: &Shape) -> VariantOrUnknownOrEmpty<PublishedFormat> {
    let word = match shape {
        Shape::Bytes => return VariantOrUnknownOrEmpty::Item(PublishedFormat::Byte),
        Shape::Time | Shape::MicroTime => return VariantOrUnknownOrEmpty::Item(PublishedFormat::DateTime),
        Shape::String(Some(format)) => match format {
            StringFormat::LabelKey => "label-key",
            StringFormat::LabelValue => "label-value",
            StringFormat::DnsLabel => "dns-label",
            StringFormat::DnsSubdomain => "dns-subdomain",
            StringFormat::PathSegment => "path-segment",
            StringFormat::Cidr => "cidr",
            StringFormat::Ip => "ip",
            StringFormat::Uri => "uri",
        },
        _ => return VariantOrUnknownOrEmpty::Empty,
    };
    VariantOrUnknownOrEmpty::Unknown(word.to_owned())
}
