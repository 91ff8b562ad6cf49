//! OpenAPI documents in protobuf: the messages of gnostic, for which kubectl and Helm ask.
//!
//! The messages are tables, for [`v2`] and [`v3`]. A table has the members of a JSON object with their field
//! numbers; members that it does not have are left out.

pub(super) mod v2;
pub(super) mod v3;

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
    /// Parameters of v2, in the path, the query, or the body.
    Parameters,
    /// The value itself as a message, where it is no reference. The field has no name.
    Itself(&'static Message),
    /// The value itself, where it is a reference. The field has no name.
    Reference,
    /// A default of v3: a number, a text or a flag. There are no others.
    Default,
    /// Maps of lists of texts.
    Requirements,
    /// All members whose names begin with `x-`.
    Extensions,
}

const fn field(name: &'static str, tag: u32, wire: Wire) -> Field {
    Field { name, tag, wire }
}

/// The field of an `Any` that has its text in YAML.
const YAML: u32 = 2;

/// Writes a document.
///
/// # Errors
/// None: the writer of messages could have some.
fn encode(document: &Value, fields: &'static Message) -> Result<Vec<u8>, ProtobufError> {
    let mut out = Backward::default();
    message(document, fields, &mut out)?;
    Ok(out.finish())
}

/// Writes the fields of a message, the last one first.
fn message(value: &Value, fields: &'static Message, out: &mut Backward) -> Result<(), ProtobufError> {
    for field in fields.0.iter().rev() {
        let reference = value.get("$ref");
        match field.wire {
            Wire::Extensions => extensions(value, field.tag, out)?,
            Wire::Itself(fields) if reference.is_none() => nested(value, fields, field.tag, &[], out)?,
            Wire::Reference => {
                if let Some(target) = reference {
                    out.message(field.tag, |out| {
                        out.bytes(1, text(target));
                        Ok(())
                    })?;
                }
            }
            _ => {
                if let Some(member) = value.get(field.name) {
                    write(member, field, out)?;
                }
            }
        }
    }
    Ok(())
}

fn write(value: &Value, Field { tag, wire, .. }: &Field, out: &mut Backward) -> Result<(), ProtobufError> {
    let tag = *tag;
    match wire {
        Wire::Text => out.bytes(tag, text(value)),
        Wire::Texts => texts(value, tag, out),
        // What is empty is not written: the messages have no other way to leave it out.
        Wire::Flag if value != &Value::Bool(true) => {}
        Wire::Integer | Wire::Double if value.as_f64() == Some(0.0) => {}
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
                Some("body") => (&v2::BODY_PARAMETER, v2::IN_BODY),
                Some("path") => (&v2::PATH_PARAMETER, v2::IN_PATH),
                _ => (&v2::QUERY_PARAMETER, v2::IN_QUERY),
            };
            nested(item, fields, tag, inside, out)
        })?,
        Wire::Requirements => items(value).rev().try_for_each(|item| requirement(item, tag, out))?,
        Wire::Default => default(value, tag, out)?,
        // They are written where their message is.
        Wire::Extensions | Wire::Itself(_) | Wire::Reference => {}
    }
    Ok(())
}

/// A default that is a single value; the message has no room for others.
fn default(value: &Value, tag: u32, out: &mut Backward) -> Result<(), ProtobufError> {
    out.message(tag, |out| {
        match value {
            Value::Number(number) => out.fixed64(1, number.as_f64().unwrap_or_default().to_bits()),
            Value::Bool(flag) => out.number(2, u64::from(*flag)),
            Value::String(text) => out.bytes(3, text.as_bytes()),
            Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
        Ok(())
    })
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
