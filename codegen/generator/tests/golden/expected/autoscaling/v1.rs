use orch_runtime::{
    object::{ObjectType, SetDefaults, Validate},
    resource_def::GroupVersionDef, type_def::{FieldDef, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// How many there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scale {
    /// The number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
}

impl SetDefaults for Scale {}

impl Validate for Scale {}

/// The table of [`Scale`].
pub static SCALE_TYPE: TypeDef = TypeDef {
    name: "autoscaling.v1.Scale",
    short_name: "Scale",
    fields: &[
        FieldDef {
            name: "replicas",
            tag: Some(1),
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Scale>(),
};

impl ObjectType for Scale {
    const TYPE: &'static TypeDef = &SCALE_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "autoscaling",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
