//! JSON merge patch, RFC 7386: objects are merged, `null` removes, all other values replace.
//!
//! There is one difference from the RFC, as in the reference server: in lists of the patch, members of
//! objects that are `null` are left out. Items that are `null` stay.

use orch_runtime::{Tree, TreeMap};

use super::{PatchError, shown::cannot_unmarshal};

/// The object after the patch. The patch must be an object: any other value would replace the whole object.
pub fn apply(current: &Tree, patch: &Tree) -> Result<Tree, PatchError> {
    if patch.is_null() {
        return Err(PatchError::Malformed("Invalid JSON Patch".to_owned()));
    }
    if !patch.is_object() {
        let why = cannot_unmarshal(patch, "map[string]interface {}");
        return Err(PatchError::Malformed(format!("error decoding patch: {why}")));
    }
    let mut target = current.clone();
    merge(&mut target, patch);
    Ok(target)
}

/// The algorithm of the RFC. It recurses as deep as the patch, whose depth its reader has limited.
fn merge(target: &mut Tree, patch: &Tree) {
    let changes = match patch {
        Tree::Object(changes) => changes,
        other => {
            *target = without_null_members(other);
            return;
        }
    };
    if !target.is_object() {
        *target = Tree::Object(TreeMap::new());
    }
    let Tree::Object(fields) = target else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name).or_insert(Tree::Null), change);
        }
    }
}

/// The new value where a value is replaced.
fn without_null_members(value: &Tree) -> Tree {
    match value {
        Tree::Array(items) => Tree::Array(items.iter().map(without_null_members).collect()),
        Tree::Object(_) => {
            let mut members = Tree::Null;
            merge(&mut members, value);
            members
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::tree::arbitrary;

    #[test]
    fn the_examples_of_the_rfc_hold() {
        let cases = [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
            // These are not examples of the RFC.
            (
                r#"{"a":[1]}"#,
                r#"{"a":[null,{"b":null,"c":[{"d":null},null]}]}"#,
                r#"{"a":[null,{"c":[{},null]}]}"#,
            ),
        ];
        let read = |text: &str| -> Tree { serde_json::from_str(text).unwrap() };
        for (original, patch, expected) in cases {
            let mut target = read(original);
            merge(&mut target, &read(patch));
            assert_eq!(target, read(expected), "{original} + {patch}");
        }
    }

    #[test]
    fn a_patch_is_an_object() {
        assert_eq!(apply(&json!({"a": 1}), &json!({"b": 2})), Ok(json!({"a": 1, "b": 2})));
        for patch in [json!([]), json!(null), json!("x")] {
            assert!(matches!(apply(&json!({}), &patch), Err(PatchError::Malformed(_))), "{patch}");
        }
    }

    fn without_nulls(tree: &Tree) -> Tree {
        let mut clean = Tree::Null;
        merge(&mut clean, tree);
        clean
    }

    proptest! {
        #[test]
        fn applying_twice_is_applying_once(current in arbitrary(), patch in arbitrary()) {
            let mut once = current;
            merge(&mut once, &patch);
            let mut twice = once.clone();
            merge(&mut twice, &patch);
            prop_assert_eq!(once, twice);
        }

        #[test]
        fn the_empty_patch_changes_no_object(current in arbitrary()) {
            if current.is_object() {
                prop_assert_eq!(apply(&current, &json!({})).unwrap(), current);
            }
        }

        #[test]
        fn an_object_without_nulls_patched_into_nothing_is_itself(tree in arbitrary()) {
            let tree = without_nulls(&tree);
            prop_assert_eq!(without_nulls(&tree), tree);
        }
    }
}
