//! Tests of protobuf: documents written byte by byte, and malformed ones.

use orch_runtime::{
    Tree,
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use proptest::prelude::*;
use serde_json::json;

use super::{ProtobufError, decode, encode, encode_message, item_head, list_frame, watch_event};
use crate::json::Limits;

const fn field(name: &'static str, tag: u32, shape: Shape) -> FieldDef {
    FieldDef { name, tag: Some(tag), shape, omit_empty: true, ..FieldDef::PLAIN }
}

const STRING: Shape = Shape::Scalar(Scalar::String);

static META: TypeDef = TypeDef {
    name: "test.v1.Meta",
    short_name: "Meta",
    fields: &[field("name", 1, STRING), field("made", 8, Shape::Scalar(Scalar::Time))],
    by_name: &[],
    atomic: false,
    size: 0,
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
    by_name: &[],
    atomic: false,
    size: 0,
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

static UNTAGGED: TypeDef =
    TypeDef { name: "test.v1.None", short_name: "None", fields: &[], by_name: &[], atomic: false, size: 0 };

#[test]
fn malformed_documents_are_refused() {
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

static LEAN: TypeDef = TypeDef {
    name: "test.v1.Lean",
    short_name: "Lean",
    fields: &[
        FieldDef { omit_empty: false, ..field("pointer", 1, STRING) },
        FieldDef { omit_empty: false, required: true, nullable: true, ..field("null", 2, STRING) },
        FieldDef { required: true, nullable: true, ..field("zero", 3, Shape::Scalar(Scalar::Time)) },
        FieldDef { required: true, ..field("any", 4, Shape::Any) },
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

#[test]
fn fields_that_cannot_be_absent_are_written_as_zero() {
    let int_or_string = bytes(4, &[number(1, 0), number(2, 0), bytes(3, b"")].concat());
    let zeros = [
        bytes(1, &[bytes(1, b""), bytes(8, b"")].concat()),
        int_or_string,
        bytes(5, &bytes(1, b"0")),
        bytes(6, b""),
        bytes(10, &[bytes(1, b""), number(2, 0)].concat()),
        number(20, 0),
    ];
    assert_eq!(encode_message(&json!({}), &THING), Ok(zeros.concat()));
    let filled = json!({"pointer": "", "null": null, "zero": "1970-01-01T00:00:07Z", "any": {"a": 1}});
    let expected =
        [bytes(1, b""), bytes(3, &[number(1, 7), number(2, 0)].concat()), bytes(4, &bytes(1, br#"{"a":1}"#))];
    assert_eq!(encode_message(&filled, &LEAN), Ok(expected.concat()));
    let empty = [bytes(3, b""), bytes(4, b"")];
    assert_eq!(encode_message(&json!({}), &LEAN), Ok(empty.concat()));
}

#[test]
fn numbers_maps_and_lists_are_written_in_order() {
    let tree = json!({
        "counts": [1, -2, 300], "data": {"z": "AP8=", "a": ""}, "extra": {"k": ["x", ""]},
        "renewed": "1969-12-31T23:59:59.000002Z",
    });
    let written = encode_message(&tree, &THING).unwrap();
    let middle = [
        bytes(2, &[bytes(1, b"a"), bytes(2, b"")].concat()),
        bytes(2, &[bytes(1, b"z"), bytes(2, b"\x00\xff")].concat()),
        number(3, 1),
        number(3, -2),
        number(3, 300),
    ];
    let end = [
        bytes(6, &[number(1, -1), number(2, 2000)].concat()),
        bytes(10, &[bytes(1, b""), number(2, 0)].concat()),
        number(20, 0),
        bytes(21, &[bytes(1, b"k"), bytes(2, &[bytes(1, b"x"), bytes(1, b"")].concat())].concat()),
    ];
    let contains = |part: &[u8]| written.windows(part.len()).any(|window| window == part);
    assert!(contains(&middle.concat()), "{}", written.escape_ascii());
    assert!(written.ends_with(&end.concat()), "{}", written.escape_ascii());
}

#[test]
fn documents_lists_and_events_have_their_frames() {
    let object = encode_message(&json!({"pointer": "x"}), &LEAN).unwrap();
    assert_eq!(encode(&json!({"pointer": "x"}), &LEAN, "v1", "Thing").unwrap(), document(&object));
    let items = item_head(object.len()).len() + object.len();
    let frame = list_frame(&json!({}), &META, items, "v1", "Thing").unwrap();
    let list = [bytes(1, &[bytes(1, b""), bytes(8, b"")].concat()), bytes(2, &object)].concat();
    let written = [frame.start, item_head(object.len()), object, frame.end].concat();
    assert_eq!(written, document(&list));
    let event = [bytes(1, b"ADDED"), bytes(2, &bytes(1, &written))].concat();
    let length = u32::try_from(event.len()).unwrap().to_be_bytes();
    assert_eq!(watch_event("ADDED", &written), [&length[..], &event].concat());
}

static WORDS: TypeDef = TypeDef { fields: &[FieldDef { name: "a", ..FieldDef::PLAIN }], ..UNTAGGED };

#[test]
fn what_does_not_fit_the_table_is_not_written() {
    for (tree, expected) in [
        (json!([]), "object"),
        (json!({"counts": 1}), "list"),
        (json!({"counts": ["1"]}), "number"),
        (json!({"data": []}), "map"),
        (json!({"data": {"k": "?"}}), "base64 text"),
        (json!({"renewed": "now"}), "time"),
        (json!({"on": "true"}), "boolean"),
        (json!({"extra": {"k": "v"}}), "list"),
    ] {
        let error = encode_message(&tree, &THING).unwrap_err();
        assert!(
            matches!(error, ProtobufError::WrongType { expected: found, .. } if found == expected),
            "{error}"
        );
    }
    assert_eq!(encode_message(&json!({}), &WORDS), Err(ProtobufError::Unsupported("None")));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(object in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&object);
    }
}
