//! What `orch-codegen export` writes, in the eyes of the tools that it is for.

use std::{fs, path::Path, process::Stdio};

use orch_codegen::{
    Inputs,
    export::{Form, export},
    load,
};
use orch_tests::{TestServer, skip::skipped};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{file, installed, openapi::python, program, run};

/// A form of the schema files of the product.
fn exported(form: Form, group_suffix: &str) -> String {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    let loaded = load(&Inputs { schema: schema.into(), imports: Vec::new() });
    export(&loaded.model, form, group_suffix)
}

/// The judge is the code by which the reference server admits definitions.
#[tokio::test]
async fn definitions_are_admitted() {
    let Some(judge) = installed("exported definitions", "crds") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("crds.json");
    fs::write(&path, exported(Form::Crd, "example.io")).unwrap();
    let mut command = Command::new(judge);
    command.stdin(Stdio::from(fs::File::open(path).unwrap()));
    let text = run(command).await;
    assert!(text.ends_with(" definitions, 0 faults\n"), "{text}");
}

#[tokio::test]
async fn the_json_schema_knows_good_objects_from_bad_ones() {
    let Some(python) = python() else {
        skipped("the exported JSON schema", "openapi-spec-validator is not installed");
        return;
    };
    let server = TestServer::start().await;
    let mut good: Vec<Value> = Vec::new();
    for path in
        ["/api/v1/namespaces", "/apis/rbac.authorization.orch.io/v1/clusterroles", "/apis/apps/v1/daemonsets"]
    {
        good.push(server.admin().get(path).await.expect(200));
    }
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}});
    good.push(map.clone());
    let changed = |pointer: &str, value: Value| {
        let mut object = map.clone();
        *object.pointer_mut(pointer).unwrap() = value;
        object
    };
    let mut bad = vec![
        changed("/data/a", json!(1)),
        changed("/metadata", json!({"label": {}})),
        changed("/kind", json!("ConfigMaps")),
        changed("/apiVersion", json!("v2")),
        json!({"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{}]}}),
    ];
    bad.push(json!({"data": {}}));
    let [schema, goods, bads] = ["schema", "good", "bad"].map(|name| server.scratch_dir().join(name));
    fs::write(&schema, exported(Form::JsonSchema, "orch.io")).unwrap();
    fs::write(&goods, json!(good).to_string()).unwrap();
    fs::write(&bads, json!(bad).to_string()).unwrap();
    let mut command = Command::new(python);
    command.arg(file("python/validate_objects.py")).args([schema, goods, bads]);
    let text = run(command).await;
    assert!(text.ends_with(&format!("{} objects match, {} do not\n", good.len(), bad.len())), "{text}");
}

/// The types are those of the JavaScript client: what does not fit does not compile, and what does is run.
#[tokio::test]
async fn typescript_works_with_the_javascript_library() {
    let what = "the exported TypeScript";
    let Some(compiler) = installed(what, "javascript/node_modules/typescript/bin/tsc") else { return };
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let folder = server.scratch_dir().join("typescript");
    fs::create_dir(&folder).unwrap();
    let modules = compiler.ancestors().nth(3).unwrap();
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).unwrap();
    fs::write(folder.join("kinds.mts"), exported(Form::Typescript, "k8s.io")).unwrap();
    fs::copy(file("javascript/typed.mts"), folder.join("typed.mts")).unwrap();
    let mut command = program(&server, "node".as_ref());
    command.arg(&compiler).args(["--strict", "--skipLibCheck", "--target", "es2022"]);
    command.args(["--module", "nodenext", "--types", "node", "typed.mts"]).current_dir(&folder);
    run(command).await;
    let mut command = program(&server, "node".as_ref());
    command.arg(folder.join("typed.mjs")).current_dir(&folder);
    let text = run(command).await;
    assert!(text.ends_with("done\n"), "{text}");
}
