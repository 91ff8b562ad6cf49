//! The shape of files: they say what they are for, are short, have names that say something, and are
//! compiled.

use std::collections::BTreeMap;

use crate::source::{SOURCES, none};

/// File and folder names that say nothing.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc", "mod"];

/// The longest a file may be without a line `//! Length: <reason>`.
const MAX_LINES: usize = 600;

/// Notes of work that is not done; in two parts, so that this file holds none.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];

#[test]
fn files_say_what_they_are_for_and_stay_readable() {
    let problems = SOURCES.iter().flat_map(|source| {
        faults(&source.name, &source.text).into_iter().map(|fault| format!("{}: {fault}", source.name))
    });
    none(&problems.collect::<Vec<_>>());
}

/// A file that no other one declares is not compiled, and nothing says so.
#[test]
fn every_file_of_a_crate_is_compiled() {
    let texts = SOURCES.iter().map(|source| (source.name.as_str(), source.text.as_str())).collect();
    none(&undeclared(&texts));
}

/// The files in folders `src` that their parent does not declare: `src/a/b.rs` is declared by `mod b;` in
/// `src/a.rs`.
fn undeclared(texts: &BTreeMap<&str, &str>) -> Vec<String> {
    let is_declared = |name: &str| {
        let Some((folder, file)) = name.rsplit_once('/') else { return true };
        let file = file.trim_end_matches(".rs");
        if folder.ends_with("/src/bin") || ["lib", "main"].contains(&file) {
            return true;
        }
        let declaration = format!("mod {file};");
        // `mod tests { mod b; }` of a root declares `src/tests/b.rs`.
        let of_tests = folder.strip_suffix("/tests").map(|folder| format!("{folder}/lib.rs"));
        let roots = ["lib.rs", "main.rs"].map(|root| format!("{folder}/{root}"));
        let mut parents = roots.into_iter().chain([format!("{folder}.rs")]).chain(of_tests);
        parents.any(|parent| {
            let text = texts.get(parent.as_str()).copied().unwrap_or_default();
            text.lines().any(|line| {
                let line = line.trim().strip_suffix(&declaration);
                line.is_some_and(|before| before.is_empty() || before.starts_with("pub"))
            })
        })
    };
    let names = texts.keys().filter(|name| name.contains("/src/") && !is_declared(name));
    names.map(|name| format!("{name}: no file declares it, so it is not compiled")).collect()
}

#[test]
fn a_file_that_is_not_declared_is_found() {
    let texts = [
        ("a/src/lib.rs", "mod b;\n#[cfg(test)]\n  pub(crate) mod c;\n"),
        ("a/src/b.rs", "pub mod d;\n// mod e;\n"),
        ("a/src/b/d.rs", ""),
        ("a/src/b/e.rs", ""),
        ("a/src/c.rs", ""),
        ("a/src/bin/f.rs", ""),
        ("a/tests/g.rs", ""),
    ];
    let found = undeclared(&BTreeMap::from(texts));
    assert_eq!(found, ["a/src/b/e.rs: no file declares it, so it is not compiled"]);
}

fn faults(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.starts_with("//! ") {
        faults.push("does not open with a line of `//!` that states its contract".to_owned());
    }
    let lines = text.lines().count();
    if lines > MAX_LINES && !text.lines().any(|line| line.starts_with("//! Length: ")) {
        faults.push(format!("{lines} lines, without a line `//! Length: <reason>`"));
    }
    if NOTES.iter().any(|note| text.contains(note)) {
        faults.push("holds a note of work that is not done".to_owned());
    }
    let parts = name.split(['/', '.']).filter(|part| EMPTY_NAMES.contains(part));
    faults.extend(parts.map(|part| format!("{part:?} is no name for a concept")));
    faults
}

#[test]
fn every_fault_of_a_file_is_found() {
    assert_eq!(faults("a/b.rs", "//! Right.\n"), [""; 0]);
    assert_eq!(
        faults("a/b.rs", "// wrong\n"),
        ["does not open with a line of `//!` that states its contract"]
    );
    assert_eq!(faults("a/utils/b.rs", "//! Right.\n"), [r#""utils" is no name for a concept"#]);
    let long = "//! Right.\n".repeat(MAX_LINES + 1);
    assert_eq!(faults("a/b.rs", &long), ["601 lines, without a line `//! Length: <reason>`"]);
    assert_eq!(faults("a/b.rs", &format!("//! Length: a table.\n{long}")), [""; 0]);
    let note = format!("//! Right.\n// {}: more\n", NOTES[0]);
    assert_eq!(faults("a/b.rs", &note), ["holds a note of work that is not done"]);
}
