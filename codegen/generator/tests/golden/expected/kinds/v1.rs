use std::collections::BTreeMap;
use orch_runtime::{
    field_error::{FieldError, Validation},
    object::{self, ObjectType, SetDefaults, Validate},
    path::Path, presence, release::Release,
    resource_def::{
        BodyKind, ColumnDef, ColumnValue, GroupVersionDef, Lifecycle, MetadataRules,
        NameFormat, Replacement, ResourceDef, ScaleDef, Scope, SelectableField,
        Stability, SubresourceDef, UpdateCheck, Verb,
    },
    rule, type_def::{FieldDef, ListSemantics, PatchStrategy, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// A kind with everything that a kind can have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Standard object metadata.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub metadata: crate::meta::v1::ObjectMeta,
    /// What is wanted.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub spec: MachineSpec,
    /// What is.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub status: MachineStatus,
}

impl SetDefaults for Machine {}

impl Validate for Machine {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
        let at = path.field("spec");
        self.spec.validate(&at, cx);
    }
}

/// The table of [`Machine`].
pub static MACHINE_TYPE: TypeDef = TypeDef {
    name: "kinds.example.io.v1.Machine",
    short_name: "Machine",
    fields: &[
        FieldDef {
            name: "metadata",
            tag: Some(1),
            shape: Shape::Object(&crate::meta::v1::OBJECT_META_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "spec",
            tag: Some(2),
            shape: Shape::Object(&MACHINE_SPEC_TYPE),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "status",
            tag: Some(3),
            shape: Shape::Object(&MACHINE_STATUS_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Machine>(),
};

impl ObjectType for Machine {
    const TYPE: &'static TypeDef = &MACHINE_TYPE;
}

/// The resource table's row of [`Machine`].
pub static MACHINE_RESOURCE: ResourceDef = ResourceDef {
    group: "kinds.example.io",
    version: "v1",
    kind: "Machine",
    list_kind: "MachineList",
    plural: "machines",
    singular: "machine",
    short_names: &["mc", "mach"],
    categories: &["all"],
    scope: Scope::Cluster,
    verbs: &[Verb::Create, Verb::Delete, Verb::Get, Verb::List, Verb::Watch],
    stored: true,
    subresources: &[
        SubresourceDef {
            name: "restart",
            verbs: &[Verb::Create],
            body: Some(BodyKind {
                group: "kinds.example.io",
                version: "v1",
                kind: "Restart",
                type_def: &RESTART_TYPE,
            }),
            scale: None,
        },
        SubresourceDef {
            name: "scale",
            verbs: &[Verb::Get, Verb::Patch, Verb::Update],
            body: Some(BodyKind {
                group: "autoscaling",
                version: "v1",
                kind: "Scale",
                type_def: &crate::autoscaling::v1::SCALE_TYPE,
            }),
            scale: Some(ScaleDef {
                replicas: &["spec", "count"],
                status_replicas: &["status", "count"],
                selector: Some(&["status", "selector"]),
            }),
        },
        SubresourceDef {
            name: "status",
            verbs: &[Verb::Get, Verb::Patch, Verb::Update],
            body: None,
            scale: None,
        },
    ],
    name_format: NameFormat::PathSegment,
    create_on_update: true,
    unconditional_update: false,
    update_checks: UpdateCheck::USUAL,
    metadata_rules: MetadataRules::Afterwards,
    counts_generation: true,
    delete_returns_object: true,
    columns: &[
        ColumnDef {
            name: "Name",
            column_type: "string",
            format: "name",
            description: "The name.",
            priority: 0,
            empty: "",
            value: ColumnValue::Path(&["metadata", "name"]),
        },
        ColumnDef {
            name: "Parts",
            column_type: "integer",
            format: "",
            description: "",
            priority: 0,
            empty: "",
            value: ColumnValue::Count(&[&["spec", "parts"], &["spec", "labels"]]),
        },
        ColumnDef {
            name: "Phase",
            column_type: "string",
            format: "",
            description: "Where it is in its life.",
            priority: 1,
            empty: "",
            value: ColumnValue::Path(&["status", "phase"]),
        },
        ColumnDef {
            name: "Labels",
            column_type: "string",
            format: "",
            description: "Labels.",
            priority: 0,
            empty: "<none>",
            value: ColumnValue::Path(&["spec", "labels"]),
        },
        ColumnDef {
            name: "Weight",
            column_type: "integer",
            format: "",
            description: "",
            priority: 0,
            empty: "",
            value: ColumnValue::Computed(crate::columns::machine_weight),
        },
        ColumnDef {
            name: "Age",
            column_type: "string",
            format: "",
            description: "When it was created.",
            priority: 0,
            empty: "",
            value: ColumnValue::Age(&["metadata", "creationTimestamp"]),
        },
    ],
    selectable_fields: &[
        SelectableField {
            label: "status.phase",
            paths: &[&["status", "phase"]],
        },
        SelectableField {
            label: "phase",
            paths: &[&["status", "phase"]],
        },
        SelectableField {
            label: "old",
            paths: &[],
        },
    ],
    indexed_fields: &["status.phase"],
    indexed_labels: &["app"],
    lifecycle: Lifecycle {
        stability: Stability::Stable,
        introduced: Some(Release::new(1u32, 0u32)),
        deprecated: Some(Release::new(1u32, 4u32)),
        removed: Some(Release::new(2u32, 0u32)),
        replacement: Some(Replacement {
            group: "kinds.example.io",
            version: "v2",
            kind: "Machine",
        }),
    },
    storage_version: true,
    conversion: None,
    type_def: &MACHINE_TYPE,
    schema_name: "kinds.example.io.v1.Machine",
    from_tree: object::from_tree::<Machine>,
};

impl object::Kind for Machine {
    const RESOURCE: &'static ResourceDef = &MACHINE_RESOURCE;
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachinePart {
    /// The name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
}

impl SetDefaults for MachinePart {}

impl Validate for MachinePart {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }
}

/// The table of [`MachinePart`].
pub static MACHINE_PART_TYPE: TypeDef = TypeDef {
    name: "kinds.example.io.v1.MachinePart",
    short_name: "MachinePart",
    fields: &[
        FieldDef {
            name: "name",
            tag: Some(1),
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<MachinePart>(),
};

impl ObjectType for MachinePart {
    const TYPE: &'static TypeDef = &MACHINE_PART_TYPE;
}

/// What is wanted of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineSpec {
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub parts: Vec<MachinePart>,
    /// Labels.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub labels: BTreeMap<String, String>,
    /// How many there shall be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
}

impl SetDefaults for MachineSpec {}

impl Validate for MachineSpec {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("parts");
        rule::unique_key(&self.parts, "name", |item| &item.name, &at, cx);
        for (index, item) in self.parts.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
    }
}

/// The table of [`MachineSpec`].
pub static MACHINE_SPEC_TYPE: TypeDef = TypeDef {
    name: "kinds.example.io.v1.MachineSpec",
    short_name: "MachineSpec",
    fields: &[
        FieldDef {
            name: "parts",
            tag: Some(1),
            shape: Shape::List {
                item: &Shape::Object(&MACHINE_PART_TYPE),
                semantics: ListSemantics::Map {
                    keys: &["name"],
                },
            },
            omit_empty: true,
            patch: PatchStrategy {
                merge: true,
                retain_keys: true,
                replace: false,
                merge_key: Some("name"),
            },
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "labels",
            tag: Some(2),
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::String),
                atomic: true,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "count",
            tag: Some(3),
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<MachineSpec>(),
};

impl ObjectType for MachineSpec {
    const TYPE: &'static TypeDef = &MACHINE_SPEC_TYPE;
}

/// What is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineStatus {
    /// Where the machine is in its life.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub phase: String,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
    /// What finds them.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub selector: String,
}

impl SetDefaults for MachineStatus {}

impl Validate for MachineStatus {}

/// The table of [`MachineStatus`].
pub static MACHINE_STATUS_TYPE: TypeDef = TypeDef {
    name: "kinds.example.io.v1.MachineStatus",
    short_name: "MachineStatus",
    fields: &[
        FieldDef {
            name: "phase",
            tag: Some(1),
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "count",
            tag: Some(2),
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "selector",
            tag: Some(3),
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<MachineStatus>(),
};

impl ObjectType for MachineStatus {
    const TYPE: &'static TypeDef = &MACHINE_STATUS_TYPE;
}

/// Restarts a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Restart {
    /// How long it may take.
    #[serde(rename = "graceSeconds", skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<i64>,
}

impl SetDefaults for Restart {}

impl Validate for Restart {}

/// The table of [`Restart`].
pub static RESTART_TYPE: TypeDef = TypeDef {
    name: "kinds.example.io.v1.Restart",
    short_name: "Restart",
    fields: &[
        FieldDef {
            name: "graceSeconds",
            tag: Some(1),
            shape: Shape::Scalar(Scalar::Int64),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Restart>(),
};

impl ObjectType for Restart {
    const TYPE: &'static TypeDef = &RESTART_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "kinds.example.io",
    version: "v1",
    resources: &[&MACHINE_RESOURCE],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
