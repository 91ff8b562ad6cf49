//! What the compiler does not see: the arrows between crates, what is banned from the build, and the shape of files.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]
#![allow(clippy::similar_names, reason = "a list, a lost one and the last one are what tests talk about")]

mod bans;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

/// Which crates of the workspace a crate may depend on. The build-time generator is marked with `!`, what only tests
/// use with `?`.
const ARROWS: &[(&str, &[&str])] = &[
    ("orch-runtime", &[]),
    // The generator checks formats and defaults with the rules that the generated code will call.
    ("orch-codegen", &["orch-runtime"]),
    // What every API speaks of; a change of a kind does not reach it.
    ("orch-meta", &["orch-runtime", "!orch-codegen"]),
    ("orch-api", &["orch-meta", "orch-runtime", "!orch-codegen", "?orch-machinery"]),
    ("orch-machinery", &["orch-runtime"]),
    ("orch-storage", &[]),
    ("orch-storage-sqlite", &["orch-storage"]),
    ("orch-auth", &["orch-api", "orch-machinery", "orch-runtime"]),
    ("orch-listener", &[]),
    (
        "orch-apiserver",
        &["orch-api", "orch-auth", "orch-listener", "orch-machinery", "orch-runtime", "orch-storage"],
    ),
    (
        "orch-tests",
        &[
            "orch-api",
            "orch-apiserver",
            "?orch-auth",
            "?orch-codegen",
            "?orch-machinery",
            "?orch-runtime",
            "?orch-storage",
        ],
    ),
    ("widgets", &["orch-api", "orch-apiserver", "orch-runtime", "!orch-codegen"]),
];

/// Crates from outside that a crate of the workspace may not use, and why.
const STRANGERS: &[(&str, &[&str], &str)] = &[
    ("orch-runtime", &["tokio", "hyper", "axum", "sqlx"], "generated code is written against it: no IO"),
    ("orch-machinery", &["tokio", "hyper", "axum", "sqlx"], "pure algorithms: no IO"),
    (
        "orch-storage",
        &["hyper", "axum", "http", "serde", "serde_json", "sqlx"],
        "knows no HTTP, no kinds and no database",
    ),
    ("orch-storage-sqlite", &["hyper", "axum", "http", "serde", "serde_json"], "knows no HTTP and no kinds"),
    ("orch-auth", &["hyper", "axum", "sqlx"], "knows no HTTP"),
    ("orch-listener", &["axum", "serde", "serde_json", "sqlx"], "knows connections, not what requests mean"),
    ("orch-apiserver", &["sqlx"], "the database belongs to the store"),
];

/// File and folder names that say nothing.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc", "mod"];

/// The longest a file may be without a line `//! Length: <reason>`.
const MAX_LINES: usize = 600;

/// Output of the generator that is kept to compare with: as long as it comes out, and included in other files.
const GENERATED: &str = "/golden/expected/";

/// Words that only the vocabulary may know.
const PRODUCT_WORDS: &[&str] = &["orch.io", "k8s.io", "kubernetes"];

/// Published documents carry these extensions in every vocabulary, because client tools look for exactly them.
const PUBLISHED_EXTENSIONS: &str = "x-kubernetes-";

/// Where such a word stands in code all the same, and why.
const SPELLED_IN_CODE: &[(&str, &str)] = &[
    ("codegen/generator/src/load/header.rs", "an example in a remedy"),
    ("codegen/generator/src/scaffold.rs", "an example in a remedy"),
    ("server/apiserver/src/discovery/aggregated.rs", "clients ask by this name in every vocabulary"),
    ("server/machinery/src/apply/migrate.rs", "the annotation of clients has this name in every vocabulary"),
];

/// Code that is only compiled into tests.
const TEST_CODE: &[&str] =
    &["tests/", "examples/", "/tests/", "/tests.rs", "/test_", "/testing", "/conformance"];

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let metadata = cargo_metadata();
    let packages = metadata["packages"].as_array().unwrap();
    assert_eq!(packages.len(), ARROWS.len(), "a crate is missing from the table of arrows");
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let (_, allowed) =
            ARROWS.iter().find(|(known, _)| *known == name).expect("the crate is in the table");
        for dependency in package["dependencies"].as_array().unwrap() {
            let (to, kind) =
                (dependency["name"].as_str().unwrap(), dependency["kind"].as_str().unwrap_or("normal"));
            let arrow = if kind == "build" { format!("!{to}") } else { to.to_owned() };
            let internal = ARROWS.iter().any(|(known, _)| *known == to);
            let in_tests = kind == "dev" && allowed.contains(&format!("?{to}").as_str());
            let may = !internal || in_tests || allowed.contains(&arrow.as_str());
            assert!(may, "{name} may not depend on {to} ({kind})");
            let banned = STRANGERS.iter().find(|(of, strangers, _)| *of == name && strangers.contains(&to));
            if let Some((.., why)) = banned.filter(|_| kind == "normal") {
                panic!("{name} may not depend on {to}: {why}");
            }
        }
    }
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for file in files("Cargo.toml") {
        let text = read(&file);
        let inherits = text.contains("[lints]\nworkspace = true") || text.contains("[workspace.lints");
        assert!(inherits, "{} has lints of its own", shown(&file));
    }
}

