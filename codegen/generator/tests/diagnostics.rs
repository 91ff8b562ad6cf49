//! One folder in `tests/diagnostics` for every rule: a schema that breaks it, and the report, exactly as
//! people see it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p orch-codegen --test diagnostics` writes the reports anew; review them as
//! you would review code.

use std::{
    fs,
    path::{Path, PathBuf},
};

use orch_codegen::{Inputs, load};

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
