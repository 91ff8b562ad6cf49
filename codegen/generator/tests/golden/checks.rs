//! What rules with words, places and conditions report.

use orch_runtime::{field_error::Validation, object::Validate, path::Path};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    ORCH,
    checks::v1::{Ruled, Said, Worded},
};

fn read<T: DeserializeOwned>(tree: &Value) -> T {
    serde_json::from_value(tree.clone()).unwrap_or_else(|error| panic!("{error}: {tree}"))
}

/// Errors, then warnings.
fn told<T: Validate>(value: &T) -> Vec<String> {
    let mut cx = Validation::new(&ORCH);
    value.validate(&Path::ROOT, &mut cx);
    let warnings = cx.take_warnings();
    let errors = cx.into_errors();
    errors
        .iter()
        .map(|error| format!("{} {error}", error.reason.as_str().trim_start_matches("FieldValue")))
        .chain(warnings)
        .collect()
}

fn with(base: &Value, changes: &Value) -> Value {
    let mut tree = base.clone();
    for (key, value) in changes.as_object().into_iter().flatten() {
        tree[key] = value.clone();
    }
    tree
}

#[test]
fn keywords_have_words_and_places() {
    let base = json!({"name": "n", "list": ["a.b"]});
    assert_eq!(told::<Worded>(&read(&base)), [""; 0]);
    let subdomain = orch_runtime::constraint::dns_subdomain("a_b");
    let key = orch_runtime::constraint::qualified_name("a b");
    let table = [
        (json!({"name": ""}), "Required name: Required value: must be specified".to_owned()),
        (json!({"list": []}), "Required lists: Required value: give one or more".to_owned()),
        (json!({"list": ["A.b", "a_b"]}), format!("Invalid list: Invalid value: \"a_b\": {}", subdomain[0])),
        (json!({"weight": 0}), "Invalid weight: Invalid value: 0: must be in the range 1-100".to_owned()),
        (json!({"weight": 101}), "Invalid weight: Invalid value: 101: must be in the range 1-100".to_owned()),
        (json!({"age": 5}), "Invalid age: Invalid value: 5: too young: 5".to_owned()),
        (json!({"age": 4_294_967_297_u64}), "TooLong age: Too long: too old".to_owned()),
        (json!({"size": "huge"}), "size: will be ignored".to_owned()),
        (json!({"key": "a b"}), format!("Invalid key: Invalid value: \"a b\": is no key; {}", key[0])),
        (json!({"text": "A"}), "Invalid text: Invalid value: \"hidden\": must be small".to_owned()),
        (json!({"text": "abcd"}), "Invalid text: Invalid value: \"abcd\": must be short".to_owned()),
        (json!({"own": "a"}), "Invalid own: Invalid value: \"a\": must be even".to_owned()),
        (
            json!({"data": {"a": "", "b": "", "c": ""}}),
            "TooMany data: Too many: {\"a\":\"\",\"b\":\"\",\"c\":\"\"}: is too large".to_owned(),
        ),
    ];
    for (changes, expected) in table {
        assert_eq!(told::<Worded>(&read(&with(&base, &changes))), [expected], "{changes}");
    }
}

/// Each change of a correct object gives these errors and warnings, of which parts are given.
fn judge(table: &[(Value, Vec<&str>)]) {
    let base = json!({"first": {}});
    assert_eq!(told::<Ruled>(&read(&base)), [""; 0]);
    for (changes, expected) in table {
        let found = told::<Ruled>(&read(&with(&base, changes)));
        let is_same = |(found, part): (&String, &&str)| found.contains(part);
        let all = found.len() == expected.len() && found.iter().zip(expected).all(is_same);
        assert!(all, "{changes}: {found:#?}, expected {expected:#?}");
    }
}

