//! One folder in `tests/diagnostics` for every rule: a schema that breaks it, and the report, exactly as
//! people see it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p orch-codegen --test diagnostics` writes the reports anew; review them as
//! you would review code.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use orch_codegen::{Inputs, diagnostic::Diagnostics, diff, explain, functions, load};

const CASES: &str = "tests/diagnostics";

/// The types that every case may use, as an imported folder, unless the case has a file `no-imports`.
const META: &str = "tests/fixtures/meta";

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(CASES).expect("the cases are there");
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the case can be listed").path()).collect();
    cases.sort();
    cases
}

fn report(case: &Path) -> String {
    let mut imports = vec![("orch_api".to_owned(), META.into())];
    if case.join("no-imports").exists() {
        imports.clear();
    }
    load(&Inputs { schema: case.into(), imports }).diagnostics.render()
}

#[test]
fn every_rule_reports_what_where_and_how_to_mend_it() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut failures = Vec::new();
    for case in cases() {
        let report = report(&case);
        assert!(!report.is_empty(), "{} breaks no rule", case.display());
        let file = case.join("expected.txt");
        if update {
            fs::write(&file, &report).expect("the report can be written");
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if report != expected {
            failures.push(format!("{}\n--- expected\n{expected}\n--- found\n{report}", case.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nUPDATE_GOLDEN=1 accepts what was found", failures.join("\n"));
}

/// What a comparison reports about a folder that has this file alone.
fn beside(file: &str, text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join(file);
    fs::write(&path, text).expect("the file can be written");
    let is_lock = path.extension().is_some_and(|extension| extension == "json");
    let schema = if is_lock { &path } else { folder.path() };
    let mut found = Diagnostics::default();
    let state = diff::state(&Inputs { schema: schema.into(), imports: Vec::new() }, &mut found);
    assert!(state.is_none(), "{file} breaks no rule");
    found.render()
}

/// What is reported about a function that the crate does not have.
fn about_functions() -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let inputs = Inputs { schema: "tests/golden/schema".into(), imports: Vec::new() };
    let mut loaded = load(&inputs);
    functions::check(&loaded.model, &[folder.path().to_owned()], &mut loaded.diagnostics);
    loaded.diagnostics.render()
}

/// Faults of what is no schema file are no cases of the folder `diagnostics`.
#[test]
fn every_code_is_of_a_case() {
    let mut reports: String = cases().iter().map(|case| report(case)).collect();
    reports += &report(Path::new("tests/nowhere"));
    for (file, text) in [
        ("releases.yaml", "releases: {\"1.31\": soon}"),
        ("surface.yaml", "flags: {--audit-log-path: forever}"),
        ("schema.lock.json", "{\"lock\": 7}"),
    ] {
        reports += &beside(file, text);
    }
    reports += &about_functions();
    let codes: BTreeSet<&str> =
        explain::entries().map(|entry| entry.code).filter(|code| code.starts_with('E')).collect();
    let without: Vec<&&str> = codes.iter().filter(|code| !reports.contains(&format!("[{code}]"))).collect();
    assert!(without.is_empty(), "write a case, or remove the code: {without:?}");
}
