use std::collections::BTreeMap;
use orch_runtime::{
    field_error::{FieldError, Validation, json},
    object::{ObjectType, SetDefaults, Validate},
    path::Path, presence, resource_def::GroupVersionDef, rule,
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// A part of something.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// The name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
    /// The kind.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub kind: String,
}

impl SetDefaults for Part {}

impl Validate for Part {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }

    fn validate_update(&self, old: &Self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("kind");
        rule::immutable(&self.kind, &old.kind, &at, cx);
    }
}

/// The table of [`Part`].
pub static PART_TYPE: TypeDef = TypeDef {
    name: "updates.example.io.v1.Part",
    short_name: "Part",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "kind",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Part>(),
};

impl ObjectType for Part {
    const TYPE: &'static TypeDef = &PART_TYPE;
}

/// Every rule that a schema can state about a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Updates {
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i32>,
    /// A list.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub list: Vec<String>,
    /// A text that may come later.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub later: String,
    /// A number that may come later.
    #[serde(
        rename = "zeroLater",
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub zero_later: i32,
    /// An object that may come later.
    #[serde(rename = "objectLater", skip_serializing_if = "Option::is_none")]
    pub object_later: Option<Part>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Objects that have names.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub parts: Vec<Part>,
    /// Objects that nothing identifies.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub loose: Vec<Part>,
    /// Objects in a map.
    #[serde(
        rename = "byName",
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub by_name: BTreeMap<String, Part>,
    /// A text that may change.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub free: String,
}

impl SetDefaults for Updates {}

impl Validate for Updates {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("objectLater");
        if let Some(value) = &self.object_later {
            value.validate(&at, cx);
        }
        let at = path.field("part");
        if let Some(value) = &self.part {
            value.validate(&at, cx);
        }
        let at = path.field("parts");
        rule::unique_key(&self.parts, "name", |item| &item.name, &at, cx);
        for (index, item) in self.parts.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        let at = path.field("loose");
        for (index, item) in self.loose.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        let at = path.field("byName");
        for (key, value) in &self.by_name {
            let at = at.key(key);
            value.validate(&at, cx);
        }
    }

    fn validate_update(&self, old: &Self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("text");
        rule::immutable(&self.text, &old.text, &at, cx);
        let at = path.field("number");
        rule::immutable(&self.number, &old.number, &at, cx);
        let at = path.field("list");
        rule::immutable_shown(self.list != old.list, || json(&self.list), &at, cx);
        let at = path.field("later");
        rule::once_set(&self.later, &old.later, &at, cx);
        let at = path.field("zeroLater");
        let changed = !presence::is_empty(&old.zero_later)
            && self.zero_later != old.zero_later;
        rule::once_set_shown(changed, || json(&self.zero_later), &at, cx);
        let at = path.field("objectLater");
        let changed = old.object_later.is_some()
            && self.object_later != old.object_later;
        rule::once_set_shown(changed, || json(&self.object_later), &at, cx);
        if let (Some(new), Some(old)) = (&self.object_later, &old.object_later) {
            new.validate_update(old, &at, cx);
        }
        let at = path.field("part");
        if let (Some(new), Some(old)) = (&self.part, &old.part) {
            new.validate_update(old, &at, cx);
        }
        let at = path.field("parts");
        for (index, new, old) in rule::pairs(
            &self.parts,
            &old.parts,
            |item| &item.name,
        ) {
            let at = at.index(index);
            new.validate_update(old, &at, cx);
        }
        let at = path.field("byName");
        for (key, new) in &self.by_name {
            if let Some(old) = old.by_name.get(key) {
                let at = at.key(key);
                new.validate_update(old, &at, cx);
            }
        }
        crate::validators::whole_update(self, old, path, cx);
    }
}

/// The table of [`Updates`].
pub static UPDATES_TYPE: TypeDef = TypeDef {
    name: "updates.example.io.v1.Updates",
    short_name: "Updates",
    fields: &[
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "number",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "list",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "later",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "zeroLater",
            shape: Shape::Scalar(Scalar::Int32),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "objectLater",
            shape: Shape::Object(&PART_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "part",
            shape: Shape::Object(&PART_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "parts",
            shape: Shape::List {
                item: &Shape::Object(&PART_TYPE),
                semantics: ListSemantics::Map {
                    keys: &["name"],
                },
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "loose",
            shape: Shape::List {
                item: &Shape::Object(&PART_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "byName",
            shape: Shape::Map {
                value: &Shape::Object(&PART_TYPE),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "free",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[9, 10, 3, 2, 8, 1, 5, 6, 7, 0, 4],
    atomic: false,
    size: size_of::<Updates>(),
};

impl ObjectType for Updates {
    const TYPE: &'static TypeDef = &UPDATES_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "updates.example.io",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
