//! Merge patches and strategic ones of arbitrary bytes: never a panic, and a merge patch applied twice has
//! the same effect as once.

use orch_api::core::v1::SERVICE_ACCOUNT_TYPE;
use orch_machinery::{
    json::{Limits, decode::decode_any},
    patch::{merge, strategic},
};

pub fn run(bytes: &[u8]) {
    let Ok(patch) = decode_any(bytes, &Limits::default()) else { return };
    let object = serde_json::json!({
        "metadata": {"name": "a", "finalizers": ["a", "b"], "ownerReferences": [{"uid": "u", "name": "n"}]},
        "secrets": [{"name": "x"}, {"name": "y"}],
        "imagePullSecrets": [{"name": "z"}],
    });
    if let Ok(once) = merge::apply(&object, &patch) {
        assert_eq!(merge::apply(&once, &patch).as_ref(), Ok(&once));
    }
    let _ = strategic::apply(&object, &patch, &SERVICE_ACCOUNT_TYPE);
}
