//! What the generated code of the golden schemas does.

use std::fmt::Debug;

use orch_runtime::{
    field_error::Validation,
    object::{Kind, ObjectType, SetDefaults, Validate},
    path::Path,
    release::Release,
    resource_def::{CellContext, ColumnValue, NameFormat, Scope, Stability, Verb},
    scalar::Time,
    type_def::{ListSemantics, Scalar, Shape},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    ORCH, VOCABULARIES,
    defaults_::v1::{Defaults, Depending},
    kinds,
    presence::{self, v1::Presence},
    registry,
    rules::v1::Rules,
    shapes,
    updates::v1::Updates,
};

fn read<T: DeserializeOwned>(tree: &Value) -> T {
    serde_json::from_value(tree.clone()).unwrap_or_else(|error| panic!("{error}: {tree}"))
}

fn write<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("generated types have string keys")
}

fn errors<T: Validate>(value: &T) -> Vec<String> {
    let mut cx = Validation::new(&ORCH);
    value.validate(&Path::ROOT, &mut cx);
    cx.into_errors().iter().map(ToString::to_string).collect()
}

fn update_errors<T: Validate>(new: &T, old: &T) -> Vec<String> {
    let mut cx = Validation::new(&ORCH);
    new.validate_update(old, &Path::ROOT, &mut cx);
    cx.into_errors().iter().map(ToString::to_string).collect()
}

fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(tree: &Value) {
    let value: T = read(tree);
    assert_eq!(write(&value), *tree);
    assert_eq!(read::<T>(&write(&value)), value);
}

#[test]
fn every_shape_is_read_and_written_in_wire_form() {
    assert_round_trip::<shapes::v1::Shapes>(&json!({
        "flag": false, "small": -1, "big": i64::MAX, "real": 0.1, "text": "t", "bytes": "AAEC/w==",
        "time": "2024-01-02T03:04:05Z", "microTime": "2024-01-02T03:04:05.000006Z", "duration": "1h30m0s",
        "quantity": "1500m", "intOrString": "50%", "any": {"a": [1, null]}, "colour": "dark-green",
        "alias": ["a"], "foreign": "2024-01-02T03:04:05Z",
        "child": {"name": "n", "children": [{"children": [{"name": "deep"}]}]}, "children": [{}],
        "byName": {"k": [1, 2]}, "type": "t", "old": "o",
    }));
    assert_round_trip::<shapes::v1::Shapes>(&json!({}));
    assert_round_trip::<shapes::v1::Shapes>(&json!({"intOrString": 5, "colour": "not a colour"}));
}

#[test]
fn empty_texts_are_accepted_where_type_file_or_rule_says_so() {
    let missing =
        |names: &[&str]| names.iter().map(|name| format!("{name}: Required value")).collect::<Vec<_>>();
    assert_eq!(errors(&presence::v1::Emptied::default()), missing(&["closed"]));
    assert_eq!(errors(&presence::v1::Texts::default()), missing(&["closed"]));
    assert_eq!(errors(&presence::v1::Ruled::default()), missing(&["kind", "note"]));
    let named = read::<presence::v1::Ruled>(&json!({"kind": "Named", "name": "", "note": "a"}));
    assert_eq!(errors(&named), ["name: Required value: say the name"]);
}

#[test]
fn presence_follows_the_schema() {
    let always = json!({
        "text": "", "mayBeEmpty": "", "number": 0, "object": {}, "list": [], "colour": "", "time": null,
        "nullableText": null, "explicitTime": null, "defaultObject": {},
    });
    assert_eq!(write(&Presence::default()), always);
    assert_eq!(write(&read::<Presence>(&json!({}))), always);
    let all_null: serde_json::Map<String, Value> = [
        "text",
        "mayBeEmpty",
        "number",
        "object",
        "list",
        "colour",
        "time",
        "nullableText",
        "optionalText",
        "explicitText",
        "explicitTime",
        "optionalNumber",
        "zeroIsAbsent",
        "optionalFlag",
        "falseIsAbsent",
        "optionalList",
        "explicitList",
        "optionalMap",
        "optionalObject",
        "defaultObject",
        "optionalColour",
        "writeOnly",
    ]
    .map(|name| (name.to_owned(), Value::Null))
    .into_iter()
    .collect();
    assert_eq!(read::<Presence>(&all_null.into()), Presence::default());

    let with = |field: &str, value: Value| {
        let mut tree = always.clone();
        tree[field] = value;
        tree
    };
    for (field, kept) in [
        ("explicitText", json!("")),
        ("optionalNumber", json!(0)),
        ("optionalFlag", json!(false)),
        ("explicitList", json!([])),
        ("optionalObject", json!({})),
        ("nullableText", json!("")),
        ("writeOnly", json!("w")),
    ] {
        assert_eq!(
            write(&read::<Presence>(&with(field, kept.clone()))),
            with(field, kept),
            "{field} is kept"
        );
    }
    for (field, empty) in [
        ("optionalText", json!("")),
        ("zeroIsAbsent", json!(0)),
        ("falseIsAbsent", json!(false)),
        ("optionalList", json!([])),
        ("optionalMap", json!({})),
        ("optionalColour", json!("")),
    ] {
        assert_eq!(write(&read::<Presence>(&with(field, empty))), always, "{field} is left out");
    }
}

