use orch_runtime::{
    field_error::{FieldError, Validation},
    object::{self, ObjectType, SetDefaults, Validate},
    path::Path, presence,
    resource_def::{
        GroupVersionDef, Lifecycle, MetadataRules, NameFormat, ResourceDef, Scope,
        Stability, UpdateCheck, Verb,
    },
    rule, type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// The form in which gadgets are stored.
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
    name: "versions.example.io.v1.Gadget",
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
    version: "v1",
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
        stability: Stability::Stable,
        introduced: None,
        deprecated: None,
        removed: None,
        replacement: None,
    },
    storage_version: true,
    conversion: None,
    type_def: &GADGET_TYPE,
    schema_name: "versions.example.io.v1.Gadget",
    from_tree: object::from_tree::<Gadget>,
};

impl object::Kind for Gadget {
    const RESOURCE: &'static ResourceDef = &GADGET_RESOURCE;
}

/// Where a gadget belongs. It has one owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetHome {
    /// The house.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub house: String,
    /// The room in it.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub room: String,
    /// Its shelf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shelf: Option<i32>,
}

impl SetDefaults for GadgetHome {}

impl Validate for GadgetHome {}

/// The table of [`GadgetHome`].
pub static GADGET_HOME_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.GadgetHome",
    short_name: "GadgetHome",
    fields: &[
        FieldDef {
            name: "house",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
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
    ],
    by_name: &[],
    atomic: true,
    size: size_of::<GadgetHome>(),
};

impl ObjectType for GadgetHome {
    const TYPE: &'static TypeDef = &GADGET_HOME_TYPE;
}

/// How a gadget looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetLook {
    /// The colour.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub colour: String,
}

impl SetDefaults for GadgetLook {}

impl Validate for GadgetLook {}

/// The table of [`GadgetLook`].
pub static GADGET_LOOK_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.GadgetLook",
    short_name: "GadgetLook",
    fields: &[
        FieldDef {
            name: "colour",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<GadgetLook>(),
};

impl ObjectType for GadgetLook {
    const TYPE: &'static TypeDef = &GADGET_LOOK_TYPE;
}

/// A part of a gadget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetPart {
    /// Which one it is.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub key: String,
    /// What it is called.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub title: String,
}

impl SetDefaults for GadgetPart {}

impl Validate for GadgetPart {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("key");
        if self.key.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }
}

/// The table of [`GadgetPart`].
pub static GADGET_PART_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.GadgetPart",
    short_name: "GadgetPart",
    fields: &[
        FieldDef {
            name: "key",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "title",
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

/// Where a gadget is. It has one owner, in each version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetPlace {
    /// The street.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub street: String,
}

impl SetDefaults for GadgetPlace {}

impl Validate for GadgetPlace {}

/// The table of [`GadgetPlace`].
pub static GADGET_PLACE_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.GadgetPlace",
    short_name: "GadgetPlace",
    fields: &[
        FieldDef {
            name: "street",
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
    /// How it looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<GadgetLook>,
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
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub hosts: Vec<String>,
    /// Who has it.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub owner: String,
    /// Where it is.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub endpoint: String,
    /// What it is aimed at.
    #[serde(rename = "targetRef", skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<GadgetTarget>,
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
    /// Of what shape it is.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub shape: String,
    /// How large it is.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub sizes: Vec<i64>,
    /// Whether it rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Where it belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<GadgetHome>,
    /// Where it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<GadgetPlace>,
    /// What is around it.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub zone: String,
}

impl SetDefaults for GadgetSpec {
    fn set_defaults(&mut self) {
        self.shares.get_or_insert(30);
        if self.mode.is_empty() {
            self.mode = "Careful".to_owned();
        }
    }
}

impl Validate for GadgetSpec {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("parts");
        rule::unique_key(&self.parts, "key", |item| &item.key, &at, cx);
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
            rule::one_of(&self.mode, &["Quick", "Careful"], &at, cx);
        }
        let at = path.field("shape");
        if !self.shape.is_empty() {
            rule::one_of(&self.shape, &["Round", "Flat"], &at, cx);
        }
    }
}

