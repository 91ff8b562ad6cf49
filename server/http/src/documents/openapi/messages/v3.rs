//! Messages of `openapi.v3.Document`.

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
    field("openapi", 1, Wire::Text),
    field("info", 2, Wire::Message(&INFO, &[])),
    field("paths", 4, Wire::Map(&PATH_ITEM, 1, &[])),
    field("components", 5, Wire::Message(&COMPONENTS, &[])),
    field("security", 6, Wire::Requirements),
]);

static INFO: Message = Message(&[field("title", 1, Wire::Text), field("version", 6, Wire::Text)]);

static COMPONENTS: Message = Message(&[
    field("schemas", 1, Wire::Map(&SCHEMA_OR_REFERENCE, 1, &[])),
    field("securitySchemes", 7, Wire::Map(&SECURITY_SCHEME, 1, &[1])),
]);

static SECURITY_SCHEME: Message = Message(&[
    field("type", 1, Wire::Text),
    field("description", 2, Wire::Text),
    field("name", 3, Wire::Text),
    field("in", 4, Wire::Text),
]);

static PATH_ITEM: Message = Message(&[
    field("get", 4, Wire::Message(&OPERATION, &[])),
    field("put", 5, Wire::Message(&OPERATION, &[])),
    field("post", 6, Wire::Message(&OPERATION, &[])),
    field("delete", 7, Wire::Message(&OPERATION, &[])),
    field("patch", 10, Wire::Message(&OPERATION, &[])),
    field("parameters", 13, Wire::Messages(&PARAMETER_OR_REFERENCE)),
]);

static OPERATION: Message = Message(&[
    field("tags", 1, Wire::Texts),
    field("description", 3, Wire::Text),
    field("operationId", 5, Wire::Text),
    field("parameters", 6, Wire::Messages(&PARAMETER_OR_REFERENCE)),
    field("requestBody", 7, Wire::Message(&REQUEST_BODY, &[1])),
    field("responses", 8, Wire::Map(&RESPONSE, 2, &[1])),
    field("deprecated", 10, Wire::Flag),
    field("", 13, Wire::Extensions),
]);

static PARAMETER_OR_REFERENCE: Message =
    Message(&[field("", 1, Wire::Itself(&PARAMETER)), field("", 2, Wire::Reference)]);

static PARAMETER: Message = Message(&[
    field("name", 1, Wire::Text),
    field("in", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("required", 4, Wire::Flag),
    field("schema", 10, Wire::Message(&SCHEMA_OR_REFERENCE, &[])),
]);

static REQUEST_BODY: Message =
    Message(&[field("content", 2, Wire::Map(&MEDIA_TYPE, 1, &[])), field("required", 3, Wire::Flag)]);

static RESPONSE: Message =
    Message(&[field("description", 1, Wire::Text), field("content", 3, Wire::Map(&MEDIA_TYPE, 1, &[]))]);

static MEDIA_TYPE: Message = Message(&[field("schema", 1, Wire::Message(&SCHEMA_OR_REFERENCE, &[]))]);

static SCHEMA_OR_REFERENCE: Message =
    Message(&[field("", 1, Wire::Itself(&SCHEMA)), field("", 2, Wire::Reference)]);

static SCHEMA: Message = Message(&[
    field("nullable", 1, Wire::Flag),
    field("readOnly", 3, Wire::Flag),
    field("writeOnly", 4, Wire::Flag),
    field("deprecated", 8, Wire::Flag),
    field("title", 9, Wire::Text),
    field("multipleOf", 10, Wire::Double),
    field("maximum", 11, Wire::Double),
    field("exclusiveMaximum", 12, Wire::Flag),
    field("minimum", 13, Wire::Double),
    field("exclusiveMinimum", 14, Wire::Flag),
    field("maxLength", 15, Wire::Integer),
    field("minLength", 16, Wire::Integer),
    field("pattern", 17, Wire::Text),
    field("maxItems", 18, Wire::Integer),
    field("minItems", 19, Wire::Integer),
    field("uniqueItems", 20, Wire::Flag),
    field("maxProperties", 21, Wire::Integer),
    field("minProperties", 22, Wire::Integer),
    field("required", 23, Wire::Texts),
    field("enum", 24, Wire::Anys),
    field("type", 25, Wire::Text),
    field("allOf", 26, Wire::Messages(&SCHEMA_OR_REFERENCE)),
    field("oneOf", 27, Wire::Messages(&SCHEMA_OR_REFERENCE)),
    field("anyOf", 28, Wire::Messages(&SCHEMA_OR_REFERENCE)),
    field("not", 29, Wire::Message(&SCHEMA, &[])),
    field("items", 30, Wire::Message(&SCHEMA_OR_REFERENCE, &[1])),
    field("properties", 31, Wire::Map(&SCHEMA_OR_REFERENCE, 1, &[])),
    field("additionalProperties", 32, Wire::Message(&SCHEMA_OR_REFERENCE, &[1])),
    field("default", 33, Wire::Default),
    field("description", 34, Wire::Text),
    field("format", 35, Wire::Text),
    field("", 36, Wire::Extensions),
]);

#[cfg(test)]
mod tests {
    use serde_json::json;

    /// What gnostic itself makes of the document (`ParseDocument`, `proto.Marshal`).
    const EXPECTED: &str = "\
        0a05332e302e3012060a017432017622690a670a022f61126152430a01782a01703a160a1412100a0e0a016a12090a07\
        12050a03232f7318014221121f0a0332303012180a160a024f4b1a100a0e0a016a12090a0712050a03232f7350016a1a\
        0a180a016e1204706174682001520b0a09ca0106737472696e672ad3010ab2010aaf010a015312a9010aa6010801ba01\
        0161ca01066f626a656374fa0193010a250a016112200a1eca0107696e74656765728a020909000000000000f03f9a02\
        05696e7433320a110a0162120c0a0ad2010712050a03232f730a1b0a016312160a14ca01056172726179f201090a0712\
        050a03232f730a200a0164121b0a19ca01066f626a65637482020d0a0b0a09ca0106737472696e670a180a016512130a\
        117803ca0106737472696e678a02031a01783a1c0a1a0a014212150a130a066170694b65791a016e2206686561646572\
        32070a050a01421200\
    ";

    #[test]
    fn a_document_is_the_message_of_gnostic() {
        let reference = json!({"$ref": "#/s"});
        let content = json!({"j": {"schema": reference}});
        let document = json!({
            "openapi": "3.0.0",
            "info": {"title": "t", "version": "v"},
            "paths": {"/a": {
                "parameters": [{"name": "n", "in": "path", "required": true, "schema": {"type": "string"}}],
                "patch": {
                    "tags": ["x"],
                    "operationId": "p",
                    "deprecated": true,
                    "requestBody": {"content": content, "required": true},
                    "responses": {"200": {"description": "OK", "content": content}},
                },
            }},
            "components": {
                "schemas": {"S": {
                    "type": "object",
                    "required": ["a"],
                    "nullable": true,
                    "properties": {
                        "a": {"type": "integer", "format": "int32", "default": 1, "minimum": 0},
                        "b": {"allOf": [reference]},
                        "c": {"type": "array", "items": reference},
                        "d": {"type": "object", "additionalProperties": {"type": "string"}},
                        "e": {"type": "string", "default": "x", "maxLength": 3},
                    },
                }},
                "securitySchemes": {"B": {"type": "apiKey", "in": "header", "name": "n"}},
            },
            "security": [{"B": []}],
        });
        let made: Vec<_> =
            super::encode(&document).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(made.concat(), EXPECTED.trim_end());
    }
}
