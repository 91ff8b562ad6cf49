use std::{collections::BTreeMap, sync::LazyLock};
use orch_runtime::{
    constraint, field_error::{FieldError, Shown, Validation},
    object::{ObjectType, SetDefaults, Validate},
    presence, resource_def::GroupVersionDef, rule, text_enum::{self, TextEnum},
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// An object without rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Free {
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
}

impl SetDefaults for Free {}

impl Validate for Free {}

/// The table of [`Free`].
pub static FREE_TYPE: TypeDef = TypeDef {
    name: "rules.example.io.v1.Free",
    short_name: "Free",
    fields: &[
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Free>(),
};

impl ObjectType for Free {
    const TYPE: &'static TypeDef = &FREE_TYPE;
}

/// A type with the name of one in the runtime.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Path {
    /// A text.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub text: String,
}

impl SetDefaults for Path {}

impl Validate for Path {
    fn validate(&self, path: &orch_runtime::path::Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("text");
        if self.text.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }
}

/// The table of [`Path`].
pub static PATH_TYPE: TypeDef = TypeDef {
    name: "rules.example.io.v1.Path",
    short_name: "Path",
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
    size: size_of::<Path>(),
};

impl ObjectType for Path {
    const TYPE: &'static TypeDef = &PATH_TYPE;
}

/// A share of a hundred.
pub type Percent = i32;

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Port {
    /// The number.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub number: i32,
    /// The protocol.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub protocol: Option<Protocol>,
}

impl SetDefaults for Port {
    fn set_defaults(&mut self) {
        self.protocol.get_or_insert(Protocol::TCP);
    }
}

impl Validate for Port {
    fn validate(&self, path: &orch_runtime::path::Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("number");
        rule::between(self.number, 1, 65535, &at, cx);
        let at = path.field("protocol");
        if let Some(value) = &self.protocol {
            text_enum::listed(value, &at, cx);
        }
    }
}

/// The table of [`Port`].
pub static PORT_TYPE: TypeDef = TypeDef {
    name: "rules.example.io.v1.Port",
    short_name: "Port",
    fields: &[
        FieldDef {
            name: "number",
            shape: Shape::Scalar(Scalar::Int32),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "protocol",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            default: Some("\"TCP\""),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Port>(),
};

impl ObjectType for Port {
    const TYPE: &'static TypeDef = &PORT_TYPE;
}

orch_runtime::text_enum! {
    /// A protocol.
    pub enum Protocol {
        TCP = "TCP",
        UDP = "UDP",
    }
}

/// Every rule that a schema can state about a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// A name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
    /// A label.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub label: String,
    /// A size.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub size: String,
    /// A count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
    /// A ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Tags.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub tags: Vec<String>,
    /// Words.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub words: Vec<String>,
    /// A loose set.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub repeated: Vec<String>,
    /// Ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub ports: Vec<Port>,
    /// Volumes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub volumes: Vec<Volume>,
    /// Limits.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub limits: BTreeMap<String, i64>,
    /// A field with the name of a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// A field with the name of a variable.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub at: String,
    /// Another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cx: Option<i32>,
    /// A text with a rule in Rust.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub checked: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// How it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// An object without rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Free>,
    /// A share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Percent>,
}

impl SetDefaults for Rules {
    fn set_defaults(&mut self) {
        for item in &mut self.ports {
            item.set_defaults();
        }
    }
}

impl Validate for Rules {
    fn validate(&self, path: &orch_runtime::path::Path<'_>, cx: &mut Validation<'_>) {
        crate::validators::first_rules(self, path, cx);
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::required(&at, ""));
        } else {
            {
                static PATTERN: LazyLock<rule::Pattern> = LazyLock::new(|| rule::Pattern::new(
                    "^[a-z]+$",
                ));
                rule::pattern(&self.name, &PATTERN, &at, cx);
            }
            rule::max_length(&self.name, 5, &at, cx);
        }
        let at = path.field("label");
        if !self.label.is_empty() {
            rule::format(&self.label, constraint::dns_label, &at, cx);
            rule::min_length(&self.label, 2, &at, cx);
        }
        let at = path.field("size");
        if !self.size.is_empty() {
            rule::one_of(&self.size, &["small", "large"], &at, cx);
        }
        let at = path.field("count");
        if let Some(value) = &self.count {
            rule::minimum(*value, 0, &at, cx);
            rule::exclusive_maximum(*value, 10, &at, cx);
            rule::multiple_of(*value, 2, &at, cx);
        }
        let at = path.field("ratio");
        if let Some(value) = &self.ratio {
            rule::exclusive_minimum(*value, -1.5, &at, cx);
            rule::maximum(*value, 1.0, &at, cx);
        }
        let at = path.field("tags");
        if !self.tags.is_empty() {
            rule::min_items(&self.tags, 1, &at, cx);
            rule::max_items(&self.tags, 3, &at, cx);
            rule::unique_scalars(&self.tags, &at, cx);
            for (index, item) in self.tags.iter().enumerate() {
                let at = at.index(index);
                rule::format(item, constraint::qualified_name, &at, cx);
            }
        }
        let at = path.field("words");
        rule::unique_scalars(&self.words, &at, cx);
        let at = path.field("ports");
        rule::unique_keys(
            &self.ports,
            |item| (&item.number, &item.protocol),
            |(number, protocol)| {
                [Shown::shown(number), Shown::shown(protocol)].join(", ")
            },
            &at,
            cx,
        );
        for (index, item) in self.ports.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        let at = path.field("volumes");
        rule::unique_key(&self.volumes, "name", |item| &item.name, &at, cx);
        for (index, item) in self.volumes.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        let at = path.field("limits");
        rule::max_properties(&self.limits, 2, &at, cx);
        for (key, value) in &self.limits {
            let at = at.key(key);
            rule::format(key, constraint::dns_label, &at, cx);
            rule::minimum(*value, 1, &at, cx);
        }
        let at = path.field("path");
        if let Some(value) = &self.path {
            value.validate(&at, cx);
        }
        let at = path.field("at");
        if !self.at.is_empty() {
            rule::max_length(&self.at, 3, &at, cx);
        }
        let at = path.field("cx");
        if let Some(value) = &self.cx {
            rule::maximum(*value, 3, &at, cx);
        }
        let at = path.field("checked");
        if !self.checked.is_empty() {
            crate::validators::checked_text(&self.checked, &at, cx);
        }
        let at = path.field("source");
        if let Some(value) = &self.source {
            value.validate(&at, cx);
        }
        let at = path.field("strategy");
        if let Some(value) = &self.strategy {
            value.validate(&at, cx);
        }
        let at = path.field("percent");
        if let Some(value) = &self.percent {
            rule::maximum(*value, 100, &at, cx);
            crate::validators::even_percent(value, &at, cx);
        }
        crate::validators::whole_rules(self, path, cx);
    }
}

