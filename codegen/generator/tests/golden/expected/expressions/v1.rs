use std::{collections::BTreeMap, sync::LazyLock};
use orch_runtime::{
    expression, field_error::{FieldError, Reason, Validation},
    object::{self, ObjectType, SetDefaults, Validate},
    path::Path, presence,
    resource_def::{
        GroupVersionDef, Lifecycle, MetadataRules, NameFormat, ResourceDef, Scope,
        Stability, UpdateCheck, Verb,
    },
    rule, scalar::{ByteString, Duration, IntOrString, Quantity, Time},
    text_enum::{self, TextEnum},
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// A kind whose rules look at whole objects, at what may be null, and at product words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// Standard object metadata.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub metadata: crate::meta::v1::ObjectMeta,
    /// How many.
    pub wanted: Option<i64>,
    /// The fewest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<i64>,
    /// Modes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub modes: Vec<Mode>,
    /// What is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<DraftTemplate>,
    /// Other names, of which none has a blank.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub aliases: Vec<Vec<Label>>,
}

impl SetDefaults for Draft {}

impl Validate for Draft {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
        let at = path.field("modes");
        rule::max_items(&self.modes, 5, &at, cx);
        for (index, item) in self.modes.iter().enumerate() {
            let at = at.index(index);
            text_enum::listed(item, &at, cx);
        }
        let at = path.field("template");
        if let Some(value) = &self.template {
            value.validate(&at, cx);
        }
        let at = path.field("aliases");
        rule::max_items(&self.aliases, 4, &at, cx);
        for (index, item) in self.aliases.iter().enumerate() {
            let at = at.index(index);
            rule::max_items(item, 4, &at, cx);
            for (index_1, item_1) in item.iter().enumerate() {
                let at = at.index(index_1);
                rule::max_length(item_1, 20, &at, cx);
            }
        }
    }

    fn validate_update(&self, old: &Self, path: &Path<'_>, cx: &mut Validation<'_>) {
        if expression::is_broken(|| Ok(
            expression::boolean(
                &{
                    static FUNCTION: LazyLock<expression::Function> = LazyLock::new(|| expression::Function::new(
                        "_==_",
                        &[
                            (
                                "_==_(A, A) -> bool",
                                &[expression::Kind::Any, expression::Kind::Any],
                            ),
                        ],
                    ));
                    FUNCTION
                        .call(
                            &[
                                value_of_meta_v1_objectmeta(&self.metadata),
                                value_of_meta_v1_objectmeta(&old.metadata),
                            ],
                        )?
                },
            )?,
        )) {
            cx.warn(path, "the metadata changed");
        }
    }

    const HAS_EXPRESSIONS: bool = true;
    #[allow(
        clippy::all,
        unused_comparisons,
        reason = "it says what the schema file says"
    )]
    fn validate_expressions(
        &self,
        old: Option<&Self>,
        path: &Path<'_>,
        cx: &mut Validation<'_>,
    ) {
        if let Some(old) = old {
            let outcome = expression::outcome(|| Ok(
                expression::boolean(
                    &{
                        static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                        expression::Function::new(
                            "_==_",
                            &[
                                (
                                    "_==_(A, A) -> bool",
                                    &[expression::Kind::Any, expression::Kind::Any],
                                ),
                            ],
                        ));
                        FUNCTION
                            .call(
                                &[
                                    narrowed_value_of_expressions_example_io_v1_draft(self),
                                    narrowed_value_of_expressions_example_io_v1_draft(old),
                                ],
                            )?
                    },
                )?,
            ));
            if outcome != Ok(true) {
                expression::Rule {
                    text: "self == oldSelf",
                    message: Some("the draft changed"),
                    reason: Reason::Invalid,
                    is_warning: true,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        if let Some(old) = old {
            let outcome = expression::outcome(|| Ok(
                expression::boolean(
                    &{
                        static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                        expression::Function::new(
                            "_==_",
                            &[
                                (
                                    "_==_(A, A) -> bool",
                                    &[expression::Kind::Any, expression::Kind::Any],
                                ),
                            ],
                        ));
                        FUNCTION
                            .call(
                                &[
                                    narrowed_value_of_meta_v1_objectmeta(&self.metadata),
                                    narrowed_value_of_meta_v1_objectmeta(&old.metadata),
                                ],
                            )?
                    },
                )?,
            ));
            if outcome != Ok(true) {
                expression::Rule {
                    text: "self.metadata == oldSelf.metadata",
                    message: Some("the name changed"),
                    reason: Reason::Invalid,
                    is_warning: true,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        if let Some(old) = old {
            let outcome = expression::outcome(|| Ok(
                self.template.is_none() || old.template.is_none()
                    || expression::boolean(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "_==_",
                                &[
                                    (
                                        "_==_(A, A) -> bool",
                                        &[expression::Kind::Any, expression::Kind::Any],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        value_of_expressions_example_io_v1_drafttemplate(
                                            expression::given(&self.template, "template")?,
                                        ),
                                        value_of_expressions_example_io_v1_drafttemplate(
                                            expression::given(&old.template, "template")?,
                                        ),
                                    ],
                                )?
                        },
                    )?,
            ));
            if outcome != Ok(true) {
                expression::Rule {
                    text: "!has(self.template) || !has(oldSelf.template) || self.template == oldSelf.template",
                    message: Some("the template changed"),
                    reason: Reason::Invalid,
                    is_warning: true,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                expression::or(
                    || Ok(self.template.is_none()),
                    || Ok(
                        expression::or(
                            || Ok(
                                expression::given(&self.template, "template")?
                                    .metadata
                                    .annotations
                                    .is_empty(),
                            ),
                            || Ok(
                                !expression::given_if(
                                        !expression::given(&self.template, "template")?
                                            .metadata
                                            .annotations
                                            .is_empty(),
                                        &expression::given(&self.template, "template")?
                                            .metadata
                                            .annotations,
                                        "annotations",
                                    )?
                                    .contains_key("bad"),
                            ),
                        )?,
                    ),
                )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.template) || !has(self.template.metadata.annotations) || !('bad' in self.template.metadata.annotations)",
                    message: Some("a bad template"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                expression::or(
                    || Ok(
                        expression::boolean(
                            &{
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "_==_",
                                    &[
                                        (
                                            "_==_(A, A) -> bool",
                                            &[expression::Kind::Any, expression::Kind::Any],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            {
                                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                                expression::Function::new(
                                                    "dyn",
                                                    &[("dyn(A) -> dyn", &[expression::Kind::Any])],
                                                ));
                                                FUNCTION
                                                    .call(
                                                        &[
                                                            Some(
                                                                    self
                                                                        .wanted
                                                                        .as_ref()
                                                                        .map(|item| expression::Value::Int(*item))
                                                                        .unwrap_or(expression::Value::Null),
                                                                )
                                                                .unwrap_or(expression::Value::Null),
                                                        ],
                                                    )?
                                            },
                                            expression::Value::Null,
                                        ],
                                    )?
                            },
                        )?,
                    ),
                    || Ok(
                        expression::and(
                            || Ok(
                                expression::boolean(
                                    &{
                                        static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                        expression::Function::new(
                                            "_>_",
                                            &[
                                                (
                                                    "_>_(int, int) -> bool",
                                                    &[expression::Kind::Int, expression::Kind::Int],
                                                ),
                                            ],
                                        ));
                                        FUNCTION
                                            .call(
                                                &[
                                                    Some(
                                                            self
                                                                .wanted
                                                                .as_ref()
                                                                .map(|item| expression::Value::Int(*item))
                                                                .unwrap_or(expression::Value::Null),
                                                        )
                                                        .unwrap_or(expression::Value::Null),
                                                    expression::Value::Int(3i64),
                                                ],
                                            )?
                                    },
                                )?,
                            ),
                            || Ok(
                                expression::int(
                                    &{
                                        static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                        expression::Function::new(
                                            "-_",
                                            &[("-_(int) -> int", &[expression::Kind::Int])],
                                        ));
                                        FUNCTION
                                            .call(
                                                &[
                                                    Some(
                                                            self
                                                                .wanted
                                                                .as_ref()
                                                                .map(|item| expression::Value::Int(*item))
                                                                .unwrap_or(expression::Value::Null),
                                                        )
                                                        .unwrap_or(expression::Value::Null),
                                                ],
                                            )?
                                    },
                                )? < 0i64,
                            ),
                        )?,
                    ),
                )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "dyn(self.wanted) == null || self.wanted > 3 && -self.wanted < 0",
                    message: Some("too few"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.modes.is_empty()
                    || expression::count(
                        expression::given_if(
                                !self.modes.is_empty(),
                                &self.modes,
                                "modes",
                            )?
                            .iter()
                            .map(|value| value.as_str().len())
                            .sum::<usize>(),
                    ) < 10i64,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.modes) || self.modes.sizes() < 10",
                    message: Some("too many modes"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let words = cx.vocabulary;
            let outcome = expression::outcome(|| Ok(
                expression::and(
                    || Ok(
                        expression::has(
                            &expression::object([
                                (
                                    "groupSuffix",
                                    Some(expression::Value::from(words.group_suffix)),
                                ),
                                (
                                    "labelDomain",
                                    Some(expression::Value::from(words.label_domain)),
                                ),
                                (
                                    "protobufMediaType",
                                    Some(expression::Value::from(words.protobuf_media_type)),
                                ),
                                (
                                    "namespaceSystem",
                                    Some(expression::Value::from(words.namespace_system)),
                                ),
                                (
                                    "namespacePublic",
                                    Some(expression::Value::from(words.namespace_public)),
                                ),
                                (
                                    "namespaceNodeLease",
                                    Some(expression::Value::from(words.namespace_node_lease)),
                                ),
                                (
                                    "namespaceFinalizer",
                                    Some(expression::Value::from(words.namespace_finalizer)),
                                ),
                                (
                                    "rootCaConfigMap",
                                    Some(expression::Value::from(words.root_ca_config_map)),
                                ),
                                (
                                    "apiAccessVolume",
                                    Some(expression::Value::from(words.api_access_volume)),
                                ),
                                (
                                    "bootstrapTokenSecretType",
                                    Some(
                                        expression::Value::from(words.bootstrap_token_secret_type),
                                    ),
                                ),
                                (
                                    "initialEventsEndAnnotation",
                                    Some(
                                        expression::Value::from(words.initial_events_end_annotation),
                                    ),
                                ),
                                (
                                    "flowSchemaHeader",
                                    Some(expression::Value::from(words.flow_schema_header)),
                                ),
                                (
                                    "priorityLevelHeader",
                                    Some(expression::Value::from(words.priority_level_header)),
                                ),
                                (
                                    "execInfoVariable",
                                    Some(expression::Value::from(words.exec_info_variable)),
                                ),
                            ]),
                            "labelDomain",
                        )?,
                    ),
                    || Ok(
                        expression::text(
                            &{
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "orValue",
                                    &[
                                        (
                                            "(optional_type(A)).orValue(A) -> A",
                                            &[expression::Kind::Optional, expression::Kind::Any],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            expression::select(
                                                &expression::object([
                                                    (
                                                        "groupSuffix",
                                                        Some(expression::Value::from(words.group_suffix)),
                                                    ),
                                                    (
                                                        "labelDomain",
                                                        Some(expression::Value::from(words.label_domain)),
                                                    ),
                                                    (
                                                        "protobufMediaType",
                                                        Some(expression::Value::from(words.protobuf_media_type)),
                                                    ),
                                                    (
                                                        "namespaceSystem",
                                                        Some(expression::Value::from(words.namespace_system)),
                                                    ),
                                                    (
                                                        "namespacePublic",
                                                        Some(expression::Value::from(words.namespace_public)),
                                                    ),
                                                    (
                                                        "namespaceNodeLease",
                                                        Some(expression::Value::from(words.namespace_node_lease)),
                                                    ),
                                                    (
                                                        "namespaceFinalizer",
                                                        Some(expression::Value::from(words.namespace_finalizer)),
                                                    ),
                                                    (
                                                        "rootCaConfigMap",
                                                        Some(expression::Value::from(words.root_ca_config_map)),
                                                    ),
                                                    (
                                                        "apiAccessVolume",
                                                        Some(expression::Value::from(words.api_access_volume)),
                                                    ),
                                                    (
                                                        "bootstrapTokenSecretType",
                                                        Some(
                                                            expression::Value::from(words.bootstrap_token_secret_type),
                                                        ),
                                                    ),
                                                    (
                                                        "initialEventsEndAnnotation",
                                                        Some(
                                                            expression::Value::from(words.initial_events_end_annotation),
                                                        ),
                                                    ),
                                                    (
                                                        "flowSchemaHeader",
                                                        Some(expression::Value::from(words.flow_schema_header)),
                                                    ),
                                                    (
                                                        "priorityLevelHeader",
                                                        Some(expression::Value::from(words.priority_level_header)),
                                                    ),
                                                    (
                                                        "execInfoVariable",
                                                        Some(expression::Value::from(words.exec_info_variable)),
                                                    ),
                                                ]),
                                                "labelDomain",
                                                true,
                                            )?,
                                            expression::Value::from(""),
                                        ],
                                    )?
                            },
                        )? == words.label_domain,
                    ),
                )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "has(words.labelDomain) && words.?labelDomain.orValue('') == words.labelDomain",
                    message: Some("no words"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let words = cx.vocabulary;
            let outcome = expression::outcome(|| Ok({
                let value_0 = expression::object([
                    ("groupSuffix", Some(expression::Value::from(words.group_suffix))),
                    ("labelDomain", Some(expression::Value::from(words.label_domain))),
                    (
                        "protobufMediaType",
                        Some(expression::Value::from(words.protobuf_media_type)),
                    ),
                    (
                        "namespaceSystem",
                        Some(expression::Value::from(words.namespace_system)),
                    ),
                    (
                        "namespacePublic",
                        Some(expression::Value::from(words.namespace_public)),
                    ),
                    (
                        "namespaceNodeLease",
                        Some(expression::Value::from(words.namespace_node_lease)),
                    ),
                    (
                        "namespaceFinalizer",
                        Some(expression::Value::from(words.namespace_finalizer)),
                    ),
                    (
                        "rootCaConfigMap",
                        Some(expression::Value::from(words.root_ca_config_map)),
                    ),
                    (
                        "apiAccessVolume",
                        Some(expression::Value::from(words.api_access_volume)),
                    ),
                    (
                        "bootstrapTokenSecretType",
                        Some(expression::Value::from(words.bootstrap_token_secret_type)),
                    ),
                    (
                        "initialEventsEndAnnotation",
                        Some(
                            expression::Value::from(words.initial_events_end_annotation),
                        ),
                    ),
                    (
                        "flowSchemaHeader",
                        Some(expression::Value::from(words.flow_schema_header)),
                    ),
                    (
                        "priorityLevelHeader",
                        Some(expression::Value::from(words.priority_level_header)),
                    ),
                    (
                        "execInfoVariable",
                        Some(expression::Value::from(words.exec_info_variable)),
                    ),
                ]);
                expression::text(
                    &expression::select(&value_0.clone(), "namespaceSystem", false)?,
                )?
                    != expression::given_if(
                        !self.metadata.name.is_empty(),
                        self.metadata.name.as_str(),
                        "name",
                    )?
            }));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "cel.bind(w, words, w.namespaceSystem != self.metadata.name)",
                    message: Some("named as a namespace"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let holds = self.least.as_ref().map_or(1i64, |value| *value) > 0i64;
            if !holds && old != Some(self) {
                expression::Rule {
                    text: "self.?least.orValue(1) > 0",
                    message: Some("must be positive"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(
                        Ok(false),
                        || {
                            old
                                .and_then(|old| expression::message(|| Ok({
                                    static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                    expression::Function::new(
                                        "format",
                                        &[
                                            (
                                                "(string).format(list(dyn)) -> string",
                                                &[expression::Kind::Text, expression::Kind::List],
                                            ),
                                        ],
                                    ));
                                    FUNCTION
                                        .call(
                                            &[
                                                expression::Value::from("must be positive, and was %d"),
                                                expression::Value::list(
                                                    vec![
                                                        expression::Value::Int(* expression::given(& old.least,
                                                        "least") ?)
                                                    ],
                                                ),
                                            ],
                                        )?
                                })))
                        },
                        path,
                        path,
                        cx,
                    );
            }
        }
        if !self.modes.is_empty() {
            let at = &path.field("modes");
            let value = &self.modes;
            for (index, value) in value.iter().enumerate() {
                let at = &at.index(index);
                let old = expression::no_old(value);
                {
                    let holds = value.as_str() != "Odd";
                    if !holds && old != Some(value) {
                        expression::Rule {
                            text: "self != 'Odd'",
                            message: Some("odd plans are out of use"),
                            reason: Reason::Invalid,
                            is_warning: false,
                            type_name: "string",
                        }
                            .report(Ok(false), || None, at, at, cx);
                    }
                }
            }
        }
        if let Some(value) = &self.template {
            let at = &path.field("template");
            let old = old.and_then(|old| old.template.as_ref());
            value.validate_expressions(old, at, cx);
        }
        if !self.aliases.is_empty() {
            let at = &path.field("aliases");
            let value = &self.aliases;
            for (index, value) in value.iter().enumerate() {
                let at = &at.index(index);
                for (index, value) in value.iter().enumerate() {
                    let at = &at.index(index);
                    let old = expression::no_old(value);
                    {
                        let holds = !value.as_str().contains(" ");
                        if !holds && old != Some(value) {
                            expression::Rule {
                                text: "!self.contains(' ')",
                                message: Some("must not contain blanks"),
                                reason: Reason::Invalid,
                                is_warning: false,
                                type_name: "string",
                            }
                                .report(Ok(false), || None, at, at, cx);
                        }
                    }
                }
            }
        }
    }
}

/// The table of [`Draft`].
pub static DRAFT_TYPE: TypeDef = TypeDef {
    name: "expressions.example.io.v1.Draft",
    short_name: "Draft",
    fields: &[
        FieldDef {
            name: "metadata",
            shape: Shape::Object(&crate::meta::v1::OBJECT_META_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "wanted",
            shape: Shape::Scalar(Scalar::Int64),
            required: true,
            nullable: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "least",
            shape: Shape::Scalar(Scalar::Int64),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "modes",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "template",
            shape: Shape::Object(&DRAFT_TEMPLATE_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "aliases",
            shape: Shape::List {
                item: &Shape::List {
                    item: &Shape::Scalar(Scalar::String),
                    semantics: ListSemantics::Atomic,
                },
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Draft>(),
};

impl ObjectType for Draft {
    const TYPE: &'static TypeDef = &DRAFT_TYPE;
}

/// The resource table's row of [`Draft`].
pub static DRAFT_RESOURCE: ResourceDef = ResourceDef {
    group: "expressions.example.io",
    version: "v1",
    kind: "Draft",
    list_kind: "DraftList",
    plural: "drafts",
    singular: "draft",
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
    type_def: &DRAFT_TYPE,
    schema_name: "expressions.example.io.v1.Draft",
    from_tree: object::from_tree::<Draft>,
};

impl object::Kind for Draft {
    const RESOURCE: &'static ResourceDef = &DRAFT_RESOURCE;
}

/// What is made of a draft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DraftTemplate {
    /// Of what is made.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub metadata: crate::meta::v1::ObjectMeta,
    /// Names, of which none has a blank.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub names: Vec<Label>,
}

impl SetDefaults for DraftTemplate {}

impl Validate for DraftTemplate {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
        let at = path.field("names");
        rule::max_items(&self.names, 4, &at, cx);
        for (index, item) in self.names.iter().enumerate() {
            let at = at.index(index);
            rule::max_length(item, 20, &at, cx);
        }
    }

    const HAS_EXPRESSIONS: bool = true;
    #[allow(
        clippy::all,
        unused_comparisons,
        reason = "it says what the schema file says"
    )]
    fn validate_expressions(
        &self,
        _old: Option<&Self>,
        path: &Path<'_>,
        cx: &mut Validation<'_>,
    ) {
        if !self.names.is_empty() {
            let at = &path.field("names");
            let value = &self.names;
            for (index, value) in value.iter().enumerate() {
                let at = &at.index(index);
                let old = expression::no_old(value);
                {
                    let holds = !value.as_str().contains(" ");
                    if !holds && old != Some(value) {
                        expression::Rule {
                            text: "!self.contains(' ')",
                            message: Some("must not contain blanks"),
                            reason: Reason::Invalid,
                            is_warning: false,
                            type_name: "string",
                        }
                            .report(Ok(false), || None, at, at, cx);
                    }
                }
            }
        }
    }
}

/// The table of [`DraftTemplate`].
pub static DRAFT_TEMPLATE_TYPE: TypeDef = TypeDef {
    name: "expressions.example.io.v1.DraftTemplate",
    short_name: "DraftTemplate",
    fields: &[
        FieldDef {
            name: "metadata",
            shape: Shape::Object(&crate::meta::v1::OBJECT_META_TYPE),
            required: true,
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
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<DraftTemplate>(),
};

impl ObjectType for DraftTemplate {
    const TYPE: &'static TypeDef = &DRAFT_TEMPLATE_TYPE;
}

/// A label.
pub type Label = String;

orch_runtime::text_enum! {
    /// A mode.
    pub enum Mode {
        Slow = "Slow",
        Fast = "Fast",
        Odd = "Odd",
    }
}

/// A part with a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// A name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
    /// Whether it is the main part.
    #[serde(rename = "isMain", deserialize_with = "presence::null_as_empty")]
    pub is_main: bool,
    /// The weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
}

impl SetDefaults for Part {}

impl Validate for Part {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::required(&at, ""));
        } else {
            rule::max_length(&self.name, 20, &at, cx);
        }
    }

    const HAS_EXPRESSIONS: bool = true;
    #[allow(
        clippy::all,
        unused_comparisons,
        reason = "it says what the schema file says"
    )]
    fn validate_expressions(
        &self,
        old: Option<&Self>,
        path: &Path<'_>,
        cx: &mut Validation<'_>,
    ) {
        if let Some(old) = old {
            let outcome = expression::outcome(|| Ok(
                self.weight.is_none() || old.weight.is_none()
                    || *expression::given(&self.weight, "weight")?
                        >= *expression::given(&old.weight, "weight")?,
            ));
            if outcome != Ok(true) {
                expression::Rule {
                    text: "!has(self.weight) || !has(oldSelf.weight) || self.weight >= oldSelf.weight",
                    message: Some("must not become lighter"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.weight.is_none()
                    || expression::quotient(
                        100i64,
                        *expression::given(&self.weight, "weight")?,
                    )? > 1i64,
            ));
            if outcome != Ok(true) && old != Some(self) {
                let blamed_0 = path.field("weight");
                expression::Rule {
                    text: "!has(self.weight) || 100 / self.weight > 1",
                    message: Some("must be below 51"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, &blamed_0, cx);
            }
        }
    }
}

/// The table of [`Part`].
pub static PART_TYPE: TypeDef = TypeDef {
    name: "expressions.example.io.v1.Part",
    short_name: "Part",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "isMain",
            shape: Shape::Scalar(Scalar::Boolean),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "weight",
            shape: Shape::Scalar(Scalar::Int64),
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

/// An object with rules in the expression language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The least.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub min: i32,
    /// The greatest.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub max: i64,
    /// A step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i32>,
    /// A ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// A name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// A name that is a word of the language.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub namespace: String,
    /// A name that is no name.
    #[serde(rename = "x-kind", skip_serializing_if = "Option::is_none")]
    pub x_kind: Option<String>,
    /// The mode.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub mode: Option<Mode>,
    /// Whether it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<bool>,
    /// Wanted memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// The most memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Quantity>,
    /// The start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Time>,
    /// The end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Time>,
    /// A time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Duration>,
    /// A port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
    /// A key.
    #[serde(
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub key: ByteString,
    /// A size with a rule of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Tags, in any order.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub tags: Vec<String>,
    /// Numbers.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub numbers: Vec<i64>,
    /// Parts.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub parts: Vec<Part>,
    /// Labels.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub labels: BTreeMap<String, Label>,
    /// A wish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wish: Option<Wish>,
}

impl SetDefaults for Plan {}

impl Validate for Plan {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if !self.name.is_empty() {
            rule::max_length(&self.name, 63, &at, cx);
        }
        let at = path.field("namespace");
        if !self.namespace.is_empty() {
            rule::max_length(&self.namespace, 63, &at, cx);
        }
        let at = path.field("x-kind");
        if let Some(value) = &self.x_kind {
            rule::max_length(value, 63, &at, cx);
        }
        let at = path.field("mode");
        if let Some(value) = &self.mode {
            text_enum::listed(value, &at, cx);
        }
        let at = path.field("tags");
        rule::max_items(&self.tags, 10, &at, cx);
        rule::unique_scalars(&self.tags, &at, cx);
        for (index, item) in self.tags.iter().enumerate() {
            let at = at.index(index);
            rule::max_length(item, 20, &at, cx);
        }
        let at = path.field("numbers");
        rule::max_items(&self.numbers, 10, &at, cx);
        let at = path.field("parts");
        rule::max_items(&self.parts, 20, &at, cx);
        rule::unique_key(&self.parts, "name", |item| &item.name, &at, cx);
        for (index, item) in self.parts.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        let at = path.field("labels");
        rule::max_properties(&self.labels, 16, &at, cx);
        for (key, value) in &self.labels {
            let at = at.key(key);
            rule::max_length(value, 20, &at, cx);
        }
        let at = path.field("wish");
        if let Some(value) = &self.wish {
            value.validate(&at, cx);
        }
    }

    const HAS_EXPRESSIONS: bool = true;
    #[allow(
        clippy::all,
        unused_comparisons,
        reason = "it says what the schema file says"
    )]
    fn validate_expressions(
        &self,
        old: Option<&Self>,
        path: &Path<'_>,
        cx: &mut Validation<'_>,
    ) {
        {
            let holds = i64::from(self.min) <= self.max;
            if !holds && old != Some(self) {
                let blamed_0 = path.field("min");
                expression::Rule {
                    text: "self.min <= self.max",
                    message: Some("min must not be greater than max"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(Ok(false), || None, path, &blamed_0, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.step.is_none()
                    || expression::and(
                        || Ok(
                            i64::from(*expression::given(&self.step, "step")?) != 0i64,
                        ),
                        || Ok(
                            expression::remainder(
                                expression::fits(
                                    i64::checked_sub(self.max, i64::from(self.min)),
                                )?,
                                i64::from(*expression::given(&self.step, "step")?),
                            )? == 0i64,
                        ),
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                let blamed_0 = path.field("step");
                expression::Rule {
                    text: "!has(self.step) || self.step != 0 && (self.max - self.min) % self.step == 0",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(
                        outcome,
                        || expression::message(|| Ok({
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "format",
                                &[
                                    (
                                        "(string).format(list(dyn)) -> string",
                                        &[expression::Kind::Text, expression::Kind::List],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::Value::from(
                                            "the distance of %d is not divided by %d",
                                        ),
                                        expression::Value::list(
                                            vec![
                                                expression::Value::Int(expression::fits(i64::checked_sub(self
                                                .max, i64::from(self.min))) ?),
                                                expression::Value::Int(i64::from(* expression::given(& self
                                                .step, "step") ?))
                                            ],
                                        ),
                                    ],
                                )?
                        })),
                        path,
                        &blamed_0,
                        cx,
                    );
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.ratio.is_none()
                    || expression::and(
                        || Ok(*expression::given(&self.ratio, "ratio")? >= 0f64),
                        || Ok(*expression::given(&self.ratio, "ratio")? / 2f64 <= 1f64),
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.ratio) || self.ratio >= 0.0 && self.ratio / 2.0 <= 1.0",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.name.is_empty()
                    || expression::and(
                        || Ok({
                            static PATTERN: LazyLock<rule::Pattern> = LazyLock::new(|| rule::Pattern::new(
                                "^[a-z]+$",
                            ));
                            PATTERN
                                .is_match(
                                    expression::given_if(
                                        !self.name.is_empty(),
                                        self.name.as_str(),
                                        "name",
                                    )?,
                                )
                        }),
                        || Ok(
                            expression::and(
                                || Ok(
                                    !expression::given_if(
                                            !self.name.is_empty(),
                                            self.name.as_str(),
                                            "name",
                                        )?
                                        .starts_with("x"),
                                ),
                                || Ok(
                                    expression::characters(
                                        expression::given_if(
                                            !self.name.is_empty(),
                                            self.name.as_str(),
                                            "name",
                                        )?,
                                    ) > 1i64,
                                ),
                            )?,
                        ),
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.name) || self.name.matches('^[a-z]+$') && !self.name.startsWith('x') && size(self.name) > 1",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let words = cx.vocabulary;
            let outcome = expression::outcome(|| Ok(
                self.namespace.is_empty()
                    || expression::given_if(
                        !self.namespace.is_empty(),
                        self.namespace.as_str(),
                        "__namespace__",
                    )? != words.namespace_system,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.__namespace__) || self.__namespace__ != words.namespaceSystem",
                    message: Some("that name is taken"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.x_kind.is_none()
                    || ["a", "b", ""]
                        .contains(
                            &expression::given(&self.x_kind, "x__dash__kind")?.as_str(),
                        ),
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.x__dash__kind) || self.x__dash__kind in ['a', 'b', '']",
                    message: Some("unusual"),
                    reason: Reason::Invalid,
                    is_warning: true,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.mode.as_ref().map_or("", |value| value.as_str()) != "Fast"
                    || *expression::given(&self.on, "on")?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "self.?mode.orValue('') != 'Fast' || self.on",
                    message: Some("a fast plan must be on"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.memory.is_none() || self.limit.is_none()
                    || expression::boolean(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "_<=_",
                                &[
                                    (
                                        "_<=_(Quantity, Quantity) -> bool",
                                        &[expression::Kind::Quantity, expression::Kind::Quantity],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::Value::from(
                                            expression::given(&self.memory, "memory")?.clone(),
                                        ),
                                        expression::Value::from(
                                            expression::given(&self.limit, "limit")?.clone(),
                                        ),
                                    ],
                                )?
                        },
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.memory) || !has(self.limit) || self.memory <= self.limit",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.memory.is_none()
                    || expression::boolean(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "isGreaterThan",
                                &[
                                    (
                                        "(Quantity).isGreaterThan(Quantity) -> bool",
                                        &[expression::Kind::Quantity, expression::Kind::Quantity],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        {
                                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                            expression::Function::new(
                                                "quantity",
                                                &[
                                                    (
                                                        "quantity(Quantity) -> Quantity",
                                                        &[expression::Kind::Quantity],
                                                    ),
                                                ],
                                            ));
                                            FUNCTION
                                                .call(
                                                    &[
                                                        expression::Value::from(
                                                            expression::given(&self.memory, "memory")?.clone(),
                                                        ),
                                                    ],
                                                )?
                                        },
                                        {
                                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                            expression::Function::new(
                                                "quantity",
                                                &[
                                                    ("quantity(string) -> Quantity", &[expression::Kind::Text]),
                                                ],
                                            ));
                                            FUNCTION.call(&[expression::Value::from("1Mi")])?
                                        },
                                    ],
                                )?
                        },
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.memory) || quantity(self.memory).isGreaterThan(quantity('1Mi'))",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.start.is_none() || self.end.is_none()
                    || expression::boolean(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "_>=_",
                                &[
                                    (
                                        "_>=_(duration, duration) -> bool",
                                        &[expression::Kind::Duration, expression::Kind::Duration],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        {
                                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                            expression::Function::new(
                                                "_-_",
                                                &[
                                                    (
                                                        "_-_(timestamp, timestamp) -> duration",
                                                        &[expression::Kind::Timestamp, expression::Kind::Timestamp],
                                                    ),
                                                ],
                                            ));
                                            FUNCTION
                                                .call(
                                                    &[
                                                        expression::time(*expression::given(&self.end, "end")?),
                                                        expression::time(*expression::given(&self.start, "start")?),
                                                    ],
                                                )?
                                        },
                                        {
                                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                            expression::Function::new(
                                                "duration",
                                                &[
                                                    ("duration(string) -> duration", &[expression::Kind::Text]),
                                                ],
                                            ));
                                            FUNCTION.call(&[expression::Value::from("1h")])?
                                        },
                                    ],
                                )?
                        },
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.start) || !has(self.end) || self.end - self.start >= duration(\"1h\")",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.wait.is_none()
                    || expression::boolean(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "_<_",
                                &[
                                    (
                                        "_<_(duration, duration) -> bool",
                                        &[expression::Kind::Duration, expression::Kind::Duration],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::Value::Duration(
                                            *expression::given(&self.wait, "wait")?,
                                        ),
                                        {
                                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                            expression::Function::new(
                                                "duration",
                                                &[
                                                    ("duration(string) -> duration", &[expression::Kind::Text]),
                                                ],
                                            ));
                                            FUNCTION.call(&[expression::Value::from("1m")])?
                                        },
                                    ],
                                )?
                        },
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.wait) || self.wait < duration(\"1m\")",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.port.is_none()
                    || (if matches!(
                        expression::given(& self.port, "port") ?, IntOrString::Int(_)
                    ) {
                        expression::boolean(
                            &{
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "_>_",
                                    &[
                                        (
                                            "_>_(int, int) -> bool",
                                            &[expression::Kind::Int, expression::Kind::Int],
                                        ),
                                        (
                                            "_>_(uint, int) -> bool",
                                            &[expression::Kind::Uint, expression::Kind::Int],
                                        ),
                                        (
                                            "_>_(double, int) -> bool",
                                            &[expression::Kind::Double, expression::Kind::Int],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            expression::int_or_string(
                                                expression::given(&self.port, "port")?,
                                            ),
                                            expression::Value::Int(0i64),
                                        ],
                                    )?
                            },
                        )?
                    } else {
                        expression::boolean(
                            &{
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "_!=_",
                                    &[
                                        (
                                            "_!=_(A, A) -> bool",
                                            &[expression::Kind::Any, expression::Kind::Any],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            expression::int_or_string(
                                                expression::given(&self.port, "port")?,
                                            ),
                                            expression::Value::from(""),
                                        ],
                                    )?
                            },
                        )?
                    }),
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.port) || (type(self.port) == int ? self.port > 0 : self.port != '')",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                presence::is_empty(&self.key)
                    || expression::int(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "size",
                                &[("size(bytes) -> int", &[expression::Kind::Bytes])],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::Value::from(
                                            expression::given_if(
                                                    !presence::is_empty(&self.key),
                                                    &self.key,
                                                    "key",
                                                )?
                                                .as_ref(),
                                        ),
                                    ],
                                )?
                        },
                    )? == 3i64,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.key) || size(self.key) == 3",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.tags.is_empty()
                    || expression::and(
                        || Ok(
                            expression::given_if(
                                    !self.tags.is_empty(),
                                    &self.tags,
                                    "tags",
                                )?
                                .iter()
                                .all(|item_0| {
                                    expression::characters(item_0.as_str()) > 0i64
                                }),
                        ),
                        || Ok(
                            expression::boolean(
                                &{
                                    static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                    expression::Function::new(
                                        "isUnique",
                                        &[("isUnique(list(A)) -> bool", &[expression::Kind::List])],
                                    ));
                                    FUNCTION
                                        .call(
                                            &[
                                                expression::list(
                                                    expression::given_if(
                                                        !self.tags.is_empty(),
                                                        &self.tags,
                                                        "tags",
                                                    )?,
                                                    expression::ListKind::Set,
                                                    |item| expression::Value::from(item.as_str()),
                                                ),
                                            ],
                                        )?
                                },
                            )?,
                        ),
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.tags) || self.tags.all(tag, tag.size() > 0) && isUnique(self.tags)",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.numbers.is_empty()
                    || expression::all(
                        expression::numbered(
                            expression::given_if(
                                !self.numbers.is_empty(),
                                &self.numbers,
                                "numbers",
                            )?,
                        ),
                        |(item_0, item_1)| Ok(
                            item_0 == 0i64
                                || *item_1
                                    > *expression::item(
                                        expression::given_if(
                                            !self.numbers.is_empty(),
                                            &self.numbers,
                                            "numbers",
                                        )?,
                                        expression::fits(i64::checked_sub(item_0, 1i64))?,
                                    )?,
                        ),
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.numbers) || self.numbers.all(i, n, i == 0 || n > self.numbers[i - 1])",
                    message: Some("must rise"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.numbers.is_empty()
                    || expression::int(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "sum",
                                &[("(list(int)).sum() -> int", &[expression::Kind::List])],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::list_of(
                                            expression::given_if(
                                                    !self.numbers.is_empty(),
                                                    &self.numbers,
                                                    "numbers",
                                                )?
                                                .iter(),
                                            |item_0| {
                                                if !(*item_0 > 0i64) {
                                                    return Ok(None);
                                                }
                                                Ok(
                                                    Some(
                                                        expression::Value::Int(
                                                            expression::fits(i64::checked_mul(*item_0, 2i64))?,
                                                        ),
                                                    ),
                                                )
                                            },
                                        )?,
                                    ],
                                )?
                        },
                    )? < 100i64,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.numbers) || self.numbers.map(n, n > 0, n * 2).sum() < 100",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.parts.is_empty()
                    || expression::exists_one(
                        expression::given_if(
                                !self.parts.is_empty(),
                                &self.parts,
                                "parts",
                            )?
                            .iter(),
                        |item_0| Ok(item_0.is_main),
                    )?,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.parts) || self.parts.exists_one(part, part.isMain)",
                    message: Some("one part is the main one"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.parts.is_empty()
                    || expression::int(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "size",
                                &[("(list(A)).size() -> int", &[expression::Kind::List])],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::list_of(
                                            expression::given_if(
                                                    !self.parts.is_empty(),
                                                    &self.parts,
                                                    "parts",
                                                )?
                                                .iter(),
                                            |item_0| Ok(
                                                if item_0.weight.is_some() {
                                                    Some(value_of_expressions_example_io_v1_part(item_0))
                                                } else {
                                                    None
                                                },
                                            ),
                                        )?,
                                    ],
                                )?
                        },
                    )? < 3i64,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.parts) || self.parts.filter(part, has(part.weight)).size() < 3",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.labels.is_empty()
                    || !expression::given_if(
                            !self.labels.is_empty(),
                            &self.labels,
                            "labels",
                        )?
                        .contains_key("forbidden"),
            ));
            if outcome != Ok(true) && old != Some(self) {
                let blamed_0 = path.field("labels");
                let blamed_1 = blamed_0.key("forbidden");
                expression::Rule {
                    text: "!has(self.labels) || !('forbidden' in self.labels)",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, &blamed_1, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.labels.is_empty()
                    || expression::given_if(
                            !self.labels.is_empty(),
                            &self.labels,
                            "labels",
                        )?
                        .iter()
                        .all(|(item_0, item_1)| item_0.as_str() != item_1.as_str()),
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.labels) || self.labels.all(key, value, key != value)",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.labels.is_empty()
                    || expression::count(
                        expression::given_if(
                                !self.labels.is_empty(),
                                &self.labels,
                                "labels",
                            )?
                            .values()
                            .map(|value| value.len())
                            .sum::<usize>(),
                    ) <= 50i64,
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.labels) || self.labels.sizes() <= 50",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        if let Some(old) = old {
            let holds = self.max >= old.max;
            if !holds {
                expression::Rule {
                    text: "self.max >= oldSelf.max",
                    message: Some("max must not fall"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(Ok(false), || None, path, path, cx);
            }
        }
        if let Some(old) = old {
            let outcome = expression::outcome(|| Ok(
                self.tags.is_empty() || old.tags.is_empty()
                    || expression::boolean(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "_==_",
                                &[
                                    (
                                        "_==_(A, A) -> bool",
                                        &[expression::Kind::Any, expression::Kind::Any],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::list(
                                            expression::given_if(
                                                !self.tags.is_empty(),
                                                &self.tags,
                                                "tags",
                                            )?,
                                            expression::ListKind::Set,
                                            |item| expression::Value::from(item.as_str()),
                                        ),
                                        expression::list(
                                            expression::given_if(
                                                !old.tags.is_empty(),
                                                &old.tags,
                                                "tags",
                                            )?,
                                            expression::ListKind::Set,
                                            |item| expression::Value::from(item.as_str()),
                                        ),
                                    ],
                                )?
                        },
                    )?,
            ));
            if outcome != Ok(true) {
                expression::Rule {
                    text: "!has(self.tags) || !has(oldSelf.tags) || self.tags == oldSelf.tags",
                    message: Some("tags must stay"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                expression::or(
                    || Ok(
                        !expression::boolean(
                            &{
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "hasValue",
                                    &[
                                        (
                                            "(optional_type(A)).hasValue() -> bool",
                                            &[expression::Kind::Optional],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            expression::Value::optional(
                                                old.map(|old| value_of_expressions_example_io_v1_plan(old)),
                                            ),
                                        ],
                                    )?
                            },
                        )?,
                    ),
                    || Ok(
                        expression::int(
                            &expression::select(
                                &{
                                    static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                    expression::Function::new(
                                        "value",
                                        &[
                                            (
                                                "(optional_type(A)).value() -> A",
                                                &[expression::Kind::Optional],
                                            ),
                                        ],
                                    ));
                                    FUNCTION
                                        .call(
                                            &[
                                                expression::Value::optional(
                                                    old.map(|old| value_of_expressions_example_io_v1_plan(old)),
                                                ),
                                            ],
                                        )?
                                },
                                "min",
                                false,
                            )?,
                        )? == i64::from(self.min),
                    ),
                )?,
            ));
            if outcome != Ok(true) {
                expression::Rule {
                    text: "!oldSelf.hasValue() || oldSelf.value().min == self.min",
                    message: Some("min must stay"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.name.is_empty()
                    || ({
                        let value_0 = expression::joined(
                            &[
                                expression::given_if(
                                    !self.name.is_empty(),
                                    self.name.as_str(),
                                    "name",
                                )?,
                                "-",
                                expression::given_if(
                                    !self.name.is_empty(),
                                    self.name.as_str(),
                                    "name",
                                )?,
                            ],
                        );
                        expression::characters(expression::text(&value_0.clone())?)
                            < 20i64
                    }),
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.name) || cel.bind(n, self.name + '-' + self.name, n.size() < 20)",
                    message: None,
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        {
            let outcome = expression::outcome(|| Ok(
                self.wish.is_none()
                    || expression::given(&self.wish, "wish")?.text.as_str() != "",
            ));
            if outcome != Ok(true) && old != Some(self) {
                expression::Rule {
                    text: "!has(self.wish)\n  || self.wish.text != ''",
                    message: Some("a wish has a text"),
                    reason: Reason::Invalid,
                    is_warning: false,
                    type_name: "object",
                }
                    .report(outcome, || None, path, path, cx);
            }
        }
        if let Some(value) = &self.mode {
            let at = &path.field("mode");
            let old = old.and_then(|old| old.mode.as_ref());
            {
                let holds = value.as_str() != "Odd";
                if !holds && old != Some(value) {
                    expression::Rule {
                        text: "self != 'Odd'",
                        message: Some("odd plans are out of use"),
                        reason: Reason::Invalid,
                        is_warning: false,
                        type_name: "string",
                    }
                        .report(Ok(false), || None, at, at, cx);
                }
            }
        }
        if !(self.name.as_str() == "free") {
            if let Some(value) = &self.size {
                let at = &path.field("size");
                let old = old.and_then(|old| old.size.as_ref());
                {
                    let outcome = expression::outcome(|| Ok(
                        expression::remainder(*value, 2i64)? == 0i64,
                    ));
                    if outcome != Ok(true) && old != Some(value) {
                        expression::Rule {
                            text: "self % 2 == 0",
                            message: Some("must be even"),
                            reason: Reason::Forbidden,
                            is_warning: false,
                            type_name: "integer",
                        }
                            .report(outcome, || None, at, at, cx);
                    }
                }
            }
        }
        if !self.parts.is_empty() {
            let at = &path.field("parts");
            let value = &self.parts;
            let old = old.filter(|old| !old.parts.is_empty()).map(|old| &old.parts);
            let olds = expression::by_key(old, |item| &item.name);
            for (index, value) in value.iter().enumerate() {
                let at = &at.index(index);
                let old = olds.get(&&value.name).copied();
                value.validate_expressions(old, at, cx);
            }
        }
        if !self.labels.is_empty() {
            let at = &path.field("labels");
            let value = &self.labels;
            let old = old.filter(|old| !old.labels.is_empty()).map(|old| &old.labels);
            for (key, value) in value {
                let at = &at.key(key);
                let old = old.and_then(|old| old.get(key));
                {
                    let holds = !value.as_str().contains(" ");
                    if !holds && old != Some(value) {
                        expression::Rule {
                            text: "!self.contains(' ')",
                            message: Some("must not contain blanks"),
                            reason: Reason::Invalid,
                            is_warning: false,
                            type_name: "string",
                        }
                            .report(Ok(false), || None, at, at, cx);
                    }
                }
            }
        }
    }
}

/// The table of [`Plan`].
pub static PLAN_TYPE: TypeDef = TypeDef {
    name: "expressions.example.io.v1.Plan",
    short_name: "Plan",
    fields: &[
        FieldDef {
            name: "min",
            shape: Shape::Scalar(Scalar::Int32),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "max",
            shape: Shape::Scalar(Scalar::Int64),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "step",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "ratio",
            shape: Shape::Scalar(Scalar::Double),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "namespace",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "x-kind",
            shape: Shape::Scalar(Scalar::String),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "mode",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "on",
            shape: Shape::Scalar(Scalar::Boolean),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "memory",
            shape: Shape::Scalar(Scalar::Quantity),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "limit",
            shape: Shape::Scalar(Scalar::Quantity),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "start",
            shape: Shape::Scalar(Scalar::Time),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "end",
            shape: Shape::Scalar(Scalar::Time),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "wait",
            shape: Shape::Scalar(Scalar::Duration),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "port",
            shape: Shape::Scalar(Scalar::IntOrString),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "key",
            shape: Shape::Scalar(Scalar::Bytes),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "size",
            shape: Shape::Scalar(Scalar::Int64),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "tags",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Set,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "numbers",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::Int64),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
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
            name: "labels",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::String),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "wish",
            shape: Shape::Object(&WISH_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[
        12, 15, 20, 10, 1, 9, 0, 7, 4, 5, 18, 8, 19, 14, 3, 16, 11, 2, 17, 13, 21, 6,
    ],
    atomic: false,
    size: size_of::<Plan>(),
};

impl ObjectType for Plan {
    const TYPE: &'static TypeDef = &PLAN_TYPE;
}

/// A wish that is always written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// What is wished for.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub text: String,
}

impl SetDefaults for Wish {}

impl Validate for Wish {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("text");
        rule::max_length(&self.text, 10, &at, cx);
    }
}

