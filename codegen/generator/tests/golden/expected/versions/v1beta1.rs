use orch_runtime::{
    conversion, field_error::{FieldError, Validation},
    object::{self, ObjectType, SetDefaults, Validate},
    path::Path, presence,
    resource_def::{
        ConversionDef, GroupVersionDef, Lifecycle, MetadataRules, NameFormat,
        ResourceDef, Scope, Stability, UpdateCheck, Verb,
    },
    rule, type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// The second form of the kind. Its conversion has every step that there is.
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
    name: "versions.example.io.v1beta1.Gadget",
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
    version: "v1beta1",
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
        stability: Stability::Beta,
        introduced: None,
        deprecated: None,
        removed: None,
        replacement: None,
    },
    storage_version: false,
    conversion: Some(ConversionDef {
        to: <crate::versions::v1::Gadget as object::Kind>::RESOURCE,
        steps: &[
            conversion::Step {
                at: &["spec", "parts", "*"],
                below: &[&["label"], &["id"]],
                above: &[&["title"], &["key"]],
                how: conversion::How::Move,
                annotation: None,
            },
            conversion::Step {
                at: &["spec"],
                below: &[&["shares"]],
                above: &[&["shares"]],
                how: conversion::How::Default("30"),
                annotation: Some("versions.example.io/v1beta1-shares"),
            },
            conversion::Step {
                at: &["spec"],
                below: &[],
                above: &[&["shape"]],
                how: conversion::How::Constant("\"Round\""),
                annotation: Some("versions.example.io/v1beta1-shape"),
            },
            conversion::Step {
                at: &[],
                below: &[
                    &["spec", "colour"],
                    &["spec", "front"],
                    &["spec", "back"],
                    &["spec", "shelf"],
                    &["spec", "place", "zone"],
                ],
                above: &[
                    &["spec", "look", "colour"],
                    &["spec", "back"],
                    &["spec", "front"],
                    &["spec", "home", "shelf"],
                    &["spec", "zone"],
                ],
                how: conversion::How::Move,
                annotation: None,
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "host"]],
                above: &[&["spec", "hosts"]],
                how: conversion::How::Wrap,
                annotation: Some("versions.example.io/v1beta1-hosts"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "owners"]],
                above: &[&["spec", "owner"]],
                how: conversion::How::Unwrap,
                annotation: Some("versions.example.io/v1beta1-owners"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "address"], &["spec", "port"]],
                above: &[&["spec", "endpoint"]],
                how: conversion::How::Join(":"),
                annotation: Some("versions.example.io/v1beta1-endpoint"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "target"]],
                above: &[&["spec", "targetRef", "kind"], &["spec", "targetRef", "name"]],
                how: conversion::How::Split("/"),
                annotation: Some("versions.example.io/v1beta1-target"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "mode"]],
                above: &[&["spec", "mode"]],
                how: conversion::How::Values(&[("Fast", "Quick"), ("Slow", "Careful")]),
                annotation: None,
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "tone"]],
                above: &[&["spec", "tone"]],
                how: conversion::How::Values(&[("Loud", "High"), ("Shrill", "High")]),
                annotation: Some("versions.example.io/v1beta1-tone"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "age"]],
                above: &[],
                how: conversion::How::Keep,
                annotation: Some("versions.example.io/v1beta1-age"),
            },
            conversion::Step {
                at: &[],
                below: &[],
                above: &[&["spec", "sizes"]],
                how: conversion::How::Keep,
                annotation: Some("versions.example.io/v1beta1-sizes"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "enabled"]],
                above: &[&["spec", "disabled"]],
                how: conversion::How::Function(crate::conversions::negated),
                annotation: None,
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "room"]],
                above: &[&["spec", "home", "house"], &["spec", "home", "room"]],
                how: conversion::How::Split("/"),
                annotation: Some("versions.example.io/v1beta1-room"),
            },
        ],
        wholes: conversion::Wholes {
            below: &[&["spec", "place"]],
            above: &[&["spec", "home"], &["spec", "place"]],
        },
    }),
    type_def: &GADGET_TYPE,
    schema_name: "versions.example.io.v1beta1.Gadget",
    from_tree: object::from_tree::<Gadget>,
};

impl object::Kind for Gadget {
    const RESOURCE: &'static ResourceDef = &GADGET_RESOURCE;
}

/// A part of a gadget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetPart {
    /// Which one it is.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub id: String,
    /// What it is called.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub label: String,
}

impl SetDefaults for GadgetPart {}

impl Validate for GadgetPart {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("id");
        if self.id.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }
}

/// The table of [`GadgetPart`].
pub static GADGET_PART_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1beta1.GadgetPart",
    short_name: "GadgetPart",
    fields: &[
        FieldDef {
            name: "id",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "label",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<GadgetPart>(),
};

impl ObjectType for GadgetPart {
    const TYPE: &'static TypeDef = &GADGET_PART_TYPE;
}

/// Where a gadget is. It has one owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetPlace {
    /// The street.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub street: String,
    /// What is around it.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub zone: String,
}

