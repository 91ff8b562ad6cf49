//! The OpenAPI v2 document: all group versions in one, for clients that do not know v3.
//!
//! It is made from the v3 documents, so that both say the same, as far as v2 has words for it: what has none
//! (`nullable`, `oneOf`, write-only fields) is left out, and so are defaults, as in the reference server.
//! Extensions stay: clients that do not know them pass over them.

use serde_json::{Map, Value, json};

use super::Unpublishable;

/// In front of the name in a reference, in v3 and in v2.
const REFERENCES: [&str; 2] = ["#/components/schemas/", "#/definitions/"];

/// Keywords of schemas that v2 does not have, and defaults.
const UNKNOWN: &[&str] = &["anyOf", "default", "deprecated", "not", "nullable", "oneOf", "writeOnly"];

/// The document, made from those of v3.
///
/// # Errors
/// Where one of them is no JSON object.
pub(super) fn convert<'d>(documents: impl Iterator<Item = &'d [u8]>) -> Result<Value, Unpublishable> {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    let mut frame = Map::new();
    for document in documents {
        let read: Result<Map<String, Value>, _> = serde_json::from_slice(document);
        let mut document = read.map_err(|error| Unpublishable(error.to_string()))?;
        for (path, item) in object(&document["paths"]) {
            paths.insert(path.clone(), path_item(item));
        }
        let mut components = document.remove("components").unwrap_or_default();
        for (name, schema) in object(&components["schemas"]) {
            definitions.entry(name).or_insert_with(|| self::schema(schema));
        }
        frame.insert("info".to_owned(), document["info"].take());
        frame.insert("security".to_owned(), document["security"].take());
        frame.insert("securityDefinitions".to_owned(), components["securitySchemes"].take());
    }
    frame.insert("swagger".to_owned(), json!("2.0"));
    frame.insert("paths".to_owned(), paths.into());
    frame.insert("definitions".to_owned(), definitions.into());
    Ok(Value::Object(frame))
}

/// The members of an object; none of anything else.
fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn path_item(item: &Value) -> Value {
    let converted = object(item).map(|(name, value)| {
        let value = if name == "parameters" { parameters(value).into() } else { operation(value) };
        (name.clone(), value)
    });
    converted.collect()
}

fn operation(v3: &Value) -> Value {
    let kept = |name: &str| {
        matches!(name, "deprecated" | "description" | "operationId" | "tags") || name.starts_with("x-")
    };
    let of_v3 = object(v3).filter(|(name, _)| kept(name));
    let mut operation: Map<String, Value> =
        of_v3.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut own = parameters(&v3["parameters"]);
    let body = &v3["requestBody"];
    let consumed = media_types([body].into_iter());
    if let Some(schema) = any_schema(body) {
        own.push(json!({
            "name": "body",
            "in": "body",
            "required": body["required"].as_bool().unwrap_or_default(),
            "schema": schema,
        }));
    }
    if !own.is_empty() {
        operation.insert("parameters".to_owned(), own.into());
    }
    let consumed = if consumed.is_empty() { vec!["*/*".to_owned()] } else { consumed };
    operation.insert("consumes".to_owned(), consumed.into());
    let answers = object(&v3["responses"]).map(|(_, answer)| answer);
    operation.insert("produces".to_owned(), media_types(answers).into());
    operation.insert("schemes".to_owned(), json!(["https"]));
    operation.insert("responses".to_owned(), responses(&v3["responses"]));
    Value::Object(operation)
}

fn responses(v3: &Value) -> Value {
    let converted = object(v3).map(|(code, answer)| {
        let mut converted = json!({"description": answer["description"]});
        if let Some(schema) = any_schema(answer) {
            converted["schema"] = schema;
        }
        (code.clone(), converted)
    });
    converted.collect()
}

/// The media types of bodies, JSON first: clients that do not choose take the first.
fn media_types<'v>(bodies: impl Iterator<Item = &'v Value>) -> Vec<String> {
    let mut names: Vec<String> =
        bodies.flat_map(|body| object(&body["content"])).map(|(name, _)| name.clone()).collect();
    names.sort_by_key(|name| (name != "application/json", name.clone()));
    names.dedup();
    names
}

/// The schema of a body, which is the same in all media types.
fn any_schema(body: &Value) -> Option<Value> {
    object(&body["content"]).next().map(|(_, media)| schema(&media["schema"]))
}

