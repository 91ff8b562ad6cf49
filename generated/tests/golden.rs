//! Sample objects with every field set, in all encodings: no field is lost, and protobuf is equal to the
//! byte.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{fs, path::PathBuf};

use orch_api::KUBERNETES;
use orch_machinery::{
    cbor,
    json::{Limits, decode::decode, encode::encode},
    protobuf, yaml,
};
use orch_runtime::{Tree, resource_def::ResourceDef};

fn resource(api_version: &str, kind: &str) -> &'static ResourceDef {
    let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
    let named = |resource: &&&ResourceDef| {
        resource.kind == kind && KUBERNETES.api_version(resource.group, resource.version) == api_version
    };
    kinds.copied().find(|resource| named(&resource)).unwrap_or_else(|| panic!("no {kind} in {api_version}"))
}

/// The tree that the typed object writes, without defaults.
fn typed(resource: &ResourceDef, tree: &Tree) -> Tree {
    let mut written = (resource.from_tree)(tree.clone())
        .expect("a sample fits")
        .to_tree()
        .expect("what was read can be written");
    for name in ["kind", "apiVersion"] {
        written[name] = tree[name].clone();
    }
    written
}

/// The samples, by the paths of their JSON forms.
fn samples() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut samples: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    assert!(samples.len() >= 6, "samples are missing");
    samples
}

#[test]
fn samples_survive() {
    for path in samples() {
        let name = path.display();
        let text = fs::read(&path).unwrap();
        let plain: Tree = serde_json::from_slice(&text).unwrap();
        let resource = resource(plain["apiVersion"].as_str().unwrap(), plain["kind"].as_str().unwrap());
        let limits = Limits::default();
        let decoded = decode(&text, resource.type_def, &limits).unwrap();
        assert!(decoded.strict.is_empty(), "{name}: {:?}", decoded.strict);
        assert_eq!(decoded.tree, plain, "{name}");
        assert_eq!(typed(resource, &plain), plain, "{name}");

        let document = yaml::decode(&fs::read(path.with_extension("yaml")).unwrap(), &limits).unwrap();
        assert!(document.duplicates.is_empty(), "{name}: {:?}", document.duplicates);
        assert_eq!(typed(resource, &document.tree), plain, "{name} as YAML");

        let bytes = fs::read(path.with_extension("pb")).unwrap();
        let tree = protobuf::decode(&bytes, resource.type_def, &limits).unwrap();
        assert_eq!(typed(resource, &tree), plain, "{name} as protobuf");

        let bytes = cbor::encode(&plain, resource.type_def);
        let read = cbor::decode(&bytes, resource.type_def, &limits).unwrap();
        // Neither CBOR nor JSON has the fields that are only written.
        let mut text = Vec::new();
        encode(&plain, resource.type_def, &mut text);
        let shown = decode(&text, resource.type_def, &limits).unwrap().tree;
        assert_eq!((read.tree, read.strict), (shown, vec![]), "{name} as CBOR");
    }
}

#[test]
fn samples_are_written_as_protobuf_to_the_byte() {
    for path in samples() {
        let name = path.display();
        let plain: Tree = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let (api_version, kind) = (plain["apiVersion"].as_str().unwrap(), plain["kind"].as_str().unwrap());
        let def = resource(api_version, kind).type_def;
        let written = protobuf::encode(&plain, def, api_version, kind).unwrap();
        let expected = fs::read(path.with_extension("pb")).unwrap();
        let same =
            written.iter().zip(&expected).take_while(|(written, expected)| written == expected).count();
        let around = |bytes: &[u8]| {
            let around = &bytes[same.saturating_sub(40).min(bytes.len())..(same + 40).min(bytes.len())];
            around.escape_ascii().to_string()
        };
        assert!(written == expected, "{name} at {same}:\n{}\n{}", around(&written), around(&expected));
    }
}
