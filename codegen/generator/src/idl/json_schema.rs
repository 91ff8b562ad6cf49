//! The schema of schema files, for editors: completion and checks as one types.

use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{RecursiveTransform, Transform},
};
use serde_json::Value;

use super::Document;

/// The text of `schema/idl.schema.json`.
pub fn text() -> String {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Document>();
    RecursiveTransform(without_null).transform(&mut schema);
    let mut text = serde_json::to_string_pretty(&schema).expect("a JSON value has a text form");
    text.push('\n');
    text
}

/// A key that may be left out may still not be null.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            object.remove("anyOf");
            object.extend(only);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn optional_keys_are_not_null() {
        let mut schema = Schema::try_from(json!({
            "properties": {
                "a": { "type": ["string", "null"] },
                "b": { "description": "B.", "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }] },
            }
        }))
        .expect("the schema is an object");
        RecursiveTransform(without_null).transform(&mut schema);
        let expected =
            json!({ "a": { "type": "string" }, "b": { "description": "B.", "$ref": "#/$defs/B" } });
        assert_eq!(schema.get("properties"), Some(&expected));
    }
}
