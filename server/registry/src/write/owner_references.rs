//! Drops repeated owner references, with a warning.

use std::collections::BTreeSet;

use orch_machinery::meta::{Meta, MetaMut};
use orch_runtime::Tree;

/// Removes owner references that equal an earlier one. Returns the warning. `patched` says that the object is
/// the result of a patch, which the warning words differently.
pub fn drop_repeated(tree: &mut Tree, patched: bool) -> Option<String> {
    let given = Meta::of(tree).owner_references();
    let mut seen = BTreeSet::new();
    let repeated: Vec<bool> = given.iter().map(|owner| !seen.insert(owner.to_string())).collect();
    if !repeated.contains(&true) {
        return None;
    }
    let (left, dropped): (Vec<_>, Vec<_>) = given.iter().zip(repeated).partition(|(_, repeated)| !repeated);
    let uids: Vec<&str> = dropped
        .iter()
        .map(|(owner, _)| owner.get("uid").and_then(Tree::as_str).unwrap_or_default())
        .collect();
    let when = if patched { " after mutating admission happens" } else { "" };
    let warning = format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in \
         1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) \
         observed: {}",
        uids.join(", ")
    );
    let left: Vec<Tree> = left.into_iter().map(|(owner, _)| owner.clone()).collect();
    MetaMut::of(tree).set_owner_references(left);
    Some(warning)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_references_are_dropped_and_told() {
        let owner = |uid: &str, name: &str| json!({"uid": uid, "name": name});
        let owners = [owner("a", "x"), owner("b", "x"), owner("a", "x"), owner("a", "y")];
        let mut tree = json!({"metadata": {"ownerReferences": owners}});
        let warning = drop_repeated(&mut tree, false).unwrap();
        assert!(warning.starts_with(".metadata.ownerReferences contains duplicate entries; "), "{warning}");
        assert!(warning.ends_with("duplicate UID(s) observed: a"), "{warning}");
        assert_eq!(
            tree["metadata"]["ownerReferences"],
            json!([owner("a", "x"), owner("b", "x"), owner("a", "y")])
        );
        assert_eq!(drop_repeated(&mut tree, true), None);
    }
}