#[test]
fn what_must_be_given_is_demanded() {
    assert_eq!(
        errors(&Presence::default()),
        ["text: Required value", "list: Required value", "colour: Required value", "time: Required value"]
    );
    let good: Presence =
        read(&json!({"text": "t", "list": ["a"], "colour": "Red", "time": "2024-01-02T03:04:05Z"}));
    assert_eq!(errors(&good), [""; 0]);
}

#[test]
fn defaults_follow_from_other_fields() {
    let filled = |tree: Value| {
        let mut value: Depending = read(&tree);
        value.set_defaults();
        write(&value)
    };
    assert_eq!(
        filled(json!({
            "name": "x", "ip": "10.0.0.1", "port": 5, "shade": "red", "limits": {"a": "1u"},
            "amount": "1500u",
        })),
        json!({
            "name": "x", "alias": "x", "ip": "10.0.0.1", "mode": "VIP", "port": 5, "targetPort": 5,
            "shade": "red", "colour": "red", "item": {"replicas": 1},
            "always": {"name": "always", "replicas": 1},
            "limits": {"a": "1m"}, "amount": "2m",
        })
    );
    assert_eq!(
        filled(json!({"name": "y", "alias": "z", "targetPort": "http"})),
        json!({
            "name": "y", "alias": "z", "targetPort": "http", "always": {"replicas": 1},
            "deep": {"item": {"replicas": 3}},
        })
    );
    assert_eq!(
        filled(json!({"ip": "10.0.0.1", "mode": "", "targetPort": ""})),
        json!({"ip": "10.0.0.1", "mode": "", "targetPort": 0, "always": {"replicas": 1}})
    );
}

#[test]
fn defaults_are_filled_in_here_and_below() {
    let mut value: Defaults = read(&json!({
        "items": [{}, {"replicas": 0}], "byName": {"k": [{}]}, "none": {}, "paired": {},
    }));
    value.set_defaults();
    let expected = json!({
        "flag": true, "number": -3, "real": 0.5, "text": "hello", "explicit": "given",
        "share": "25%", "port": 80, "quantity": "1Gi", "colour": "dark-green",
        "list": ["a", "b"], "map": {"one": 1},
        "any": {"deep": [1, "two", null]}, "item": {"name": "made", "replicas": 1},
        "always": {"replicas": 1}, "items": [{"replicas": 1}, {"replicas": 0}],
        "byName": {"k": [{"replicas": 1}]}, "computed": "computed", "none": {}, "paired": {"to": "nowhere"},
    });
    assert_eq!(write(&value), expected);
    value.set_defaults();
    assert_eq!(write(&value), expected, "a second time changes nothing");

    let given = json!({
        "flag": false, "number": 0, "real": 0.0, "text": "t", "explicit": "", "share": 1, "port": "p",
        "quantity": "0", "colour": "red", "list": ["x"], "map": {"two": 2}, "any": {},
        "item": {"replicas": 2}, "always": {"replicas": 3}, "computed": "c",
    });
    let mut value: Defaults = read(&given);
    value.set_defaults();
    assert_eq!(write(&value), given, "what is given stays");

    let mut value: Defaults = read(&json!({"paired": {"from": "here"}}));
    value.set_defaults();
    assert_eq!(
        write(&value)["paired"],
        json!({"from": "here", "to": "here"}),
        "functions come before constants"
    );
}

