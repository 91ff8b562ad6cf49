//! Small types for the tests of this crate: a bag of data, and a workload with lists of all kinds.

use orch_runtime::{
    resource_def::CellContext,
    scalar::Time,
    type_def::{FieldDef, ListSemantics, PatchStrategy, Scalar, Shape, TypeDef},
    vocabulary::EXAMPLE,
};

/// The context of table cells at this time.
pub fn context(now: Time) -> CellContext<'static> {
    CellContext { vocabulary: &EXAMPLE, now }
}

const STRING: Shape = Shape::Scalar(Scalar::String);
const STRING_ITEM: &Shape = &STRING;

/// An optional field that is left out if it is empty.
const fn field(name: &'static str, shape: Shape) -> FieldDef {
    FieldDef { name, shape, omit_empty: true, ..FieldDef::PLAIN }
}

const fn string(name: &'static str) -> FieldDef {
    field(name, STRING)
}

const fn scalar(name: &'static str, scalar: Scalar) -> FieldDef {
    field(name, Shape::Scalar(scalar))
}

const fn merged(field: FieldDef, merge_key: Option<&'static str>) -> FieldDef {
    FieldDef { patch: PatchStrategy { merge: true, merge_key, ..PatchStrategy::DEFAULT }, ..field }
}

const fn retain_keys(field: FieldDef) -> FieldDef {
    FieldDef { patch: PatchStrategy { retain_keys: true, ..field.patch }, ..field }
}

const fn replaced(field: FieldDef) -> FieldDef {
    FieldDef { patch: PatchStrategy { replace: true, ..field.patch }, ..field }
}

const fn atomic_list(item: &'static Shape) -> Shape {
    Shape::List { item, semantics: ListSemantics::Atomic }
}

const fn set(item: &'static Shape) -> Shape {
    Shape::List { item, semantics: ListSemantics::Set }
}

