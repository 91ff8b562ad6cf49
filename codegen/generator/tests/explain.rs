//! Every fault that is reported has a code, and every code is explained.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use orch_codegen::{Inputs, diff::codes, explain, load};

/// The files below a folder of source code, without their tests.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
            found.push((path, code));
        }
    }
    found
}

/// What stands between `before` and the next quote, at each place.
fn quoted<'t>(text: &'t str, before: &str) -> Vec<&'t str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_site_has_a_code_and_every_code_a_text() {
    let mut given: BTreeSet<String> = BTreeSet::new();
    for (path, text) in sources(Path::new("src")) {
        // The rules of `check` have a code each, in their list.
        let is_rule = path.starts_with("src/check");
        let sites = text.matches(".error(").count() + text.matches(".warning(").count();
        let codes = quoted(&text, ".code(\"");
        assert!(is_rule || sites == codes.len(), "{}: {sites} sites, {} codes", path.display(), codes.len());
        given.extend(codes.into_iter().map(str::to_owned));
        if path.ends_with("src/check.rs") {
            given.extend(quoted(&text, "    (\"").into_iter().map(str::to_owned));
        }
    }
    given.extend(codes::ALL.iter().map(ToString::to_string));
    let explained: BTreeSet<String> = explain::entries().map(|entry| entry.code.to_owned()).collect();
    assert_eq!(explained, given);
    assert_eq!(explained.len(), explain::entries().count(), "a code has one text");
    for entry in explain::entries() {
        assert!(entry.text.matches("```").count() == 2, "{} has one example", entry.code);
    }
}

#[test]
fn what_the_cases_report_has_codes() {
    for case in fs::read_dir("tests/diagnostics").unwrap() {
        let case = case.unwrap().path();
        let imports = vec![("orch_api".to_owned(), "tests/fixtures/meta".into())];
        let loaded = load(&Inputs { schema: case.into(), imports });
        for item in loaded.diagnostics.sorted() {
            assert!(explain::entry(item.code).is_some(), "{item:?}");
        }
    }
}

#[test]
fn a_code_is_explained() {
    let explain = |code: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orch-codegen"));
        let output = command.arg("explain").args(code.split_whitespace()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, text, _) = explain("e0121");
    assert!(code == Some(0) && text.starts_with("E0121: an unknown key\n\nNothing in a schema"), "{text}");
    assert!(explain("B201").1.starts_with("B201: a field is removed\n"));
    let (code, all, _) = explain("");
    assert!(code == Some(0) && all.contains("\nE0121: an unknown key\n"), "{all}");
    assert_eq!(all.lines().count(), explain::entries().count());
    assert_eq!(explain("E9999"), (Some(2), String::new(), "error: nothing has the code E9999\n".to_owned()));
}
