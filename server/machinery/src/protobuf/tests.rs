//! Documents written byte by byte, and bytes that are no documents.

use orch_runtime::{
    Tree,
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use proptest::prelude::*;
use serde_json::json;

use super::{ProtobufError, decode};
use crate::json::Limits;

const fn field(name: &'static str, tag: u32, shape: Shape) -> FieldDef {
    FieldDef { name, tag: Some(tag), shape, omit_empty: true, ..FieldDef::PLAIN }
}

const STRING: Shape = Shape::Scalar(Scalar::String);

static META: TypeDef = TypeDef {
    name: "test.v1.Meta",
    short_name: "Meta",
    fields: &[field("name", 1, STRING), field("made", 8, Shape::Scalar(Scalar::Time))],
    atomic: false,
};

static THING: TypeDef = TypeDef {
    name: "test.v1.Thing",
    short_name: "Thing",
    fields: &[
        field("metadata", 1, Shape::Object(&META)),
        field("data", 2, Shape::Map { value: &Shape::Scalar(Scalar::Bytes), atomic: false }),
        field(
            "counts",
            3,
            Shape::List { item: &Shape::Scalar(Scalar::Int32), semantics: ListSemantics::Atomic },
        ),
        field("port", 4, Shape::Scalar(Scalar::IntOrString)),
        field("size", 5, Shape::Scalar(Scalar::Quantity)),
        field("renewed", 6, Shape::Scalar(Scalar::MicroTime)),
        field("raw", 7, Shape::Any),
        FieldDef { inline_tag: Some(10), ..field("path", 1, STRING) },
        FieldDef { inline_tag: Some(10), ..field("mode", 2, Shape::Scalar(Scalar::Int32)) },
        field("on", 20, Shape::Scalar(Scalar::Boolean)),
        field(
            "extra",
            21,
            Shape::Map {
                value: &Shape::List { item: &STRING, semantics: ListSemantics::Atomic },
                atomic: false,
            },
        ),
        field("parts", 9, Shape::List { item: &Shape::Object(&THING), semantics: ListSemantics::Atomic }),
    ],
    atomic: false,
};

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn bytes(tag: u32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(u64::from(tag) << 3 | 2, &mut out);
    varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}

fn number(tag: u32, value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(u64::from(tag) << 3, &mut out);
    varint(value.cast_unsigned(), &mut out);
    out
}

fn document(object: &[u8]) -> Vec<u8> {
    let type_meta = [bytes(1, b"v1"), bytes(2, b"Thing")].concat();
    [b"k8s\0".to_vec(), bytes(1, &type_meta), bytes(2, object), bytes(3, b""), bytes(4, b"")].concat()
}

fn read(object: &[u8]) -> Result<Tree, ProtobufError> {
    decode(&document(object), &THING, &Limits::default())
}

#[test]
fn every_shape_becomes_its_json_form() {
    let cases = [
        (
            bytes(1, &[bytes(1, b"a"), bytes(8, &number(1, 1_700_000_000))].concat()),
            json!({"metadata": {"name": "a", "made": "2023-11-14T22:13:20Z"}}),
        ),
        (bytes(1, &bytes(8, b"")), json!({"metadata": {}})),
        (bytes(2, &[bytes(1, b"k"), bytes(2, b"\x00\xff")].concat()), json!({"data": {"k": "AP8="}})),
        (bytes(2, &bytes(1, b"k")), json!({"data": {"k": ""}})),
        ([number(3, 1), number(3, -2)].concat(), json!({"counts": [1, -2]})),
        (bytes(3, &[1, 2, 0xac, 0x02]), json!({"counts": [1, 2, 300]})),
        (bytes(4, &[number(1, 0), number(2, 80), bytes(3, b"")].concat()), json!({"port": 80})),
        (bytes(4, &[number(1, 1), number(2, 0), bytes(3, b"50%")].concat()), json!({"port": "50%"})),
        (bytes(5, &bytes(1, b"1Gi")), json!({"size": "1Gi"})),
        (
            bytes(6, &[number(1, 1), number(2, 2000)].concat()),
            json!({"renewed": "1970-01-01T00:00:01.000002Z"}),
        ),
        (bytes(7, &bytes(1, br#"{"a":[1]}"#)), json!({"raw": {"a": [1]}})),
        (number(20, 1), json!({"on": true})),
        (
            [
                bytes(21, &[bytes(1, b"k"), bytes(2, &[bytes(1, b"a"), bytes(1, b"")].concat())].concat()),
                bytes(21, &bytes(1, b"empty")),
            ]
            .concat(),
            json!({"extra": {"k": ["a", ""], "empty": []}}),
        ),
        ([bytes(9, &number(20, 0)), bytes(9, b"")].concat(), json!({"parts": [{"on": false}, {}]})),
        (bytes(10, &[bytes(1, b"/x"), number(2, 7)].concat()), json!({"path": "/x", "mode": 7})),
        ([number(99, 5), bytes(98, b"new")].concat(), json!({})),
    ];
    for (object, mut expected) in cases {
        expected["kind"] = "Thing".into();
        expected["apiVersion"] = "v1".into();
        assert_eq!(read(&object), Ok(expected));
    }
}

static UNTAGGED: TypeDef = TypeDef { name: "test.v1.None", short_name: "None", fields: &[], atomic: false };

#[test]
fn what_is_no_document_is_refused() {
    let limits = Limits::default();
    assert_eq!(decode(b"{}", &THING, &limits), Err(ProtobufError::NoMagic));
    assert!(matches!(read(&[0x0a, 0x7f, 1]), Err(ProtobufError::Malformed(_))));
    assert!(matches!(read(&[0xff; 12]), Err(ProtobufError::Malformed(_))));
    assert!(matches!(read(&bytes(1, &bytes(1, b"\xff"))), Err(ProtobufError::Malformed(_))));
    assert!(matches!(read(&number(1, 1)), Err(ProtobufError::WrongType { field: "metadata", .. })));
    assert!(matches!(read(&number(10, 1)), Err(ProtobufError::WrongType { field: "Thing", .. })));
    assert!(matches!(read(&bytes(7, &bytes(1, b"{"))), Err(ProtobufError::Malformed(_))));
    assert_eq!(decode(&document(b""), &UNTAGGED, &limits), Err(ProtobufError::Unsupported("None")));
    let nested = (0..400).fold(Vec::new(), |inner, _| bytes(9, &inner));
    assert_eq!(read(&nested), Err(ProtobufError::TooDeep(128)));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(object in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&object);
    }
}
