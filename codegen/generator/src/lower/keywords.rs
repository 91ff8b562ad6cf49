//! Which keywords go together: with the type of the value, and with the place.

use super::Lowering;
use crate::idl::Schema;

/// Where a schema stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Under a name in components.schemas.
    Type,
    /// A field of an object.
    Field,
    /// Items of a list.
    Item,
    /// Values of a map.
    Value,
    /// Keys of a map.
    Key,
}

/// What a schema describes, as far as keywords care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Reference,
    Text,
    /// A named string with a closed set of values.
    Words,
    Number,
    /// An amount: its sign can be asked for.
    Quantity,
    /// Values with a rule of their own: booleans, times, quantities, bytes ...
    Fixed,
    List,
    Map,
    Object,
    Any,
    /// What cannot be told, which has been reported.
    Unknown,
}

impl Class {
    fn noun(self) -> &'static str {
        match self {
            Class::Reference => "a reference",
            Class::Text => "a string",
            Class::Words => "a string with an `enum`",
            Class::Number => "a number",
            Class::Quantity => "a quantity",
            Class::Fixed => "a value of this type",
            Class::List => "a list",
            Class::Map => "a map",
            Class::Object => "an object with fields",
            Class::Any => "a value of any type",
            Class::Unknown => "this",
        }
    }
}

/// Keywords that only mean something for some classes.
const CLASSES: &[(&[&str], &[Class])] = &[
    (&["enum"], &[Class::Text, Class::Words]),
    (&["pattern", "minLength", "maxLength", "x-orch-format"], &[Class::Text]),
    (&["minimum", "exclusiveMinimum"], &[Class::Number, Class::Quantity]),
    (&["maximum", "exclusiveMaximum", "multipleOf"], &[Class::Number]),
    (
        &["items", "minItems", "maxItems", "uniqueItems", "x-orch-list-type", "x-orch-list-map-keys"],
        &[Class::List],
    ),
    (&["additionalProperties", "propertyNames", "minProperties", "maxProperties"], &[Class::Map]),
    (
        &[
            "properties",
            "required",
            "x-orch-union",
            "x-orch-resource",
            "x-orch-update-validator",
            "x-orch-defaulter",
            "x-orch-defaults",
            "x-orch-first-validator",
            "x-orch-rules",
            "x-orch-order",
            "x-orch-error-order",
            "x-orch-told-at",
            "x-orch-empty-texts",
        ],
        &[Class::Object],
    ),
    (&["x-orch-round-up"], &[Class::Quantity]),
    (&["x-orch-map-type"], &[Class::Map, Class::Object, Class::Reference]),
    (&["format"], &[Class::Text, Class::Number, Class::Quantity, Class::Fixed]),
    (
        &["x-orch-errors"],
        &[
            Class::Text,
            Class::Number,
            Class::Quantity,
            Class::Fixed,
            Class::List,
            Class::Map,
            Class::Reference,
            Class::Any,
        ],
    ),
    (
        &["type"],
        &[
            Class::Text,
            Class::Words,
            Class::Number,
            Class::Quantity,
            Class::Fixed,
            Class::List,
            Class::Map,
            Class::Object,
            Class::Any,
        ],
    ),
];

/// Keywords that only mean something in some places.
const POSITIONS: &[(&[&str], &[Position], &str)] = &[
    (
        &[
            "default",
            "x-orch-default",
            "x-orch-tag",
            "x-orch-inline-tag",
            "x-orch-patch-strategy",
            "x-orch-patch-merge-key",
            "x-orch-immutable",
            "x-orch-write-only",
            "x-orch-secret",
            "x-orch-feature-gate",
            "x-orch-deprecated",
            "x-orch-omit-empty",
        ],
        &[Position::Field],
        "it belongs to a field: move it to the property of an object",
    ),
    (
        &[
            "x-orch-resource",
            "x-orch-union",
            "x-orch-update-validator",
            "x-orch-defaulter",
            "x-orch-defaults",
            "x-orch-first-validator",
            "x-orch-rules",
            "x-orch-order",
            "x-orch-error-order",
            "x-orch-told-at",
            "x-orch-empty-texts",
        ],
        &[Position::Type],
        "it belongs to a named type: move it under components.schemas",
    ),
    (
        &["x-orch-validator", "x-orch-validations"],
        &[Position::Type, Position::Field],
        "it belongs to a field or a named type: name the type under components.schemas and refer to it",
    ),
    (
        &["nullable"],
        &[Position::Field, Position::Item, Position::Value],
        "whether a value may be null is said where the type is used, not where it is named",
    ),
];

impl Lowering<'_, '_> {
    /// Reports the keywords that mean nothing in this place.
    pub(super) fn check_keywords(&mut self, schema: &Schema, position: Position) {
        for (keywords, positions, help) in POSITIONS {
            if !positions.contains(&position) {
                for key in schema.keys.iter().filter(|key| keywords.contains(&key.value.as_str())) {
                    self.diagnostics
                        .error(&key.span, format!("`{}` means nothing here", key.value), *help)
                        .code("E0204");
                }
            }
        }
    }

    /// Reports the keywords that mean nothing for values of this class.
    pub(super) fn check_class(&mut self, schema: &Schema, class: Class) {
        if class == Class::Unknown {
            return;
        }
        for (keywords, classes) in CLASSES {
            if !classes.contains(&class) {
                for key in schema.keys.iter().filter(|key| keywords.contains(&key.value.as_str())) {
                    let message = format!("`{}` means nothing for {}", key.value, class.noun());
                    self.diagnostics.error(&key.span, message, remedy(class)).code("E0204");
                }
            }
        }
    }
}

fn remedy(class: Class) -> &'static str {
    match class {
        Class::Reference => "move it to the type that is referred to, or remove it",
        Class::Any => "say which `type` the value has, or remove it",
        _ => "remove it, or change the `type`",
    }
}
