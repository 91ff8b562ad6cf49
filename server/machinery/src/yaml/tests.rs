//! Tests of YAML. The meaning of scalars follows recorded answers and the rules of YAML 1.1.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tree::arbitrary;

fn read(text: &str) -> Result<Document, DecodeError> {
    decode(text.as_bytes(), &Limits::default())
}

fn tree(text: &str) -> Tree {
    read(text).unwrap_or_else(|error| panic!("{text}: {error}")).tree
}

#[test]
fn plain_scalars_are_read_as_yaml_1_1() {
    for (text, expected) in [
        ("y", json!(true)),
        ("yes", json!(true)),
        ("On", json!(true)),
        ("off", json!(false)),
        ("n", json!(false)),
        ("\"y\"", json!("y")),
        ("'it''s'", json!("it's")),
        ("~", json!(null)),
        ("null", json!(null)),
        ("0755", json!(493)),
        ("0o755", json!(493)),
        ("0x1F", json!(31)),
        ("12", json!(12)),
        ("-12", json!(-12)),
        ("1.5", json!(1.5)),
        ("1e3", json!(1000)),
        ("1.0", json!(1)),
        ("1h30m", json!("1h30m")),
        ("100m", json!("100m")),
        ("2001-01-01", json!("2001-01-01")),
        ("18446744073709551615", json!(u64::MAX)),
        ("|\n    a\n    b\n", json!("a\nb\n")),
        (">-\n    a\n    b\n", json!("a b")),
        ("!!str 1", json!("1")),
    ] {
        assert_eq!(tree(&format!("k: {text}")), json!({"k": expected}), "{text}");
    }
}

#[test]
fn structure_is_read() {
    assert_eq!(
        tree("# c\na: &v one\nb: *v\nc: {x: 1, y: [1, two]}\nd:\n- e\n-\n  f: g\n"),
        json!({"a": "one", "b": "one", "c": {"x": 1, "true": [1, "two"]}, "d": ["e", {"f": "g"}]})
    );
    assert_eq!(tree("{\"a\": [1, \"x\"]}"), json!({"a": [1, "x"]}));
    assert_eq!(tree("{a: 1, b: {c: 'x'}}"), json!({"a": 1, "b": {"c": "x"}}));
    assert_eq!(
        tree("base: &b {x: 1}\nm:\n  <<: *b\n  z: 2\n"),
        json!({"base": {"x": 1}, "m": {"x": 1, "z": 2}})
    );
    assert_eq!(tree("1: a\ntrue: b\n"), json!({"1": "a", "true": "b"}));
}

#[test]
fn the_first_document_counts() {
    assert_eq!(tree("a: 1\n---\na: 2\n"), json!({"a": 1}));
    assert_eq!(tree("---\na: 1\n---\n{"), json!({"a": 1}));
    assert_eq!(tree("# c\n--- # d\na: 1\n...\nrest: [\n"), json!({"a": 1}));
    assert_eq!(tree("a: |\n  x\n  ---\n  y\n"), json!({"a": "x\n---\ny\n"}));
    assert_eq!(tree("a: '---'\nb: ---x\n"), json!({"a": "---", "b": "---x"}));
}

#[test]
fn duplicates_are_reported_with_their_lines() {
    let document = read("a: 1\nb:\n  k: a\n  k: b\na: 2\n").unwrap();
    assert_eq!(document.tree, json!({"a": 2, "b": {"k": "b"}}));
    assert_eq!(
        document.duplicates,
        ["line 4: key \"k\" already set in map", "line 5: key \"a\" already set in map"]
    );
    // JSON is YAML. Text that can only be read as JSON is reported in the words of JSON.
    let document = read("{\"a\": {\"k\": \"y\",\n \"k\": \"no\"}}").unwrap();
    assert_eq!(document.tree, json!({"a": {"k": "no"}}));
    assert_eq!(document.duplicates, ["line 2: key \"k\" already set in map"]);
}

#[test]
fn bad_documents_are_refused() {
    assert_eq!(tree("---\n"), json!(null));
    for text in ["", "  \n# only a comment\n"] {
        assert_eq!(read(text), Err(DecodeError::Empty), "{text:?}");
    }
    for text in ["a: b: c: {", "a:\n\tb: 1\n", "a: [1", "a: .nan", "a: *missing", "{[1]: 2}", "a: !!int x"] {
        assert!(matches!(read(text), Err(DecodeError::Syntax(_))), "{text:?}: {:?}", read(text));
    }
    assert!(matches!(decode(b"a: \xff", &Limits::default()), Err(DecodeError::Syntax(_))));
    let refused = Err(DecodeError::Syntax("yaml: control characters are not allowed".to_owned()));
    for text in ["a: b\0c: d\n", "a: \u{7f}", "a: \u{9f}", "a: \u{1b}[0m", "a: b # \u{1}"] {
        assert_eq!(read(text), refused, "{text:?}");
    }
    assert_eq!(tree("a: \t\u{a0}é😀\r\n"), json!({"a": "\u{a0}é😀"}));
    let indented: Vec<String> = (0..200).map(|depth| format!("{}a:", " ".repeat(depth))).collect();
    for text in [format!("{}{}", "[".repeat(200), "]".repeat(200)), indented.join("\n")] {
        assert!(matches!(read(&text), Err(DecodeError::TooDeep(64))), "{:?}", read(&text));
    }
}

