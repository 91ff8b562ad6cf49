//! Messages of `openapi.v2.Document`.

use orch_machinery::protobuf::ProtobufError;
use serde_json::Value;

use super::{Message, Wire, field};

/// Writes a document.
///
/// # Errors
/// None: the writer of messages could have some.
pub(in crate::documents::openapi) fn encode(document: &Value) -> Result<Vec<u8>, ProtobufError> {
    super::encode(document, &DOCUMENT)
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
pub(super) const IN_BODY: &[u32] = &[1, 1];
pub(super) static BODY_PARAMETER: Message = Message(&[
    field("description", 1, Wire::Text),
    field("name", 2, Wire::Text),
    field("in", 3, Wire::Text),
    field("required", 4, Wire::Flag),
    field("schema", 5, Wire::Message(&SCHEMA, &[])),
]);

pub(super) const IN_PATH: &[u32] = &[1, 2, 4];
pub(super) static PATH_PARAMETER: Message = Message(&[
    field("required", 1, Wire::Flag),
    field("in", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("name", 4, Wire::Text),
    field("type", 5, Wire::Text),
]);

pub(super) const IN_QUERY: &[u32] = &[1, 2, 3];
pub(super) static QUERY_PARAMETER: Message = Message(&[
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
