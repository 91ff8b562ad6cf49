//! How many places report an error or a warning about an object, and who says so: a schema file, or Rust.
//!
//! Counted are the calls in the code that is compiled, not the keywords: a `required` that no check follows
//! from counts as nothing. `README.md` of the schema folder explains what stays Rust.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{fs, path::Path};

/// Sites in Rust; a change may lower the number, and writes the new one here.
const MOST_IN_RUST: usize = 25;
/// Lines of code in `src/validators`, without comments, empty lines and tests.
const MOST_LINES: usize = 801;

/// What reports by itself; functions of the module `rule` do too.
const REPORTING: &[&str] =
    &["cx.push(", "cx.warn(", "cx.invalid_all(", "text_enum::listed(", "invalid(\"", "refuse(\""];

#[test]
fn rules_move_into_schema_files() {
    let generated = sources(Path::new(env!("OUT_DIR")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let written = sources(&root.join("src/validators"));
    let (stated, in_rust) = (sites(&generated), sites(&written));
    let lines = written.iter().map(|text| code(text).count()).sum::<usize>();
    println!("{stated} sites in schema files, {in_rust} in Rust: {}%", stated * 100 / (stated + in_rust));
    println!("{lines} lines in src/validators");
    assert_eq!((in_rust, lines), (MOST_IN_RUST, MOST_LINES), "write the new numbers into this test");
}

/// The Rust files of a folder and those below.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}

fn sites(texts: &[String]) -> usize {
    let lines = texts.iter().flat_map(|text| code(text));
    lines
        .map(|line| REPORTING.iter().map(|call| line.matches(call).count()).sum::<usize>() + rules(line))
        .sum()
}

/// Calls of functions of the module `rule`; `pairs` reports nothing.
fn rules(line: &str) -> usize {
    let names = line.split("rule::").skip(1).filter_map(|rest| rest.split_once('('));
    names
        .filter(|(name, _)| *name != "pairs" && name.chars().all(|ch| ch.is_ascii_lowercase() || ch == '_'))
        .count()
}

/// The lines of code before the tests of a file.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim).take_while(|line| *line != "#[cfg(test)]");
    lines.filter(|line| !line.is_empty() && !line.starts_with("//"))
}