#[test]
fn rules_hold_under_conditions() {
    let port = |name: &str| json!({"name": name});
    judge(&[
        (
            json!({"targets": ["t"]}),
            vec!["Required lun: Required value: lun is required if targets are given"],
        ),
        (json!({"targets": ["t"], "lun": 255}), vec![]),
        (
            json!({"targets": ["t"], "lun": 256}),
            vec!["Invalid lun: Invalid value: 256: must be between 0 and 255, inclusive"],
        ),
        (json!({"lun": 256}), vec![]),
        (
            json!({"type": "Other", "profile": "p"}),
            vec!["Forbidden profile: Forbidden: may not be used when type is Other"],
        ),
        (
            json!({"type": "Local", "profile": "/p"}),
            vec!["Invalid profile: Invalid value: \"/p\": must be a relative path"],
        ),
        (json!({"type": "Shared", "profile": "/p"}), vec![]),
        (json!({"child": {}, "count": 2}), vec!["Invalid child.flag: Invalid value: false: must be true"]),
        (json!({"child": {"flag": true}, "count": 2}), vec![]),
        (json!({"child": {}, "count": 6}), vec![]),
        (json!({"count": 2}), vec![]),
        (json!({"ports": [{}]}), vec![]),
        (json!({"ports": [port("a"), {}]}), vec!["Required ports[1].name: Required value"]),
        (json!({"ports": [port("a"), port("a")]}), vec!["Duplicate ports[1].name: Duplicate value: \"a\""]),
        (
            json!({"ports": [port("a")], "others": [port("b"), port("a")]}),
            vec!["Duplicate others[1]: Duplicate value: \"a\""],
        ),
        (json!({"ports": [port("a")], "mounts": ["a", "b"]}), vec!["NotFound mounts[1]: Not found: \"b\""]),
        (
            json!({"ports": [{"node": 1, "protocol": "TCP"}, {"node": 2, "protocol": "UDP"}]}),
            vec![
                "Required ports[0].name",
                "Required ports[1].name",
                "Invalid ports[1].node: Invalid value: 2: not",
            ],
        ),
        (
            json!({"limits": {"x": 10, "y": 9}}),
            vec!["Invalid limits[x]: Invalid value: 10: must be less than or equal to 9"],
        ),
    ]);
}

#[test]
fn choices_exclude_each_other() {
    judge(&[
        // `first` is judged last, by `x-orch-order`.
        (json!({"second": {}}), vec!["Forbidden first: Forbidden: may not specify more than 1 source"]),
        (
            json!({"second": {"text": "too long"}, "third": "long"}),
            vec![
                "TooLong second.text: Too long",
                "Forbidden third: Forbidden: may not specify more than 1 source",
                "Forbidden first: Forbidden",
            ],
        ),
        (
            json!({"a": "x", "frozen": true, "child": {"text": "y"}}),
            vec!["Invalid a: Invalid value: \"x\": excludes child.text"],
        ),
        (json!({"a": "x"}), vec!["is ignored"]),
        (
            json!({"b": "x", "ports": [{"protocol": "SCTP"}]}),
            vec!["Invalid b: Invalid value: \"x\": must be at least 2 bytes"],
        ),
        (
            json!({"amount": "-1"}),
            vec!["Invalid amount: Invalid value: \"-1\": must be greater than or equal to 0"],
        ),
        (
            json!({"amount": "0", "size": "0"}),
            vec!["Invalid size: Invalid value: \"0\": must be greater than zero"],
        ),
        (
            json!({"b": "abc", "profile": "p", "type": "Shared"}),
            vec!["Invalid profile: Invalid value: \"p\": must be at least 2 bytes"],
        ),
        (json!({"b": "a b"}), vec![]),
        (
            json!({"a": "xy", "b": "a b"}),
            vec!["Invalid a: Invalid value: \"xy\": a valid label must be", "is ignored"],
        ),
        (
            json!({"type": "Both", "lun": 1}),
            vec!["Invalid Invalid value: {\"first\":{},\"lun\":1,\"type\":\"Both\"}: must specify a or b"],
        ),
    ]);
    assert_eq!(told::<Ruled>(&read(&json!({}))), ["Required Required value: must specify a source"]);
    assert_eq!(
        told::<Ruled>(&read(&json!({"third": "long"}))),
        ["TooLong third: Too long: may not be more than 3 bytes"]
    );
}

