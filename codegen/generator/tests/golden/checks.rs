//! What rules with words, places and conditions report.

use orch_runtime::{field_error::Validation, object::Validate, path::Path};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    ORCH,
    checks::v1::{Kept, Lenient, Ruled, Said, Twin, Worded},
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
        (json!({"data": {"a": "", "b": "", "c": ""}}), "TooMany data: Too many: 3: is too large".to_owned()),
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
                "Forbidden Third: Forbidden: may not specify more than 1 source",
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
    assert_eq!(
        told(json!({}), child("a")),
        ["child.text: Invalid value: \"null\": field is immutable once set"]
    );
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
        (json!({"ports": [port("a", 1)], "mains": ["a"], "spares": ["a"]}), vec![]),
        (
            json!({"ports": [port("a", 1)], "mains": ["b"], "spares": ["a", "c"]}),
            vec![
                "Invalid mains[0]: Invalid value: \"b\": has no port",
                "Invalid spares[1]: Invalid value: \"c\": has no port",
            ],
        ),
        (
            json!({"groups": [{"ports": [port("a", 0)]}, {"ports": [port("a", 0), port("a", 0)]}]}),
            vec!["Duplicate groups[1].ports[1].name: Duplicate value: \"a\""],
        ),
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

#[test]
fn entries_of_maps_have_rules_of_their_own() {
    for (spec, expected) in [
        (json!({"labels": {"must": "large"}}), vec![]),
        (json!({"count": 9, "labels": {"must": ""}}), vec![]),
        (json!({"count": 9}), vec!["Required spec.labels[must]: Required value"]),
        (
            json!({"labels": {"must": "large", "kind": "b"}}),
            vec![r#"NotSupported spec.must.be: Unsupported value: "large": supported values: "small""#],
        ),
        (json!({"labels": {"orch.io/size": "1", "x": "y"}}), vec![]),
        (
            json!({"labels": {"orch.io/size": "1", "x": "z"}}),
            vec!["Invalid spec.labels[orch.io/size]: Invalid value: 2: needs x"],
        ),
        (
            json!({"child": {"text": "too long"}}),
            vec!["TooLong spec.child.text: Too long: may not be more than 5 bytes"],
        ),
        // What is told of the child alone takes the place of what is wrong with it.
        (
            json!({"child": {"text": "too long"}, "labels": {"single": ""}}),
            vec!["Forbidden spec.child: Forbidden: may not be given"],
        ),
        (json!({"amounts": {"a": "0", "b": "5", "c": "1Gi"}}), vec![]),
        (json!({"amounts": {"a": "1.5"}}), vec!["Invalid spec.amounts[a]: Invalid value: 2: is wrong"]),
        (json!({"amounts": {"a": "-0.5"}}), vec!["Invalid spec.amounts[a]: Invalid value: -1: is wrong"]),
        (json!({"amounts": {"a": "-2"}}), vec!["Invalid spec.amounts[a]: Invalid value: -2: is wrong"]),
    ] {
        assert_eq!(told::<Kept>(&read(&json!({"spec": spec}))), expected, "{spec}");
    }
}

#[test]
fn what_stays_may_have_parts_that_change() {
    let told = |old: &Value, new: &Value| {
        let (old, new): (Kept, Kept) = (read(&json!({"spec": old})), read(&json!({"spec": new})));
        let mut cx = Validation::new(&ORCH);
        new.validate_update(&old, &Path::ROOT, &mut cx);
        cx.into_errors().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let kept_words = "spec: Forbidden: may not change";
    for (old, new, expected) in [
        (json!({"count": 1}), json!({"count": 2}), vec![]),
        (json!({"amounts": {"a": "1"}}), json!({"amounts": {"a": "2"}}), vec![kept_words]),
        (json!({"items": [{"name": "a", "node": 1}]}), json!({"items": [{"name": "a", "node": 2}]}), vec![]),
        (
            json!({"items": [{"name": "a", "node": 1}]}),
            json!({"items": [{"name": "b", "node": 1}]}),
            vec![
                kept_words,
                r#"spec.items: Forbidden: was removed: "a""#,
                r#"spec.items[0].name: Forbidden: was added: "b""#,
            ],
        ),
        (
            json!({"items": [{"name": "a"}]}),
            json!({"items": []}),
            vec![kept_words, r#"spec.items: Forbidden: was removed: "a""#],
        ),
        (json!({}), json!({"child": {"text": "a"}}), vec![]),
        (json!({"child": {}}), json!({"child": {"text": "a"}}), vec![]),
        (json!({}), json!({"child": {"text": "a", "flag": true}}), vec![kept_words]),
        (json!({"child": {"text": "a"}}), json!({"child": {"text": "b"}}), vec![kept_words]),
        (json!({"child": {"text": "a"}}), json!({}), vec![kept_words]),
        (
            json!({"count": 6, "labels": {"a": ""}}),
            json!({"count": 6, "labels": {"a": "", "own": "x"}}),
            vec![],
        ),
        (json!({"count": 6, "labels": {"own": "y"}}), json!({"count": 6, "labels": {"own": "x"}}), vec![]),
        (
            json!({"count": 5, "labels": {"own": "y"}}),
            json!({"count": 5, "labels": {"own": "x"}}),
            vec![kept_words],
        ),
        (
            json!({"count": 20, "labels": {"own": "y"}}),
            json!({"count": 20, "labels": {"own": "x"}}),
            vec![kept_words],
        ),
        (
            json!({"count": 6, "labels": {"a": "y"}}),
            json!({"count": 6, "labels": {"a": "x"}}),
            vec![kept_words],
        ),
        (
            json!({"labels": {"orch.io/fixed": "y"}}),
            json!({"labels": {"orch.io/fixed": "x"}}),
            vec![kept_words, r#"spec.labels[orch.io/fixed]: Invalid value: "x": field is immutable"#],
        ),
        (
            json!({"amounts": {"a": "1"}}),
            json!({}),
            vec![kept_words, r#"spec.amounts[a]: Invalid value: "1": a was taken"#],
        ),
        (
            json!({"items": [{"name": "a"}, {"name": "b"}]}),
            json!({"items": [{"name": "c"}, {"name": "d"}]}),
            vec![
                kept_words,
                r#"spec.items: Forbidden: was removed: "a""#,
                r#"spec.items[0].name: Forbidden: was added: "c""#,
                r#"spec.items[1].name: Forbidden: was added: "d""#,
            ],
        ),
        (
            json!({"items": [{"name": "a", "protocol": "TCP"}]}),
            json!({"items": [{"name": "a", "protocol": "UDP"}]}),
            vec![kept_words, r#"spec.items: Forbidden: was removed: "a""#],
        ),
        (
            json!({"count": 3, "labels": {"use.orch.io/a": "x", "orch.io/colour": "red"}}),
            json!({"count": 3, "labels": {"use.orch.io/a": "x", "orch.io/colour": "red"}}),
            vec![
                r#"spec.labels[use.orch.io/a]: Not found: "a": is no item"#,
                r#"spec.labels[of 3]: Invalid value: "red": is not of orch.io"#,
            ],
        ),
        (json!({"count": 7}), json!({"count": 8}), vec!["spec.count: Forbidden: seven stays"]),
        // Nothing after it is judged.
        (
            json!({"count": 2, "labels": {"orch.io/fixed": "y"}}),
            json!({"count": 1, "labels": {"orch.io/fixed": "x"}}),
            vec![kept_words, "spec.count: Invalid value: 1: must not fall"],
        ),
    ] {
        assert_eq!(told(&old, &new), expected, "{old} {new}");
    }
}

#[test]
fn rules_are_shared_by_types_of_the_same_fields() {
    let labels =
        json!({"use.orch.io/a": "", "use.orch.io/b": "", "orch.io/colour": "orch.io/red", "twin": ""});
    let spec = json!({"labels": labels, "items": [{"name": "b"}], "child": {"text": "child"}});
    let uses = r#"NotFound spec.labels[use.orch.io/a]: Not found: "a": is no item"#;
    assert_eq!(
        told::<Kept>(&read(&json!({"spec": spec}))),
        [uses, "Invalid spec.child: Invalid value: \"child\": is the type"]
    );
    assert_eq!(
        told::<Twin>(&read(&json!({"spec": spec}))),
        [uses, "Invalid child: Invalid value: \"child\": is the type"]
    );
    assert_eq!(
        told::<Twin>(&read(&json!({"spec": {"child": {"text": "too long"}}}))),
        [
            "TooLong child.text: Too long: may not be more than 5 bytes",
            "Required spec.labels[twin]: Required value: is for twins"
        ]
    );
}

/// A rule with `unchanged: accepted` judges new objects, and on a change what is another value than before.
#[test]
fn wrong_values_are_accepted_where_they_stay_as_they_were() {
    let judged = |new: &Value, old: Option<&Value>| {
        let (new, old) = (read::<Lenient>(new), old.map(read::<Lenient>));
        let mut cx = Validation::new(&ORCH);
        new.validate(&Path::ROOT, &mut cx);
        new.validate_expressions(old.as_ref(), &Path::ROOT, &mut cx);
        cx.into_errors().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let part = |name: &str| json!({"name": name});
    let twice = json!([part("a"), part("a")]);
    for (base, change, expected) in [
        (json!({"name": "long"}), json!({"name": "longer"}), "name: Too long: may not be more than 3 bytes"),
        (json!({"type": "Local"}), json!({"type": "Local"}), "path: Required value: is needed"),
        (json!({"parts": twice}), json!({"parts": [part("b"), part("b")]}), "Duplicate value: \"b\""),
        (
            json!({"name": "ab", "type": "ab"}),
            json!({"name": "cd", "type": "cd"}),
            "name: Invalid value: \"cd\": must not be the type",
        ),
        (
            json!({"below": {"count": 6}}),
            json!({"below": {"count": 7}}),
            "below.count: Invalid value: 7: is too large: 7",
        ),
    ] {
        assert_eq!(judged(&base, None).len(), 1, "{base}: {:?}", judged(&base, None));
        assert_eq!(judged(&base, Some(&base)), [""; 0], "{base}");
        let errors = judged(&change, Some(&json!({})));
        assert!(errors.len() == 1 && errors[0].ends_with(expected), "{change}: {errors:?}");
    }
    // The condition has changed, and so the rule is judged.
    let errors = judged(&json!({"type": "Local"}), Some(&json!({"type": "Other"})));
    assert_eq!(errors, ["path: Required value: is needed"]);
    // A rule without the keyword is judged all the same.
    let short = json!({"name": "a"});
    assert_eq!(judged(&short, Some(&short)).len(), 1);
}