#[test]
fn rules_report_in_the_standard_words() {
    let table: &[(Value, &[&str])] = &[
        (json!({}), &[]),
        (json!({"name": ""}), &["name: Required value"]),
        (
            json!({"name": "abcDEF"}),
            &[
                r#"name: Invalid value: "abcDEF": must match the pattern '^[a-z]+$'"#,
                "name: Too long: may not be more than 5 bytes",
            ],
        ),
        (
            json!({"name": "firstly"}),
            &["Forbidden: first_rules was called", "name: Too long: may not be more than 5 bytes"],
        ),
        (json!({"name": "whole"}), &["Forbidden: whole_rules was called"]),
        (json!({"label": "a"}), &[r#"label: Invalid value: "a": must be at least 2 bytes"#]),
        (json!({"size": "big"}), &[r#"size: Unsupported value: "big": supported values: "small", "large""#]),
        (
            json!({"count": 11}),
            &[
                "count: Invalid value: 11: must be less than 10",
                "count: Invalid value: 11: must be a multiple of 2",
            ],
        ),
        (json!({"count": -2}), &["count: Invalid value: -2: must be greater than or equal to 0"]),
        (json!({"ratio": -1.5}), &["ratio: Invalid value: -1.5: must be greater than -1.5"]),
        (json!({"ratio": 1.25}), &["ratio: Invalid value: 1.25: must be less than or equal to 1"]),
        (
            json!({"tags": ["a", "b", "a", "c"]}),
            &["tags: Too many: 4: must have at most 3 items", r#"tags[2]: Duplicate value: "a""#],
        ),
        (json!({"words": ["a", "b", "a"]}), &[r#"words[2]: Duplicate value: "a""#]),
        (json!({"repeated": ["a", "a"]}), &[]),
        (
            json!({"ports": [
                {"number": 80}, {"number": 80, "protocol": "UDP"}, {"number": 0}, {"number": 80},
            ]}),
            &[
                r#"ports[3]: Duplicate value: 80, "null""#,
                "ports[2].number: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            json!({"ports": [{"number": 1, "protocol": "X"}]}),
            &[r#"ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP""#],
        ),
        (
            json!({"volumes": [{"name": "a"}, {"name": "a"}, {}]}),
            &[r#"volumes[1].name: Duplicate value: "a""#, "volumes[2].name: Required value"],
        ),
        (json!({"limits": {"a": 0}}), &["limits[a]: Invalid value: 0: must be greater than or equal to 1"]),
        (json!({"limits": {"a": 1, "b": 1, "c": 1}}), &["limits: Too many: 3: must have at most 2 items"]),
        (json!({"path": {}}), &["path.text: Required value"]),
        (json!({"at": "long"}), &["at: Too long: may not be more than 3 bytes"]),
        (json!({"cx": 4}), &["cx: Invalid value: 4: must be less than or equal to 3"]),
        (json!({"checked": "bad"}), &["checked: Forbidden: checked_text was called"]),
        (json!({"checked": "good"}), &[]),
        (json!({"source": {"text": "t"}}), &[]),
        (json!({"source": {"file": {}}}), &[]),
        (json!({"source": {}}), &[r#"source: Invalid value: "": must specify one of: `text`, `file`"#]),
        (
            json!({"source": {"text": "t", "file": {}}}),
            &[r#"source: Invalid value: "{text, file}": must specify exactly one of: `text`, `file`"#],
        ),
        (json!({"strategy": {"type": "Rolling"}}), &[]),
        (json!({"strategy": {"type": "Rolling", "rolling": {}}}), &[]),
        (
            json!({"strategy": {"type": "Rolling", "recreate": {}}}),
            &[r#"strategy.recreate: Invalid value: "": may only be specified when `type` is "Recreate""#],
        ),
        (
            json!({"percent": 101}),
            &[
                "percent: Invalid value: 101: must be less than or equal to 100",
                "percent: Forbidden: even_percent was called",
            ],
        ),
    ];
    for (tree, expected) in table {
        let mut tree = tree.clone();
        if tree.get("name").is_none() {
            tree["name"] = json!("good");
        }
        assert_eq!(errors(&read::<Rules>(&tree)), *expected, "{tree}");
    }
    let bad_key: Rules = read(&json!({"name": "good", "limits": {"A_": 1}}));
    assert!(
        errors(&bad_key)[0].starts_with(r#"limits[A_]: Invalid value: "A_": a lowercase RFC 1123 label"#)
    );
}

#[test]
fn changes_of_immutable_fields_are_refused() {
    let part = |name: &str, kind: &str| json!({"name": name, "kind": kind});
    let table: &[(Value, Value, &[&str])] = &[
        (json!({}), json!({}), &[]),
        (json!({"text": "a"}), json!({"text": "b"}), &[r#"text: Invalid value: "b": field is immutable"#]),
        (json!({"number": 1}), json!({}), &["number: Invalid value: \"null\": field is immutable"]),
        (json!({"list": ["a"]}), json!({"list": []}), &["list: Invalid value: []: field is immutable"]),
        (json!({}), json!({"later": "a"}), &[]),
        (
            json!({"later": "a"}),
            json!({"later": "b"}),
            &[r#"later: Invalid value: "b": field is immutable once set"#],
        ),
        (json!({"zeroLater": 0}), json!({"zeroLater": 1}), &[]),
        (
            json!({"zeroLater": 1}),
            json!({"zeroLater": 2}),
            &["zeroLater: Invalid value: 2: field is immutable once set"],
        ),
        (json!({}), json!({"objectLater": part("a", "k")}), &[]),
        (
            json!({"objectLater": part("a", "k")}),
            json!({}),
            &["objectLater: Invalid value: \"null\": field is immutable once set"],
        ),
        (
            json!({"part": part("a", "k")}),
            json!({"part": part("b", "l")}),
            &[r#"part.kind: Invalid value: "l": field is immutable"#],
        ),
        (json!({"part": part("a", "k")}), json!({}), &[]),
        (
            json!({"parts": [part("a", "k"), part("b", "k")]}),
            json!({"parts": [part("c", "x"), part("b", "l")]}),
            &[r#"parts[1].kind: Invalid value: "l": field is immutable"#],
        ),
        (json!({"loose": [part("a", "k")]}), json!({"loose": [part("a", "l")]}), &[]),
        (
            json!({"byName": {"a": part("x", "k"), "gone": part("x", "k")}}),
            json!({"byName": {"a": part("x", "l"), "new": part("x", "l")}}),
            &[r#"byName[a].kind: Invalid value: "l": field is immutable"#],
        ),
        (json!({"free": "a"}), json!({"free": "b"}), &[]),
        (json!({"free": "old"}), json!({"free": "bad"}), &["Forbidden: whole_update was called"]),
    ];
    for (old, new, expected) in table {
        assert_eq!(update_errors(&read::<Updates>(new), &read::<Updates>(old)), *expected, "{old} to {new}");
    }
}

#[test]
fn the_resource_table_says_what_the_schema_says() {
    let machine = kinds::v1::Machine::RESOURCE;
    assert_eq!(
        (machine.group, machine.version, machine.kind, machine.list_kind),
        ("kinds.example.io", "v1", "Machine", "MachineList")
    );
    assert_eq!((machine.plural, machine.singular), ("machines", "machine"));
    assert_eq!((machine.short_names, machine.categories), (&["mc", "mach"][..], &["all"][..]));
    assert_eq!(machine.scope, Scope::Cluster);
    assert_eq!(machine.verbs, [Verb::Create, Verb::Delete, Verb::Get, Verb::List, Verb::Watch]);
    assert_eq!(machine.name_format, NameFormat::PathSegment);
    assert!(machine.stored && machine.create_on_update && machine.counts_generation);
    assert!(machine.delete_returns_object && machine.has_status() && !machine.unconditional_update);
    let restart = machine.subresource("restart").unwrap();
    assert_eq!(restart.verbs, [Verb::Create]);
    let body = restart.body.unwrap();
    assert_eq!((body.group, body.version, body.kind), ("kinds.example.io", "v1", "Restart"));
    assert_eq!(body.type_def.short_name, "Restart");
    assert_eq!(machine.selectable_fields[0].label, "status.phase");
    assert_eq!((machine.indexed_fields, machine.indexed_labels), (&["status.phase"][..], &["app"][..]));
    assert_eq!(machine.lifecycle.stability, Stability::Stable);
    assert_eq!(machine.lifecycle.removed, Some(Release::new(2, 0)));
    let replacement = machine.lifecycle.replacement.unwrap();
    assert_eq!(
        (replacement.group, replacement.version, replacement.kind),
        ("kinds.example.io", "v2", "Machine")
    );
    let columns: Vec<&str> = machine.columns.iter().map(|column| column.name).collect();
    assert_eq!(columns, ["Name", "Parts", "Phase", "Labels", "Weight", "Age"]);
    assert_eq!(machine.columns[3].empty, "<none>");
    let ColumnValue::Computed(weight) = machine.columns[4].value else { panic!("weight is computed") };
    let context = CellContext { vocabulary: &ORCH, now: Time::from_unix_seconds(0) };
    assert_eq!(weight(&json!({"spec": {"parts": [{}, {}]}}), &context), json!(2));
    assert!(matches!(machine.columns[1].value, ColumnValue::Count([["spec", "parts"], ["spec", "labels"]])));

    let ping = kinds::v2beta1::Ping::RESOURCE;
    assert!(!ping.stored && !ping.has_status());
    assert_eq!((ping.verbs, ping.lifecycle.stability), (&[Verb::Create][..], Stability::Beta));
    assert!(ping.columns.is_empty());
}

#[test]
fn secrets_are_hidden_where_an_object_is_printed() {
    let object = Presence { text: "shown".to_owned(), secret: "s3cret".to_owned(), ..Presence::default() };
    let printed = format!("{object:?}");
    assert!(printed.starts_with("Presence { text: \"shown\", "), "{printed}");
    assert!(printed.contains("secret: <hidden>") && !printed.contains("s3cret"), "{printed}");
    // Everything else knows the value.
    assert_eq!(serde_json::to_value(&object).unwrap()["secret"], "s3cret");
    assert!(object != Presence { secret: String::new(), ..object.clone() });
}

#[test]
fn type_tables_have_fields_in_order_with_tags_and_strategies() {
    assert!(presence::v1::PRESENCE_TYPE.field("writeOnly").unwrap().write_only);
    let spec = &kinds::v1::MACHINE_SPEC_TYPE;
    assert_eq!(spec.name, "kinds.example.io.v1.MachineSpec");
    let parts = spec.field("parts").unwrap();
    assert_eq!((parts.tag, parts.omit_empty), (Some(1), true));
    assert!(parts.patch.merge && parts.patch.retain_keys && parts.patch.merge_key == Some("name"));
    let Shape::List { item: Shape::Object(part), semantics: ListSemantics::Map { keys: ["name"] } } =
        &parts.shape
    else {
        panic!("{parts:?}")
    };
    assert_eq!(part.short_name, "MachinePart");
    assert!(matches!(
        spec.fields[1].shape,
        Shape::Map { value: Shape::Scalar(Scalar::String), atomic: true }
    ));

    let machine = &kinds::v1::MACHINE_TYPE;
    let names: Vec<_> = machine.fields.iter().map(|field| (field.name, field.tag, field.required)).collect();
    assert_eq!(names, [("metadata", Some(1), false), ("spec", Some(2), true), ("status", Some(3), false)]);
    let shapes = &shapes::v1::SHAPES_TYPE;
    assert_eq!(shapes.field("gated").unwrap().feature_gate.map(|gate| gate.name), Some("NewThings"));
    assert_eq!(shapes.field("old").unwrap().deprecated, Some("use `text`."));
    let child = &shapes::v1::CHILD_TYPE;
    let Shape::List { item: Shape::Object(again), .. } = &child.fields[1].shape else { panic!("{child:?}") };
    assert!(std::ptr::eq(*again, child), "a recursive type is its own child");
}

#[test]
fn a_kind_becomes_an_object_and_a_tree_again() {
    let tree = json!({
        "apiVersion": "kinds.example.io/v1", "kind": "Machine", "unknown": 1,
        "metadata": {"name": "m"}, "spec": {"parts": [{"name": "p"}]},
    });
    let object = (kinds::v1::Machine::RESOURCE.from_tree)(tree).unwrap();
    assert!(object.as_any().is::<kinds::v1::Machine>());
    assert!(std::ptr::eq(kinds::v1::Machine::TYPE, kinds::v1::Machine::RESOURCE.type_def));
    assert_eq!(
        object.to_tree().unwrap(),
        json!({"metadata": {"name": "m"}, "spec": {"parts": [{"name": "p"}]}, "status": {}})
    );
}

#[test]
fn published_schemas_refer_only_to_each_other() {
    let mut names = Vec::new();
    let mut references = Vec::new();
    for group_version in registry() {
        let schemas: Value = serde_json::from_str(group_version.schemas).unwrap();
        names.extend(schemas.as_object().unwrap().keys().cloned());
        collect_references(&schemas, &mut references);
    }
    assert!(names.contains(&"kinds.example.io.v1.MachineList".to_owned()), "{names:?}");
    assert!(references.len() > 20, "{references:?}");
    for reference in references {
        let name = reference.strip_prefix("#/components/schemas/").unwrap();
        assert!(names.iter().any(|known| known == name), "{reference}");
    }
}

fn collect_references(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| collect_references(field, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        _ => {}
    }
}

#[test]
fn vocabularies_come_in_the_order_written() {
    let names: Vec<_> = VOCABULARIES.iter().map(|vocabulary| vocabulary.name).collect();
    assert_eq!(names, ["orch", "kubernetes"]);
    assert_eq!(VOCABULARIES[1].group("kinds.orch.io"), "kinds.k8s.io");
}