#[test]
fn files_say_what_they_are_for_and_stay_readable() {
    let mut problems = Vec::new();
    for file in files("rs") {
        let (text, name) = (read(&file), shown(&file));
        if name.contains(GENERATED) {
            continue;
        }
        if !text.starts_with("//! ") {
            problems.push(format!("{name}: does not open with a line of `//!` that states its contract"));
        }
        let lines = text.lines().count();
        if lines > MAX_LINES && !text.lines().any(|line| line.starts_with("//! Length: ")) {
            problems.push(format!("{name}: {lines} lines, without a line `//! Length: <reason>`"));
        }
        if text.contains(concat!("TO", "DO")) || text.contains(concat!("FIX", "ME")) {
            problems.push(format!("{name}: holds a note of work that is not done"));
        }
        for part in name.split(['/', '.']).filter(|part| EMPTY_NAMES.contains(part)) {
            problems.push(format!("{name}: {part:?} is no name for a concept"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn product_words_are_data() {
    let mut problems = Vec::new();
    let mut used = Vec::new();
    for file in files("rs") {
        let name = shown(&file);
        if name.ends_with("/vocabulary.rs") || TEST_CODE.iter().any(|part| name.contains(part)) {
            continue;
        }
        for (number, line) in code_lines(&read(&file)) {
            let line = line.replace(PUBLISHED_EXTENSIONS, "");
            let Some(word) = PRODUCT_WORDS.iter().find(|word| line.contains(*word)) else { continue };
            match SPELLED_IN_CODE.iter().find(|(place, _)| *place == name) {
                Some((place, _)) => used.push(*place),
                None => problems.push(format!("{name}:{number}: {word} in code: {}", line.trim())),
            }
        }
    }
    for (place, _) in SPELLED_IN_CODE.iter().filter(|(place, _)| !used.contains(place)) {
        problems.push(format!("{place}: is excepted without need"));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_flag_is_explained_and_in_the_readme() {
    let mut server = Command::new(orch_tests::server::server_binary());
    let mut server =
        server.arg("--help").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server runs");
    let input = server.stdin.take();
    let help = String::from_utf8(server.wait_with_output().unwrap().stdout).unwrap();
    drop(input);
    let lines: Vec<&str> = help.lines().collect();
    let flag = |line: &str| {
        let word = line.trim_start().split(", ").last()?.split([' ', '[']).next()?;
        (line.starts_with("  ") && word.starts_with("--")).then(|| word.to_owned())
    };
    let mut flags = Vec::new();
    for pair in lines.windows(2) {
        let Some(flag) = flag(pair[0]) else { continue };
        assert!(pair[1].trim().len() > 10, "{flag} has no explanation:\n{help}");
        flags.push(flag);
    }
    assert!(flags.len() > 10, "{help}");
    let readme = read(&root().join("README.md"));
    let table = readme
        .split("## Flags")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .expect("README has flags");
    for flag in flags.iter().filter(|flag| !["--help", "--version"].contains(&flag.as_str())) {
        assert!(table.contains(&format!("`{flag}`")), "README.md does not list {flag}");
    }
    for listed in table.split('`').filter(|word| word.starts_with("--") && !word.contains(' ')) {
        assert!(flags.iter().any(|flag| flag == listed), "README.md lists {listed}, which does not exist");
    }
}

/// The lines that are compiled into the product, with their numbers: no comments, no tests.
fn code_lines(text: &str) -> Vec<(usize, &str)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//")).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The path below the root.
fn shown(file: &Path) -> String {
    file.strip_prefix(root()).expect("all files lie below the root").to_string_lossy().into_owned()
}

/// All files of the project whose name ends so.
fn files(ending: &str) -> Vec<PathBuf> {
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

fn cargo_metadata() -> Value {
    serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"]))
        .expect("metadata is JSON")
}

/// What cargo prints. It needs nothing that a build has not fetched, and a command that fails is a failure here.
fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--offline", "--locked"]).current_dir(root());
    let output = command.output().expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {} fails:\n{errors}", arguments.join(" "));
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}
