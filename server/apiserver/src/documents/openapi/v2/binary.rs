//! The OpenAPI v2 document in protobuf: messages of `openapi.v2.Document`, for which kubectl and Helm ask.
//!
//! The messages are tables. A table has the members of a JSON object with their field numbers; members that
//! it does not have are left out.

use orch_machinery::protobuf::{Backward, ProtobufError};
use serde_json::Value;

/// A message with its fields.
struct Message(&'static [Field]);

/// A member of a JSON object as a field.
struct Field {
    name: &'static str,
    tag: u32,
    wire: Wire,
}

/// How a member is written.
enum Wire {
    Text,
    Texts,
    Flag,
    Integer,
    Double,
    /// A value of any type, as text in YAML: JSON is YAML.
    Any,
    Anys,
    /// A message, inside of messages that have it in these fields.
    Message(&'static Message, &'static [u32]),
    Messages(&'static Message),
    /// A map: a message with named values in this field. Each value is a message inside of others.
    Map(&'static Message, u32, &'static [u32]),
    /// A text as the only item of a list in a message.
    OneText,
    /// Parameters, in the path, the query, or the body.
    Parameters,
    /// Maps of lists of texts.
    Requirements,
    /// All members whose names begin with `x-`.
    Extensions,
}

const fn field(name: &'static str, tag: u32, wire: Wire) -> Field {
    Field { name, tag, wire }
}

static DOCUMENT: Message = Message(&[
    field("swagger", 1, Wire::Text),
    field("info", 2, Wire::Message(&INFO, &[])),
    field("paths", 8, Wire::Map(&PATH_ITEM, 2, &[])),
    field("definitions", 9, Wire::Map(&SCHEMA, 1, &[])),
    field("security", 12, Wire::Requirements),
    field("securityDefinitions", 13, Wire::Map(&API_KEY, 1, &[2])),
]);

static INFO: Message = Message(&[field("title", 1, Wire::Text), field("version", 2, Wire::Text)]);

static API_KEY: Message = Message(&[
    field("type", 1, Wire::Text),
    field("name", 2, Wire::Text),
    field("in", 3, Wire::Text),
    field("description", 4, Wire::Text),
]);

static PATH_ITEM: Message = Message(&[
    field("get", 2, Wire::Message(&OPERATION, &[])),
    field("put", 3, Wire::Message(&OPERATION, &[])),
    field("post", 4, Wire::Message(&OPERATION, &[])),
    field("delete", 5, Wire::Message(&OPERATION, &[])),
    field("patch", 8, Wire::Message(&OPERATION, &[])),
    field("parameters", 9, Wire::Parameters),
]);

static OPERATION: Message = Message(&[
    field("tags", 1, Wire::Texts),
    field("description", 3, Wire::Text),
    field("operationId", 5, Wire::Text),
    field("produces", 6, Wire::Texts),
    field("consumes", 7, Wire::Texts),
    field("parameters", 8, Wire::Parameters),
    field("responses", 9, Wire::Map(&RESPONSE, 1, &[1])),
    field("schemes", 10, Wire::Texts),
    field("deprecated", 11, Wire::Flag),
    field("", 13, Wire::Extensions),
]);

static RESPONSE: Message =
    Message(&[field("description", 1, Wire::Text), field("schema", 2, Wire::Message(&SCHEMA, &[1]))]);

/// Where a parameter of the body is in the message of parameters, and its fields; the same for others.
const IN_BODY: &[u32] = &[1, 1];
static BODY_PARAMETER: Message = Message(&[
    field("description", 1, Wire::Text),
    field("name", 2, Wire::Text),
    field("in", 3, Wire::Text),
    field("required", 4, Wire::Flag),
    field("schema", 5, Wire::Message(&SCHEMA, &[])),
]);

const IN_PATH: &[u32] = &[1, 2, 4];
static PATH_PARAMETER: Message = Message(&[
    field("required", 1, Wire::Flag),
    field("in", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("name", 4, Wire::Text),
    field("type", 5, Wire::Text),
]);

const IN_QUERY: &[u32] = &[1, 2, 3];
static QUERY_PARAMETER: Message = Message(&[
    field("required", 1, Wire::Flag),
    field("in", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("name", 4, Wire::Text),
    field("type", 6, Wire::Text),
]);

static SCHEMA: Message = Message(&[
    field("$ref", 1, Wire::Text),
    field("format", 2, Wire::Text),
    field("title", 3, Wire::Text),
    field("description", 4, Wire::Text),
    field("default", 5, Wire::Any),
    field("multipleOf", 6, Wire::Double),
    field("maximum", 7, Wire::Double),
    field("exclusiveMaximum", 8, Wire::Flag),
    field("minimum", 9, Wire::Double),
    field("exclusiveMinimum", 10, Wire::Flag),
    field("maxLength", 11, Wire::Integer),
    field("minLength", 12, Wire::Integer),
    field("pattern", 13, Wire::Text),
    field("maxItems", 14, Wire::Integer),
    field("minItems", 15, Wire::Integer),
    field("uniqueItems", 16, Wire::Flag),
    field("maxProperties", 17, Wire::Integer),
    field("minProperties", 18, Wire::Integer),
    field("required", 19, Wire::Texts),
    field("enum", 20, Wire::Anys),
    field("additionalProperties", 21, Wire::Message(&SCHEMA, &[1])),
    field("type", 22, Wire::OneText),
    field("items", 23, Wire::Message(&SCHEMA, &[1])),
    field("allOf", 24, Wire::Messages(&SCHEMA)),
    field("properties", 25, Wire::Map(&SCHEMA, 1, &[])),
    field("readOnly", 27, Wire::Flag),
    field("", 31, Wire::Extensions),
]);

/// The field of an `Any` that has its text in YAML.
const YAML: u32 = 2;

/// Writes a document.
///
/// # Errors
/// None: the writer of messages could have some.
pub(in crate::documents::openapi) fn encode(document: &Value) -> Result<Vec<u8>, ProtobufError> {
    let mut out = Backward::default();
    message(document, &DOCUMENT, &mut out)?;
    Ok(out.finish())
}

/// Writes the fields of a message, the last one first.
fn message(value: &Value, fields: &'static Message, out: &mut Backward) -> Result<(), ProtobufError> {
    for field in fields.0.iter().rev() {
        if let Wire::Extensions = field.wire {
            extensions(value, field.tag, out)?;
        } else if let Some(member) = value.get(field.name) {
            write(member, field, out)?;
        }
    }
    Ok(())
}

fn write(value: &Value, Field { tag, wire, .. }: &Field, out: &mut Backward) -> Result<(), ProtobufError> {
    let tag = *tag;
    match wire {
        Wire::Text => out.bytes(tag, text(value)),
        Wire::Texts => texts(value, tag, out),
        // What is empty is not written.
        Wire::Flag if value != &Value::Bool(true) => {}
        Wire::Flag => out.number(tag, 1),
        Wire::Integer => out.number(tag, value.as_i64().unwrap_or_default().cast_unsigned()),
        Wire::Double => out.fixed64(tag, value.as_f64().unwrap_or_default().to_bits()),
        Wire::Any => any(value, tag, out)?,
        Wire::Anys => items(value).rev().try_for_each(|item| any(item, tag, out))?,
        Wire::Message(fields, inside) => nested(value, fields, tag, inside, out)?,
        Wire::Messages(fields) => {
            items(value).rev().try_for_each(|item| nested(item, fields, tag, &[], out))?;
        }
        Wire::Map(fields, named, inside) => out.message(tag, |out| {
            let mut members = value.as_object().into_iter().flatten().rev();
            members.try_for_each(|(name, member)| entry(name, member, fields, *named, inside, out))
        })?,
        Wire::OneText => out.message(tag, |out| {
            out.bytes(1, text(value));
            Ok(())
        })?,
        Wire::Parameters => items(value).rev().try_for_each(|item| {
            let (fields, inside) = match item["in"].as_str() {
                Some("body") => (&BODY_PARAMETER, IN_BODY),
                Some("path") => (&PATH_PARAMETER, IN_PATH),
                _ => (&QUERY_PARAMETER, IN_QUERY),
            };
            nested(item, fields, tag, inside, out)
        })?,
        Wire::Requirements => items(value).rev().try_for_each(|item| requirement(item, tag, out))?,
        Wire::Extensions => {}
    }
    Ok(())
}

/// An entry of a map: a name and its value.
fn entry(
    name: &str,
    value: &Value,
    fields: &'static Message,
    tag: u32,
    inside: &[u32],
    out: &mut Backward,
) -> Result<(), ProtobufError> {
    out.message(tag, |out| {
        nested(value, fields, 2, inside, out)?;
        out.bytes(1, name.as_bytes());
        Ok(())
    })
}

/// A message in the field `tag`, inside of messages that have it in the fields `inside`.
fn nested(
    value: &Value,
    fields: &'static Message,
    tag: u32,
    inside: &[u32],
    out: &mut Backward,
) -> Result<(), ProtobufError> {
    out.message(tag, |out| match inside {
        [] => message(value, fields, out),
        [next, inside @ ..] => nested(value, fields, *next, inside, out),
    })
}

fn extensions(value: &Value, tag: u32, out: &mut Backward) -> Result<(), ProtobufError> {
    let members = value.as_object().into_iter().flatten().rev();
    for (name, value) in members.filter(|(name, _)| name.starts_with("x-")) {
        out.message(tag, |out| {
            any(value, 2, out)?;
            out.bytes(1, name.as_bytes());
            Ok(())
        })?;
    }
    Ok(())
}

/// What is needed to be allowed something: names with lists of texts.
fn requirement(value: &Value, tag: u32, out: &mut Backward) -> Result<(), ProtobufError> {
    out.message(tag, |out| {
        for (name, scopes) in value.as_object().into_iter().flatten().rev() {
            out.message(1, |out| {
                out.message(2, |out| {
                    texts(scopes, 1, out);
                    Ok(())
                })?;
                out.bytes(1, name.as_bytes());
                Ok(())
            })?;
        }
        Ok(())
    })
}

fn any(value: &Value, tag: u32, out: &mut Backward) -> Result<(), ProtobufError> {
    out.message(tag, |out| {
        out.bytes(YAML, value.to_string().as_bytes());
        Ok(())
    })
}

fn texts(value: &Value, tag: u32, out: &mut Backward) {
    for item in items(value).rev() {
        out.bytes(tag, text(item));
    }
}

fn items(value: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &[u8] {
    value.as_str().unwrap_or_default().as_bytes()
}
