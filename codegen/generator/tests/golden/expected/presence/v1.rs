use std::collections::BTreeMap;
use orch_runtime::{
    field_error::{FieldError, Reason, Validation},
    object::{ObjectType, SetDefaults, Validate},
    path::Path, presence, resource_def::GroupVersionDef, rule, scalar::Time, text_enum,
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

orch_runtime::text_enum! {
    /// Colours.
    pub enum Colour {
        Red = "Red",
        Green = "Green",
    }
}

/// A type whose required texts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Emptied {
    /// May be empty.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub open: String,
    /// Must be given.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub closed: String,
}

impl SetDefaults for Emptied {}

impl Validate for Emptied {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("closed");
        if self.closed.is_empty() {
            cx.push(FieldError::required(&at, ""));
        } else {
            rule::min_length(&self.closed, 1, &at, cx);
        }
    }
}

/// The table of [`Emptied`].
pub static EMPTIED_TYPE: TypeDef = TypeDef {
    name: "presence.example.io.v1.Emptied",
    short_name: "Emptied",
    fields: &[
        FieldDef {
            name: "open",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "closed",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Emptied>(),
};

impl ObjectType for Emptied {
    const TYPE: &'static TypeDef = &EMPTIED_TYPE;
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// To the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<i64>,
}

impl SetDefaults for Point {}

impl Validate for Point {}

/// The table of [`Point`].
pub static POINT_TYPE: TypeDef = TypeDef {
    name: "presence.example.io.v1.Point",
    short_name: "Point",
    fields: &[
        FieldDef {
            name: "x",
            shape: Shape::Scalar(Scalar::Int64),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Point>(),
};

impl ObjectType for Point {
    const TYPE: &'static TypeDef = &POINT_TYPE;
}

/// Every way in which a field can be present or absent.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Presence {
    /// Must be given.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub text: String,
    /// Must be written.
    #[serde(rename = "mayBeEmpty", deserialize_with = "presence::null_as_empty")]
    pub may_be_empty: String,
    /// Always written.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub number: i32,
    /// Always there.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub object: Point,
    /// Must have an item.
    #[serde(deserialize_with = "presence::list")]
    pub list: Vec<String>,
    /// Must be listed.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub colour: Colour,
    /// Must be given.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub time: Time,
    /// May be null.
    #[serde(rename = "nullableText")]
    pub nullable_text: Option<String>,
    /// Left out when empty.
    #[serde(
        rename = "optionalText",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub optional_text: String,
    /// An empty text is kept.
    #[serde(rename = "explicitText", skip_serializing_if = "Option::is_none")]
    pub explicit_text: Option<String>,
    /// Null when absent.
    #[serde(rename = "explicitTime")]
    pub explicit_time: Option<Time>,
    /// Zero is kept.
    #[serde(rename = "optionalNumber", skip_serializing_if = "Option::is_none")]
    pub optional_number: Option<i32>,
    /// Zero is left out.
    #[serde(
        rename = "zeroIsAbsent",
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub zero_is_absent: i32,
    /// False is kept.
    #[serde(rename = "optionalFlag", skip_serializing_if = "Option::is_none")]
    pub optional_flag: Option<bool>,
    /// False is left out.
    #[serde(
        rename = "falseIsAbsent",
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub false_is_absent: bool,
    /// Left out when empty.
    #[serde(
        rename = "optionalList",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::list"
    )]
    pub optional_list: Vec<String>,
    /// An empty list is kept.
    #[serde(rename = "explicitList", skip_serializing_if = "Option::is_none")]
    pub explicit_list: Option<Vec<String>>,
    /// Left out when empty.
    #[serde(
        rename = "optionalMap",
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub optional_map: BTreeMap<String, String>,
    /// Left out when absent.
    #[serde(rename = "optionalObject", skip_serializing_if = "Option::is_none")]
    pub optional_object: Option<Point>,
    /// Always written.
    #[serde(rename = "defaultObject", deserialize_with = "presence::null_as_empty")]
    pub default_object: Point,
    /// Left out when empty.
    #[serde(
        rename = "optionalColour",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub optional_colour: Option<Colour>,
    /// Never returned.
    #[serde(
        rename = "writeOnly",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub write_only: String,
    /// Never printed.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub secret: String,
}

impl std::fmt::Debug for Presence {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Presence")
            .field("text", &self.text)
            .field("may_be_empty", &self.may_be_empty)
            .field("number", &self.number)
            .field("object", &self.object)
            .field("list", &self.list)
            .field("colour", &self.colour)
            .field("time", &self.time)
            .field("nullable_text", &self.nullable_text)
            .field("optional_text", &self.optional_text)
            .field("explicit_text", &self.explicit_text)
            .field("explicit_time", &self.explicit_time)
            .field("optional_number", &self.optional_number)
            .field("zero_is_absent", &self.zero_is_absent)
            .field("optional_flag", &self.optional_flag)
            .field("false_is_absent", &self.false_is_absent)
            .field("optional_list", &self.optional_list)
            .field("explicit_list", &self.explicit_list)
            .field("optional_map", &self.optional_map)
            .field("optional_object", &self.optional_object)
            .field("default_object", &self.default_object)
            .field("optional_colour", &self.optional_colour)
            .field("write_only", &self.write_only)
            .field("secret", &format_args!("<hidden>"))
            .finish()
    }
}

