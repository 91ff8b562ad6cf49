//! What a batch may be: all of it is said in its schema file.

use orch_runtime::{
    field_error::Validation,
    object::{ApiObject, Kind},
};
use serde_json::{Value, json};

use crate::example::v1::Batch;

fn batch(spec: &Value) -> Box<dyn ApiObject> {
    let mut tree = json!({"metadata": {"name": "a"}, "spec": {"least": 1, "most": 5}});
    let fields = spec.as_object().unwrap().clone();
    tree["spec"].as_object_mut().unwrap().extend(fields);
    (Batch::RESOURCE.from_tree)(tree).unwrap()
}

/// What a write of the batch reports: errors, then warnings.
fn told(new: &Value, old: Option<&Value>) -> Vec<String> {
    let (mut new, old) = (batch(new), old.map(batch));
    let mut cx = Validation::new(&orch_api::ORCH);
    new.set_defaults();
    new.validate(&mut cx);
    if let Some(old) = &old {
        new.validate_update(old.as_ref(), &mut cx);
    }
    new.validate_expressions(old.as_deref(), &mut cx);
    let warnings = cx.take_warnings();
    cx.into_errors().iter().map(ToString::to_string).chain(warnings).collect()
}

#[test]
fn rules_are_those_of_the_schema_file() {
    let long = "x".repeat(200);
    for (spec, expected) in [
        (json!({}), None),
        (json!({"least": 6}), Some(r#"spec.least: Invalid value: "object": must not be greater than most"#)),
        (json!({"most": 2000}), Some(r#"spec.most: Invalid value: "object": at most 1000 apart, not 1999"#)),
        (json!({"memory": "1Gi", "memoryLimit": "1Gi"}), None),
        (
            json!({"memory": "1025Mi", "memoryLimit": "1Gi"}),
            Some(r#"spec.memory: Invalid value: "object": must not be greater than memoryLimit"#),
        ),
        (json!({"network": "10.0.0.0/8", "gateway": "10.1.2.3"}), None),
        (
            json!({"network": "10.0.0.0/8", "gateway": "11.1.2.3"}),
            Some(r#"spec.gateway: Invalid value: "object": must be an address of the network"#),
        ),
        (
            json!({"network": "10.0.0.0/33"}),
            Some(r#"spec.network: Invalid value: "object": must be a network, such as 10.0.0.0/8"#),
        ),
        (json!({"place": "example.com/a"}), None),
        (json!({"place": "orch.io/a"}), Some("spec.place: Forbidden: belongs to the product")),
        (json!({"notes": {"a": "b"}}), None),
        (json!({"notes": {"a": "a"}}), Some("spec.notes: a note says more than its key")),
        (
            json!({"notes": {"a": long, "b": long, "c": long, "d": long, "e": long, "f": "x"}}),
            Some(r#"spec.notes: Invalid value: "object": must have at most 1000 bytes together"#),
        ),
        (json!({"deadline": "5m"}), None),
        (
            json!({"deadline": "24h"}),
            Some(r#"spec.deadline: Invalid value: "object": must be from a second to a day"#),
        ),
        (json!({"port": "http"}), None),
        (json!({"port": 0}), Some(r#"spec.port: Invalid value: "object": must be a port or its name"#)),
        (json!({"steps": [{"name": "a"}, {"name": "b", "after": "a"}]}), None),
        (
            json!({"steps": [{"name": "c"}, {"name": "b", "after": "a"}]}),
            Some(r#"spec.steps[1].after: Not found: "a""#),
        ),
        (
            json!({"steps": [{"name": "b", "after": "b"}]}),
            Some(r#"spec.steps: Invalid value: "object": one step comes first"#),
        ),
        (json!({"mode": "Slow"}), Some(r#"spec.mode: Invalid value: "Slow": there is no such way"#)),
        (json!({"mode": "Fast", "fast": {"perSecond": 100}}), None),
        (
            json!({"mode": "Fast", "fast": {"perSecond": 101}}),
            Some("spec.fast.perSecond: Invalid value: 101: must be between 1 and 100, inclusive"),
        ),
        // What has no meaning is not judged.
        (json!({"fast": {"perSecond": 101}}), Some("spec.fast: has no meaning with the mode Careful")),
        (json!({"ports": [{"port": 53, "protocol": "UDP"}, {"port": 8080}]}), None),
        (
            json!({"ports": [{"port": 8080}, {"port": 8080}]}),
            Some(
                r#"spec.ports[1]: Duplicate value: {"port":8080,"protocol":"TCP"}: port 8080 is there already"#,
            ),
        ),
        (json!({"ports": [{"port": 22}]}), Some("spec.ports[0].port: Forbidden: belongs to the machine")),
        (
            json!({"ports": [{"port": 8080}, {"port": 80}]}),
            Some("spec.ports[1].port: Invalid value: 80: at least 1024, as it is number 1"),
        ),
        (
            json!({"zones": ["a"], "notZones": ["b", "a"]}),
            Some(r#"spec.notZones[1]: Invalid value: "a": is among the zones"#),
        ),
        (
            json!({"labels": {"orch.io/a": "b"}}),
            Some(r#"spec.labels[orch.io/a]: Invalid value: "orch.io/a": orch.io is reserved"#),
        ),
        (json!({"domain": "*.example.com"}), None),
    ] {
        assert_eq!(told(&spec, None), expected.into_iter().collect::<Vec<_>>(), "{spec}");
    }
}

#[test]
fn rules_about_a_change_see_the_old_batch() {
    let tries = |tries: i32| json!({"steps": [{"name": "a", "tries": tries}]});
    for (new, old, expected) in [
        (json!({"most": 6}), json!({}), None),
        (json!({"most": 4}), json!({}), Some(r#"spec.most: Invalid value: "object": must not fall"#)),
        (json!({"least": 2}), json!({}), Some(r#"spec.least: Invalid value: "integer": must stay"#)),
        (json!({"domain": "a.example.com"}), json!({"domain": "example.com"}), None),
        (
            json!({"domain": "example.org"}),
            json!({"domain": "example.com"}),
            Some(r#"spec.domain: Invalid value: "example.org": may only become longer"#),
        ),
        (json!({"owner": "a"}), json!({}), None),
        (
            json!({"owner": "b"}),
            json!({"owner": "a"}),
            Some(r#"spec.owner: Invalid value: "b": field is immutable once set"#),
        ),
        (tries(2), tries(1), None),
        (tries(1), tries(2), Some(r#"spec.steps[0].tries: Invalid value: "object": must not fall"#)),
    ] {
        assert_eq!(told(&new, Some(&old)), expected.into_iter().collect::<Vec<_>>(), "{new}");
    }
}

#[test]
fn errors_come_in_the_order_that_is_stated() {
    let all = json!({
        "least": 6, "mode": "Slow", "gateway": "10.0.0.1", "labels": {"a": "b c"},
        "ports": [{"port": 0, "protocol": "X"}],
    });
    let fields: Vec<String> = told(&all, None)
        .iter()
        .map(|error| error.split(": ").next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        fields[..5],
        ["spec.mode", "spec.ports[0].port", "spec.ports[0].protocol", "spec.labels[a]", "spec.network"]
    );
}

#[test]
fn bounds_that_do_not_hold_keep_rules_from_being_run() {
    let steps: Vec<Value> = (0..33).map(|number| json!({"name": format!("s{number}")})).collect();
    let told = told(&json!({"least": 6, "steps": steps}), None);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "spec.steps: Too many: 33: must have at most 32 items");
    let missing = self::told(&json!({"mode": "Fast"}), None);
    assert_eq!(missing[0], "spec.fast: Required value: is needed for the mode Fast");
    assert!(told[1].starts_with("<nil>: Invalid value: \"null\": some validation rules were not checked"));
}
