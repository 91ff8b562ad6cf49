use orch_runtime::{
    field_error::Validation, object::{self, ObjectType, SetDefaults, Validate},
    path::Path, presence,
    resource_def::{
        GroupVersionDef, Lifecycle, MetadataRules, NameFormat, ResourceDef, Scope,
        Stability, UpdateCheck, Verb,
    },
    type_def::{FieldDef, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// A virtual kind that says as little as possible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ping {
    /// Standard object metadata.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub metadata: crate::meta::v1::ObjectMeta,
    /// What to answer.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
}

impl SetDefaults for Ping {}

impl Validate for Ping {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
    }
}

/// The table of [`Ping`].
pub static PING_TYPE: TypeDef = TypeDef {
    name: "kinds.example.io.v2beta1.Ping",
    short_name: "Ping",
    fields: &[
        FieldDef {
            name: "metadata",
            shape: Shape::Object(&crate::meta::v1::OBJECT_META_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Ping>(),
};

impl ObjectType for Ping {
    const TYPE: &'static TypeDef = &PING_TYPE;
}

/// The resource table's row of [`Ping`].
pub static PING_RESOURCE: ResourceDef = ResourceDef {
    group: "kinds.example.io",
    version: "v2beta1",
    kind: "Ping",
    list_kind: "PingList",
    plural: "pings",
    singular: "ping",
    short_names: &[],
    categories: &[],
    scope: Scope::Namespaced,
    verbs: &[Verb::Create],
    stored: false,
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
    storage_version: true,
    conversion: None,
    type_def: &PING_TYPE,
    schema_name: "kinds.example.io.v2beta1.Ping",
    from_tree: object::from_tree::<Ping>,
};

impl object::Kind for Ping {
    const RESOURCE: &'static ResourceDef = &PING_RESOURCE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "kinds.example.io",
    version: "v2beta1",
    resources: &[&PING_RESOURCE],
    feature_gates: &[],
    schemas: include_str!("v2beta1.openapi.json"),
};
