//! Strategic merge patches of a pod, compared with the results of a reference server:
//! `strategic_patches.json` has random patches with every directive, and the result or the error of each.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use orch_machinery::patch::{PatchError, strategic};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    current: Value,
    patch: Value,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    code: u16,
    #[serde(default)]
    error: String,
}

#[test]
fn patches_match_the_reference_server() {
    let groups = orch_api::registry().iter();
    let pod = groups.flat_map(|group| group.resources).find(|resource| resource.kind == "Pod").unwrap();
    let cases: Vec<Case> = serde_json::from_str(include_str!("strategic_patches.json")).unwrap();
    assert!(cases.len() > 80);
    for Case { current, patch, result, code, error } in cases {
        match strategic::apply(&current, &patch, pod.type_def) {
            Ok(patched) => assert_eq!((patched, 0), (result, code), "{current}\n{patch}\n{error}"),
            Err(refused) => {
                assert_eq!((refused.to_string(), code_of(&refused)), (error, code), "{current}\n{patch}");
            }
        }
    }
}

fn code_of(error: &PatchError) -> u16 {
    match error {
        PatchError::Malformed(_) => 400,
        PatchError::NotApplicable(_) => 422,
        PatchError::TooManyOperations { .. } | PatchError::TooLarge(_) => 413,
        PatchError::Contradiction(_) => 500,
    }
}
