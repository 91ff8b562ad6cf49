//! What files may say, and where their faults are.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::Deserialize;

use crate::{Fault, Spanned, parse};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    name: Spanned<String>,
    #[serde(default)]
    is_on: bool,
    count: Option<u32>,
    share: Option<f64>,
    #[serde(default)]
    items: Vec<Spanned<Item>>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    level: Option<Level>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    path: String,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Level {
    Low,
    High,
}

fn read(text: &str) -> Result<File, Fault> {
    parse(text)
}

#[test]
fn values_have_the_places_where_they_begin() {
    let file =
        read("# about\nname: a\nitems:\n- path: /x\n- {path: 7}\nisOn: yes\ncount: 5\nshare: 0.5\n").unwrap();
    assert_eq!(file.name, Spanned { value: "a".to_owned(), place: (2, 7) });
    let items: Vec<(u64, u64, &str)> =
        file.items.iter().map(|item| (item.place.0, item.place.1, item.value.path.as_str())).collect();
    assert_eq!(items, [(4, 3, "/x"), (5, 3, "7")]);
    assert_eq!((file.is_on, file.count, file.share), (true, Some(5), Some(0.5)));
}

#[test]
fn nothing_is_as_good_as_no_field() {
    let file = read("name: a\ncount: null\nitems:\nlabels: ~\n").unwrap();
    assert_eq!((file.count, file.items.len(), file.labels.len()), (None, 0, 0));
}

#[test]
fn scalars_are_texts_as_they_are_typed() {
    let file = read("name: 0755\nlabels: {a: true, b: 1e3, c: 'null', d: !!str null}\nlevel: High").unwrap();
    assert_eq!(file.name.value, "0755");
    let labels = file.labels.values().map(String::as_str).collect::<Vec<_>>();
    assert_eq!((labels, file.level), (vec!["true", "1e3", "null", "null"], Some(Level::High)));
}

#[test]
fn aliases_stand_for_what_they_name() {
    let file = read("name: &n x\nitems:\n- &i {path: /x}\n- *i\nlabels: {a: *n}\n").unwrap();
    assert_eq!((file.items.len(), file.labels["a"].as_str()), (2, "x"));
    assert_eq!(file.items[1].place, (3, 6), "the place of what it stands for");
}

#[test]
fn faults_have_a_place() {
    for (text, place, problem) in [
        ("", (1, 1), "missing field `name`"),
        ("isOn: true", (1, 1), "missing field `name`"),
        ("name: a\nitems:\n- paht: /x\n", (3, 3), "unknown field `paht`, expected `path`"),
        ("name: a\nitems:\n- {}\n", (3, 3), "missing field `path`"),
        ("name: [a]", (1, 7), "invalid type: sequence, expected a string"),
        ("name:\n", (1, 5), "invalid type: unit value, expected a string"),
        ("name: a\nisOn: 'true'", (2, 7), "invalid type: another value, expected a boolean"),
        ("name: a\ncount: -1", (2, 8), "invalid type: another value, expected u32"),
        ("name: a\ncount: 4294967296", (2, 8), "invalid value: integer `4294967296`, expected u32"),
        ("name: a\nlevel: Middle", (2, 8), "unknown variant `Middle`, expected `Low` or `High`"),
        (
            "name: a\nlevel: c2VjcmV0IGlzIHNlY3VyZSwgb3IgaXMgaXQ/Pz8/Pz8/Pz8=",
            (2, 8),
            "unknown variant, expected `Low` or `High`",
        ),
        (
            "name: a\nc2VjcmV0IGlzIHNlY3VyZSwgb3IgaXMgaXQ/Pz8/Pz8/Pz8: 1",
            (2, 1),
            "unknown field, expected one of `name`, `isOn`, `count`, `share`, `items`, `labels`, `level`",
        ),
        ("name: a\nname: b", (2, 1), "\"name\" stands here twice"),
        ("name: a\n---\nname: b", (2, 1), "there is a second document; one is read"),
        ("name: !mine a", (1, 13), "tags are not read here"),
        ("? [a]\n: b", (1, 3), "a name is wanted here"),
        ("items: &i [*i]", (1, 12), "this alias stands inside of what it stands for"),
        ("- a", (1, 1), "invalid type: sequence, expected struct File"),
    ] {
        let (found, message) = read(text).unwrap_err();
        assert_eq!((found, message.as_str()), (place, problem), "{text:?}");
    }
    let (place, _) = read("name: \"a\nb: [").unwrap_err();
    assert!(place.0 >= 1, "the place of a syntax error");
}

/// Time and memory stay within what the text is.
#[test]
fn depth_and_aliases_are_limited() {
    for (deep, limit) in [(100, "more than 64"), (100_000, "recursion limit exceeded")] {
        let (_, problem) = read(&format!("name: {}{}", "[".repeat(deep), "]".repeat(deep))).unwrap_err();
        assert!(problem.starts_with(limit), "{problem}");
    }
    let mut laughs = "name: a\nlabels:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(laughs, "  a{level}: &a{level} [{items}]").unwrap();
    }
    assert!(read(&laughs).unwrap_err().1.contains("more than 100000 values"), "{:?}", read(&laughs));
}