impl SetDefaults for GadgetPlace {}

impl Validate for GadgetPlace {}

/// The table of [`GadgetPlace`].
pub static GADGET_PLACE_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1beta1.GadgetPlace",
    short_name: "GadgetPlace",
    fields: &[
        FieldDef {
            name: "street",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "zone",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: true,
    size: size_of::<GadgetPlace>(),
};

impl ObjectType for GadgetPlace {
    const TYPE: &'static TypeDef = &GADGET_PLACE_TYPE;
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
    pub colour: String,
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
    /// What it is made of.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub parts: Vec<GadgetPart>,
    /// A part of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<i32>,
    /// Where it works.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub host: String,
    /// Who has it.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub owners: Vec<String>,
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
    /// What it is aimed at.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub target: String,
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
    pub place: Option<GadgetPlace>,
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
        let at = path.field("parts");
        rule::unique_key(&self.parts, "id", |item| &item.id, &at, cx);
        for (index, item) in self.parts.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
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
    name: "versions.example.io.v1beta1.GadgetSpec",
    short_name: "GadgetSpec",
    fields: &[
        FieldDef {
            name: "colour",
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
            name: "parts",
            shape: Shape::List {
                item: &Shape::Object(&GADGET_PART_TYPE),
                semantics: ListSemantics::Map {
                    keys: &["id"],
                },
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shares",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "host",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "owners",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
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
            name: "target",
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
            shape: Shape::Object(&GADGET_PLACE_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[7, 12, 2, 0, 13, 1, 5, 10, 6, 3, 16, 8, 14, 4, 15, 9, 11],
    atomic: false,
    size: size_of::<GadgetSpec>(),
};

impl ObjectType for GadgetSpec {
    const TYPE: &'static TypeDef = &GADGET_SPEC_TYPE;
}

/// A kind whose names stand for other fields in its next version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Relay {
    /// Standard object metadata.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub metadata: crate::meta::v1::ObjectMeta,
    /// What is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<RelaySpec>,
}

impl SetDefaults for Relay {}

impl Validate for Relay {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
    }
}

/// The table of [`Relay`].
pub static RELAY_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1beta1.Relay",
    short_name: "Relay",
    fields: &[
        FieldDef {
            name: "metadata",
            shape: Shape::Object(&crate::meta::v1::OBJECT_META_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "spec",
            shape: Shape::Object(&RELAY_SPEC_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Relay>(),
};

impl ObjectType for Relay {
    const TYPE: &'static TypeDef = &RELAY_TYPE;
}

/// The resource table's row of [`Relay`].
pub static RELAY_RESOURCE: ResourceDef = ResourceDef {
    group: "versions.example.io",
    version: "v1beta1",
    kind: "Relay",
    list_kind: "RelayList",
    plural: "relays",
    singular: "relay",
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
        stability: Stability::Beta,
        introduced: None,
        deprecated: None,
        removed: None,
        replacement: None,
    },
    storage_version: false,
    conversion: Some(ConversionDef {
        to: <crate::versions::v1::Relay as object::Kind>::RESOURCE,
        steps: &[
            conversion::Step {
                at: &["spec"],
                below: &[&["shares"]],
                above: &[&["shares"]],
                how: conversion::How::Default("30"),
                annotation: Some("versions.example.io/v1beta1-shares"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "host"]],
                above: &[&["spec", "name"]],
                how: conversion::How::Move,
                annotation: None,
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "name"]],
                above: &[&["spec", "names"]],
                how: conversion::How::Wrap,
                annotation: Some("versions.example.io/v1beta1-names"),
            },
            conversion::Step {
                at: &[],
                below: &[&["spec", "target"]],
                above: &[&["spec", "target", "kind"], &["spec", "target", "name"]],
                how: conversion::How::Split("/"),
                annotation: Some("versions.example.io/v1beta1-target"),
            },
        ],
        wholes: conversion::Wholes {
            below: &[&["spec", "target"]],
            above: &[],
        },
    }),
    type_def: &RELAY_TYPE,
    schema_name: "versions.example.io.v1beta1.Relay",
    from_tree: object::from_tree::<Relay>,
};

impl object::Kind for Relay {
    const RESOURCE: &'static ResourceDef = &RELAY_RESOURCE;
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelaySpec {
    /// Where it works.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub host: String,
    /// What it is called.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// What it is aimed at.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub target: String,
    /// A part of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<i32>,
}

impl SetDefaults for RelaySpec {}

impl Validate for RelaySpec {}

/// The table of [`RelaySpec`].
pub static RELAY_SPEC_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1beta1.RelaySpec",
    short_name: "RelaySpec",
    fields: &[
        FieldDef {
            name: "host",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "target",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shares",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<RelaySpec>(),
};

impl ObjectType for RelaySpec {
    const TYPE: &'static TypeDef = &RELAY_SPEC_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "versions.example.io",
    version: "v1beta1",
    resources: &[&GADGET_RESOURCE, &RELAY_RESOURCE],
    feature_gates: &[],
    schemas: include_str!("v1beta1.openapi.json"),
};
