use orch_runtime::{
    conversion, field_error::Validation,
    object::{self, ObjectType, SetDefaults, Validate},
    path::Path, presence,
    resource_def::{
        ConversionDef, GroupVersionDef, Lifecycle, MetadataRules, NameFormat,
        ResourceDef, Scope, Stability, UpdateCheck, Verb,
    },
    rule, type_def::{FieldDef, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// The first form of a kind in three versions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gadget {
    /// Standard object metadata.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub metadata: crate::meta::v1::ObjectMeta,
    /// What is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<GadgetSpec>,
}

impl SetDefaults for Gadget {
    fn set_defaults(&mut self) {
        if let Some(value) = &mut self.spec {
            value.set_defaults();
        }
    }
}

impl Validate for Gadget {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
        let at = path.field("spec");
        if let Some(value) = &self.spec {
            value.validate(&at, cx);
        }
    }
}

/// The table of [`Gadget`].
pub static GADGET_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1alpha1.Gadget",
    short_name: "Gadget",
    fields: &[
        FieldDef {
            name: "metadata",
            shape: Shape::Object(&crate::meta::v1::OBJECT_META_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "spec",
            shape: Shape::Object(&GADGET_SPEC_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Gadget>(),
};

impl ObjectType for Gadget {
    const TYPE: &'static TypeDef = &GADGET_TYPE;
}

/// The resource table's row of [`Gadget`].
pub static GADGET_RESOURCE: ResourceDef = ResourceDef {
    group: "versions.example.io",
    version: "v1alpha1",
    kind: "Gadget",
    list_kind: "GadgetList",
    plural: "gadgets",
    singular: "gadget",
    short_names: &[],
    categories: &[],
    scope: Scope::Namespaced,
    verbs: Verb::ALL,
    stored: true,
    subresources: &[],
    name_format: NameFormat::DnsSubdomain,
    create_on_update: false,
    unconditional_update: true,
    update_checks: UpdateCheck::USUAL,
    metadata_rules: MetadataRules::All,
    counts_generation: false,
    delete_returns_object: false,
    columns: &[],
    selectable_fields: &[],
    indexed_fields: &[],
    indexed_labels: &[],
    lifecycle: Lifecycle {
        stability: Stability::Alpha,
        introduced: None,
        deprecated: None,
        removed: None,
        replacement: None,
    },
    storage_version: false,
    conversion: Some(ConversionDef {
        to: <crate::versions::v1beta1::Gadget as object::Kind>::RESOURCE,
        steps: &[
            conversion::Step {
                at: &["spec"],
                below: &[],
                above: &[&["host"]],
                how: conversion::How::Constant("\"localhost\""),
                annotation: Some("versions.example.io/v1alpha1-host"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "hue"]],
                above: &[&["spec", "colour"]],
                how: conversion::How::Move,
                annotation: None,
            },
            conversion::Step {
                at: &[],
                below: &[],
                above: &[&["spec", "owners"]],
                how: conversion::How::Keep,
                annotation: Some("versions.example.io/v1alpha1-owners"),
            },
            conversion::Step {
                at: &[],
                below: &[],
                above: &[&["spec", "target"]],
                how: conversion::How::Keep,
                annotation: Some("versions.example.io/v1alpha1-target"),
            },
            conversion::Step {
                at: &[],
                below: &[],
                above: &[&["spec", "parts"]],
                how: conversion::How::Keep,
                annotation: Some("versions.example.io/v1alpha1-parts"),
            },
        ],
        wholes: conversion::Wholes {
            below: &[],
            above: &[],
        },
    }),
    type_def: &GADGET_TYPE,
    schema_name: "versions.example.io.v1alpha1.Gadget",
    from_tree: object::from_tree::<Gadget>,
};

impl object::Kind for Gadget {
    const RESOURCE: &'static ResourceDef = &GADGET_RESOURCE;
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetSpec {
    /// The colour.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub hue: String,
    /// What is seen first.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub front: String,
    /// What is seen last.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub back: String,
    /// A part of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<i32>,
    /// Where it is.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub address: String,
    /// Where it is there.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub port: String,
    /// How it works.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub mode: String,
    /// How it sounds.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub tone: String,
    /// How old it is.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub age: String,
    /// Whether it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The house and the room in it.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub room: String,
    /// Its shelf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shelf: Option<i32>,
    /// Where it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<crate::versions::v1beta1::GadgetPlace>,
}

impl SetDefaults for GadgetSpec {
    fn set_defaults(&mut self) {
        if self.mode.is_empty() {
            self.mode = "Slow".to_owned();
        }
    }
}

impl Validate for GadgetSpec {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("shares");
        if let Some(value) = &self.shares {
            rule::between(*value, 0, 1000, &at, cx);
        }
        let at = path.field("mode");
        if !self.mode.is_empty() {
            rule::one_of(&self.mode, &["Fast", "Slow"], &at, cx);
        }
    }
}

/// The table of [`GadgetSpec`].
pub static GADGET_SPEC_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1alpha1.GadgetSpec",
    short_name: "GadgetSpec",
    fields: &[
        FieldDef {
            name: "hue",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "front",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "back",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shares",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "address",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "port",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "mode",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            default: Some("\"Slow\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "tone",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "age",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "enabled",
            shape: Shape::Scalar(Scalar::Boolean),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "room",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shelf",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "place",
            shape: Shape::Object(&crate::versions::v1beta1::GADGET_PLACE_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[4, 8, 2, 9, 1, 0, 6, 12, 5, 10, 3, 11, 7],
    atomic: false,
    size: size_of::<GadgetSpec>(),
};

impl ObjectType for GadgetSpec {
    const TYPE: &'static TypeDef = &GADGET_SPEC_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "versions.example.io",
    version: "v1alpha1",
    resources: &[&GADGET_RESOURCE],
    feature_gates: &[],
    schemas: include_str!("v1alpha1.openapi.json"),
};
