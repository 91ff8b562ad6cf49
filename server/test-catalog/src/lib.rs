//! A small hand-written catalog for tests, with every shape of resource once; and the catalog of the product.

pub use orch_api::{KUBERNETES, ORCH};
use orch_registry::catalog::Catalog;
use orch_runtime::{
    Tree,
    object::ApiObject,
    release::Release,
    resource_def::{
        BodyKind, GroupVersionDef, Lifecycle, MetadataRules, NameFormat, Replacement, ResourceDef, Scope,
        Stability, SubresourceDef, UpdateCheck, Verb,
    },
    type_def::TypeDef,
    vocabulary::Vocabulary,
};
use serde::de::Error as _;

/// The tables of the product under the words of `vocabulary`.
pub fn product(vocabulary: &'static Vocabulary) -> Catalog {
    Catalog::new(vocabulary, orch_api::registry().iter().copied())
}

/// All tables below under the words of `vocabulary`.
pub fn catalog(vocabulary: &'static Vocabulary) -> Catalog {
    Catalog::new(vocabulary, TABLES.iter().copied())
}

/// All tables below.
pub static TABLES: &[&GroupVersionDef] =
    &[&META_V1, &CORE_V1, &APPS_V1, &AUTHORIZATION_V1, &POLICY_V1, &WIDGETS_V1BETA1, &WIDGETS_V1];

static META_V1: GroupVersionDef = GroupVersionDef {
    group: "meta",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: r##"{
        "meta.v1.ObjectMeta": {"type": "object", "description": "About the object.", "properties": {
            "name": {"type": "string"},
            "creationTimestamp": {"$ref": "#/components/schemas/meta.v1.Time"}}},
        "meta.v1.ListMeta": {"type": "object", "properties": {"resourceVersion": {"type": "string"}}},
        "meta.v1.Time": {"type": "string", "format": "date-time"},
        "meta.v1.Status": {"type": "object", "properties": {
            "metadata": {"allOf": [{"$ref": "#/components/schemas/meta.v1.ListMeta"}], "default": {}}}},
        "meta.v1.DeleteOptions": {"type": "object", "properties": {
            "gracePeriodSeconds": {"type": "integer"}}},
        "meta.v1.Patch": {"type": "object"},
        "meta.v1.WatchEvent": {"type": "object", "required": ["type", "object"], "properties": {
            "type": {"type": "string"}, "object": {"type": "object"}}},
        "meta.v1.Unused": {"type": "object"}}"##,
};

static CORE_V1: GroupVersionDef = GroupVersionDef {
    group: "",
    version: "v1",
    resources: &[&CONFIG_MAPS, &NAMESPACES, &PODS, &SERVICE_ACCOUNTS],
    feature_gates: &[],
    schemas: r##"{
        "core.v1.ConfigMapList": {"type": "object", "required": ["items"], "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ListMeta"},
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/core.v1.ConfigMap"}}}},
        "core.v1.ConfigMap": {"type": "object", "description": "Settings.", "properties": {
            "metadata": {"allOf": [{"$ref": "#/components/schemas/meta.v1.ObjectMeta"}], "default": {}},
            "data": {"type": "object", "additionalProperties": {"type": "string", "default": ""}}}},
        "core.v1.NamespaceList": {"type": "object", "required": ["items"], "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ListMeta"},
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/core.v1.Namespace"}}}},
        "core.v1.Namespace": {"type": "object", "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ObjectMeta"}}},
        "core.v1.PodList": {"type": "object", "required": ["items"], "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ListMeta"},
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/core.v1.Pod"}}}},
        "core.v1.Pod": {"type": "object", "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ObjectMeta"}}},
        "core.v1.ServiceAccountList": {"type": "object", "required": ["items"], "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ListMeta"},
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/core.v1.ServiceAccount"}}}},
        "core.v1.ServiceAccount": {"type": "object", "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ObjectMeta"}}}}"##,
};

static APPS_V1: GroupVersionDef = GroupVersionDef {
    group: "apps",
    version: "v1",
    resources: &[&DAEMON_SETS],
    feature_gates: &[],
    schemas: r##"{
        "apps.v1.DaemonSetList": {"type": "object", "required": ["items"], "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ListMeta"},
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/apps.v1.DaemonSet"}}}},
        "apps.v1.DaemonSet": {"type": "object", "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ObjectMeta"}}}}"##,
};

static AUTHORIZATION_V1: GroupVersionDef = GroupVersionDef {
    group: "authorization.orch.io",
    version: "v1",
    resources: &[&LOCAL_REVIEWS, &SELF_REVIEWS],
    feature_gates: &[],
    schemas: r##"{
        "authorization.orch.io.v1.LocalSubjectAccessReview": {"type": "object", "properties": {
            "spec": {"$ref": "#/components/schemas/authorization.orch.io.v1.Spec"}}},
        "authorization.orch.io.v1.SelfSubjectAccessReview": {"type": "object", "properties": {
            "spec": {"$ref": "#/components/schemas/authorization.orch.io.v1.Spec"}}},
        "authorization.orch.io.v1.Spec": {"type": "object", "properties": {
            "inner": {"$ref": "#/components/schemas/authorization.orch.io.v1.Spec"}}}}"##,
};

static POLICY_V1: GroupVersionDef = GroupVersionDef {
    group: "policy",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: r##"{
        "policy.v1.Eviction": {"type": "object", "properties": {
            "metadata": {"$ref": "#/components/schemas/meta.v1.ObjectMeta"},
            "deleteOptions": {"$ref": "#/components/schemas/meta.v1.DeleteOptions"}}}}"##,
};

