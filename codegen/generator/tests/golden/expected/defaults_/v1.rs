use std::collections::BTreeMap;
use orch_runtime::{
    Tree, field_error::Validation, object::{ObjectType, SetDefaults, Validate},
    path::Path, presence, resource_def::GroupVersionDef, scalar::{IntOrString, Quantity},
    text_enum, type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

orch_runtime::text_enum! {
    /// Colours.
    pub enum Colour {
        Red = "red",
        DarkGreen = "dark-green",
    }
}

/// An object with another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Deep {
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
}

impl SetDefaults for Deep {
    fn set_defaults(&mut self) {
        if let Some(value) = &mut self.item {
            value.set_defaults();
        }
    }
}

impl Validate for Deep {}

/// The table of [`Deep`].
pub static DEEP_TYPE: TypeDef = TypeDef {
    name: "defaults.example.io.v1.Deep",
    short_name: "Deep",
    fields: &[
        FieldDef {
            name: "item",
            shape: Shape::Object(&ITEM_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Deep>(),
};

impl ObjectType for Deep {
    const TYPE: &'static TypeDef = &DEEP_TYPE;
}

/// A default for each shape, here and below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defaults {
    /// A boolean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<bool>,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i32>,
    /// A real number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<f64>,
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
    /// A text that may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explicit: Option<String>,
    /// A share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<IntOrString>,
    /// A port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
    /// A quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Quantity>,
    /// A colour.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub colour: Option<Colour>,
    /// A list.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub list: Vec<String>,
    /// A map.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub map: BTreeMap<String, i32>,
    /// Any object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<Tree>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
    /// An object that is always there.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub always: Item,
    /// Objects.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub items: Vec<Item>,
    /// Lists of objects.
    #[serde(
        rename = "byName",
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub by_name: BTreeMap<String, Items>,
    /// A text from a function.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub computed: String,
    /// A default that changes nothing.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub empty: String,
    /// Fields that depend on each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired: Option<Paired>,
    /// An object without defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub none: Option<Nothing>,
    /// Fields that depend on others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depending: Option<Depending>,
}

impl SetDefaults for Defaults {
    fn set_defaults(&mut self) {
        self.flag.get_or_insert(true);
        self.number.get_or_insert(-3);
        self.real.get_or_insert(0.5);
        if self.text.is_empty() {
            self.text = "hello".to_owned();
        }
        self.explicit.get_or_insert_with(|| "given".to_owned());
        self.share.get_or_insert_with(|| IntOrString::String("25%".to_owned()));
        self.port.get_or_insert(IntOrString::Int(80));
        self.quantity
            .get_or_insert_with(|| {
                "1Gi".parse().expect("the generator has checked the default")
            });
        self.colour.get_or_insert(Colour::DarkGreen);
        if self.list.is_empty() {
            self.list = vec!["a".to_owned(), "b".to_owned()];
        }
        if self.map.is_empty() {
            self.map = BTreeMap::from([("one".to_owned(), 1)]);
        }
        self.any
            .get_or_insert_with(|| {
                "{\"deep\":[1,\"two\",null]}"
                    .parse::<Tree>()
                    .expect("the generator wrote this JSON")
            });
        self.item
            .get_or_insert_with(|| Item {
                name: "made".to_owned(),
                ..Item::default()
            });
        if let Some(value) = &mut self.item {
            value.set_defaults();
        }
        self.always.set_defaults();
        for item in &mut self.items {
            item.set_defaults();
        }
        for item in self.by_name.values_mut() {
            for item_1 in item {
                item_1.set_defaults();
            }
        }
        if self.computed.is_empty() {
            self.computed = crate::defaults::computed();
        }
        if let Some(value) = &mut self.paired {
            value.set_defaults();
        }
        if let Some(value) = &mut self.depending {
            value.set_defaults();
        }
    }
}

impl Validate for Defaults {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("colour");
        if let Some(value) = &self.colour {
            text_enum::listed(value, &at, cx);
        }
        let at = path.field("depending");
        if let Some(value) = &self.depending {
            value.validate(&at, cx);
        }
    }
}

/// The table of [`Defaults`].
pub static DEFAULTS_TYPE: TypeDef = TypeDef {
    name: "defaults.example.io.v1.Defaults",
    short_name: "Defaults",
    fields: &[
        FieldDef {
            name: "flag",
            shape: Shape::Scalar(Scalar::Boolean),
            default: Some("true"),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "number",
            shape: Shape::Scalar(Scalar::Int32),
            default: Some("-3"),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "real",
            shape: Shape::Scalar(Scalar::Double),
            default: Some("0.5"),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            default: Some("\"hello\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "explicit",
            shape: Shape::Scalar(Scalar::String),
            default: Some("\"given\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "share",
            shape: Shape::Scalar(Scalar::IntOrString),
            default: Some("\"25%\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "port",
            shape: Shape::Scalar(Scalar::IntOrString),
            default: Some("80"),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "quantity",
            shape: Shape::Scalar(Scalar::Quantity),
            default: Some("\"1Gi\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "colour",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            default: Some("\"dark-green\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "list",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "map",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::Int32),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "any",
            shape: Shape::Any,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "item",
            shape: Shape::Object(&ITEM_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "always",
            shape: Shape::Object(&ITEM_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "items",
            shape: Shape::List {
                item: &Shape::Object(&ITEM_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "byName",
            shape: Shape::Map {
                value: &Shape::List {
                    item: &Shape::Object(&ITEM_TYPE),
                    semantics: ListSemantics::Atomic,
                },
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "computed",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "empty",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            default: Some("\"\""),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "paired",
            shape: Shape::Object(&PAIRED_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "none",
            shape: Shape::Object(&NOTHING_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "depending",
            shape: Shape::Object(&DEPENDING_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[13, 11, 15, 8, 16, 20, 17, 4, 0, 12, 14, 9, 10, 19, 1, 18, 6, 7, 2, 5, 3],
    atomic: false,
    size: size_of::<Defaults>(),
};

impl ObjectType for Defaults {
    const TYPE: &'static TypeDef = &DEFAULTS_TYPE;
}

/// Defaults under conditions, from other fields, and in objects below; amounts are rounded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Depending {
    /// A name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// Another name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub alias: String,
    /// An address.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub ip: String,
    /// A mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// A port.
    #[serde(
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub port: i32,
    /// A port or its name.
    #[serde(rename = "targetPort", skip_serializing_if = "Option::is_none")]
    pub target_port: Option<IntOrString>,
    /// A colour.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub shade: Option<Colour>,
    /// A colour.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub colour: Option<Colour>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
    /// An object that is always there.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub always: Item,
    /// An object with another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deep: Option<Deep>,
    /// Amounts.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub limits: BTreeMap<String, Quantity>,
    /// An amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Quantity>,
}

impl SetDefaults for Depending {
    fn set_defaults(&mut self) {
        if !self.ip.is_empty() {
            self.mode.get_or_insert_with(|| "VIP".to_owned());
        }
        {
            let value = IntOrString::Int(self.port);
            if self
                .target_port
                .as_ref()
                .is_none_or(|value| {
                    presence::is_empty(value)
                        || matches!(value, IntOrString::String(text) if text.is_empty())
                })
            {
                self.target_port = Some(value);
            }
        }
        {
            if !self.name.is_empty() {
                let value = self.name.clone();
                if self.alias.is_empty() {
                    self.alias = value;
                }
            }
        }
        {
            if let Some(value) = self.shade.clone() {
                self.colour.get_or_insert_with(|| value);
            }
        }
        if self.mode.as_deref().unwrap_or_default() == "VIP" {
            self.item.get_or_insert_default();
        }
        if self.port >= 1 {
            let below_0 = &mut self.always;
            if below_0.name.is_empty() {
                below_0.name = "always".to_owned();
            }
        }
        if matches!(self.name.as_str(), "x" | "y")
            && !(self.mode.as_deref().unwrap_or_default() == "VIP")
        {
            let below_0 = self.deep.get_or_insert_default();
            let below_1 = below_0.item.get_or_insert_default();
            below_1.replicas.get_or_insert(3);
        }
        if let Some(value) = &mut self.item {
            value.set_defaults();
        }
        self.always.set_defaults();
        if let Some(value) = &mut self.deep {
            value.set_defaults();
        }
        for item in self.limits.values_mut() {
            item.round_up_to_milli();
        }
        if let Some(value) = &mut self.amount {
            value.round_up_to_milli();
        }
    }
}

impl Validate for Depending {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("shade");
        if let Some(value) = &self.shade {
            text_enum::listed(value, &at, cx);
        }
        let at = path.field("colour");
        if let Some(value) = &self.colour {
            text_enum::listed(value, &at, cx);
        }
    }
}

/// The table of [`Depending`].
pub static DEPENDING_TYPE: TypeDef = TypeDef {
    name: "defaults.example.io.v1.Depending",
    short_name: "Depending",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "alias",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "ip",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "mode",
            shape: Shape::Scalar(Scalar::String),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "port",
            shape: Shape::Scalar(Scalar::Int32),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "targetPort",
            shape: Shape::Scalar(Scalar::IntOrString),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "shade",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "colour",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "item",
            shape: Shape::Object(&ITEM_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "always",
            shape: Shape::Object(&ITEM_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "deep",
            shape: Shape::Object(&DEEP_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "limits",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::Quantity),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "amount",
            shape: Shape::Scalar(Scalar::Quantity),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[1, 9, 12, 7, 10, 2, 8, 11, 3, 0, 4, 6, 5],
    atomic: false,
    size: size_of::<Depending>(),
};

impl ObjectType for Depending {
    const TYPE: &'static TypeDef = &DEPENDING_TYPE;
}

/// An object with a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    /// A name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
}

impl SetDefaults for Item {
    fn set_defaults(&mut self) {
        self.replicas.get_or_insert(1);
    }
}

impl Validate for Item {}

/// The table of [`Item`].
pub static ITEM_TYPE: TypeDef = TypeDef {
    name: "defaults.example.io.v1.Item",
    short_name: "Item",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "replicas",
            shape: Shape::Scalar(Scalar::Int32),
            default: Some("1"),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Item>(),
};

impl ObjectType for Item {
    const TYPE: &'static TypeDef = &ITEM_TYPE;
}

/// Objects.
pub type Items = Vec<Item>;

/// An object without defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Nothing {
    /// A name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
}

impl SetDefaults for Nothing {}

impl Validate for Nothing {}

/// The table of [`Nothing`].
pub static NOTHING_TYPE: TypeDef = TypeDef {
    name: "defaults.example.io.v1.Nothing",
    short_name: "Nothing",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Nothing>(),
};

impl ObjectType for Nothing {
    const TYPE: &'static TypeDef = &NOTHING_TYPE;
}

/// An object whose first defaults come from a function that sees all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paired {
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub from: String,
    /// Follows `from`.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub to: String,
}

impl SetDefaults for Paired {
    fn set_defaults(&mut self) {
        crate::defaults::paired(self);
        if self.to.is_empty() {
            self.to = "nowhere".to_owned();
        }
    }
}

impl Validate for Paired {}

/// The table of [`Paired`].
pub static PAIRED_TYPE: TypeDef = TypeDef {
    name: "defaults.example.io.v1.Paired",
    short_name: "Paired",
    fields: &[
        FieldDef {
            name: "from",
            tag: Some(1),
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "to",
            tag: Some(1),
            inline_tag: Some(2),
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            default: Some("\"nowhere\""),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Paired>(),
};

impl ObjectType for Paired {
    const TYPE: &'static TypeDef = &PAIRED_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "defaults.example.io",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
