//! The result of a patch in messages. As in the reference, objects that the patch has passed on its way have
//! their names sorted, and so has what it brought; what it left alone is in the order of its type.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{Shape, TypeDef},
};

use crate::json::encode::{ObjectWriter, encode_any, encode_part, with_html_escapes};

/// The text of a result of type `def`. `passed` has the names and indexes that the patch has passed: of a
/// merge patch it is the patch itself.
pub fn outcome(result: &Tree, def: &'static TypeDef, passed: &Tree) -> String {
    let mut out = Vec::new();
    match (result, passed) {
        (Tree::Object(map), Tree::Object(passed)) => {
            fields(map, |name| def.field(name).map(|field| &field.shape), passed, &mut out);
        }
        _ => encode_any(result, &mut out),
    }
    with_html_escapes(str::from_utf8(&out).expect("JSON text is made of texts"))
}

fn fields(
    map: &TreeMap,
    shape_of: impl Fn(&str) -> Option<&'static Shape>,
    passed: &TreeMap,
    out: &mut Vec<u8>,
) {
    let mut object = ObjectWriter::open(out);
    for (name, value) in map {
        value_at(value, shape_of(name), passed.get(name), object.value_of(name));
    }
    object.close();
}

fn value_at(value: &Tree, shape: Option<&'static Shape>, passed: Option<&Tree>, out: &mut Vec<u8>) {
    match (value, passed) {
        (Tree::Object(map), Some(Tree::Object(passed))) => {
            let shape_of = |name: &str| match shape? {
                Shape::Object(def) => def.field(name).map(|field| &field.shape),
                Shape::Map { value, .. } => Some(*value),
                Shape::Scalar(_) | Shape::List { .. } | Shape::Any => None,
            };
            fields(map, shape_of, passed, out);
        }
        (Tree::Array(items), Some(Tree::Object(passed))) => {
            let item_shape = match shape {
                Some(Shape::List { item, .. }) => Some(*item),
                _ => None,
            };
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                value_at(item, item_shape, passed.get(&index.to_string()), out);
            }
            out.push(b']');
        }
        (_, None) => encode_part(value, shape.unwrap_or(&Shape::Any), out),
        (_, Some(_)) => encode_any(value, out),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::outcome;
    use crate::{
        fixture::BAG,
        json::Limits,
        patch::{
            json::{JsonPatch, JsonPatchLimits},
            merge,
        },
    };

    fn current() -> orch_runtime::Tree {
        let entry = json!({"manager": "m", "operation": "Update", "apiVersion": "v1"});
        json!({"apiVersion": "v1", "kind": "Bag", "metadata": {
            "name": "a", "labels": {"b": "1"}, "managedFields": [entry]}, "data": {"k": "v"}})
    }

    #[test]
    fn what_a_merge_patch_leaves_alone_is_in_the_order_of_its_type() {
        const OWNERS: &str = r#""managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1"}]"#;
        const SAME: &str = r#""labels":{"b":"1"}"#;
        let with = |data: &str, metadata: &str| {
            format!(r#"{{"apiVersion":"v1","data":{{"k":{data}}},"kind":"Bag","metadata":{{{metadata}}}}}"#)
        };
        let alone = format!(r#""name":"a",{SAME},{OWNERS}"#);
        let (apart, escaped) = (with("5", &alone), with(r#""\u003c""#, &alone));
        let passed = with(r#""v""#, &format!(r#""labels":{{"a":5,"b":"1"}},{OWNERS},"name":"a""#));
        let entries = r#""managedFields":[{"apiVersion":"v","manager":5}]"#;
        let brought = with(r#""v""#, &format!(r#"{SAME},{entries},"name":"a""#));
        for (patch, expected) in [
            (json!({"data": {"k": 5}}), apart.as_str()),
            (json!({"metadata": {"labels": {"a": 5}}}), &passed),
            (json!({"metadata": {"managedFields": [{"manager": 5, "apiVersion": "v"}]}}), &brought),
            (json!({"data": {"k": "<"}}), &escaped),
        ] {
            let result = merge::apply(&current(), &patch).unwrap();
            assert_eq!(outcome(&result, &BAG, &patch), expected);
        }
    }

    #[test]
    fn a_json_patch_passes_what_its_paths_name() {
        for (path, begins) in [
            ("/data/k", r#""metadata":{"name":"a","labels""#),
            ("/metadata/name", r#""metadata":{"labels":{"b":"1"},"managedFields":[{"manager":"m""#),
            ("/metadata/managedFields/0/time", r#""managedFields":[{"apiVersion":"v1","manager":"m""#),
            ("/metadata/labels/none/below", r#""metadata":{"labels":{"b":"1"},"managedFields":[{"manager""#),
        ] {
            let body = json!([{"op": "add", "path": path, "value": 5}]).to_string();
            let limits = JsonPatchLimits::default();
            let patch = JsonPatch::parse(body.as_bytes(), &Limits::default(), &limits).unwrap();
            let result = patch.apply(&current(), &limits).unwrap_or_else(|_| current());
            let text = outcome(&result, &BAG, &patch.passed(&result));
            assert!(text.contains(begins), "{path}: {text}");
        }
    }
}
