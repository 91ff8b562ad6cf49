//! The functions that fill in defaults are those that schema/README.md lists, each with a reason.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{collections::BTreeSet, fs, path::Path};

use orch_codegen::{Inputs, load, model::TypeKind};

const BEGIN: &str = "<!-- the functions, held by codegen/generator/tests/defaulters.rs -->\n";
const END: &str = "<!-- end -->\n";

#[test]
fn every_function_for_defaults_has_a_reason() {
    let schema = Path::new("../../schema");
    let loaded = load(&Inputs { schema: schema.into(), imports: Vec::new() });
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for ty in &loaded.model.types {
        named.extend(ty.defaulter.as_deref());
        if let TypeKind::Object(object) = &ty.kind {
            named.extend(object.fields.iter().filter_map(|field| field.default_fn.as_deref()));
        }
    }
    let readme = fs::read_to_string(schema.join("README.md")).unwrap();
    let (table, _) = readme.split_once(BEGIN).unwrap().1.split_once(END).unwrap();
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    for row in table.lines().skip(2) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(cells.len() == 4 && cells[2].len() > 10, "a row has functions and a reason: {row}");
        listed.extend(cells[1].split('`').skip(1).step_by(2));
    }
    assert_eq!(listed, named);
}
