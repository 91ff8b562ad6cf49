//! A JSON patch of arbitrary bytes: never a panic, and no tree that is deeper than readers allow.

use orch_machinery::{
    json::{Limits, MAX_DEPTH},
    patch::json::{JsonPatch, JsonPatchLimits},
    tree::depth,
};

pub fn run(bytes: &[u8]) {
    let limits = JsonPatchLimits::default();
    let Ok(patch) = JsonPatch::parse(bytes, &Limits::default(), &limits) else { return };
    let object = serde_json::json!({
        "metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "v", "l": "w"},
        "list": [1, [2], {"a": null}],
    });
    if let Ok(patched) = patch.apply(&object, &limits) {
        assert!(depth(&patched) <= MAX_DEPTH);
    }
}