/// The parameters, whose types are beside their names in v2.
fn parameters(v3: &Value) -> Vec<Value> {
    let convert = |parameter: &Value| {
        let mut fields = parameter.as_object().cloned().unwrap_or_default();
        let of_schema = fields.remove("schema").unwrap_or_default();
        fields.extend(object(&of_schema).map(|(name, value)| (name.clone(), value.clone())));
        Value::Object(fields)
    };
    v3.as_array().into_iter().flatten().map(convert).collect()
}

fn schema(v3: &Value) -> Value {
    let mut converted = Map::new();
    for (name, value) in object(v3).filter(|(name, _)| !UNKNOWN.contains(&name.as_str())) {
        let value = match (name.as_str(), value) {
            ("$ref", Value::String(target)) => {
                let [of_v3, of_v2] = REFERENCES;
                target.replacen(of_v3, of_v2, 1).into()
            }
            ("properties", value) => {
                object(value).map(|(name, property)| (name.clone(), schema(property))).collect()
            }
            ("items" | "additionalProperties", Value::Object(_)) => schema(value),
            ("allOf", Value::Array(parts)) => match &parts[..] {
                // In v3 a reference has no siblings, so it is wrapped where there are some.
                [only] if only.get("$ref").is_some() => {
                    converted
                        .extend(object(&schema(only)).map(|(name, value)| (name.clone(), value.clone())));
                    continue;
                }
                parts => parts.iter().map(schema).collect(),
            },
            (_, value) => value.clone(),
        };
        converted.insert(name.clone(), value);
    }
    // What may be a number or a text is a text in v2.
    if v3.get("oneOf").is_some() && v3.get("type").is_none() {
        converted.insert("type".to_owned(), json!("string"));
    }
    Value::Object(converted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_lose_what_v2_has_no_words_for() {
        for (v3, expected) in [
            (
                json!({"allOf": [{"$ref": "#/components/schemas/a"}], "default": {}, "description": "d"}),
                json!({"$ref": "#/definitions/a", "description": "d"}),
            ),
            (
                json!({"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string",
                    "x-kubernetes-int-or-string": true}),
                json!({"type": "string", "format": "int-or-string", "x-kubernetes-int-or-string": true}),
            ),
            (
                json!({"type": "object", "nullable": true, "properties": {"default": {"type": "string",
                    "default": "x"}}, "additionalProperties": {"$ref": "#/components/schemas/b"}}),
                json!({"type": "object", "properties": {"default": {"type": "string"}},
                    "additionalProperties": {"$ref": "#/definitions/b"}}),
            ),
            (
                json!({"type": "array", "items": {"type": "string", "writeOnly": true},
                    "x-kubernetes-list-type": "set"}),
                json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
            ),
            (
                json!({"type": "object", "x-orch-rules": [{"field": ".a", "required": true}],
                    "x-kubernetes-validations": [{"rule": "has(self.a)"}]}),
                json!({"type": "object", "x-orch-rules": [{"field": ".a", "required": true}],
                    "x-kubernetes-validations": [{"rule": "has(self.a)"}]}),
            ),
        ] {
            assert_eq!(schema(&v3), expected);
        }
    }

    #[test]
    fn operations_have_their_bodies_among_their_parameters() {
        let schema = json!({"$ref": "#/components/schemas/a"});
        let v3 = json!({
            "tags": ["t"], "operationId": "o", "x-kubernetes-action": "post",
            "parameters": [{"name": "dryRun", "in": "query", "schema": {"type": "string"}}],
            "requestBody": {"required": true, "content": {
                "application/cbor": {"schema": schema}, "application/json": {"schema": schema},
            }},
            "responses": {
                "200": {"description": "OK", "content": {"application/json": {"schema": schema}}},
                "401": {"description": "Unauthorized"},
            },
        });
        let expected = json!({
            "tags": ["t"], "operationId": "o", "x-kubernetes-action": "post", "schemes": ["https"],
            "consumes": ["application/json", "application/cbor"], "produces": ["application/json"],
            "parameters": [
                {"name": "dryRun", "in": "query", "type": "string"},
                {"name": "body", "in": "body", "required": true, "schema": {"$ref": "#/definitions/a"}},
            ],
            "responses": {
                "200": {"description": "OK", "schema": {"$ref": "#/definitions/a"}},
                "401": {"description": "Unauthorized"},
            },
        });
        assert_eq!(operation(&v3), expected);
    }
}
