//! One JSON schema for the objects of all kinds: `apiVersion` and `kind` say which type an object has.

use serde_json::{Map, Value, json};

use super::{Published, is_set, referred};

/// The whole schema.
pub(super) fn schema(published: &Published<'_>) -> Value {
    let mut definitions: Map<String, Value> =
        published.schemas.iter().map(|(name, schema)| (name.clone(), converted(schema))).collect();
    let mut cases = Vec::new();
    let mut names = Vec::new();
    for kind in published.kinds() {
        let api_version = json!({"const": published.api_version(kind.group_version)});
        let list = (format!("{}List", kind.resource.kind), format!("{}List", kind.name));
        for (word, name) in [(kind.resource.kind.clone(), kind.name.to_owned()), list] {
            let of_kind = json!({"apiVersion": api_version, "kind": {"const": word}});
            if let Some(properties) =
                definitions.get_mut(&name).and_then(|schema| schema.get_mut("properties"))
            {
                for (key, value) in of_kind.as_object().into_iter().flatten() {
                    properties[key]["const"] = value["const"].clone();
                }
            }
            cases.push(json!({
                "if": {"properties": of_kind, "required": ["apiVersion", "kind"]},
                "then": {"$ref": format!("#/$defs/{name}")},
            }));
            names.push(of_kind);
        }
    }
    let known: Vec<Value> = names.into_iter().map(|of_kind| json!({"properties": of_kind})).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "anyOf": known,
        "allOf": cases,
        "$defs": definitions,
    })
}

/// A schema of OpenAPI 3.0 as one of JSON Schema.
fn converted(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(converted).collect(),
        Value::Object(map) => object(map),
        other => other.clone(),
    }
}

fn object(map: &Map<String, Value>) -> Value {
    if let Some(name) = referred(map) {
        return json!({"$ref": format!("#/$defs/{name}")});
    }
    let mut out = Map::new();
    for (key, value) in map {
        let value = match key.as_str() {
            // Values, not schemas.
            "default" | "enum" | "required" => value.clone(),
            key if key.starts_with("x-") => value.clone(),
            "nullable" => continue,
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                fields.map(|(name, field)| (name.clone(), converted(field))).collect()
            }
            _ => converted(value),
        };
        out.insert(key.clone(), value);
    }
    // One limit and a flag are one limit of another name.
    for (limit, flag) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if is_set(map, flag)
            && let Some(value) = out.remove(limit)
        {
            out.insert(flag.to_owned(), value);
        }
    }
    // Clients that ask for strict checks are refused unknown fields.
    if out.contains_key("properties") {
        out.insert("additionalProperties".to_owned(), json!(false));
    }
    if is_set(map, "nullable") {
        return nullable(out);
    }
    Value::Object(out)
}

/// The same schema, which null matches too.
fn nullable(mut schema: Map<String, Value>) -> Value {
    match schema.get("type").cloned() {
        Some(ty) => {
            schema.insert("type".to_owned(), json!([ty, "null"]));
            Value::Object(schema)
        }
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}
