//! The profile, byte by byte, and what is refused.

use orch_runtime::{
    Tree,
    type_def::{FieldDef, Scalar, Shape, TypeDef},
};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    fixture::BAG,
    json::{Limits, decode::decode_tree},
    tree::arbitrary_of,
};

static NUMBERS: TypeDef = TypeDef {
    name: "test.v1.Numbers",
    short_name: "Numbers",
    fields: &[
        FieldDef { name: "double", shape: Shape::Scalar(Scalar::Double), ..FieldDef::PLAIN },
        FieldDef { name: "int", shape: Shape::Scalar(Scalar::Int64), ..FieldDef::PLAIN },
        FieldDef { name: "time", shape: Shape::Scalar(Scalar::Time), ..FieldDef::PLAIN },
        FieldDef { name: "any", shape: Shape::Any, ..FieldDef::PLAIN },
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn read(hex: &str) -> Result<Tree, String> {
    decode_any(&bytes(hex), &Limits::default()).map_err(|error| error.to_string())
}

#[test]
fn an_object_has_one_form() {
    let tree = json!({
        "kind": "Bag", "apiVersion": "v1", "metadata": {"name": "a"},
        "data": {"bb": "1", "a": "2"}, "binaryData": {"k": "AQI="}, "stringData": {"not": "shown"},
    });
    let expected = [
        "d9d9f7 a5",
        "44 64617461 a2 4161 4132 426262 4131",
        "44 6b696e64 43 426167",
        "48 6d65746164617461 a1 44 6e616d65 4161",
        "4a 61706956657273696f6e 42 7631",
        "4a 62696e61727944617461 a1 416b d6 42 0102",
    ];
    let written = encode(&tree, &BAG);
    assert_eq!(hex(&written), hex(&bytes(&expected.concat())));
    let read = decode(&written, &BAG, &Limits::default()).unwrap();
    let mut expected = tree;
    expected.as_object_mut().unwrap().remove("stringData");
    assert_eq!((read.tree, read.strict), (expected, vec![]));
}

/// Appendix A of RFC 8949 has these.
#[test]
fn numbers_have_their_shortest_form() {
    for (number, expected) in [
        (json!(0), "00"),
        (json!(23), "17"),
        (json!(24), "1818"),
        (json!(100), "1864"),
        (json!(1000), "1903e8"),
        (json!(1_000_000), "1a000f4240"),
        (json!(1_000_000_000_000_u64), "1b000000e8d4a51000"),
        (json!(-1), "20"),
        (json!(-100), "3863"),
        (json!(-1000), "3903e7"),
        (json!(i64::MAX), "1b7fffffffffffffff"),
        (json!(i64::MIN), "3b7fffffffffffffff"),
        (json!(0.0), "f90000"),
        (json!(-0.0), "f98000"),
        (json!(1.0), "f93c00"),
        (json!(1.1), "fb3ff199999999999a"),
        (json!(1.5), "f93e00"),
        (json!(65504.0), "f97bff"),
        (json!(65536.0), "fa47800000"),
        (json!(100_000.0), "fa47c35000"),
        (json!(3.402_823_466_385_288_6e38), "fa7f7fffff"),
        (json!(1e300), "fb7e37e43c8800759c"),
        (json!(5.960_464_477_539_063e-8), "f90001"),
        (json!(0.000_061_035_156_25), "f90400"),
        (json!(-4.0), "f9c400"),
        (json!(-4.1), "fbc010666666666666"),
    ] {
        let written = encode_any(&number);
        assert_eq!(hex(&written), format!("d9d9f7{expected}"), "{number}");
        assert_eq!(read(expected), Ok(number));
    }
    // A field of floating point numbers has them, however the number was written.
    let written = encode(&json!({"double": 2, "int": 2}), &NUMBERS);
    assert_eq!(hex(&written), hex(&bytes("d9d9f7 a2 43 696e74 02 46 646f75626c65 f94000")));
}

#[test]
fn texts_bytes_and_times_are_read_in_all_their_forms() {
    for (hex, expected) in [
        ("d9d9f7 f6", json!(null)),
        ("83 f4 f5 f6", json!([false, true, null])),
        ("62 6869", json!("hi")),
        ("42 6869", json!("hi")),
        ("7f 6168 6169 ff", json!("hi")),
        ("5f 4168 4169 ff", json!("hi")),
        ("9f 01 9f ff ff", json!([1, []])),
        ("bf 4161 01 6162 02 ff", json!({"a": 1, "b": 2})),
        // Bytes are texts of other formats where a tag says so, also around a list.
        ("d6 42 fbff", json!("+/8=")),
        ("d5 42 fbff", json!("-_8")),
        ("d7 42 fbff", json!("fbff")),
        ("d6 82 41 01 d7 41 01", json!(["AQ==", "01"])),
        ("82 d6 41 01 41 61", json!(["AQ==", "a"])),
        ("c0 74 323032342d30312d30325430333a30343a30355a", json!("2024-01-02T03:04:05Z")),
        ("c1 1a 65937d65", json!("2024-01-02T03:05:09Z")),
        ("c1 f9 3e00", json!("1970-01-01T00:00:01.500000Z")),
        ("d9 1000 01", json!(1)),
    ] {
        assert_eq!(read(hex), Ok(expected), "{hex}");
    }
    // In a field of bytes, an untagged string is base64 already, and each tag means the bytes themselves.
    for (value, expected) in [
        ("44 4151493d", "AQI="),
        ("64 4151493d", "AQI="),
        ("d6 42 0102", "AQI="),
        ("d5 42 0102", "AQI="),
        ("d7 42 0102", "AQI="),
    ] {
        let document = bytes(&format!("a1 4a 62696e61727944617461 a1 416b {value}"));
        let read = decode(&document, &BAG, &Limits::default()).unwrap();
        assert_eq!(read.tree, json!({"binaryData": {"k": expected}}), "{value}");
    }
}

#[test]
fn what_is_not_in_the_profile_is_refused() {
    let deep = |levels: usize| "81".repeat(levels) + "01";
    let tagged = |tags: usize| "d818".repeat(tags) + "01";
    let long = |head: &str, item: &str, count: usize| format!("{head}{count:04x}{}", item.repeat(count));
    let entry = |text: String, n: u32| text + "44" + &hex(format!("{n:04}").as_bytes()) + "01";
    let names = (0..1025).fold(String::new(), entry);
    for (hex, expected) in [
        ("", "unexpected end of the document"),
        ("d9d9f7", "unexpected end of the document"),
        ("19 01", "unexpected end of the document"),
        ("42 61", "unexpected end of the document"),
        ("5b ffffffffffffffff 61", "unexpected end of the document"),
        ("82 01", "unexpected end of the document"),
        ("01 02 03", "2 bytes follow the document"),
        ("a2 4161 01 4161 02", "found duplicate map key \"a\""),
        ("a2 4161 01 6161 02", "found duplicate map key \"a\""),
        ("a1 01 02", "a name in a map is not a text"),
        ("62 c328", "invalid UTF-8 string"),
        ("42 c328", "invalid UTF-8 string"),
        ("7f 61c3 61a9 ff", "invalid UTF-8 string"),
        ("7f 4161 ff", "a part of a text string is something else"),
        ("5f 5f4161ff ff", "a part of a byte string is something else"),
        ("f97e00", "a number is not finite"),
        ("fa7f800000", "a number is not finite"),
        ("fbfff0000000000000", "a number is not finite"),
        ("c2 41 01", "numbers beyond 64 bits are not accepted"),
        ("c3 41 01", "numbers beyond 64 bits are not accepted"),
        ("1b 8000000000000000", "9223372036854775808 is beyond 64 bits with a sign"),
        ("3b 8000000000000000", "-1-9223372036854775808 is beyond 64 bits with a sign"),
        ("f7", "simple value 23 is not accepted"),
        ("f0", "simple value 16 is not accepted"),
        ("f8 ff", "simple value 255 is not accepted"),
        ("f8 14", "a simple value has two forms"),
        ("1c", "an item has a length of an unknown form"),
        ("1f", "a number or a tag has no length"),
        ("ff", "a break stands where nothing ends"),
        ("82 01 ff", "a break stands where nothing ends"),
        ("c0 01", "a time with tag 0 is not a text"),
        ("c1 6161", "a time with tag 1 is not a number"),
        ("c1 1b 0000ffffffffffff", "a time is beyond the year 9999"),
        (&deep(65), "exceeded max nested level 64"),
        (&tagged(66), "exceeded max nested level 64"),
        (&long("99", "01", 1025), "exceeded max number of elements 1024"),
        (&format!("9f{}ff", "01".repeat(1025)), "exceeded max number of elements 1024"),
        (&format!("b90401{names}"), "exceeded max number of elements 1024"),
    ] {
        assert_eq!(read(hex), Err(format!("cbor: {expected}")), "{hex}");
    }
    for accepted in [deep(64), tagged(65), long("99", "01", 1024)] {
        assert!(read(&accepted).is_ok(), "{accepted}");
    }
}

#[test]
fn faults_of_objects_are_those_of_json() {
    let read = |hex: &str| {
        let read = decode(&bytes(hex), &NUMBERS, &Limits::default());
        read.map(|read| read.strict.iter().map(ToString::to_string).collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    };
    // {"Int": 1, "int": 1}
    assert_eq!(read("a2 43 496e74 01 43 696e74 01"), Ok(vec!["unknown field \"Int\"".to_owned()]));
    // A name twice, inside of a field that the type does not have.
    assert_eq!(
        read("a1 43 496e74 a2 4161 01 4161 01"),
        Err("cbor: found duplicate map key \"a\"".to_owned())
    );
    // {"int": "1"}
    assert_eq!(
        read("a1 43 696e74 41 31"),
        Err("cbor: cannot unmarshal string into Go struct field Numbers.int of type int64".to_owned())
    );
    let limits = Limits { max_values: 3, ..Limits::default() };
    let error = decode_any(&bytes("83 01 02 03"), &limits).unwrap_err();
    assert!(error.to_string().contains("more than 3 values"), "{error}");
}

#[test]
fn lists_and_events_are_documents() {
    let frame = list_frame(&json!({"resourceVersion": "7"}), Some(1), "v1", "BagList");
    let mut list = frame.start;
    item(&json!({"data": {"a": "1"}}), &BAG, &mut list);
    list.extend(frame.end);
    let expected = json!({
        "kind": "BagList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"},
        "items": [{"data": {"a": "1"}}],
    });
    assert_eq!(list, encode_any(&expected));
    let none = list_frame(&json!({}), None, "v1", "BagList");
    let read = decode_any(&[none.start, none.end].concat(), &Limits::default()).unwrap();
    assert_eq!(read["items"], json!(null));
    let event = watch_event("ADDED", &encode(&json!({"data": {}}), &BAG));
    let read = decode_any(&event, &Limits::default()).unwrap();
    assert_eq!(read, json!({"type": "ADDED", "object": {"data": {}}}));
    assert_eq!(hex(&event[..9]), "d9d9f7a24474797065");
}

proptest! {
    #[test]
    fn what_is_written_is_read(tree in arbitrary_of(&BAG)) {
        let mut tree = tree;
        tree.as_object_mut().unwrap().remove("stringData");
        let read = decode(&encode(&tree, &BAG), &BAG, &Limits::default()).unwrap();
        let same = decode_tree(tree, &BAG, &Limits::default()).unwrap();
        prop_assert_eq!(read.tree, same.tree);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes, &BAG, &Limits::default());
        let _ = decode_any(&bytes, &Limits::default());
    }
}
