//! The files of the project, and what cargo says about its crates.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use serde_json::Value;

use crate::rust_text::{Token, product_tokens, test_modules};

/// Output of the generator that is kept to compare with: as long as it comes out, and included in other
/// files.
const GENERATED: &str = "/golden/expected/";

/// Parts of paths of code that is only compiled into tests.
const TEST_CODE: &[&str] =
    &["tests/", "examples/", "fuzz/", "/tests/", "/benches/", "/test_", "/test-", "/testing", "/conformance"];

/// A Rust file.
pub struct Source {
    /// Its path below the root: `server/auth/src/lib.rs`.
    pub name: String,
    /// What it holds.
    pub text: String,
    /// Whether it is only compiled into tests.
    pub is_test: bool,
    /// Whether it is a module that its parent declares under `#[cfg(test)]`.
    pub is_unit_test: bool,
}

impl Source {
    /// The tokens that are compiled into the product.
    pub fn product_tokens(&self) -> Vec<Token<'_>> {
        if self.is_test { Vec::new() } else { product_tokens(&self.text) }
    }
}

/// Every Rust file that is written by hand.
pub static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let mut sources: Vec<Source> = files(".rs")
        .into_iter()
        .map(|file| Source { name: shown(&file), text: read(&file), is_test: false, is_unit_test: false })
        .filter(|source| !source.name.contains(GENERATED))
        .collect();
    let declared: Vec<String> = sources.iter().flat_map(unit_tests).collect();
    for source in &mut sources {
        let is_named_so = TEST_CODE.iter().any(|part| match part.strip_prefix('/') {
            Some(_) => source.name.contains(part),
            None => source.name.starts_with(part),
        });
        source.is_unit_test = declared.iter().any(|place| {
            source
                .name
                .strip_prefix(place.as_str())
                .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
        source.is_test = is_named_so || source.is_unit_test;
    }
    sources
});

/// The places of the modules that a file declares for tests: paths without `.rs`.
fn unit_tests(source: &Source) -> Vec<String> {
    let folder = module_folder(&source.name);
    test_modules(&source.text).into_iter().map(|name| format!("{folder}/{name}")).collect()
}

/// The folder in which the modules of a file lie: `a/lib.rs` -> `a`, `a/b.rs` -> `a/b`.
pub fn module_folder(name: &str) -> &str {
    let path = name.strip_suffix(".rs").expect("it is a Rust file");
    match path.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder,
        _ => path,
    }
}

/// A crate of the workspace.
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its folder below the root: `server/auth`.
    pub folder: String,
    /// What its manifest asks for.
    pub dependencies: Vec<Dependency>,
}

/// One line of a manifest's dependencies.
pub struct Dependency {
    /// The name of the crate.
    pub name: String,
    /// `normal`, `dev` or `build`.
    pub kind: String,
    /// What code calls it.
    pub called: String,
}

/// The crates of the workspace.
pub fn packages() -> Vec<Package> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).expect("JSON");
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let list = |value: &Value| value.as_array().expect("it is a list").clone();
    let dependency = |value: &Value| Dependency {
        name: text(&value["name"]),
        kind: value["kind"].as_str().unwrap_or("normal").to_owned(),
        called: value["rename"]
            .as_str()
            .map_or_else(|| text(&value["name"]), str::to_owned)
            .replace('-', "_"),
    };
    let package = |value: &Value| {
        let manifest = PathBuf::from(text(&value["manifest_path"]));
        Package {
            name: text(&value["name"]),
            folder: shown(manifest.parent().expect("a manifest lies in a folder")),
            dependencies: list(&value["dependencies"]).iter().map(dependency).collect(),
        }
    };
    list(&metadata["packages"]).iter().map(package).collect()
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

/// What a file holds.
pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The path below the root.
pub fn shown(file: &Path) -> String {
    file.strip_prefix(root()).expect("all files lie below the root").to_string_lossy().into_owned()
}

/// All files of the project whose name ends so.
pub fn files(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().expect("entries have names").to_string_lossy();
            if path.is_dir() {
                let is_source = !name.starts_with('.') && name != "target" && name != "orch-data";
                folders.extend(is_source.then_some(path.clone()));
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "no file ends in {ending}");
    found.sort();
    found
}

/// What cargo prints. It needs nothing that a build has not fetched, and a command that fails is a failure
/// here.
pub fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--offline", "--locked"]).current_dir(root());
    let output = command.output().expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {} fails:\n{errors}", arguments.join(" "));
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// Fails with all problems, one in a line.
pub fn none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_sort_of_code_is_found() {
    let is_test = |name: &str| {
        let found = SOURCES.iter().find(|source| source.name == name);
        found.unwrap_or_else(|| panic!("{name} is not found")).is_test
    };
    assert!(!is_test("server/auth/src/lib.rs") && !is_test("generated/build.rs"));
    assert!(is_test("tests/src/lib.rs") && is_test("generated/tests/golden.rs"));
    assert!(is_test("server/auth/src/authentication/tests.rs"), "declared under cfg(test)");
}

#[test]
fn modules_of_a_file_lie_in_its_folder() {
    for (name, folder) in [("a/src/lib.rs", "a/src"), ("a/src/b.rs", "a/src/b"), ("a/b/main.rs", "a/b")] {
        assert_eq!(module_folder(name), folder);
    }
}
