//! Samples of objects in both of their forms, each field set: nothing of them is lost.

use std::{fs, path::PathBuf};

use orch_api::KUBERNETES;
use orch_machinery::{
    json::{Limits, decode::decode},
    protobuf,
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

#[test]
fn samples_survive() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut samples: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    assert!(!samples.is_empty());
    for path in samples {
        let text = fs::read(&path).unwrap();
        let plain: Tree = serde_json::from_slice(&text).unwrap();
        let resource = resource(plain["apiVersion"].as_str().unwrap(), plain["kind"].as_str().unwrap());
        let decoded = decode(&text, resource.type_def, &Limits::default()).unwrap();
        assert!(decoded.strict.is_empty(), "{}: {:?}", path.display(), decoded.strict);
        assert_eq!(decoded.tree, plain, "{}", path.display());
        assert_eq!(typed(resource, &plain), plain, "{}", path.display());

        let bytes = fs::read(path.with_extension("pb")).unwrap();
        let tree = protobuf::decode(&bytes, resource.type_def, &Limits::default()).unwrap();
        assert_eq!(typed(resource, &tree), plain, "{} as protobuf", path.display());
    }
}
