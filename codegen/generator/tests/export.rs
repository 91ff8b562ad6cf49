//! What `export` writes, exactly, and what must hold of it for any schema. `UPDATE_GOLDEN=1` writes the files
//! in `tests/export` anew. Validators of other projects judge it in the test `clients` of `orch-tests`.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{fs, path::Path};

use orch_codegen::{
    Inputs,
    export::{Form, export},
    load,
};
use serde_json::Value;

const FORMS: [(Form, &str); 3] =
    [(Form::Crd, "crd.json"), (Form::JsonSchema, "schema.json"), (Form::Typescript, "types.ts")];

/// The example, whose types of the product are in an imported folder.
fn widgets(form: Form) -> String {
    let imports = vec![("orch_api".to_owned(), "../../schema".into())];
    let loaded = load(&Inputs { schema: Path::new("../../examples/widgets/schema").into(), imports });
    export(&loaded.model, form, "example.io")
}

fn product(form: Form) -> String {
    let loaded = load(&Inputs { schema: Path::new("../../schema").into(), imports: Vec::new() });
    export(&loaded.model, form, "example.io")
}

#[test]
fn every_form_is_as_it_was() {
    for (form, name) in FORMS {
        let text = widgets(form);
        let path = Path::new("tests/export").join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::create_dir_all("tests/export").unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, fs::read_to_string(&path).unwrap_or_default(), "{name}: UPDATE_GOLDEN=1 accepts it");
    }
}

/// Every object below a value.
fn objects(value: &Value) -> Vec<&serde_json::Map<String, Value>> {
    match value {
        Value::Array(items) => items.iter().flat_map(objects).collect(),
        Value::Object(map) => std::iter::once(map).chain(map.values().flat_map(objects)).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn references_of_the_json_schema_lead_somewhere() {
    for text in [widgets(Form::JsonSchema), product(Form::JsonSchema)] {
        let schema: Value = serde_json::from_str(&text).unwrap();
        let references = objects(&schema).into_iter().filter_map(|map| map.get("$ref")?.as_str());
        let mut count = 0;
        for reference in references {
            let name = reference.strip_prefix("#/$defs/").unwrap();
            assert!(schema["$defs"].get(name).is_some(), "{reference}");
            count += 1;
        }
        assert!(count > 10, "{count}");
    }
}

#[test]
fn what_the_folder_does_not_refer_to_is_left_out() {
    for (form, name) in [(Form::JsonSchema, "core.v1.Pod\""), (Form::Typescript, "interface Pod")] {
        assert!(product(form).contains(name) && !widgets(form).contains(name), "{name}");
    }
}

/// Every value of a structural schema has a type, or says that it has none, and nothing is referred to.
#[test]
fn definitions_are_structural() {
    let list: Value = serde_json::from_str(&product(Form::Crd)).unwrap();
    let definitions = list["items"].as_array().unwrap();
    assert!(definitions.len() > 10, "{}", definitions.len());
    for version in
        definitions.iter().flat_map(|definition| definition["spec"]["versions"].as_array().unwrap())
    {
        structural(&version["schema"]["openAPIV3Schema"]);
    }
}

fn structural(schema: &Value) {
    let is_open = ["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"]
        .iter()
        .any(|key| schema[key] == Value::Bool(true));
    assert!(schema["type"].is_string() || is_open, "{schema}");
    for key in ["$ref", "allOf", "oneOf", "uniqueItems", "deprecated"] {
        assert!(schema.get(key).is_none(), "{key}: {schema}");
    }
    for below in schema["properties"].as_object().into_iter().flat_map(serde_json::Map::values) {
        structural(below);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(below) = schema.get(key) {
            structural(below);
        }
    }
}
