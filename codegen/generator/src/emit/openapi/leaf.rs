//! Schemas of single values, in the forms that client tools expect.

use openapiv3::{
    AnySchema, BooleanType, IntegerFormat, IntegerType, NumberFormat, NumberType, ObjectType, ReferenceOr,
    Schema, SchemaData, SchemaKind, StringFormat as PublishedFormat, StringType, Type as SchemaType,
    VariantOrUnknownOrEmpty,
};
use serde_json::json;

use crate::model::{Constraints, Shape};

/// A scalar with its constraints.
pub fn scalar(shape: &Shape, constraints: &Constraints, data: &mut SchemaData) -> SchemaKind {
    if let Some(format) = &constraints.format_fn {
        data.extensions.insert("x-orch-format".to_owned(), json!({"fn": format.function}));
    }
    let (minimum, exclusive_minimum) = bound(constraints.minimum, constraints.exclusive_minimum);
    let (maximum, exclusive_maximum) = bound(constraints.maximum, constraints.exclusive_maximum);
    let kind = match shape {
        Shape::Boolean => SchemaType::Boolean(BooleanType::default()),
        Shape::Int32 | Shape::Int64 => SchemaType::Integer(IntegerType {
            format: VariantOrUnknownOrEmpty::Item(integer_format(shape)),
            multiple_of: constraints.multiple_of.map(|step| step as i64),
            exclusive_minimum,
            exclusive_maximum,
            minimum: minimum.map(|limit| limit as i64),
            maximum: maximum.map(|limit| limit as i64),
            enumeration: Vec::new(),
        }),
        Shape::Double => SchemaType::Number(NumberType {
            format: VariantOrUnknownOrEmpty::Item(NumberFormat::Double),
            multiple_of: constraints.multiple_of,
            exclusive_minimum,
            exclusive_maximum,
            minimum,
            maximum,
            enumeration: Vec::new(),
        }),
        Shape::IntOrString => return int_or_string(data),
        Shape::Quantity => {
            return one_of(None, [text(), plain(SchemaType::Number(NumberType::default()))]);
        }
        _ => SchemaType::String(StringType {
            format: text_format(shape),
            pattern: constraints.pattern.clone(),
            enumeration: constraints.enum_values.iter().cloned().map(Some).collect(),
            // `minLength: 0` is what OpenAPI assumes anyway.
            min_length: constraints.min_length.filter(|min| *min > 0).map(|min| min as usize),
            max_length: constraints.max_length.map(|max| max as usize),
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
    one_of(Some("int-or-string"), [plain(SchemaType::Integer(IntegerType::default())), text()])
}

fn one_of(format: Option<&str>, choices: [Schema; 2]) -> SchemaKind {
    SchemaKind::Any(AnySchema {
        format: format.map(str::to_owned),
        one_of: choices.into_iter().map(ReferenceOr::Item).collect(),
        ..AnySchema::default()
    })
}

fn text() -> Schema {
    plain(SchemaType::String(StringType::default()))
}

fn plain(ty: SchemaType) -> Schema {
    Schema { schema_data: SchemaData::default(), schema_kind: SchemaKind::Type(ty) }
}

/// OpenAPI 3.0 has one limit and a flag for "exclusive".
fn bound(inclusive: Option<f64>, exclusive: Option<f64>) -> (Option<f64>, bool) {
    (exclusive.or(inclusive), exclusive.is_some())
}

fn integer_format(shape: &Shape) -> IntegerFormat {
    if matches!(shape, Shape::Int32) { IntegerFormat::Int32 } else { IntegerFormat::Int64 }
}

fn text_format(shape: &Shape) -> VariantOrUnknownOrEmpty<PublishedFormat> {
    let word = match shape {
        Shape::Bytes => return VariantOrUnknownOrEmpty::Item(PublishedFormat::Byte),
        Shape::Time | Shape::MicroTime => return VariantOrUnknownOrEmpty::Item(PublishedFormat::DateTime),
        Shape::String(Some(format)) => format.word(),
        _ => return VariantOrUnknownOrEmpty::Empty,
    };
    VariantOrUnknownOrEmpty::Unknown(word.to_owned())
}
