//! How many places report an error or a warning about an object, and who says so: a schema file, or Rust.
//!
//! Counted are the calls in the code that is generated and written, not the keywords: a `required` that no
//! check follows from counts as nothing. `README.md` of the schema folder explains what stays Rust.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{fs, path::Path};

use orch_codegen::{Inputs, emit, load};

/// Sites in Rust; a change may lower the number, and writes the new one here.
const MOST_IN_RUST: usize = 30;
/// Lines of code in the folders, without comments, empty lines and tests.
const MOST_LINES: usize = 896;

/// The folders of hand-written rules: of the kinds, and of metadata.
const WRITTEN: &[&str] = &["../../generated/src/validators", "../../generated/meta/src/validators"];

/// What behaviours of kinds report: about other objects, the network and the path of the request, but also a
/// few rules about the object alone.
const BEHAVIOURS: &str = "../../server/kinds/src";
const MOST_IN_BEHAVIOURS: usize = 19;

/// How they do it.
const REPORTING_IN_BEHAVIOURS: &[&str] = &["FieldError::", ".warn("];

/// What reports by itself; functions of the module `rule` do too.
const REPORTING: &[&str] =
    &["cx.push(", "cx.warn(", "cx.invalid_all(", "text_enum::listed(", "invalid(\"", "refuse(\""];

#[test]
fn rules_move_into_schema_files() {
    let loaded = load(&Inputs { schema: Path::new("../../schema").into(), imports: Vec::new() });
    let files = emit::emit(&loaded.model, "api", false);
    let is_code =
        |file: &emit::GeneratedFile| Path::new(&file.path).extension().is_some_and(|end| end == "rs");
    let generated: Vec<String> = files.into_iter().filter(is_code).map(|file| file.text).collect();
    let written = written();
    let (stated, in_rust) = (sites(&generated), sites(&written));
    let in_behaviours = sources(Path::new(BEHAVIOURS))
        .iter()
        .flat_map(|text| code(text))
        .map(|line| REPORTING_IN_BEHAVIOURS.iter().map(|call| line.matches(call).count()).sum::<usize>())
        .sum::<usize>();
    let all = stated + in_rust + in_behaviours;
    let lines = written.iter().map(|text| code(text).count()).sum::<usize>();
    println!("{stated} sites in schema files, {in_rust} in Rust, {in_behaviours} in behaviours");
    println!("{lines} lines in {WRITTEN:?}");
    let most = (MOST_IN_RUST, MOST_IN_BEHAVIOURS, MOST_LINES);
    assert_eq!((in_rust, in_behaviours, lines), most, "write the new numbers into this test");
    assert!(stated * 100 / all >= 95, "{stated} of {all}");
}

/// Whoever reads a rule in Rust learns why no schema file says it.
#[test]
fn every_function_that_reports_says_why_it_is_code() {
    let texts = written();
    let silent: Vec<&str> = texts
        .iter()
        .flat_map(|text| functions(text))
        .filter_map(|(docs, body)| {
            let reports = code(body).any(|line| calls(line) > 0);
            let says_why = docs.replace("\n///", "").contains("Rust, because");
            (reports && !says_why).then(|| body.lines().next().unwrap_or_default())
        })
        .collect();
    assert!(silent.is_empty(), "say `Rust, because ...` in the comments of {silent:#?}");
}

#[test]
fn every_behaviour_that_reports_says_why_it_is_code() {
    let mut silent = Vec::new();
    for text in sources(Path::new(BEHAVIOURS)) {
        let lines: Vec<&str> =
            text.lines().map(str::trim).take_while(|line| *line != "#[cfg(test)]").collect();
        let reports = |line: &str| REPORTING_IN_BEHAVIOURS.iter().any(|call| line.contains(call));
        let heads = (0..lines.len()).filter(|at| reports(lines[*at]) && !lines[*at].starts_with("//"));
        let heads = heads.filter_map(|site| (0..site).rev().find(|at| is_head(lines[*at])));
        silent.extend(heads.filter(|head| !says_why(&lines, *head)).map(|head| lines[head].to_owned()));
    }
    assert!(silent.is_empty(), "say `Rust, because ...` in the comments of {silent:#?}");
}

/// Whether a function begins in a line.
fn is_head(line: &str) -> bool {
    line.trim_start_matches("pub(super) ").trim_start_matches("pub(crate) ").starts_with("fn ")
}

/// Whether the comment before a line does.
fn says_why(lines: &[&str], head: usize) -> bool {
    let comment = lines[..head].iter().rev().take_while(|line| line.starts_with("///"));
    let mut comment: Vec<&str> = comment.map(|line| line.trim_start_matches("///")).collect();
    comment.reverse();
    comment.concat().contains("Rust, because")
}

#[test]
fn functions_are_found_with_their_comments() {
    let text =
        "/// One.\n/// Rust.\npub fn a() {\n    b();\n}\n\n#[must_use]\nfn c() {}\n#[cfg(test)]\nfn d() {}\n";
    assert_eq!(functions(text), [("/// One.\n/// Rust.", "pub fn a() {\n    b();\n}"), ("", "fn c() {}")]);
}

fn written() -> Vec<String> {
    WRITTEN.iter().flat_map(|folder| sources(Path::new(folder))).collect()
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

/// The functions of a file before its tests, each with the comment before it.
fn functions(text: &str) -> Vec<(&str, &str)> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_head = |line: &str| {
        let line = line.trim_start_matches("pub(super) ").trim_start_matches("pub ");
        line.starts_with("fn ")
    };
    let (mut found, mut docs, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with("///") {
            docs.get_or_insert(at);
        } else if is_head(line) {
            let end = text[at..].find("\n}\n").map_or(at + line.len() - 1, |end| at + end + 2);
            let end = if line.trim_end().ends_with("{}") { at + line.len() - 1 } else { end };
            found.push((docs.map_or("", |docs| text[docs..at].trim_end()), &text[at..end]));
            docs = None;
        } else if !line.starts_with("#[") {
            docs = None;
        }
        at += line.len();
    }
    found
}

fn sites(texts: &[String]) -> usize {
    texts.iter().flat_map(|text| code(text)).map(calls).sum()
}

/// What a line reports.
fn calls(line: &str) -> usize {
    REPORTING.iter().map(|call| line.matches(call).count()).sum::<usize>() + rules(line)
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