static WIDGETS_V1: GroupVersionDef = GroupVersionDef {
    group: "things.example.com",
    version: "v1",
    resources: &[&WIDGETS],
    feature_gates: &[],
    schemas: r#"{
        "things.example.com.v1.Widget": {"type": "object"},
        "things.example.com.v1.WidgetList": {"type": "object"}}"#,
};

static WIDGETS_V1BETA1: GroupVersionDef = GroupVersionDef {
    group: "things.example.com",
    version: "v1beta1",
    resources: &[&OLD_WIDGETS],
    feature_gates: &[],
    schemas: r#"{
        "things.example.com.v1beta1.Widget": {"type": "object"},
        "things.example.com.v1beta1.WidgetList": {"type": "object"}}"#,
};

const BASE: ResourceDef = ResourceDef {
    group: "",
    version: "v1",
    kind: "",
    list_kind: "",
    plural: "",
    singular: "",
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
    type_def: &TypeDef { name: "", short_name: "", fields: &[], by_name: &[], atomic: false, size: 0 },
    schema_name: "",
    from_tree: unreadable,
};

const STATUS: SubresourceDef = SubresourceDef {
    name: "status",
    verbs: &[Verb::Get, Verb::Patch, Verb::Update],
    body: None,
    scale: None,
};

/// With a short name.
pub static CONFIG_MAPS: ResourceDef = ResourceDef {
    kind: "ConfigMap",
    list_kind: "ConfigMapList",
    plural: "configmaps",
    singular: "configmap",
    short_names: &["cm"],
    schema_name: "core.v1.ConfigMap",
    ..BASE
};

static NAMESPACES: ResourceDef = ResourceDef {
    kind: "Namespace",
    list_kind: "NamespaceList",
    plural: "namespaces",
    singular: "namespace",
    short_names: &["ns"],
    scope: Scope::Cluster,
    verbs: &[Verb::Create, Verb::Delete, Verb::Get, Verb::List, Verb::Patch, Verb::Update, Verb::Watch],
    subresources: &[
        SubresourceDef { name: "finalize", verbs: &[Verb::Update], body: None, scale: None },
        STATUS,
    ],
    schema_name: "core.v1.Namespace",
    ..BASE
};

/// With a sub-resource of another kind.
pub static PODS: ResourceDef = ResourceDef {
    kind: "Pod",
    list_kind: "PodList",
    plural: "pods",
    singular: "pod",
    short_names: &["po"],
    categories: &["all"],
    subresources: &[
        SubresourceDef {
            name: "eviction",
            verbs: &[Verb::Create],
            body: Some(BodyKind {
                group: "policy",
                version: "v1",
                kind: "Eviction",
                type_def: BASE.type_def,
            }),
            scale: None,
        },
        STATUS,
    ],
    schema_name: "core.v1.Pod",
    ..BASE
};

static SERVICE_ACCOUNTS: ResourceDef = ResourceDef {
    kind: "ServiceAccount",
    list_kind: "ServiceAccountList",
    plural: "serviceaccounts",
    singular: "serviceaccount",
    short_names: &["sa"],
    subresources: &[SubresourceDef {
        name: "token",
        verbs: &[Verb::Create],
        body: Some(BodyKind {
            group: "authorization.orch.io",
            version: "v1",
            kind: "SelfSubjectAccessReview",
            type_def: BASE.type_def,
        }),
        scale: None,
    }],
    schema_name: "core.v1.ServiceAccount",
    ..BASE
};

static DAEMON_SETS: ResourceDef = ResourceDef {
    group: "apps",
    kind: "DaemonSet",
    list_kind: "DaemonSetList",
    plural: "daemonsets",
    singular: "daemonset",
    short_names: &["ds"],
    categories: &["all"],
    subresources: &[STATUS],
    schema_name: "apps.v1.DaemonSet",
    ..BASE
};

const REVIEW: ResourceDef =
    ResourceDef { group: "authorization.orch.io", verbs: &[Verb::Create], stored: false, ..BASE };

static LOCAL_REVIEWS: ResourceDef = ResourceDef {
    kind: "LocalSubjectAccessReview",
    plural: "localsubjectaccessreviews",
    singular: "localsubjectaccessreview",
    schema_name: "authorization.orch.io.v1.LocalSubjectAccessReview",
    ..REVIEW
};

static SELF_REVIEWS: ResourceDef = ResourceDef {
    kind: "SelfSubjectAccessReview",
    plural: "selfsubjectaccessreviews",
    singular: "selfsubjectaccessreview",
    scope: Scope::Cluster,
    schema_name: "authorization.orch.io.v1.SelfSubjectAccessReview",
    ..REVIEW
};

const WIDGET: ResourceDef = ResourceDef {
    group: "things.example.com",
    kind: "Widget",
    list_kind: "WidgetList",
    plural: "widgets",
    singular: "widget",
    ..BASE
};

static WIDGETS: ResourceDef = ResourceDef { schema_name: "things.example.com.v1.Widget", ..WIDGET };

/// Deprecated.
pub static OLD_WIDGETS: ResourceDef = ResourceDef {
    version: "v1beta1",
    storage_version: false,
    conversion: None,
    lifecycle: Lifecycle {
        stability: Stability::Beta,
        introduced: None,
        deprecated: Some(Release::new(1, 30)),
        removed: Some(Release::new(1, 34)),
        replacement: Some(Replacement { group: "things.example.com", version: "v1", kind: "Widget" }),
    },
    schema_name: "things.example.com.v1beta1.Widget",
    ..WIDGET
};

fn unreadable(_: Tree) -> Result<Box<dyn ApiObject>, serde_json::Error> {
    Err(serde_json::Error::custom("these tables have no types"))
}
