//! Round trips of random objects of every kind: through the typed form, and through every encoding.
//!
//! `ORCH_TEST_SEED=7 cargo test -p orch-api --test round_trips` repeats a run.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

#[path = "support/random.rs"]
mod random;

use orch_api::KUBERNETES;
use orch_machinery::{
    cbor,
    json::{
        Limits,
        decode::decode,
        encode::{encode, encode_for_store},
    },
    meta, protobuf, yaml,
};
use orch_proof::{Choices, object};
use orch_runtime::{Tree, resource_def::ResourceDef};
use proptest::{collection::vec, prelude::*, test_runner::TestCaseError};
use random::for_every_kind;

/// How many objects of each kind are made.
const CASES: u32 = 20;

/// Checks a property for random objects of every kind, as their types write them.
fn for_objects(property: impl Fn(&ResourceDef, &Tree, &Tree) -> Result<(), TestCaseError>) {
    for_every_kind(CASES, |resource, runner| {
        let run = runner.run(&vec(any::<u32>(), 200..3000), |numbers| {
            let made = object(resource.type_def, &mut Choices::new(&numbers));
            property(resource, &made, &typed(resource, &made))
        });
        run.unwrap_or_else(|error| panic!("{}: {error}", resource.kind));
    });
}

/// What the type writes of a tree, as a top-level object.
fn typed(resource: &ResourceDef, tree: &Tree) -> Tree {
    let object = (resource.from_tree)(tree.clone()).unwrap_or_else(|error| panic!("{error}: {tree}"));
    let mut written = object.to_tree().unwrap();
    meta::set_type(&mut written, resource.kind, &KUBERNETES.api_version(resource.group, resource.version));
    written
}

/// Whether `tree` contains everything in `part`; empty values may be missing.
fn contains(tree: &Tree, part: &Tree) -> bool {
    match (tree, part) {
        (Tree::Object(fields), Tree::Object(parts)) => {
            parts.iter().all(|(name, part)| match fields.get(name) {
                Some(value) => contains(value, part),
                None => is_empty(part),
            })
        }
        (Tree::Array(items), Tree::Array(parts)) => {
            items.len() == parts.len() && items.iter().zip(parts).all(|(item, part)| contains(item, part))
        }
        _ => tree == part,
    }
}

fn is_empty(value: &Tree) -> bool {
    match value {
        Tree::Null => true,
        Tree::Bool(flag) => !flag,
        Tree::Number(number) => number.as_f64() == Some(0.0),
        Tree::String(text) => text.is_empty(),
        Tree::Array(_) | Tree::Object(_) => false,
    }
}

#[test]
fn types_keep_what_their_tables_allow() {
    for_objects(|resource, made, written| {
        prop_assert!(contains(written, made), "{made}\nbecame\n{written}");
        prop_assert_eq!(&typed(resource, written), written);
        Ok(())
    });
}

#[test]
fn json_keeps_everything() {
    for_objects(|resource, _, written| {
        let mut text = Vec::new();
        encode(written, resource.type_def, &mut text);
        let read = decode(&text, resource.type_def, &Limits::default()).unwrap();
        prop_assert!(read.strict.is_empty(), "{:?}", read.strict);
        // Reading leaves out null values.
        prop_assert_eq!(&typed(resource, &read.tree), written);

        let (stored, revision_at) = encode_for_store(written, resource.type_def, None);
        let mut stored = decode(&stored, resource.type_def, &Limits::default()).unwrap().tree;
        prop_assert!(revision_at > 0);
        stored["metadata"]["resourceVersion"] = written["metadata"]["resourceVersion"].clone();
        prop_assert_eq!(&typed(resource, &stored), written);
        Ok(())
    });
}

#[test]
fn yaml_keeps_everything() {
    for_objects(|_, _, written| {
        let text = yaml::encode(written);
        let document = yaml::decode(text.as_bytes(), &Limits::default());
        let document = document.map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
        prop_assert!(document.duplicates.is_empty(), "{:?}", document.duplicates);
        prop_assert_eq!(&document.tree, written, "{}", text);
        Ok(())
    });
}

#[test]
fn protobuf_keeps_everything() {
    for_objects(|resource, _, written| {
        let api_version = written["apiVersion"].as_str().unwrap();
        let bytes = protobuf::encode(written, resource.type_def, api_version, resource.kind).unwrap();
        let read = protobuf::decode(&bytes, resource.type_def, &Limits::default()).unwrap();
        prop_assert_eq!(&typed(resource, &read), written);
        let again = protobuf::encode(&read, resource.type_def, api_version, resource.kind).unwrap();
        prop_assert_eq!(again, bytes);
        Ok(())
    });
}

#[test]
fn cbor_keeps_everything() {
    for_objects(|resource, _, written| {
        let bytes = cbor::encode(written, resource.type_def);
        let read = cbor::decode(&bytes, resource.type_def, &Limits::default());
        let read = read.map_err(|error| TestCaseError::fail(format!("{error}: {written}")))?;
        prop_assert!(read.strict.is_empty(), "{:?}", read.strict);
        let mut text = Vec::new();
        encode(written, resource.type_def, &mut text);
        let from_json = decode(&text, resource.type_def, &Limits::default()).unwrap();
        prop_assert_eq!(&read.tree, &from_json.tree);
        prop_assert_eq!(cbor::encode(&typed(resource, &read.tree), resource.type_def), bytes);
        Ok(())
    });
}
