//! Tests of reading: reports, types, nulls, limits.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    fixture::{BAG, WORKLOAD},
    json::MAX_DEPTH,
    tree::arbitrary,
};

fn bag(body: &str) -> Result<Decoded, DecodeError> {
    decode(body.as_bytes(), &BAG, &Limits::default())
}

fn workload(body: &str) -> Result<Decoded, DecodeError> {
    decode(body.as_bytes(), &WORKLOAD, &Limits::default())
}

fn reports(decoded: &Decoded) -> Vec<String> {
    decoded.strict.iter().map(ToString::to_string).collect()
}

#[test]
fn keeps_what_the_type_has() {
    let body = json!({
        "apiVersion": "apps/v1", "kind": "Workload", "metadata": {"name": "a", "labels": {"k": "v"}},
        "spec": {"replicas": 3, "weight": 0.5,
            "containers": [{"name": "c", "ports": [{"containerPort": 80}]}]},
    });
    let decoded = workload(&body.to_string()).unwrap();
    assert_eq!(decoded, Decoded { tree: body, strict: vec![] });
}

#[test]
fn unknown_and_duplicate_fields_are_reported_in_the_order_of_the_document() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{"dat":{"k":"v"}}"#, &[r#"unknown field "dat""#]),
        (r#"{"metadata":{"labelz":{}}}"#, &[r#"unknown field "metadata.labelz""#]),
        (r#"{"Data":{"k":"v"}}"#, &[r#"unknown field "Data""#]),
        (
            r#"{"metadata":{"name":"c","name":"c"},"data":{"k":"1","k":"2"}}"#,
            &[r#"duplicate field "metadata.name""#, r#"duplicate field "data.k""#],
        ),
        (
            r#"{"data":{"k":"1"},"data":{"k":"2"},"foo":{}}"#,
            &[r#"duplicate field "data""#, r#"unknown field "foo""#],
        ),
        (r#"{"kind":"A","kind":"B","apiVersion":"v1"}"#, &[r#"duplicate field "kind""#]),
        (
            r#"{"any":{"a":1,"b":[{"c":1,"c":2}],"a":2}}"#,
            &[r#"duplicate field "any.b[0].c""#, r#"duplicate field "any.a""#],
        ),
        (r#"{"x":1,"x":2,"x":3}"#, &[r#"unknown field "x""#]),
        (r#"{"metadata":{"kind":"A"}}"#, &[r#"unknown field "metadata.kind""#]),
        (r#"{"a\"b":1}"#, &[r#"unknown field "a\"b""#]),
    ];
    for (body, expected) in cases {
        assert_eq!(reports(&bag(body).unwrap()), *expected, "{body}");
    }
    let nested = r#"{"spec":{"containers":[{"name":"c","imagee":"x","ports":[{"containerPort":80,"port":1}]}],
        "hostname2":"h"}}"#;
    assert_eq!(
        reports(&workload(nested).unwrap()),
        [
            r#"unknown field "spec.containers[0].imagee""#,
            r#"unknown field "spec.containers[0].ports[0].port""#,
            r#"unknown field "spec.hostname2""#,
        ]
    );
}

#[test]
fn the_last_duplicate_wins() {
    assert_eq!(bag(r#"{"data":{"k":"1","k":"2"}}"#).unwrap().tree, json!({"data": {"k": "2"}}));
    assert_eq!(bag(r#"{"immutable":true,"immutable":null}"#).unwrap().tree, json!({}));
    let any = decode_any_strict(br#"{"data":{"k":"1","k":"2"}}"#, &Limits::default()).unwrap();
    assert_eq!(
        (any.tree.to_string().as_str(), reports(&any)),
        (r#"{"data":{"k":"2"}}"#, vec![r#"duplicate field "data.k""#.to_owned()])
    );
}

#[test]
fn reports_are_bounded() {
    let body: Vec<String> = (0..300).map(|n| format!("\"x{n}\":1")).collect();
    assert_eq!(bag(&format!("{{{}}}", body.join(","))).unwrap().strict.len(), 100);
}

#[test]
fn null_is_absent_or_empty() {
    let cases = [
        (r#"{"metadata":null,"immutable":null,"kind":null}"#, json!({})),
        (
            r#"{"data":{"k":null},"binaryData":{"b":null}}"#,
            json!({"data": {"k": ""}, "binaryData": {"b": ""}}),
        ),
        (r#"{"metadata":{"creationTimestamp":null}}"#, json!({"metadata": {}})),
        (r#"{"metadata":{"finalizers":["a",null]}}"#, json!({"metadata": {"finalizers": ["a", ""]}})),
        (r#"{"metadata":{"ownerReferences":[null]}}"#, json!({"metadata": {"ownerReferences": [{}]}})),
        (r#"{"any":{"a":null,"b":[null]}}"#, json!({"any": {"a": null, "b": [null]}})),
    ];
    for (body, expected) in cases {
        assert_eq!(bag(body).unwrap().tree, expected, "{body}");
    }
}

#[test]
fn stored_objects_have_the_nulls_that_are_written() {
    let time = r#"{"metadata":{"creationTimestamp":"2024-01-02T03:04:05Z"}}"#;
    let null = r#"{"metadata":{"creationTimestamp":null}}"#;
    for (stored, expected) in [(r#"{"metadata":{}}"#, null), (null, null), (time, time), ("{}", "{}")] {
        assert_eq!(decode_stored(stored.as_bytes(), &BAG).unwrap().to_string(), expected);
    }
}

#[test]
fn types_are_checked() {
    let cases = [
        (
            r#"{"metadata":{"labels":{"a":1}}}"#,
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (r#"{"metadata":[]}"#, "array into Go struct field Workload.metadata of type v1.ObjectMeta"),
        (
            r#"{"spec":{"replicas":"1"}}"#,
            "string into Go struct field WorkloadSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":1.5}}"#,
            "number 1.5 into Go struct field WorkloadSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":1.0}}"#,
            "number 1.0 into Go struct field WorkloadSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":2147483648}}"#,
            "number 2147483648 into Go struct field WorkloadSpec.spec.replicas of type int32",
        ),
        (
            r#"{"metadata":{"generation":9223372036854775808}}"#,
            "number 9223372036854775808 into Go struct field ObjectMeta.metadata.generation of type int64",
        ),
        (
            r#"{"spec":{"containers":[{},{"image":true}]}}"#,
            "bool into Go struct field Container.spec.containers.image of type string",
        ),
        (
            r#"{"spec":{"containers":"x"}}"#,
            "string into Go struct field WorkloadSpec.spec.containers of type []v1.Container",
        ),
        (
            r#"{"spec":{"nodeSelector":["a"]}}"#,
            "array into Go struct field WorkloadSpec.spec.nodeSelector of type map[string]string",
        ),
        (r#"{"spec":{"pauseUntil":5}}"#, "number into Go value of type string"),
        (r#"{"spec":{"strategy":{"maxUnavailable":true}}}"#, "bool into Go value of type int32"),
        (r#"{"kind":1}"#, "number into Go struct field Workload.kind of type string"),
        ("[]", "array into Go value of type v1.Workload"),
        ("null", "null into Go value of type v1.Workload"),
        (r#""x""#, "string into Go value of type v1.Workload"),
    ];
    for (body, expected) in cases {
        let error = workload(body).unwrap_err();
        assert_eq!(error.to_string(), format!("json: cannot unmarshal {expected}"), "{body}");
    }
    for fine in ["-2147483648", "2147483647", "0"] {
        assert!(workload(&format!(r#"{{"spec":{{"replicas":{fine}}}}}"#)).is_ok(), "{fine}");
    }
    let loose = r#"{"spec":{"strategy":{"maxUnavailable":"10%"},"weight":1,
        "containers":[{"resources":{"cpu":1,"m":"2Gi"}}]}}"#;
    assert!(workload(loose).is_ok());
}

#[test]
fn what_is_not_one_document_is_refused() {
    assert_eq!(bag(""), Err(DecodeError::Empty));
    assert_eq!(bag(" \n\t"), Err(DecodeError::Empty));
    assert_eq!(bag(r#"{"kind":"#), Err(DecodeError::Empty));
    assert_eq!(bag("{}{}"), Err(DecodeError::TrailingData('{')));
    assert_eq!(bag("{}\n\n  x").unwrap_err().to_string(), "invalid character 'x' after top-level value");
    for body in [&b"{'a':1}"[..], b"nope", b"\xff", b"{\"data\":{\"k\":\"\xff\"}}", b"{\"x\":\"\xff\"}"] {
        let error = decode(body, &BAG, &Limits::default()).unwrap_err();
        assert!(matches!(error, DecodeError::Syntax(_)), "{body:?}: {error}");
    }
}

#[test]
fn nesting_is_bounded_everywhere() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    for levels in [MAX_DEPTH, 5000, 1_000_000] {
        let body = nested(levels);
        assert_eq!(
            decode_any(body.as_bytes(), &Limits::default()),
            Err(DecodeError::TooDeep(MAX_DEPTH)),
            "{levels}"
        );
        assert_eq!(bag(&format!(r#"{{"any":{body}}}"#)), Err(DecodeError::TooDeep(MAX_DEPTH)), "{levels}");
        // An unknown value is skipped without recursion, whatever its depth.
        assert_eq!(bag(&format!(r#"{{"x":{body}}}"#)).unwrap().tree, json!({}), "{levels}");
    }
    assert!(decode_any(nested(MAX_DEPTH - 1).as_bytes(), &Limits::default()).is_ok());
    let shallow = Limits { max_depth: 3, ..Limits::default() };
    assert!(decode_any(b"[[1]]", &shallow).is_ok());
    assert_eq!(
        decode_any(b"[[[1]]]", &shallow).unwrap_err().to_string(),
        "exceeded max depth: lists and objects may be nested 2 levels deep"
    );
}

#[test]
fn a_tree_is_checked_like_a_text() {
    let checked =
        decode_tree(json!({"foo": 1, "metadata": {"bar": {"x": 1}, "name": "a"}}), &BAG, &Limits::default());
    let checked = checked.unwrap();
    assert_eq!(reports(&checked), [r#"unknown field "foo""#, r#"unknown field "metadata.bar""#]);
    assert_eq!(checked.tree, json!({"metadata": {"name": "a"}}));
    assert!(decode_tree(json!({"data": {"k": 5}}), &BAG, &Limits::default()).is_err());
}

proptest! {
    #[test]
    fn arbitrary_documents_never_panic_and_are_stable(tree in arbitrary()) {
        for def in [&BAG, &WORKLOAD] {
            if let Ok(first) = decode_tree(tree.clone(), def, &Limits::default()) {
                let again = decode_tree(first.tree.clone(), def, &Limits::default()).unwrap();
                prop_assert_eq!(again, Decoded { tree: first.tree, strict: vec![] });
            }
        }
        let text = tree.to_string();
        prop_assert_eq!(decode_any(text.as_bytes(), &Limits::default()).unwrap(), tree);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = decode(&bytes, &BAG, &Limits::default());
        let _ = decode_any(&bytes, &Limits::default());
    }
}
