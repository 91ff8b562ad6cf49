//! The schema of schema files, for editors: completion and checks as one types.

use schemars::generate::SchemaSettings;

use super::Document;

/// The text of `schema/idl.schema.json`.
pub fn text() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Document>();
    let mut text = serde_json::to_string_pretty(&schema).expect("a JSON value has a text form");
    text.push('\n');
    text
}