/// The table of [`Wish`].
pub static WISH_TYPE: TypeDef = TypeDef {
    name: "expressions.example.io.v1.Wish",
    short_name: "Wish",
    fields: &[
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Wish>(),
};

impl ObjectType for Wish {
    const TYPE: &'static TypeDef = &WISH_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "expressions.example.io",
    version: "v1",
    resources: &[&DRAFT_RESOURCE],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};

/// A [`Draft`] as rules see it, where they look at it without what the server fills in of its `metadata`.
fn narrowed_value_of_expressions_example_io_v1_draft(
    value: &Draft,
) -> expression::Value {
    expression::object([
        ("metadata", Some(narrowed_value_of_meta_v1_objectmeta(&value.metadata))),
        (
            "wanted",
            Some(
                value
                    .wanted
                    .as_ref()
                    .map(|item| expression::Value::Int(*item))
                    .unwrap_or(expression::Value::Null),
            ),
        ),
        ("least", value.least.as_ref().map(|item| expression::Value::Int(*item))),
        (
            "modes",
            if value.modes.is_empty() {
                None
            } else {
                Some(
                    expression::list(
                        &value.modes,
                        expression::ListKind::Plain,
                        |item| expression::Value::from(item.as_str()),
                    ),
                )
            },
        ),
        (
            "template",
            value.template.as_ref().map(value_of_expressions_example_io_v1_drafttemplate),
        ),
        (
            "aliases",
            if value.aliases.is_empty() {
                None
            } else {
                Some(
                    expression::list(
                        &value.aliases,
                        expression::ListKind::Plain,
                        |item| expression::list(
                            item,
                            expression::ListKind::Plain,
                            |item| expression::Value::from(item.as_str()),
                        ),
                    ),
                )
            },
        ),
    ])
}

/// A [`DraftTemplate`] as rules see it, where they look at it as a whole.
fn value_of_expressions_example_io_v1_drafttemplate(
    value: &DraftTemplate,
) -> expression::Value {
    expression::object([
        ("metadata", Some(value_of_meta_v1_objectmeta(&value.metadata))),
        (
            "names",
            if value.names.is_empty() {
                None
            } else {
                Some(
                    expression::list(
                        &value.names,
                        expression::ListKind::Plain,
                        |item| expression::Value::from(item.as_str()),
                    ),
                )
            },
        ),
    ])
}

/// A [`Part`] as rules see it, where they look at it as a whole.
fn value_of_expressions_example_io_v1_part(value: &Part) -> expression::Value {
    expression::object([
        ("name", Some(expression::Value::from(value.name.as_str()))),
        ("isMain", Some(expression::Value::Bool(value.is_main))),
        ("weight", value.weight.as_ref().map(|item| expression::Value::Int(*item))),
    ])
}

/// A [`Plan`] as rules see it, where they look at it as a whole.
fn value_of_expressions_example_io_v1_plan(value: &Plan) -> expression::Value {
    expression::object([
        ("min", Some(expression::Value::Int(i64::from(value.min)))),
        ("max", Some(expression::Value::Int(value.max))),
        (
            "step",
            value.step.as_ref().map(|item| expression::Value::Int(i64::from(*item))),
        ),
        ("ratio", value.ratio.as_ref().map(|item| expression::Value::Double(*item))),
        (
            "name",
            if value.name.is_empty() {
                None
            } else {
                Some(expression::Value::from(value.name.as_str()))
            },
        ),
        (
            "__namespace__",
            if value.namespace.is_empty() {
                None
            } else {
                Some(expression::Value::from(value.namespace.as_str()))
            },
        ),
        (
            "x__dash__kind",
            value.x_kind.as_ref().map(|item| expression::Value::from(item.as_str())),
        ),
        ("mode", value.mode.as_ref().map(|item| expression::Value::from(item.as_str()))),
        ("on", value.on.as_ref().map(|item| expression::Value::Bool(*item))),
        (
            "memory",
            value.memory.as_ref().map(|item| expression::Value::from(item.clone())),
        ),
        (
            "limit",
            value.limit.as_ref().map(|item| expression::Value::from(item.clone())),
        ),
        ("start", value.start.as_ref().map(|item| expression::time(*item))),
        ("end", value.end.as_ref().map(|item| expression::time(*item))),
        ("wait", value.wait.as_ref().map(|item| expression::Value::Duration(*item))),
        ("port", value.port.as_ref().map(expression::int_or_string)),
        (
            "key",
            if presence::is_empty(&value.key) {
                None
            } else {
                Some(expression::Value::from(value.key.as_ref()))
            },
        ),
        ("size", value.size.as_ref().map(|item| expression::Value::Int(*item))),
        (
            "tags",
            if value.tags.is_empty() {
                None
            } else {
                Some(
                    expression::list(
                        &value.tags,
                        expression::ListKind::Set,
                        |item| expression::Value::from(item.as_str()),
                    ),
                )
            },
        ),
        (
            "numbers",
            if value.numbers.is_empty() {
                None
            } else {
                Some(
                    expression::list(
                        &value.numbers,
                        expression::ListKind::Plain,
                        |item| expression::Value::Int(*item),
                    ),
                )
            },
        ),
        (
            "parts",
            if value.parts.is_empty() {
                None
            } else {
                Some(
                    expression::list(
                        &value.parts,
                        expression::ListKind::Keyed(&["name"]),
                        value_of_expressions_example_io_v1_part,
                    ),
                )
            },
        ),
        (
            "labels",
            if value.labels.is_empty() {
                None
            } else {
                Some(
                    expression::map(
                        &value.labels,
                        |item| expression::Value::from(item.as_str()),
                    ),
                )
            },
        ),
        ("wish", value.wish.as_ref().map(value_of_expressions_example_io_v1_wish)),
    ])
}

/// A [`Wish`] as rules see it, where they look at it as a whole.
fn value_of_expressions_example_io_v1_wish(value: &Wish) -> expression::Value {
    expression::object([("text", Some(expression::Value::from(value.text.as_str())))])
}

/// A [`ObjectMeta`] as rules see it, where they look at it as a whole.
fn value_of_meta_v1_objectmeta(
    value: &crate::meta::v1::ObjectMeta,
) -> expression::Value {
    expression::object([
        (
            "name",
            if value.name.is_empty() {
                None
            } else {
                Some(expression::Value::from(value.name.as_str()))
            },
        ),
        (
            "creationTimestamp",
            value.creation_timestamp.as_ref().map(|item| expression::time(*item)),
        ),
        (
            "annotations",
            if value.annotations.is_empty() {
                None
            } else {
                Some(
                    expression::map(
                        &value.annotations,
                        |item| expression::Value::from(item.as_str()),
                    ),
                )
            },
        ),
    ])
}

/// A [`ObjectMeta`] as rules see it, where they look at it without what the server fills in of its `metadata`.
fn narrowed_value_of_meta_v1_objectmeta(
    value: &crate::meta::v1::ObjectMeta,
) -> expression::Value {
    expression::object([
        (
            "name",
            if value.name.is_empty() {
                None
            } else {
                Some(expression::Value::from(value.name.as_str()))
            },
        ),
    ])
}
