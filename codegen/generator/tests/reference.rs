//! The reference pages that `docs` writes. `UPDATE_GOLDEN=1` writes the pages in `tests/reference` anew.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{collections::BTreeMap, fs, path::Path};

use orch_codegen::{
    Inputs, load,
    reference::{Format, pages},
};

const FORMATS: [Format; 2] = [Format::Markdown, Format::Html];

fn written(schema: &str, imports: &[&str], format: Format) -> BTreeMap<String, String> {
    let imports = imports.iter().map(|folder| ("orch_api".to_owned(), (*folder).into())).collect();
    let loaded = load(&Inputs { schema: schema.into(), imports });
    pages(&loaded.model, format).into_iter().map(|file| (file.path, file.text)).collect()
}

#[test]
fn pages_are_as_they_were() {
    for format in FORMATS {
        for (path, text) in written("../../examples/widgets/schema", &["../../schema"], format) {
            let path = Path::new("tests/reference").join(path);
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &text).unwrap();
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(text, kept, "{}: UPDATE_GOLDEN=1 accepts it", path.display());
        }
    }
}

/// What stands between two texts, at each place.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Vec<&'t str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

#[test]
fn every_kind_has_a_page_and_every_link_leads_somewhere() {
    let html = written("../../schema", &[], Format::Html);
    assert!(html.len() > 30, "{}", html.len());
    for (path, text) in &html {
        for target in between(text, "href=\"", "\"") {
            let leads = match target.strip_prefix('#') {
                Some(heading) => text.contains(&format!(" id=\"{heading}\"")),
                None => html.contains_key(target),
            };
            assert!(leads, "{path}: {target}");
        }
    }
    for (path, text) in written("../../schema", &[], Format::Markdown) {
        let headings: Vec<String> =
            between(&text, "\n## ", "\n").iter().map(|head| head.to_lowercase()).collect();
        for target in between(&text, "](#", ")") {
            assert!(headings.iter().any(|heading| heading == target), "{path}: {target}");
        }
    }
}