const fn keyed(item: &'static Shape, keys: &'static [&'static str]) -> Shape {
    Shape::List { item, semantics: ListSemantics::Map { keys } }
}

const fn map(value: &'static Shape) -> Shape {
    Shape::Map { value, atomic: false }
}

static OWNER: TypeDef = TypeDef {
    name: "meta.v1.OwnerReference",
    short_name: "OwnerReference",
    fields: &[string("apiVersion"), string("kind"), string("name"), string("uid")],
    by_name: &[],
    atomic: true,
    size: 0,
};

static MANAGED_FIELDS_ENTRY: TypeDef = TypeDef {
    name: "meta.v1.ManagedFieldsEntry",
    short_name: "ManagedFieldsEntry",
    fields: &[
        string("manager"),
        string("operation"),
        string("apiVersion"),
        scalar("time", Scalar::Time),
        string("fieldsType"),
        field("fieldsV1", Shape::Any),
        string("subresource"),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

pub(crate) static OBJECT_META: TypeDef = TypeDef {
    name: "meta.v1.ObjectMeta",
    short_name: "ObjectMeta",
    fields: &[
        string("name"),
        string("generateName"),
        string("namespace"),
        string("uid"),
        string("resourceVersion"),
        scalar("generation", Scalar::Int64),
        FieldDef { null_when_absent: true, ..scalar("creationTimestamp", Scalar::Time) },
        scalar("deletionTimestamp", Scalar::Time),
        field("labels", map(STRING_ITEM)),
        field("annotations", map(STRING_ITEM)),
        merged(field("ownerReferences", keyed(&Shape::Object(&OWNER), &["uid"])), Some("uid")),
        merged(field("finalizers", set(STRING_ITEM)), None),
        field("managedFields", atomic_list(&Shape::Object(&MANAGED_FIELDS_ENTRY))),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

/// A bag of data: strings, bytes, and write-only strings.
pub(crate) static BAG: TypeDef = TypeDef {
    name: "core.v1.Bag",
    short_name: "Bag",
    fields: &[
        field("metadata", Shape::Object(&OBJECT_META)),
        scalar("immutable", Scalar::Boolean),
        field("data", map(STRING_ITEM)),
        field("binaryData", map(&Shape::Scalar(Scalar::Bytes))),
        FieldDef { write_only: true, ..field("stringData", map(STRING_ITEM)) },
        field("any", Shape::Any),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

static ENV: TypeDef = TypeDef {
    name: "apps.v1.Env",
    short_name: "Env",
    fields: &[string("name"), string("value")],
    by_name: &[],
    atomic: false,
    size: 0,
};

static PORT: TypeDef = TypeDef {
    name: "apps.v1.Port",
    short_name: "Port",
    fields: &[
        string("name"),
        FieldDef { required: true, ..scalar("containerPort", Scalar::Int32) },
        FieldDef { default: Some("\"TCP\""), ..string("protocol") },
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

static CONTAINER: TypeDef = TypeDef {
    name: "apps.v1.Container",
    short_name: "Container",
    fields: &[
        string("name"),
        string("image"),
        field("args", atomic_list(STRING_ITEM)),
        merged(
            field("ports", keyed(&Shape::Object(&PORT), &["containerPort", "protocol"])),
            Some("containerPort"),
        ),
        merged(field("env", keyed(&Shape::Object(&ENV), &["name"])), Some("name")),
        field("resources", map(&Shape::Scalar(Scalar::Quantity))),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

static CONFIG_SOURCE: TypeDef = TypeDef {
    name: "apps.v1.ConfigSource",
    short_name: "ConfigSource",
    fields: &[string("name"), scalar("defaultMode", Scalar::Int32)],
    by_name: &[],
    atomic: false,
    size: 0,
};

static EMPTY_SOURCE: TypeDef = TypeDef {
    name: "apps.v1.EmptySource",
    short_name: "EmptySource",
    fields: &[string("medium")],
    by_name: &[],
    atomic: false,
    size: 0,
};

static VOLUME: TypeDef = TypeDef {
    name: "apps.v1.Volume",
    short_name: "Volume",
    fields: &[
        string("name"),
        field("configMap", Shape::Object(&CONFIG_SOURCE)),
        field("emptyDir", Shape::Object(&EMPTY_SOURCE)),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

static STRATEGY: TypeDef = TypeDef {
    name: "apps.v1.Strategy",
    short_name: "Strategy",
    fields: &[string("type"), scalar("maxUnavailable", Scalar::IntOrString)],
    by_name: &[],
    atomic: false,
    size: 0,
};

static REFERENCE: TypeDef = TypeDef {
    name: "apps.v1.Reference",
    short_name: "Reference",
    fields: &[string("kind"), string("name")],
    by_name: &[],
    atomic: true,
    size: 0,
};

static SPEC: TypeDef = TypeDef {
    name: "apps.v1.WorkloadSpec",
    short_name: "WorkloadSpec",
    fields: &[
        scalar("replicas", Scalar::Int32),
        scalar("weight", Scalar::Double),
        scalar("pauseUntil", Scalar::Time),
        field("nodeSelector", map(STRING_ITEM)),
        replaced(field("podSelector", map(STRING_ITEM))),
        merged(field("containers", keyed(&Shape::Object(&CONTAINER), &["name"])), Some("name")),
        retain_keys(merged(field("volumes", keyed(&Shape::Object(&VOLUME), &["name"])), Some("name"))),
        field("tolerations", atomic_list(&Shape::Object(&ENV))),
        retain_keys(field("strategy", Shape::Object(&STRATEGY))),
        field("reference", Shape::Object(&REFERENCE)),
        field("matrix", atomic_list(&Shape::List { item: STRING_ITEM, semantics: ListSemantics::Atomic })),
        field("groups", map(&Shape::Object(&ENV))),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

static CONDITION: TypeDef = TypeDef {
    name: "apps.v1.Condition",
    short_name: "Condition",
    fields: &[string("type"), string("status"), string("reason")],
    by_name: &[],
    atomic: false,
    size: 0,
};

static STATUS: TypeDef = TypeDef {
    name: "apps.v1.WorkloadStatus",
    short_name: "WorkloadStatus",
    fields: &[
        string("phase"),
        scalar("ready", Scalar::Int32),
        merged(field("conditions", keyed(&Shape::Object(&CONDITION), &["type"])), Some("type")),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

/// A workload: keyed lists, sets and atomic lists.
pub(crate) static WORKLOAD: TypeDef = TypeDef {
    name: "apps.v1.Workload",
    short_name: "Workload",
    fields: &[
        field("metadata", Shape::Object(&OBJECT_META)),
        field("spec", Shape::Object(&SPEC)),
        field("status", Shape::Object(&STATUS)),
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};