impl SetDefaults for Presence {}

impl Validate for Presence {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("text");
        if self.text.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
        let at = path.field("list");
        if self.list.is_empty() {
            cx.push(FieldError::required(&at, ""));
        } else {
            rule::min_items(&self.list, 1, &at, cx);
        }
        let at = path.field("colour");
        text_enum::listed(&self.colour, &at, cx);
        let at = path.field("time");
        if presence::is_empty(&self.time) {
            cx.push(FieldError::required(&at, ""));
        }
        let at = path.field("optionalColour");
        if let Some(value) = &self.optional_colour {
            text_enum::listed(value, &at, cx);
        }
    }
}

/// The table of [`Presence`].
pub static PRESENCE_TYPE: TypeDef = TypeDef {
    name: "presence.example.io.v1.Presence",
    short_name: "Presence",
    fields: &[
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "mayBeEmpty",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "number",
            shape: Shape::Scalar(Scalar::Int32),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "object",
            shape: Shape::Object(&POINT_TYPE),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "list",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "colour",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "time",
            shape: Shape::Scalar(Scalar::Time),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "nullableText",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            nullable: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "optionalText",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "explicitText",
            shape: Shape::Scalar(Scalar::String),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "explicitTime",
            shape: Shape::Scalar(Scalar::Time),
            null_when_absent: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "optionalNumber",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "zeroIsAbsent",
            shape: Shape::Scalar(Scalar::Int32),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "optionalFlag",
            shape: Shape::Scalar(Scalar::Boolean),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "falseIsAbsent",
            shape: Shape::Scalar(Scalar::Boolean),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "optionalList",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "explicitList",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "optionalMap",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::String),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "optionalObject",
            shape: Shape::Object(&POINT_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "defaultObject",
            shape: Shape::Object(&POINT_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "optionalColour",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "writeOnly",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            write_only: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "secret",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[
        5, 19, 16, 9, 10, 14, 4, 1, 7, 2, 3, 20, 13, 15, 17, 11, 18, 8, 22, 0, 6, 21, 12,
    ],
    atomic: false,
    size: size_of::<Presence>(),
};

impl ObjectType for Presence {
    const TYPE: &'static TypeDef = &PRESENCE_TYPE;
}

/// A type with a rule that says when a required text is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ruled {
    /// Must be given.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub kind: String,
    /// May be empty for other kinds.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
    /// Must be given.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub note: String,
}

impl SetDefaults for Ruled {}

impl Validate for Ruled {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("kind");
        if self.kind.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
        if self.kind.as_str() == "Named" {
            if !(!self.name.is_empty()) {
                cx.push(
                    FieldError::in_words(
                        &path.field("name"),
                        Reason::Required,
                        "",
                        "say the name",
                    ),
                )
            }
        }
        let at = path.field("note");
        if self.note.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }

    fn validate_update(&self, _old: &Self, path: &Path<'_>, cx: &mut Validation<'_>) {
        if !(!self.note.is_empty()) {
            cx.push(FieldError::in_words(&path.field("note"), Reason::Required, "", ""))
        }
    }
}

/// The table of [`Ruled`].
pub static RULED_TYPE: TypeDef = TypeDef {
    name: "presence.example.io.v1.Ruled",
    short_name: "Ruled",
    fields: &[
        FieldDef {
            name: "kind",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "note",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Ruled>(),
};

impl ObjectType for Ruled {
    const TYPE: &'static TypeDef = &RULED_TYPE;
}

/// A type of a file whose required texts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Texts {
    /// May be empty.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub open: String,
    /// Must be given.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub closed: String,
}

impl SetDefaults for Texts {}

impl Validate for Texts {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("closed");
        if self.closed.is_empty() {
            cx.push(FieldError::required(&at, ""));
        } else {
            rule::min_length(&self.closed, 1, &at, cx);
        }
    }
}

/// The table of [`Texts`].
pub static TEXTS_TYPE: TypeDef = TypeDef {
    name: "presence.example.io.v1.Texts",
    short_name: "Texts",
    fields: &[
        FieldDef {
            name: "open",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "closed",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Texts>(),
};

impl ObjectType for Texts {
    const TYPE: &'static TypeDef = &TEXTS_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "presence.example.io",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
