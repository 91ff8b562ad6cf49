use std::collections::BTreeMap;
use orch_runtime::{
    Tree, field_error::Validation, object::{ObjectType, SetDefaults, Validate},
    path::Path, presence, resource_def::GroupVersionDef,
    scalar::{ByteString, Duration, IntOrString, MicroTime, Quantity, Time},
    text_enum,
    type_def::{FeatureGate, FieldDef, GateStage, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// An object with children of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Child {
    /// The name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// The children.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub children: Vec<Child>,
}

impl SetDefaults for Child {}

impl Validate for Child {}

/// The table of [`Child`].
pub static CHILD_TYPE: TypeDef = TypeDef {
    name: "shapes.example.io.v1.Child",
    short_name: "Child",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "children",
            shape: Shape::List {
                item: &Shape::Object(&CHILD_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: true,
    size: size_of::<Child>(),
};

impl ObjectType for Child {
    const TYPE: &'static TypeDef = &CHILD_TYPE;
}

orch_runtime::text_enum! {
    /// Colours.
    pub enum Colour {
        Red = "Red",
        DarkGreen = "dark-green",
    }
}

/// Some names.
pub type Names = Vec<String>;

/// One field of each shape.
///
/// Prose is wrapped where a line of it is longer than what source text can reasonably hold, as this
/// line is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shapes {
    /// A boolean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<bool>,
    /// A small number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small: Option<i32>,
    /// A big number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub big: Option<i64>,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<f64>,
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
    /// Bytes.
    #[serde(
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub bytes: ByteString,
    /// A time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// A finer time.
    #[serde(rename = "microTime", skip_serializing_if = "Option::is_none")]
    pub micro_time: Option<MicroTime>,
    /// A span of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// A quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Quantity>,
    /// A number or a text.
    #[serde(rename = "intOrString", skip_serializing_if = "Option::is_none")]
    pub int_or_string: Option<IntOrString>,
    /// Any object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<Tree>,
    /// A colour.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub colour: Option<Colour>,
    /// A list by another name.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub alias: Names,
    /// A time by another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<crate::meta::v1::Time>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<Child>,
    /// An object into which merges go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<Child>,
    /// Objects.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub children: Vec<Child>,
    /// Lists in a map.
    #[serde(
        rename = "byName",
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub by_name: BTreeMap<String, Vec<i32>>,
    /// A field with the name of a keyword.
    #[serde(
        rename = "type",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub type_: String,
    /// A field for the daring.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub gated: String,
    /// A field that nobody should use.
    ///
    /// Deprecated: use `text`.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub old: String,
}

impl SetDefaults for Shapes {}

impl Validate for Shapes {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("colour");
        if let Some(value) = &self.colour {
            text_enum::listed(value, &at, cx);
        }
        let at = path.field("old");
        if !self.old.is_empty() {
            cx.warn(&at, "use `text`.");
        }
    }
}

/// The table of [`Shapes`].
pub static SHAPES_TYPE: TypeDef = TypeDef {
    name: "shapes.example.io.v1.Shapes",
    short_name: "Shapes",
    fields: &[
        FieldDef {
            name: "flag",
            shape: Shape::Scalar(Scalar::Boolean),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "small",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "big",
            shape: Shape::Scalar(Scalar::Int64),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "real",
            shape: Shape::Scalar(Scalar::Double),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "bytes",
            shape: Shape::Scalar(Scalar::Bytes),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "time",
            shape: Shape::Scalar(Scalar::Time),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "microTime",
            shape: Shape::Scalar(Scalar::MicroTime),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "duration",
            shape: Shape::Scalar(Scalar::Duration),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "quantity",
            shape: Shape::Scalar(Scalar::Quantity),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "intOrString",
            shape: Shape::Scalar(Scalar::IntOrString),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "any",
            shape: Shape::Any,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "colour",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "alias",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "foreign",
            shape: Shape::Scalar(Scalar::Time),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "child",
            shape: Shape::Object(&CHILD_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "opened",
            shape: Shape::Object(
                &TypeDef {
                    atomic: false,
                    ..CHILD_TYPE
                },
            ),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "children",
            shape: Shape::List {
                item: &Shape::Object(&CHILD_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "byName",
            shape: Shape::Map {
                value: &Shape::List {
                    item: &Shape::Scalar(Scalar::Int32),
                    semantics: ListSemantics::Atomic,
                },
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "type",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "gated",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            feature_gate: Some(
                &FeatureGate {
                    name: "NewThings",
                    stage: GateStage::Beta,
                    default: true,
                },
            ),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "old",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            deprecated: Some("use `text`."),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[
        13, 11, 2, 18, 5, 15, 17, 12, 8, 0, 14, 20, 10, 7, 21, 16, 9, 3, 1, 4, 6, 19,
    ],
    atomic: false,
    size: size_of::<Shapes>(),
};

impl ObjectType for Shapes {
    const TYPE: &'static TypeDef = &SHAPES_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "shapes.example.io",
    version: "v1",
    resources: &[],
    feature_gates: &[
        &FeatureGate {
            name: "NewThings",
            stage: GateStage::Beta,
            default: true,
        },
    ],
    schemas: include_str!("v1.openapi.json"),
};
