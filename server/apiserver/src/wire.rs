//! Small JSON documents that are not stored objects: a typed value with `kind` and `apiVersion` in front.

use serde::Serialize;

/// `{"kind":...,"apiVersion":...,<fields of the value>}` and a newline. `value` must serialise to an object.
pub fn object_json<T: Serialize>(kind: &str, api_version: &str, value: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct Document<'a, T> {
        kind: &'a str,
        #[serde(rename = "apiVersion")]
        api_version: &'a str,
        #[serde(flatten)]
        value: &'a T,
    }
    let mut text = serde_json::to_vec(&Document { kind, api_version, value })
        .expect("a struct of strings, numbers and lists has a JSON form");
    text.push(b'\n');
    text
}