#[test]
fn changes_are_refused_under_conditions() {
    let told = |new: Value, old: Value| {
        let mut cx = Validation::new(&ORCH);
        read::<Ruled>(&new).validate_update(&read(&old), &Path::ROOT, &mut cx);
        cx.into_errors().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let data = |text: &str, frozen: bool| json!({"data": {"a": text}, "frozen": frozen});
    assert_eq!(told(data("x", true), data("y", false)), [""; 0]);
    assert_eq!(told(data("x", true), data("x", true)), [""; 0]);
    assert_eq!(told(data("x", false), data("y", true)), ["data: Forbidden: is frozen"]);
    let child = |text: &str| json!({"child": {"text": text}});
    assert_eq!(told(child("a"), child("")), [""; 0]);
    assert_eq!(told(child("a"), json!({})), [""; 0]);
    assert_eq!(
        told(child("b"), child("a")),
        ["child.text: Invalid value: \"b\": field is immutable once set"]
    );
    assert_eq!(told(json!({}), child("a")), ["child.text: Invalid value: null: field is immutable once set"]);
}

#[test]
fn rules_are_said_in_expressions() {
    let port = |name: &str, node: i32| json!({"name": name, "node": node, "port": 80});
    let table = [
        (json!({"name": "orch.io/long"}), vec![]),
        (
            json!({"name": "example.org/long"}),
            vec!["Invalid name: Invalid value: \"example.org/long\": is too long"],
        ),
        (json!({"least": 2, "most": 2}), vec![]),
        (json!({"least": 3, "most": 2}), vec!["Invalid least: Invalid value: 3: must not be greater than 2"]),
        // What is not there breaks no rule.
        (json!({"least": 3}), vec![]),
        (json!({"least": 6, "most": 11}), vec![]),
        (
            json!({"least": 6, "most": 11, "wanted": true}),
            vec!["most: Invalid value: 11: at most 10 beside 6"],
        ),
        (json!({"onHost": true, "ports": [port("a", 80), {"name": "b", "node": 8}]}), vec![]),
        (
            json!({"onHost": true, "ports": [port("a", 8)]}),
            vec!["ports[0].node: Invalid value: 8: must match 80"],
        ),
        (
            json!({"ports": [port("a", 1), port("b", 2), port("c", 3), port("d", 1)]}),
            vec![
                "Duplicate ports[3].node: Duplicate value: \"/1\"",
                "Forbidden ports[3]: Forbidden: only three",
            ],
        ),
        (json!({"labels": {"a": "", "B": ""}}), vec!["labels[B]: Invalid value: \"a label\": must be small"]),
        (json!({"searches": ["a.b", "a.b."]}), vec![]),
        (
            json!({"searches": ["a.b", "a_b."]}),
            vec!["searches[1]: Invalid value: \"a_b\": a lowercase RFC 1123"],
        ),
        (json!({"groups": [{"name": "y", "ports": [port("z", 0)]}]}), vec![]),
        (
            json!({"groups": [{"name": "x", "ports": [port("y", 0), port("z", 0)]}]}),
            vec!["groups[0].ports[1].name: Invalid value: \"z\": must be y"],
        ),
        (json!({"ports": [port("a", 1)], "uses": ["a"]}), vec![]),
        // A port with an error does not count.
        (
            json!({"ports": [port("", 1)], "uses": ["a"]}),
            vec!["Required ports[0].name", "NotFound uses[0]: Not found: \"a\""],
        ),
        (
            json!({"ports": [port("a", 1)], "uses": ["a"], "excludes": ["b", "a"]}),
            vec!["excludes[1]: Invalid value: \"a\": is used"],
        ),
        (
            json!({"groups": [{"name": "abcde"}, {"name": "bad"}, {"name": "cd"}, {"name": "xy"}]}),
            vec![
                "groups[0].name: ",
                "groups[1].name: ",
                "groups[2].name: Invalid value: \"cd\": begins wrong",
            ],
        ),
        (json!({"detail": "long"}), vec![]),
        (json!({"detail": "long", "wanted": true}), vec!["detail: Too long"]),
        (
            json!({"metadata": {"name": "none"}, "detail": "long", "wanted": true, "last": "x"}),
            vec!["detail: Too long", "Forbidden last: Forbidden: comes last"],
        ),
    ];
    for (tree, expected) in table {
        let found = told::<Said>(&read(&tree));
        let is_same = |(found, part): (&String, &&str)| found.contains(part);
        let all = found.len() == expected.len() && found.iter().zip(&expected).all(is_same);
        assert!(all, "{tree}: {found:#?}, expected {expected:#?}");
    }
}

#[test]
fn rules_about_a_change_are_not_judged_before() {
    let change = |old: Value, new: Value| {
        let (old, new): (Said, Said) = (read(&old), read(&new));
        let mut cx = Validation::new(&ORCH);
        new.validate_update(&old, &Path::ROOT, &mut cx);
        cx.into_errors().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(change(json!({"least": 1}), json!({"least": 2})), [""; 0]);
    assert_eq!(change(json!({}), json!({"least": 2})), [""; 0]);
    assert_eq!(change(json!({"least": 2}), json!({"least": 1})), ["least: Invalid value: 1: must not fall"]);
    assert_eq!(change(json!({"labels": {"a": ""}}), json!({"labels": {"a": ""}})), [""; 0]);
    assert_eq!(change(json!({"labels": {"a": ""}}), json!({})), ["name: Required value"]);
    assert_eq!(change(json!({"labels": {"a": ""}}), json!({"name": "n"})), [""; 0]);
}
