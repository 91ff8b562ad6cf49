//! The index: where each group version's document is.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ROOT;

#[derive(Serialize)]
struct Index<'a> {
    paths: BTreeMap<&'a str, Location>,
}

#[derive(Serialize)]
struct Location {
    #[serde(rename = "serverRelativeURL")]
    server_relative_url: String,
}

/// Lists documents, given as key and digest.
pub(super) fn render(documents: &[(&str, &str)]) -> Vec<u8> {
    let paths = documents
        .iter()
        .map(|(key, digest)| (*key, Location { server_relative_url: address(key, digest) }))
        .collect();
    serde_json::to_vec(&Index { paths }).expect("strings have a JSON form")
}

/// The address of a document with these bytes, which never changes.
pub(super) fn address(key: &str, digest: &str) -> String {
    format!("{ROOT}/{key}?hash={digest}")
}
