//! `GET /version`: which API level the server speaks, and which build it is.
//!
//! Clients parse `gitVersion` as a semantic version. They compare its first two numbers with their own, and
//! switch features by them. So the numbers are the API level that the server is compatible with; the
//! product's own version is build metadata behind `+`, which such parsers accept and ignore.

use std::env::consts;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, header};
use serde::Serialize;

/// First number of the API level.
const MAJOR: &str = "1";
/// Second number of the API level.
const MINOR: &str = "32";
/// The API level with this build's name and version as metadata.
pub const GIT_VERSION: &str = concat!("v1.32.0+orch-apiserver.", env!("CARGO_PKG_VERSION"));

/// The prepared document.
#[derive(Clone, Debug)]
pub struct Version {
    body: Bytes,
}

/// The fields that clients decode; every one is a string and must be there. Those about the source come from
/// the environment of the build, where a release pipeline sets them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    major: &'static str,
    minor: &'static str,
    git_version: &'static str,
    git_commit: &'static str,
    git_tree_state: &'static str,
    build_date: &'static str,
    go_version: &'static str,
    compiler: &'static str,
    platform: String,
}

impl Version {
    /// Describes this build.
    pub fn new() -> Self {
        let document = Document {
            major: MAJOR,
            minor: MINOR,
            git_version: GIT_VERSION,
            git_commit: option_env!("BUILD_COMMIT").unwrap_or_default(),
            git_tree_state: option_env!("BUILD_TREE_STATE").unwrap_or_default(),
            build_date: option_env!("BUILD_DATE").unwrap_or_default(),
            // The field names the toolchain, which is not Go here.
            go_version: concat!("rust", env!("CARGO_PKG_RUST_VERSION")),
            compiler: "rustc",
            platform: platform(),
        };
        let body = serde_json::to_vec_pretty(&document).expect("strings have a JSON form");
        Version { body: Bytes::from(body) }
    }

    /// The answer to `GET /version`.
    pub fn serve(&self) -> Response {
        let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        (headers, Body::from(self.body.clone())).into_response()
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::new()
    }
}

/// `linux/amd64`: operating system and architecture, in Go's names.
fn platform() -> String {
    let architecture = match consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{}/{architecture}", consts::OS)
}

#[cfg(test)]
mod tests {
    use orch_config::enablement::RELEASE;
    use orch_runtime::release::Release;

    use super::*;

    #[test]
    fn the_version_names_the_program() {
        assert!(GIT_VERSION.contains(&format!("+{}.", orch_config::PROGRAM)), "{GIT_VERSION}");
    }

    #[test]
    fn the_document_is_pretty_and_all_strings() {
        let text = String::from_utf8(Version::new().body.to_vec()).unwrap();
        assert!(
            text.starts_with("{\n  \"major\": \"1\",\n  \"minor\": \"32\",\n  \"gitVersion\": \"v1.32.0+"),
            "{text}"
        );
        let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(fields.len(), 9);
        assert!(fields.values().all(serde_json::Value::is_string));
    }

    /// `v`, three numbers, then metadata of dot-separated alphanumeric parts: what parsers of the field
    /// accept.
    #[test]
    fn the_version_parses_as_a_semantic_version() {
        let (numbers, metadata) = GIT_VERSION.strip_prefix('v').unwrap().split_once('+').unwrap();
        let numbers: Vec<u32> = numbers.split('.').map(|part| part.parse().unwrap()).collect();
        assert_eq!(numbers, [MAJOR.parse::<u32>().unwrap(), MINOR.parse().unwrap(), 0]);
        assert_eq!(RELEASE, Release::new(numbers[0], numbers[1]));
        assert!(metadata.split('.').all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        }));
    }
}
