//! The example outside of this workspace, as the start of a server of one's own: its manifest says all that
//! it needs. All crates are compiled again for it, which takes minutes, so only the run
//! by night does it.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use orch_tests::TestServer;
use serde_json::json;

#[tokio::test]
async fn the_example_needs_nothing_of_this_workspace() {
    if env::var_os("ORCH_TEST_ALL").is_none() {
        println!("SKIPPED: the example outside of this workspace: ORCH_TEST_ALL=1 builds it");
        return;
    }
    let server = TestServer::options().binary(build(&copy_of_the_example())).start().await;
    let widget = json!({
        "apiVersion": "example.orch.io/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"colour": "Green", "replicas": 2},
    });
    let path = "/apis/example.orch.io/v1/namespaces/default/widgets";
    let created = server.admin().post(path, &widget).await.expect(201);
    assert_eq!(created["metadata"]["labels"], json!({"example.orch.io/colour": "Green"}));
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the package lies in the workspace").to_owned()
}

/// Copies the example out of the workspace, as a user would who starts a server of their own. The place is
/// always the same, so that a second run has little to build.
fn copy_of_the_example() -> PathBuf {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("widgets");
    let _ = fs::remove_dir_all(&copy);
    let original = root().join("examples/widgets");
    copy_folder(&original, &copy);
    let manifest = fs::read_to_string(original.join("Cargo.toml")).unwrap();
    fs::write(copy.join("Cargo.toml"), standalone(&manifest)).unwrap();
    // The versions that the workspace was tested with, and how its C code is built.
    fs::copy(root().join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    copy_folder(&root().join(".cargo"), &copy.join(".cargo"));
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The manifest without its workspace: what it inherits is written out.
fn standalone(manifest: &str) -> String {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let inherited = |key: &str| {
        let table =
            workspace.split("[workspace.dependencies]").nth(1).expect("the workspace has dependencies");
        let line =
            table.lines().find(|line| line.starts_with(&format!("{key} = "))).expect("it is one of them");
        line.replace("path = \"", &format!("path = \"{}/", root().display()))
    };
    let mut lines = Vec::new();
    for line in manifest.lines() {
        match line.split_once(".workspace = true") {
            Some(("version", _)) => lines.push("version = \"0.1.0\"".to_owned()),
            Some(("edition", _)) => lines.push("edition = \"2024\"".to_owned()),
            Some(("rust-version" | "license" | "publish", _)) => {}
            Some((dependency, _)) => lines.push(inherited(dependency)),
            None if line == "[lints]" || line == "workspace = true" => {}
            None => lines.push(line.to_owned()),
        }
    }
    let profile: String =
        workspace.split("[profile.release]").next().unwrap().split("[profile.dev]").skip(1).collect();
    format!("{}\n\n[workspace]\n\n[profile.dev]{profile}", lines.join("\n"))
}

/// Builds the example with what has been downloaded already: its binary.
fn build(example: &Path) -> PathBuf {
    // The same folder as the tests are built in, so that the dependencies are there.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--target-dir"])
        .arg(target)
        .current_dir(example)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug/widgets")
}
