//! `CSINode`: the rules of its drivers, and that entries do not change.

use crate::ask::{defaulted, errors, update_errors};
use serde_json::{Value, json};

fn node(drivers: &Value) -> Value {
    json!({"metadata": {"name": "n"}, "spec": {"drivers": drivers}})
}

fn driver() -> Value {
    json!({"name": "a.example.com", "nodeID": "n1", "topologyKeys": ["zone"], "allocatable": {"count": 5}})
}

pub fn lists_that_are_not_given_are_null() {
    assert_eq!(defaulted("CSINode", &json!({})), json!({"spec": {"drivers": null}}));
    assert_eq!(
        defaulted("CSINode", &node(&json!([{"name": "a", "nodeID": "n"}]))),
        json!({"spec": {"drivers": [{"name": "a", "nodeID": "n", "topologyKeys": null}]}})
    );
}

pub fn rules() {
    let qualified = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    for (drivers, expected) in [
        (json!(null), vec![]),
        (json!([driver()]), vec![]),
        (
            json!([{"name": "a", "nodeID": ""}, {"name": "b", "nodeID": "i".repeat(257)}]),
            vec![
                "spec.drivers[0].nodeID: Required value".to_owned(),
                format!(
                    "spec.drivers[1].nodeID: Invalid value: \"{}\": must be 256 characters or less",
                    "i".repeat(257)
                ),
            ],
        ),
        (
            json!([{"name": "a", "nodeID": "1"}, {"name": "a", "nodeID": "2"}]),
            vec!["spec.drivers[1].name: Duplicate value: \"a\"".to_owned()],
        ),
        (
            json!([{"name": "d".repeat(64), "nodeID": "1", "allocatable": {"count": -1}}]),
            vec![
                "spec.drivers[0].name: Too long: may not be more than 63 bytes".to_owned(),
                "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0"
                    .to_owned(),
            ],
        ),
        (
            json!([{"name": "a", "nodeID": "1", "topologyKeys": ["bad key", "z", "z"]}]),
            vec![
                format!("spec.drivers[0]: Invalid value: \"bad key\": {qualified}"),
                "spec.drivers[0]: Duplicate value: \"z\"".to_owned(),
            ],
        ),
    ] {
        assert_eq!(errors("CSINode", &node(&drivers)), expected, "{drivers}");
    }
    let nameless = errors("CSINode", &node(&json!([{"nodeID": "1"}])));
    assert_eq!(nameless[0], "spec.drivers[0].name: Required value");
}

pub fn updates() {
    let old = node(&json!([driver()]));
    let other = json!({"name": "b", "nodeID": "n1", "topologyKeys": null});
    let mut moved = driver();
    moved["nodeID"] = json!("n2");
    assert_eq!(update_errors("CSINode", &old, &node(&json!([other, driver()]))), [""; 0]);
    assert_eq!(update_errors("CSINode", &old, &node(&json!([]))), [""; 0]);
    // The rules for the new object run twice.
    let mut nowhere = driver();
    nowhere["nodeID"] = json!("");
    let told = update_errors("CSINode", &old, &node(&json!([nowhere])));
    assert_eq!(told[..2], ["spec.drivers[0].nodeID: Required value"; 2]);
    assert!(told[2].starts_with("CSINodeDriver: Invalid value"), "{told:?}");
    assert_eq!(
        update_errors("CSINode", &old, &node(&json!([moved]))),
        [
            r#"CSINodeDriver: Invalid value: {"allocatable":{"count":5},"name":"a.example.com","nodeID":"n2","topologyKeys":["zone"]}: field is immutable"#
        ]
    );
}
