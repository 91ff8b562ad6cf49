//! The hand-written step of the golden schemas.

use orch_runtime::{Tree, conversion::Direction};
use serde_json::json;

/// `enabled` and `disabled`, either way.
pub fn negated(_: Direction, values: &[Option<Tree>]) -> Vec<Option<Tree>> {
    let negate = |value: &Option<Tree>| value.as_ref().and_then(Tree::as_bool).map(|value| json!(!value));
    values.iter().map(negate).collect()
}
