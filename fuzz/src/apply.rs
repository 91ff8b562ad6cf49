//! Two applied configurations of arbitrary bytes: never a panic, and applying the same again changes nothing.

use orch_api::core::v1::SERVICE_ACCOUNT_TYPE;
use orch_machinery::{
    apply::{Application, apply},
    json::{Limits, decode::decode_tree},
    managed_fields::Write,
    meta::Meta,
    yaml,
};
use orch_runtime::Tree;

pub fn run(bytes: &[u8]) {
    let mut live = serde_json::json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {}});
    for (document, manager) in bytes.split(|byte| *byte == 0).zip(["one", "two", "one"]) {
        let Ok(document) = yaml::decode(document, &Limits::default()) else { return };
        let Some(once) = applied(&live, &document.tree, manager) else { continue };
        if !Meta::of(&once).managed_fields().is_empty() {
            assert_eq!(applied(&once, &document.tree, manager).as_ref(), Some(&once));
        }
        live = once;
    }
}

fn applied(live: &Tree, config: &Tree, manager: &str) -> Option<Tree> {
    let write =
        Write { manager, api_version: "v1", subresource: "", time: "t", reset: &[], lost_managers: false };
    let application = Application { write, force: true, config };
    let empty = serde_json::json!({"metadata": {}});
    let merged = apply(&application, &empty, live, &SERVICE_ACCOUNT_TYPE).ok()?;
    decode_tree(merged, &SERVICE_ACCOUNT_TYPE, &Limits::default()).ok().map(|decoded| decoded.tree)
}
