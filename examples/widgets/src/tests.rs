//! What the generated widget does, as its schema says.

use orch_runtime::{
    field_error::Validation,
    object::{Kind, SetDefaults, Validate},
    path::Path,
    type_def::Shape,
};

use crate::example::v1::{Colour, Widget};

fn widget(json: &str) -> Widget {
    let mut widget: Widget = (Widget::RESOURCE.from_tree)(json.parse().unwrap())
        .unwrap()
        .as_any_mut()
        .downcast_mut()
        .cloned()
        .unwrap();
    widget.set_defaults();
    widget
}

fn errors(check: impl FnOnce(&Path<'_>, &mut Validation<'_>)) -> Vec<String> {
    let mut cx = Validation::new(&orch_api::ORCH);
    check(&Path::ROOT, &mut cx);
    cx.into_errors().iter().map(ToString::to_string).collect()
}

#[test]
fn one_piece_is_made_unless_said_otherwise() {
    let one = widget(r#"{"spec": {"colour": "Red"}}"#);
    assert_eq!((one.spec.replicas, &one.spec.colour), (Some(1), &Colour::Red));
    assert_eq!(widget(r#"{"spec": {"colour": "Red", "replicas": 0}}"#).spec.replicas, Some(0));
}

#[test]
fn mistakes_are_reported_together() {
    let wrong = widget(r#"{"spec": {"colour": "Pink", "replicas": -1}}"#);
    assert_eq!(
        errors(|path, cx| wrong.validate(path, cx)),
        [
            r#"spec.colour: Unsupported value: "Pink": supported values: "Red", "Green", "Blue""#,
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ]
    );
    assert_eq!(errors(|path, cx| widget("{}").validate(path, cx)), ["spec.colour: Required value"]);
}

#[test]
fn the_colour_stays() {
    let [red, green] =
        ["Red", "Green"].map(|colour| widget(&format!(r#"{{"spec": {{"colour": "{colour}"}}}}"#)));
    assert_eq!(
        errors(|path, cx| green.validate_update(&red, path, cx)),
        [r#"spec.colour: Invalid value: "Green": field is immutable"#]
    );
    assert_eq!(errors(|path, cx| red.validate_update(&red, path, cx)), [""; 0]);
}

#[test]
fn types_of_the_product_are_shared() {
    let Shape::Object(metadata) = Widget::RESOURCE.type_def.fields[0].shape else {
        panic!("metadata comes first")
    };
    assert!(std::ptr::eq(metadata, &raw const orch_api::meta::v1::OBJECT_META_TYPE));
}
