use std::collections::BTreeMap;
use orch_runtime::{
    field_error::Validation, object::{ObjectType, SetDefaults, Validate},
    path::Path, presence, resource_def::GroupVersionDef, rule,
    type_def::{FieldDef, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// Version of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListMeta {
    /// The version.
    #[serde(
        rename = "resourceVersion",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub resource_version: String,
}

impl SetDefaults for ListMeta {}

impl Validate for ListMeta {}

/// The table of [`ListMeta`].
pub static LIST_META_TYPE: TypeDef = TypeDef {
    name: "meta.v1.ListMeta",
    short_name: "ListMeta",
    fields: &[
        FieldDef {
            name: "resourceVersion",
            tag: Some(1),
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<ListMeta>(),
};

impl ObjectType for ListMeta {
    const TYPE: &'static TypeDef = &LIST_META_TYPE;
}

/// Name and history of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectMeta {
    /// The name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// When it was created.
    #[serde(rename = "creationTimestamp", skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Time>,
    /// What others say of it.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub annotations: BTreeMap<String, String>,
}

impl SetDefaults for ObjectMeta {}

impl Validate for ObjectMeta {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if !self.name.is_empty() {
            rule::max_length(&self.name, 253, &at, cx);
        }
        let at = path.field("annotations");
        rule::max_properties(&self.annotations, 64, &at, cx);
        for (key, value) in &self.annotations {
            let at = at.key(key);
            rule::max_length(value, 20000, &at, cx);
        }
    }
}

/// The table of [`ObjectMeta`].
pub static OBJECT_META_TYPE: TypeDef = TypeDef {
    name: "meta.v1.ObjectMeta",
    short_name: "ObjectMeta",
    fields: &[
        FieldDef {
            name: "name",
            tag: Some(1),
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "creationTimestamp",
            tag: Some(2),
            shape: Shape::Scalar(Scalar::Time),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "annotations",
            tag: Some(3),
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::String),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<ObjectMeta>(),
};

impl ObjectType for ObjectMeta {
    const TYPE: &'static TypeDef = &OBJECT_META_TYPE;
}

/// A point in time.
pub type Time = orch_runtime::scalar::Time;

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "meta",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
