//! Lists and maps that are stored as `null` when they are empty.
//!
//! If a field is required and nullable, a client may set it to an empty list. It is stored and answered as
//! `null`.

use orch_runtime::{
    Tree,
    type_def::{FieldDef, Shape, TypeDef},
};

/// Turns empty lists and maps into `null` where the type has them so.
pub fn empty_to_null(tree: &mut Tree, def: &'static TypeDef) {
    let Some(fields) = tree.as_object_mut() else { return };
    // Objects have fewer fields than their types, and most fields hold single values.
    for (name, value) in fields.iter_mut().filter(|(_, value)| value.is_array() || value.is_object()) {
        match def.field(name) {
            Some(field) if can_be_null(field) && is_empty(value) => *value = Tree::Null,
            Some(field) => below(value, &field.shape),
            None => {}
        }
    }
}

fn below(value: &mut Tree, shape: &'static Shape) {
    match (value, shape) {
        (value, Shape::Object(def)) => empty_to_null(value, def),
        (Tree::Array(items), Shape::List { item, .. }) if has_fields(item) => {
            for value in items {
                below(value, item);
            }
        }
        (Tree::Object(map), Shape::Map { value: item, .. }) if has_fields(item) => {
            for value in map.values_mut() {
                below(value, item);
            }
        }
        _ => {}
    }
}

fn can_be_null(field: &FieldDef) -> bool {
    field.required && field.nullable && matches!(field.shape, Shape::List { .. } | Shape::Map { .. })
}

/// Whether its values have fields: they are objects, or hold objects.
fn has_fields(shape: &Shape) -> bool {
    match shape {
        Shape::Object(_) => true,
        Shape::List { item, .. } => has_fields(item),
        Shape::Map { value, .. } => has_fields(value),
        Shape::Scalar(_) | Shape::Any => false,
    }
}

fn is_empty(value: &Tree) -> bool {
    match value {
        Tree::Array(items) => items.is_empty(),
        Tree::Object(map) => map.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef};
    use serde_json::json;

    use super::empty_to_null;

    const ITEM: &Shape = &Shape::Scalar(Scalar::String);
    const LIST: Shape = Shape::List { item: ITEM, semantics: ListSemantics::Atomic };
    const MAP: Shape = Shape::Map { value: ITEM, atomic: false };
    const PART: Shape = Shape::Object(&PART_TYPE);

    static PART_TYPE: TypeDef = TypeDef {
        name: "PartType",
        short_name: "PartType",
        fields: &[
            FieldDef { name: "list", required: true, nullable: true, shape: LIST, ..FieldDef::PLAIN },
            FieldDef { name: "map", required: true, nullable: true, shape: MAP, ..FieldDef::PLAIN },
            FieldDef { name: "empty", required: true, shape: LIST, ..FieldDef::PLAIN },
            FieldDef { name: "maybe", nullable: true, shape: LIST, ..FieldDef::PLAIN },
        ],
        by_name: &[],
        atomic: false,
        size: 0,
    };

    static WHOLE: TypeDef = TypeDef {
        name: "Whole",
        short_name: "Whole",
        fields: &[
            FieldDef { name: "part", shape: PART, ..FieldDef::PLAIN },
            FieldDef {
                name: "parts",
                shape: Shape::List { item: &PART, semantics: ListSemantics::Atomic },
                ..FieldDef::PLAIN
            },
            FieldDef { name: "named", shape: Shape::Map { value: &PART, atomic: false }, ..FieldDef::PLAIN },
        ],
        by_name: &[],
        atomic: false,
        size: 0,
    };

    #[test]
    fn only_what_is_required_and_nullable_becomes_null_at_every_place() {
        let part = json!({"list": [], "map": {}, "empty": [], "maybe": []});
        let full = json!({"list": [""], "map": {"k": ""}, "other": []});
        let mut tree = json!({"part": part, "parts": [part, full], "named": {"n": part}, "unknown": []});
        empty_to_null(&mut tree, &WHOLE);
        let part = json!({"list": null, "map": null, "empty": [], "maybe": []});
        let expected = json!({"part": part, "parts": [part, full], "named": {"n": part}, "unknown": []});
        assert_eq!(tree, expected);
    }
}
