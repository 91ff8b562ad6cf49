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
    form: Form,
}

/// How a member is written.
enum Form {
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

const fn field(name: &'static str, tag: u32, form: Form) -> Field {
    Field { name, tag, form }
}

static DOCUMENT: Message = Message(&[
    field("swagger", 1, Form::Text),
    field("info", 2, Form::Message(&INFO, &[])),
    field("paths", 8, Form::Map(&PATH_ITEM, 2, &[])),
    field("definitions", 9, Form::Map(&SCHEMA, 1, &[])),
    field("security", 12, Form::Requirements),
    field("securityDefinitions", 13, Form::Map(&API_KEY, 1, &[2])),
]);

static INFO: Message = Message(&[field("title", 1, Form::Text), field("version", 2, Form::Text)]);

static API_KEY: Message = Message(&[
    field("type", 1, Form::Text),
    field("name", 2, Form::Text),
    field("in", 3, Form::Text),
    field("description", 4, Form::Text),
]);

static PATH_ITEM: Message = Message(&[
    field("get", 2, Form::Message(&OPERATION, &[])),
    field("put", 3, Form::Message(&OPERATION, &[])),
    field("post", 4, Form::Message(&OPERATION, &[])),
    field("delete", 5, Form::Message(&OPERATION, &[])),
    field("patch", 8, Form::Message(&OPERATION, &[])),
    field("parameters", 9, Form::Parameters),
]);

static OPERATION: Message = Message(&[
    field("tags", 1, Form::Texts),
    field("description", 3, Form::Text),
    field("operationId", 5, Form::Text),
    field("produces", 6, Form::Texts),
    field("consumes", 7, Form::Texts),
    field("parameters", 8, Form::Parameters),
    field("responses", 9, Form::Map(&RESPONSE, 1, &[1])),
    field("schemes", 10, Form::Texts),
    field("deprecated", 11, Form::Flag),
    field("", 13, Form::Extensions),
]);

static RESPONSE: Message =
    Message(&[field("description", 1, Form::Text), field("schema", 2, Form::Message(&SCHEMA, &[1]))]);

/// Where a parameter of the body is in the message of parameters, and its fields; the same for others.
const IN_BODY: &[u32] = &[1, 1];
static BODY_PARAMETER: Message = Message(&[
    field("description", 1, Form::Text),
    field("name", 2, Form::Text),
    field("in", 3, Form::Text),
    field("required", 4, Form::Flag),
    field("schema", 5, Form::Message(&SCHEMA, &[])),
]);

const IN_PATH: &[u32] = &[1, 2, 4];
static PATH_PARAMETER: Message = Message(&[
    field("required", 1, Form::Flag),
    field("in", 2, Form::Text),
    field("description", 3, Form::Text),
    field("name", 4, Form::Text),
    field("type", 5, Form::Text),
]);

const IN_QUERY: &[u32] = &[1, 2, 3];
static QUERY_PARAMETER: Message = Message(&[
    field("required", 1, Form::Flag),
    field("in", 2, Form::Text),
    field("description", 3, Form::Text),
    field("name", 4, Form::Text),
    field("type", 6, Form::Text),
]);

static SCHEMA: Message = Message(&[
    field("$ref", 1, Form::Text),
    field("format", 2, Form::Text),
    field("title", 3, Form::Text),
    field("description", 4, Form::Text),
    field("default", 5, Form::Any),
    field("multipleOf", 6, Form::Double),
    field("maximum", 7, Form::Double),
    field("exclusiveMaximum", 8, Form::Flag),
    field("minimum", 9, Form::Double),
    field("exclusiveMinimum", 10, Form::Flag),
    field("maxLength", 11, Form::Integer),
    field("minLength", 12, Form::Integer),
    field("pattern", 13, Form::Text),
    field("maxItems", 14, Form::Integer),
    field("minItems", 15, Form::Integer),
    field("uniqueItems", 16, Form::Flag),
    field("maxProperties", 17, Form::Integer),
    field("minProperties", 18, Form::Integer),
    field("required", 19, Form::Texts),
    field("enum", 20, Form::Anys),
    field("additionalProperties", 21, Form::Message(&SCHEMA, &[1])),
    field("type", 22, Form::OneText),
    field("items", 23, Form::Message(&SCHEMA, &[1])),
    field("allOf", 24, Form::Messages(&SCHEMA)),
    field("properties", 25, Form::Map(&SCHEMA, 1, &[])),
    field("readOnly", 27, Form::Flag),
    field("", 31, Form::Extensions),
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
        if let Form::Extensions = field.form {
            extensions(value, field.tag, out)?;
        } else if let Some(member) = value.get(field.name) {
            write(member, field, out)?;
        }
    }
    Ok(())
}

fn write(value: &Value, Field { tag, form, .. }: &Field, out: &mut Backward) -> Result<(), ProtobufError> {
    let tag = *tag;
    match form {
        Form::Text => out.bytes(tag, text(value)),
        Form::Texts => texts(value, tag, out),
        // What is empty is not written.
        Form::Flag if value != &Value::Bool(true) => {}
        Form::Flag => out.number(tag, 1),
        Form::Integer => out.number(tag, value.as_i64().unwrap_or_default().cast_unsigned()),
        Form::Double => out.fixed64(tag, value.as_f64().unwrap_or_default().to_bits()),
        Form::Any => any(value, tag, out)?,
        Form::Anys => items(value).rev().try_for_each(|item| any(item, tag, out))?,
        Form::Message(fields, inside) => nested(value, fields, tag, inside, out)?,
        Form::Messages(fields) => {
            items(value).rev().try_for_each(|item| nested(item, fields, tag, &[], out))?;
        }
        Form::Map(fields, named, inside) => out.message(tag, |out| {
            let mut members = value.as_object().into_iter().flatten().rev();
            members.try_for_each(|(name, member)| entry(name, member, fields, *named, inside, out))
        })?,
        Form::OneText => out.message(tag, |out| {
            out.bytes(1, text(value));
            Ok(())
        })?,
        Form::Parameters => items(value).rev().try_for_each(|item| {
            let (fields, inside) = match item["in"].as_str() {
                Some("body") => (&BODY_PARAMETER, IN_BODY),
                Some("path") => (&PATH_PARAMETER, IN_PATH),
                _ => (&QUERY_PARAMETER, IN_QUERY),
            };
            nested(item, fields, tag, inside, out)
        })?,
        Form::Requirements => items(value).rev().try_for_each(|item| requirement(item, tag, out))?,
        Form::Extensions => {}
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
