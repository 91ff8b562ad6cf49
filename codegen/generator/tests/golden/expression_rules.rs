//! What rules in the expression language do when they are compiled.

use orch_runtime::{field_error::Validation, object::Validate, path::Path};
use serde_json::{Value, json};

use crate::{
    ORCH,
    expressions::v1::{Draft, Plan},
};

/// A plan that breaks no rule, with other fields.
fn plan(fields: Value) -> Plan {
    let mut tree = json!({"min": 1, "max": 7});
    let Value::Object(fields) = fields else { panic!("no object") };
    tree.as_object_mut().expect("it is an object").extend(fields);
    serde_json::from_value(tree).expect("it is a plan")
}

fn judged(new: &Plan, old: Option<&Plan>) -> (Vec<String>, Vec<String>) {
    let mut cx = Validation::new(&ORCH);
    new.validate_expressions(old, &Path::ROOT, &mut cx);
    let warnings = cx.take_warnings();
    (cx.into_errors().iter().map(ToString::to_string).collect(), warnings)
}

#[test]
fn rules_are_told_as_clients_know_them() {
    for (fields, expected) in [
        (json!({}), vec![]),
        (json!({"min": 8}), vec![r#"min: Invalid value: "object": min must not be greater than max"#]),
        (json!({"step": 4}), vec![r#"step: Invalid value: "object": the distance of 6 is not divided by 4"#]),
        (json!({"step": 0}), vec!["is not divided by 0"]),
        (json!({"step": 3, "ratio": 2.0, "name": "abc", "mode": "Slow", "on": false}), vec![]),
        (
            json!({"min": i64::from(i32::MIN), "max": i64::MAX, "step": 1}),
            vec![r"integer overflow evaluating rule: "],
        ),
        (
            json!({"ratio": 2.1}),
            vec![r#"Invalid value: "object": failed rule: !has(self.ratio) || self.ratio >= 0.0 "#],
        ),
        (json!({"name": "x"}), vec!["failed rule: !has(self.name) || self.name.matches("]),
        (json!({"namespace": "orch-system"}), vec!["that name is taken"]),
        (json!({"namespace": "other"}), vec![]),
        (json!({"mode": "Fast"}), vec!["no such key: on evaluating rule: a fast plan must be on"]),
        (json!({"mode": "Fast", "on": false}), vec!["a fast plan must be on"]),
        (json!({"mode": "Fast", "on": true}), vec![]),
        (json!({"mode": "Odd"}), vec![r#"mode: Invalid value: "string": odd plans are out of use"#]),
        (json!({"memory": "2Gi", "limit": "1Gi"}), vec!["self.memory <= self.limit"]),
        (json!({"memory": "1Gi", "limit": "1024Mi"}), vec![]),
        (json!({"memory": "1k"}), vec!["isGreaterThan"]),
        (json!({"start": "2024-01-01T00:00:00Z", "end": "2024-01-01T00:59:59Z"}), vec!["duration"]),
        (json!({"start": "2024-01-01T00:00:00Z", "end": "2024-01-01T01:00:00Z"}), vec![]),
        (json!({"wait": "59s"}), vec![]),
        (json!({"wait": "60s"}), vec!["failed rule: !has(self.wait) || "]),
        (json!({"port": 80}), vec![]),
        (json!({"port": "http"}), vec![]),
        (json!({"port": 0}), vec!["failed rule: !has(self.port)"]),
        (json!({"key": "AAEC"}), vec![]),
        (json!({"key": "AAECAw=="}), vec!["failed rule: !has(self.key)"]),
        (json!({"tags": ["a", "b"]}), vec![]),
        (json!({"tags": ["a", "a"]}), vec!["isUnique"]),
        (json!({"numbers": [1, 2, 3]}), vec![]),
        (json!({"numbers": [1, 3, 2]}), vec!["must rise"]),
        (json!({"numbers": [-1, 30, 31]}), vec!["failed rule: !has(self.numbers)"]),
        (json!({"numbers": [i64::MAX]}), vec!["integer overflow evaluating rule"]),
        (json!({"parts": [{"name": "a", "isMain": true}, {"name": "b", "isMain": false}]}), vec![]),
        (json!({"parts": [{"name": "a"}]}), vec!["one part is the main one"]),
        (
            json!({"parts": [{"name": "a", "isMain": true, "weight": 0}]}),
            vec![r#"parts[0]: Invalid value: "object": division by zero evaluating rule: must be below 51"#],
        ),
        (
            json!({"parts": [{"name": "a", "isMain": true, "weight": 51}]}),
            vec![r#"parts[0].weight: Invalid value: "object": must be below 51"#],
        ),
        (json!({"labels": {"a": "b"}}), vec![]),
        (
            json!({"labels": {"forbidden": "b"}}),
            vec![r#"labels[forbidden]: Invalid value: "object": failed rule"#],
        ),
        (json!({"labels": {"a": "a"}}), vec!["key != value"]),
        (
            json!({"labels": {"a": "x y"}}),
            vec![r#"labels[a]: Invalid value: "string": must not contain blanks"#],
        ),
        (
            json!({"labels": {"a": "12345678901234567890", "b": "12345678901234567890", "c": "12345678901"}}),
            vec!["sizes"],
        ),
        (json!({"size": 3}), vec!["size: Forbidden: must be even"]),
        (json!({"size": 4}), vec![]),
        // A field that is ignored breaks none of its rules.
        (json!({"size": 3, "name": "free"}), vec![]),
        (json!({"name": "abcdefghij"}), vec!["cel.bind"]),
        (json!({"wish": {"text": ""}}), vec!["a wish has a text"]),
        (json!({"wish": {"text": "y"}}), vec![]),
    ] {
        let (errors, warnings) = judged(&plan(fields.clone()), None);
        assert_eq!(errors.len(), expected.len(), "{fields}: {errors:#?}");
        for (error, expected) in errors.iter().zip(&expected) {
            assert!(error.contains(expected), "{fields}: {error}");
        }
        assert!(warnings.is_empty(), "{fields}: {warnings:?}");
    }
}

#[test]
fn a_warning_refuses_nothing() {
    let (errors, warnings) = judged(&plan(json!({"x-kind": "c"})), None);
    assert_eq!((errors, warnings), (vec![], vec!["unusual".to_owned()]));
    assert_eq!(judged(&plan(json!({"x-kind": ""})), None), (vec![], vec![]));
}

#[test]
fn rules_about_a_change_see_the_old_value() {
    let parts = |weight: i64| json!({"parts": [{"name": "a", "isMain": true, "weight": weight}]});
    for (new, old, expected) in [
        (json!({}), json!({}), None),
        (json!({"max": 6}), json!({}), Some("max must not fall")),
        (json!({"min": 2}), json!({}), Some("min must stay")),
        (json!({"tags": ["b", "a"]}), json!({"tags": ["a", "b"]}), None),
        (json!({"tags": ["b", "c"]}), json!({"tags": ["a", "b"]}), Some("tags must stay")),
        (parts(4), parts(3), None),
        (parts(2), parts(3), Some("parts[0]: Invalid value: \"object\": must not become lighter")),
    ] {
        let (errors, _) = judged(&plan(new.clone()), Some(&plan(old)));
        assert_eq!(errors.len(), usize::from(expected.is_some()), "{new}: {errors:#?}");
        assert!(expected.is_none_or(|expected| errors[0].contains(expected)), "{new}: {errors:?}");
    }
}

#[test]
fn a_value_that_stays_as_it_was_is_not_judged_anew() {
    let odd = plan(json!({"size": 3, "mode": "Odd", "wait": "60s"}));
    assert_eq!(judged(&odd, None).0.len(), 3);
    assert_eq!(judged(&odd, Some(&odd)).0, Vec::<String>::new());
    let other = plan(json!({"size": 3, "mode": "Odd", "wait": "61s"}));
    let (errors, _) = judged(&other, Some(&odd));
    assert_eq!(errors.len(), 1, "{errors:?}");
}

fn draft(fields: Value) -> Draft {
    let mut tree = json!({"metadata": {"name": "d"}, "wanted": 4});
    let Value::Object(fields) = fields else { panic!("no object") };
    tree.as_object_mut().expect("it is an object").extend(fields);
    serde_json::from_value(tree).expect("it is a draft")
}

fn drafted(new: Value, old: Option<Value>) -> Vec<String> {
    let mut cx = Validation::new(&ORCH);
    let (new, old) = (draft(new), old.map(draft));
    new.validate_expressions(old.as_ref(), &Path::ROOT, &mut cx);
    if let Some(old) = &old {
        new.validate_update(old, &Path::ROOT, &mut cx);
    }
    let warnings = cx.take_warnings();
    cx.into_errors().iter().map(ToString::to_string).chain(warnings).collect()
}

/// Of its own metadata a kind sees the name, with `x-orch-validations`; of a template's it sees all.
#[test]
fn a_change_of_metadata_is_seen_where_it_is_not_the_kinds_own() {
    let named = |name: &str, note: &str| json!({"name": name, "annotations": {"note": note}});
    let template = |note: &str| json!({"template": {"metadata": named("t", note)}});
    assert_eq!(drafted(json!({}), Some(json!({}))), [""; 0]);
    let own = drafted(json!({"metadata": named("d", "a")}), Some(json!({"metadata": named("d", "b")})));
    assert_eq!(own, ["the metadata changed"]);
    let renamed = drafted(json!({"metadata": {"name": "e"}}), Some(json!({})));
    assert_eq!(renamed, ["the draft changed", "the name changed", "the metadata changed"]);
    let below = drafted(template("a"), Some(template("b")));
    assert_eq!(below, ["the draft changed", "the template changed"]);
    let bad = drafted(json!({"template": {"metadata": {"annotations": {"bad": ""}}}}), None);
    assert_eq!(bad, ["Invalid value: \"object\": a bad template"]);
}

#[test]
fn null_enums_and_words_are_values() {
    for (fields, expected) in [
        (json!({"wanted": null}), None),
        (json!({"wanted": 4}), None),
        (json!({"wanted": 3}), Some("too few")),
        (json!({"modes": ["Slow", "Fast"]}), None),
        (json!({"modes": ["Slow", "Fast", "Slow"]}), Some("too many modes")),
        (json!({"metadata": {"name": "orch-system"}}), Some("named as a namespace")),
        (json!({"aliases": [["a"], ["b", "c d"]]}), Some("aliases[1][1]")),
        (json!({"template": {"metadata": {}, "names": ["a b"]}}), Some("template.names[0]")),
    ] {
        let errors = drafted(fields.clone(), None);
        assert_eq!(errors.len(), usize::from(expected.is_some()), "{fields}: {errors:?}");
        assert!(expected.is_none_or(|expected| errors[0].contains(expected)), "{fields}: {errors:?}");
    }
}

/// A message may look at the value before; that makes no rule about a change of it.
#[test]
fn new_objects_are_judged_where_only_the_message_is_about_the_old_one() {
    let told = |least: i64, old: Option<Value>| drafted(json!({"least": least}), old);
    assert_eq!(told(0, None), ["Invalid value: \"object\": must be positive"]);
    let changed = told(0, Some(json!({"least": 7})));
    assert!(
        changed.contains(&"Invalid value: \"object\": must be positive, and was 7".to_owned()),
        "{changed:?}"
    );
    assert_eq!(told(0, Some(json!({"least": 0}))), [""; 0]);
}
