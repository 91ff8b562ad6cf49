//! Tests of writing: the order of fields, what is left out, the offset of the revision.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    fixture::{BAG, WORKLOAD},
    json::{
        Limits,
        decode::{decode, decode_tree},
    },
    tree::arbitrary_of,
};

fn text(tree: &Tree, def: &'static TypeDef) -> String {
    let mut out = Vec::new();
    encode(tree, def, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn fields_are_written_in_the_order_of_the_type() {
    let tree = json!({
        "apiVersion": "apps/v1", "kind": "Workload",
        "metadata": {"annotations": {"b": "2", "a": "1"}, "uid": "u", "name": "n"},
        "spec": {"volumes": [{"emptyDir": {}, "name": "v"}], "containers": [{"image": "i", "name": "c"}],
            "replicas": 1},
        "status": {"phase": "x"},
    });
    assert_eq!(
        text(&tree, &WORKLOAD),
        concat!(
            r#"{"kind":"Workload","apiVersion":"apps/v1","#,
            r#""metadata":{"name":"n","uid":"u","annotations":{"a":"1","b":"2"}},"#,
            r#""spec":{"replicas":1,"containers":[{"name":"c","image":"i"}],"#,
            r#""volumes":[{"name":"v","emptyDir":{}}]},"#,
            r#""status":{"phase":"x"}}"#,
        )
    );
}

#[test]
fn write_only_fields_are_left_out_and_unknown_ones_come_last() {
    let tree =
        json!({"kind": "Bag", "stringData": {"a": "b"}, "zzz": 1, "aaa": {"x": []}, "data": {"k": "\"\n"}});
    assert_eq!(text(&tree, &BAG), r#"{"kind":"Bag","data":{"k":"\"\n"},"aaa":{"x":[]},"zzz":1}"#);
    assert_eq!(text(&json!([1, "x"]), &BAG), r#"[1,"x"]"#);
    assert_eq!(text(&json!({"metadata": 5}), &BAG), r#"{"metadata":5}"#);
}

/// As the reference does, whose clients compare texts. What has no type stays as it was written.
#[test]
fn numbers_are_written_by_their_type() {
    for (value, written) in [
        (300.0, "300"),
        (-2.0, "-2"),
        (0.0, "0"),
        (0.1, "0.1"),
        (1_234_567.5, "1234567.5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (0.000_001, "0.000001"),
        (0.000_000_9, "9e-7"),
        (-1.25e-300, "-1.25e-300"),
    ] {
        let tree = json!({"spec": {"weight": value}});
        let json = text(&tree, &WORKLOAD);
        assert_eq!(json, format!(r#"{{"spec":{{"weight":{written}}}}}"#));
        assert_eq!(decode(json.as_bytes(), &WORKLOAD, &Limits::default()).unwrap().tree, tree, "{json}");
        assert_eq!(text_of(&json!([value])), format!("[{written}]"));
    }
    assert_eq!(text(&json!({"spec": {"weight": 7}}), &WORKLOAD), r#"{"spec":{"weight":7}}"#);
    assert_eq!(text(&json!({"any": {"weight": 1.0}}), &BAG), r#"{"any":{"weight":1.0}}"#);
}

#[test]
fn the_revision_can_be_spliced_in() {
    let trees = [
        json!({"kind": "Bag", "apiVersion": "v1",
            "metadata": {"name": "a", "labels": {"k": "v"}, "resourceVersion": "7"}}),
        json!({"kind": "Bag", "apiVersion": "v1", "metadata": {"name": "a", "labels": {"k": "v"}}}),
    ];
    for tree in &trees {
        let (mut bytes, at) = encode_for_store(tree, &BAG, None);
        assert!(bytes.starts_with(br#"{"kind":"Bag","apiVersion":"v1","#));
        bytes.splice(at..at, *b"42");
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            concat!(
                r#"{"kind":"Bag","apiVersion":"v1","#,
                r#""metadata":{"name":"a","resourceVersion":"42","labels":{"k":"v"}}}"#,
            )
        );
    }
    let (bytes, at) = encode_for_store(&json!({"data": {}}), &BAG, None);
    assert_eq!(bytes, br#"{"metadata":{"resourceVersion":""},"data":{}}"#);
    assert_eq!(&bytes[at - 1..=at], b"\"\"");
}

#[test]
fn owners_can_be_written_from_text() {
    let tree = json!({"metadata": {"name": "a", "managedFields": [{"manager": "old"}]}, "data": {"k": "v"}});
    let written = |owners| {
        let mut out = Vec::new();
        encode_owned(&tree, &BAG, owners, &mut out);
        String::from_utf8(out).unwrap()
    };
    let owned = r#"{"metadata":{"name":"a","managedFields":[{"manager":"new"}]},"data":{"k":"v"}}"#;
    assert_eq!(written(r#"[{"manager":"new"}]"#), owned);
    assert_eq!(written(""), r#"{"metadata":{"name":"a"},"data":{"k":"v"}}"#);
    let (bytes, at) = encode_for_store(&tree, &BAG, Some(""));
    assert_eq!(bytes, br#"{"metadata":{"name":"a","resourceVersion":""},"data":{"k":"v"}}"#);
    assert_eq!(&bytes[at - 1..=at], b"\"\"");
}

proptest! {
    #[test]
    fn reading_gives_back_what_was_written(tree in arbitrary_of(&WORKLOAD)) {
        let tree = decode_tree(tree, &WORKLOAD, &Limits::default()).unwrap().tree;
        let mut bytes = Vec::new();
        encode(&tree, &WORKLOAD, &mut bytes);
        let read = decode(&bytes, &WORKLOAD, &Limits::default()).unwrap();
        prop_assert_eq!(read.strict, vec![]);
        prop_assert_eq!(read.tree, tree);
    }

    #[test]
    fn the_stored_form_differs_only_in_the_revision(tree in arbitrary_of(&BAG), revision in any::<u64>()) {
        let mut tree = decode_tree(tree, &BAG, &Limits::default()).unwrap().tree;
        if let Some(map) = tree.as_object_mut() {
            map.remove("stringData");
        }
        let (mut bytes, at) = encode_for_store(&tree, &BAG, None);
        bytes.splice(at..at, revision.to_string().into_bytes());
        crate::meta::MetaMut::of(&mut tree).set_resource_version(&revision.to_string());
        prop_assert_eq!(decode(&bytes, &BAG, &Limits::default()).unwrap().tree, tree);
    }
}