/// The table of [`Rules`].
pub static RULES_TYPE: TypeDef = TypeDef {
    name: "rules.example.io.v1.Rules",
    short_name: "Rules",
    fields: &[
        FieldDef {
            name: "name",
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
        FieldDef {
            name: "size",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "count",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "ratio",
            shape: Shape::Scalar(Scalar::Double),
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
            name: "words",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "repeated",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Set,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "ports",
            shape: Shape::List {
                item: &Shape::Object(&PORT_TYPE),
                semantics: ListSemantics::Map {
                    keys: &["number", "protocol"],
                },
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "volumes",
            shape: Shape::List {
                item: &Shape::Object(&VOLUME_TYPE),
                semantics: ListSemantics::Map {
                    keys: &["name"],
                },
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "limits",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::Int64),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "path",
            shape: Shape::Object(&PATH_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "at",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "cx",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "checked",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "source",
            shape: Shape::Object(&SOURCE_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "strategy",
            shape: Shape::Object(&STRATEGY_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "free",
            shape: Shape::Object(&FREE_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "percent",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[12, 14, 3, 13, 17, 1, 10, 0, 11, 18, 8, 4, 7, 2, 15, 16, 5, 9, 6],
    atomic: false,
    size: size_of::<Rules>(),
};

impl ObjectType for Rules {
    const TYPE: &'static TypeDef = &RULES_TYPE;
}

/// A source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
    /// A file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Free>,
}

impl SetDefaults for Source {}

impl Validate for Source {
    fn validate(&self, path: &orch_runtime::path::Path<'_>, cx: &mut Validation<'_>) {
        rule::union_exactly_one(
            &[("text", !self.text.is_empty()), ("file", self.file.is_some())],
            path,
            cx,
        );
    }
}

/// The table of [`Source`].
pub static SOURCE_TYPE: TypeDef = TypeDef {
    name: "rules.example.io.v1.Source",
    short_name: "Source",
    fields: &[
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "file",
            shape: Shape::Object(&FREE_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Source>(),
};

impl ObjectType for Source {
    const TYPE: &'static TypeDef = &SOURCE_TYPE;
}

/// A strategy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Strategy {
    /// Which one.
    #[serde(
        rename = "type",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub type_: Option<StrategyType>,
    /// For the one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling: Option<Free>,
    /// For the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recreate: Option<Free>,
}

impl SetDefaults for Strategy {}

impl Validate for Strategy {
    fn validate(&self, path: &orch_runtime::path::Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("type");
        if let Some(value) = &self.type_ {
            text_enum::listed(value, &at, cx);
        }
        let selected = self.type_.as_ref().map_or("", TextEnum::as_str);
        rule::union_by_discriminator(
            "type",
            selected,
            &[
                rule::Member {
                    selected_by: "Rolling",
                    field: "rolling",
                    given: self.rolling.is_some() || selected == "Rolling",
                },
                rule::Member {
                    selected_by: "Recreate",
                    field: "recreate",
                    given: self.recreate.is_some() || selected == "Recreate",
                },
            ],
            path,
            cx,
        );
    }
}

/// The table of [`Strategy`].
pub static STRATEGY_TYPE: TypeDef = TypeDef {
    name: "rules.example.io.v1.Strategy",
    short_name: "Strategy",
    fields: &[
        FieldDef {
            name: "type",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "rolling",
            shape: Shape::Object(&FREE_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "recreate",
            shape: Shape::Object(&FREE_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Strategy>(),
};

impl ObjectType for Strategy {
    const TYPE: &'static TypeDef = &STRATEGY_TYPE;
}

orch_runtime::text_enum! {
    /// Strategies.
    pub enum StrategyType {
        Rolling = "Rolling",
        Recreate = "Recreate",
    }
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Volume {
    /// The name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
}

impl SetDefaults for Volume {}

impl Validate for Volume {
    fn validate(&self, path: &orch_runtime::path::Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }
}

/// The table of [`Volume`].
pub static VOLUME_TYPE: TypeDef = TypeDef {
    name: "rules.example.io.v1.Volume",
    short_name: "Volume",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Volume>(),
};

impl ObjectType for Volume {
    const TYPE: &'static TypeDef = &VOLUME_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "rules.example.io",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