#[test]
fn the_deepest_document_fits_a_small_stack() {
    let text = format!("{}{}", "[{a: ".repeat(31), "}]".repeat(31));
    let reader = std::thread::Builder::new().stack_size(1536 * 1024).spawn(move || read(&text).is_ok());
    assert!(reader.unwrap().join().unwrap());
}

#[test]
fn aliases_are_limited() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..10 {
        let items = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb = format!("{bomb}a{n}: &a{n} [{items}]\n");
    }
    assert!(read(&bomb).is_err());
}

/// As many as the text has bytes, and in a short one enough for any honest file.
#[test]
fn what_aliases_stand_for_is_bounded_by_the_text() {
    let text = |aliases: usize, comment: usize| {
        let aliases = vec!["*a"; aliases].join(",");
        format!("a: &a [{}]\nb: [{aliases}]\n#{}\n", vec!["x"; 998].join(","), "-".repeat(comment))
    };
    for (aliases, comment, is_read) in
        [(10, 0, true), (11, 0, false), (11, 20_000, true), (30, 20_000, false), (30, 40_000, true)]
    {
        let document = read(&text(aliases, comment));
        assert_eq!(document.is_ok(), is_read, "{aliases} {comment}");
        if let Err(error) = document {
            let told = error.to_string();
            assert!(told.contains("alias replay limit exceeded"), "{told}");
        }
    }
}

#[test]
fn what_is_written_reads_plainly() {
    let status = json!({
        "apiVersion": "v1", "code": 404, "details": {"kind": "configmaps", "name": "none"}, "kind": "Status",
        "message": "configmaps \"none\" not found", "metadata": {}, "reason": "NotFound", "status": "Failure",
    });
    assert_eq!(
        encode(&status),
        "apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: none\nkind: Status\n\
         message: configmaps \"none\" not found\nmetadata: {}\nreason: NotFound\nstatus: Failure\n"
    );
}

#[test]
fn a_merge_key_as_a_name_is_quoted() {
    let written = encode(&json!({"<<": {"a": "<<"}}));
    assert_eq!(written, "\"<<\":\n  a: <<\n");
    assert_eq!(tree(&written), json!({"<<": {"a": "<<"}}));
}

/// Pairs of a value and the text that the reference server writes for it.
#[test]
fn yaml_is_written_like_the_reference() {
    let pairs: Vec<(Tree, String)> = serde_json::from_str(include_str!("written.json")).unwrap();
    assert!(pairs.len() > 100);
    for (value, expected) in pairs {
        assert_eq!(encode(&value), expected, "{value}");
    }
    for (value, expected) in [
        (json!(0.5), "0.5\n"),
        (json!(1_234_567.5), "1.2345675e+06\n"),
        (json!(-1.5e-7), "-1.5e-07\n"),
        (json!({"a\rb": 1}), "? \"a\\rb\"\n: 1\n"),
    ] {
        assert_eq!(encode(&value), expected);
    }
}

#[test]
fn an_item_is_written_as_in_its_list() {
    let items = [json!({"a": 1, "b": [2, 3], "c": {"d": "x\ny"}}), json!([[], {}]), json!("y"), json!(null)];
    let list = encode(&Tree::from(items.to_vec()));
    assert_eq!(items.iter().map(encode_item).collect::<String>(), list);
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(tree in arbitrary()) {
        let tree = json!({"k": tree});
        let text = encode(&tree);
        let read = read(&text).unwrap_or_else(|error| panic!("{text}: {error}")).tree;
        prop_assert_eq!(normal(read), normal(tree), "{}", text);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[-a-c:,\\[\\]{}&*!|>'\"#%\n\t 01.~]{0,80}") {
        let _ = read(&text);
    }
}

/// Compares numbers by value: whole ones are read as integers.
fn normal(tree: Tree) -> Tree {
    match tree {
        Tree::Number(value) => {
            value.as_f64().and_then(number).filter(|_| value.is_f64()).unwrap_or(value).into()
        }
        Tree::Array(items) => items.into_iter().map(normal).collect(),
        Tree::Object(map) => map.into_iter().map(|(name, value)| (name, normal(value))).collect(),
        other => other,
    }
}

#[test]
fn whole_numbers_are_integers_however_json_has_them() {
    let text = br#"{"a": 1.0, "b": [1e2, -0], "c": {"d": 1.0e0}, "e": 1.5, "f": "1.0"}"#;
    assert_eq!(
        decode(text, &Limits::default()).unwrap().tree,
        json!({"a": 1, "b": [100, 0], "c": {"d": 1}, "e": 1.5, "f": "1.0"})
    );
}
