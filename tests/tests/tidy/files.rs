//! The shape of files: they say what they are for, are short, and have names that say something.

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
