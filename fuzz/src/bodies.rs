//! Bodies of objects in every format, on the whole way of a write: read, filled in, checked, written and read
//! again.
//!
//! The first byte chooses the kind.

use orch_api::KUBERNETES;
use orch_machinery::{
    body::{Reader, read_cbor, read_json, read_protobuf, read_yaml},
    cbor,
    json::{Limits, encode},
    managed_fields::{Write, track_create},
    protobuf,
};
use orch_runtime::{Tree, field_error::Validation, resource_def::ResourceDef};

const WRITE: Write<'static> = Write {
    manager: "m",
    api_version: "v1",
    subresource: "",
    time: "2024-01-02T03:04:05Z",
    reset: &[],
    lost_managers: false,
};

pub fn json(input: &[u8]) {
    read(read_json, input);
}

pub fn yaml(input: &[u8]) {
    read(read_yaml, input);
}

pub fn protobuf(input: &[u8]) {
    read(read_protobuf, input);
}

/// Objects, and documents without a type, which are the same when they were written and read again.
pub fn cbor(input: &[u8]) {
    read(read_cbor, input);
    let Some((_, document)) = input.split_first() else { return };
    let Ok(tree) = cbor::decode_any(document, &Limits::default()) else { return };
    assert_eq!(cbor::decode_any(&cbor::encode_any(&tree), &Limits::default()), Ok(tree));
}

/// The kind that a byte chooses.
fn kind(byte: u8) -> &'static ResourceDef {
    let kinds: Vec<&ResourceDef> =
        orch_api::registry().iter().flat_map(|group| group.resources).copied().collect();
    kinds[usize::from(byte) % kinds.len()]
}

fn read(reader: Reader, input: &[u8]) {
    let Some((first, body)) = input.split_first() else { return };
    let def = kind(*first);
    let Ok(body) = reader(body, def.type_def, &Limits::default()) else { return };
    check(def, body.tree);
}

/// Takes an object through the steps that need nothing but the object.
fn check(def: &'static ResourceDef, tree: Tree) {
    let Ok(mut object) = (def.from_tree)(tree) else { return };
    object.set_defaults();
    let mut violations = Validation::new(&KUBERNETES);
    object.validate(&mut violations);
    object.validate_update(&*object, &mut violations);
    let Ok(mut tree) = object.to_tree() else { return };
    track_create(&WRITE, &serde_json::json!({}), &mut tree, def.type_def);
    let mut text = Vec::new();
    encode::encode(&tree, def.type_def, &mut text);
    // What the server writes it can read.
    let again = read_json(&text, def.type_def, &Limits { max_memory: usize::MAX, ..Limits::default() });
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    // Lists may be longer than readers of CBOR take them.
    if let Ok(read) = read_cbor(&cbor::encode(&tree, def.type_def), def.type_def, &Limits::default()) {
        assert_eq!(read.tree, again.tree);
    }
    let _ = protobuf::encode(&tree, def.type_def, def.version, def.kind);
}
