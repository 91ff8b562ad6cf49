//! What `diff` finds, change by change: each case is a small schema folder, a change of its text, and the
//! codes that the change has. Then the command as a whole.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod command;

use std::{collections::BTreeSet, fs, path::Path};

use orch_codegen::{
    Inputs,
    diagnostic::Diagnostics,
    diff::{self, codes, state::State},
};

/// The types that every kind needs.
const META: &str = "tests/fixtures/meta";

/// The kind that every case changes, and where it belongs.
const WIDGET: &str = include_str!("widget.yaml");
const FILE: &str = "example.orch.io/v1/widget.yaml";

const RELEASES: &str = "releases: {\"1.28\": 2023-08-15, \"1.29\": 2023-12-13, \"1.30\": 2024-04-17, \
                        \"1.31\": 2024-08-13, \"1.32\": 2024-12-11}";

const CASES: &str = include_str!("cases.txt");
const VERSIONS: &str = include_str!("versions.txt");
const SURFACE: &str = include_str!("surface.txt");

/// A case: what it is, the codes, and the changes, each from some lines to others.
struct Case {
    name: &'static str,
    codes: BTreeSet<&'static str>,
    changes: Vec<(String, String)>,
}

/// The cases of a text, whose form is explained at its top.
fn cases(text: &'static str) -> Vec<Case> {
    let mut cases = Vec::new();
    for block in text.split("\n== ").skip(1) {
        let (head, lines) = block.split_once('\n').unwrap();
        let (name, codes) = head.split_once(": ").unwrap_or((head, ""));
        let mut changes: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
        for line in lines.lines().filter(|line| !line.is_empty()) {
            if let Some(new) = line.strip_prefix('+') {
                changes.last_mut().unwrap().1.push(new);
                continue;
            }
            if changes.last().is_none_or(|(_, new)| !new.is_empty()) {
                changes.push(Default::default());
            }
            changes.last_mut().unwrap().0.push(line.strip_prefix('-').unwrap());
        }
        let joined = |(old, new): (Vec<&str>, Vec<&str>)| (old.join("\n"), new.join("\n"));
        let changes = changes.into_iter().map(joined).collect();
        cases.push(Case { name, codes: codes.split_whitespace().collect(), changes });
    }
    cases
}

/// A schema folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn state(path: &Path) -> State {
    let imports = vec![("orch_api".to_owned(), META.into())];
    let mut found = Diagnostics::default();
    let state = diff::state(&Inputs { schema: path.into(), imports }, &mut found);
    state.unwrap_or_else(|| panic!("{}", found.render()))
}

fn codes_of(old: &State, new: &State) -> BTreeSet<&'static str> {
    diff::compare(old, new).iter().map(|finding| finding.code).collect()
}

#[test]
fn what_breaks_clients_is_found_and_what_does_not_passes() {
    let old = folder(&[(FILE, WIDGET), ("releases.yaml", RELEASES)]);
    let folder_state = state(old.path());
    fs::write(old.path().join("lock.json"), diff::lock::text(&folder_state)).unwrap();
    let lock_state = state(&old.path().join("lock.json"));
    let mut failures = Vec::new();
    for Case { name, codes, changes } in cases(CASES) {
        let mut text = WIDGET.to_owned();
        for (from, to) in &changes {
            assert!(text.contains(from.as_str()), "{name}: the case is out of date: {from}");
            text = text.replace(from, to);
        }
        let new = folder(&[(FILE, &text), ("releases.yaml", RELEASES)]);
        let new = state(new.path());
        for old in [&folder_state, &lock_state] {
            let found = codes_of(old, &new);
            if found != codes {
                failures.push(format!("{name}: {codes:?} expected, found {found:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let harmless = cases(CASES).iter().filter(|case| case.codes.is_empty()).count();
    assert!(harmless > 20, "{harmless}");
}

/// A lock with the widget in these versions. Two stored versions of one kind are compared here, whether or
/// not the generator takes them.
fn lock(versions: &str) -> State {
    let types: Vec<String> = versions
        .lines()
        .map(|line| {
            let (version, more) = line.split_once(' ').unwrap_or((line, "categories: []"));
            format!(
                "  example.orch.io.{version}.Widget: {{x-orch-resource: {{plural: widgets, scope: Cluster, {more}}}, \
                 type: object, properties: {{a: {{type: string}}}}}}\n"
            )
        })
        .collect();
    let text = format!("lock: 1\n{RELEASES}\ntypes:\n{}", types.concat());
    let place = folder(&[("lock.json", &text)]);
    state(&place.path().join("lock.json"))
}

#[test]
fn versions_come_and_go_in_steps() {
    for Case { name, codes, changes } in cases(VERSIONS) {
        let (old, new) = &changes[0];
        assert_eq!(codes_of(&lock(old), &lock(new)), codes, "{name}");
    }
}

#[test]
fn what_is_beside_the_schema_goes_in_time() {
    let surface = |text: &str| {
        let place = folder(&[("surface.yaml", text), ("releases.yaml", RELEASES)]);
        let from_folder = state(place.path());
        fs::write(place.path().join("lock.json"), diff::lock::text(&from_folder)).unwrap();
        [from_folder, state(&place.path().join("lock.json"))]
    };
    for Case { name, codes, changes } in cases(SURFACE) {
        let (old, new) = &changes[0];
        let [_, new] = surface(new);
        for old in surface(old) {
            assert_eq!(codes_of(&old, &new), codes, "{name}");
        }
    }
}

#[test]
fn every_code_has_a_case() {
    let cases: Vec<Case> = [CASES, VERSIONS, SURFACE].into_iter().flat_map(cases).collect();
    let shown: BTreeSet<&str> = cases.iter().flat_map(|case| case.codes.iter().copied()).collect();
    // KEYWORD is for what the language does not have yet.
    let all = codes::ALL.iter().copied().filter(|code| *code != codes::KEYWORD);
    assert_eq!(shown, all.collect());
}

/// The schema files of the product are what they are.
#[test]
fn a_folder_is_the_same_as_itself_and_as_its_lock() {
    let inputs = Inputs { schema: Path::new("../../schema").into(), imports: Vec::new() };
    let now = diff::state(&inputs, &mut Diagnostics::default()).unwrap();
    let place = folder(&[("schema.lock.json", &diff::lock::text(&now))]);
    let locked = state(&place.path().join("schema.lock.json"));
    for (old, new) in [(&now, &now), (&locked, &now), (&now, &locked)] {
        let found = diff::compare(old, new);
        assert!(found.iter().all(|finding| finding.code == codes::OVERDUE), "{found:?}");
    }
    assert_eq!(diff::lock::text(&locked), diff::lock::text(&now));
}