/// The table of [`GadgetSpec`].
pub static GADGET_SPEC_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.GadgetSpec",
    short_name: "GadgetSpec",
    fields: &[
        FieldDef {
            name: "look",
            shape: Shape::Object(&GADGET_LOOK_TYPE),
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
                    keys: &["key"],
                },
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shares",
            shape: Shape::Scalar(Scalar::Int32),
            default: Some("30"),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "hosts",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "owner",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "endpoint",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "targetRef",
            shape: Shape::Object(&GADGET_TARGET_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "mode",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            default: Some("\"Careful\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "tone",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shape",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "sizes",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::Int64),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "disabled",
            shape: Shape::Scalar(Scalar::Boolean),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "home",
            shape: Shape::Object(&GADGET_HOME_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "place",
            shape: Shape::Object(&GADGET_PLACE_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "zone",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[2, 13, 7, 1, 14, 5, 0, 9, 6, 3, 15, 11, 4, 12, 8, 10, 16],
    atomic: false,
    size: size_of::<GadgetSpec>(),
};

impl ObjectType for GadgetSpec {
    const TYPE: &'static TypeDef = &GADGET_SPEC_TYPE;
}

/// What a gadget is aimed at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GadgetTarget {
    /// Of what kind it is.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub kind: String,
    /// What it is called.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
}

impl SetDefaults for GadgetTarget {}

impl Validate for GadgetTarget {}

/// The table of [`GadgetTarget`].
pub static GADGET_TARGET_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.GadgetTarget",
    short_name: "GadgetTarget",
    fields: &[
        FieldDef {
            name: "kind",
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
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<GadgetTarget>(),
};

impl ObjectType for GadgetTarget {
    const TYPE: &'static TypeDef = &GADGET_TARGET_TYPE;
}

/// A kind whose names stood for other fields in the version before.
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

impl SetDefaults for Relay {
    fn set_defaults(&mut self) {
        if let Some(value) = &mut self.spec {
            value.set_defaults();
        }
    }
}

impl Validate for Relay {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
    }
}

/// The table of [`Relay`].
pub static RELAY_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.Relay",
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
    version: "v1",
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
        stability: Stability::Stable,
        introduced: None,
        deprecated: None,
        removed: None,
        replacement: None,
    },
    storage_version: true,
    conversion: None,
    type_def: &RELAY_TYPE,
    schema_name: "versions.example.io.v1.Relay",
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
    pub name: String,
    /// What it is called.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub names: Vec<String>,
    /// What it is aimed at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<RelayTarget>,
    /// A part of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<i32>,
}

impl SetDefaults for RelaySpec {
    fn set_defaults(&mut self) {
        self.shares.get_or_insert(30);
    }
}

impl Validate for RelaySpec {}

/// The table of [`RelaySpec`].
pub static RELAY_SPEC_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.RelaySpec",
    short_name: "RelaySpec",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "names",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "target",
            shape: Shape::Object(&RELAY_TARGET_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shares",
            shape: Shape::Scalar(Scalar::Int32),
            default: Some("30"),
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

/// What a relay is aimed at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelayTarget {
    /// Of what kind it is.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub kind: String,
    /// What it is called.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
}

impl SetDefaults for RelayTarget {}

impl Validate for RelayTarget {}

/// The table of [`RelayTarget`].
pub static RELAY_TARGET_TYPE: TypeDef = TypeDef {
    name: "versions.example.io.v1.RelayTarget",
    short_name: "RelayTarget",
    fields: &[
        FieldDef {
            name: "kind",
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
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<RelayTarget>(),
};

impl ObjectType for RelayTarget {
    const TYPE: &'static TypeDef = &RELAY_TARGET_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "versions.example.io",
    version: "v1",
    resources: &[&GADGET_RESOURCE, &RELAY_RESOURCE],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
