use std::{collections::BTreeMap, sync::LazyLock};
use orch_runtime::{
    constraint, expression,
    field_error::{FieldError, Order, Reason, Shown, Validation, json},
    object::{ObjectType, SetDefaults, Validate},
    path::Path, presence, resource_def::GroupVersionDef, rule::{self, Seen},
    scalar::Quantity, text_enum::{self, TextEnum},
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use serde::{Deserialize, Serialize};

/// A child.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Child {
    /// A flag.
    #[serde(
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub flag: bool,
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
}

impl SetDefaults for Child {}

impl Validate for Child {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("text");
        if !self.text.is_empty() {
            rule::max_length(&self.text, 5, &at, cx);
        }
    }
}

/// The table of [`Child`].
pub static CHILD_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Child",
    short_name: "Child",
    fields: &[
        FieldDef {
            name: "flag",
            shape: Shape::Scalar(Scalar::Boolean),
            omit_empty: true,
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
    size: size_of::<Child>(),
};

impl ObjectType for Child {
    const TYPE: &'static TypeDef = &CHILD_TYPE;
}

/// A group of ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// The name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// Ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub ports: Vec<NodePort>,
}

impl SetDefaults for Group {}

impl Validate for Group {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("ports");
        for (index, item) in self.ports.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
    }
}

/// The table of [`Group`].
pub static GROUP_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Group",
    short_name: "Group",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "ports",
            shape: Shape::List {
                item: &Shape::Object(&NODE_PORT_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Group>(),
};

impl ObjectType for Group {
    const TYPE: &'static TypeDef = &GROUP_TYPE;
}

/// What stays, and what may change all the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The parts.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub spec: KeptSpec,
}

impl SetDefaults for Kept {}

impl Validate for Kept {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("spec");
        self.spec.validate(&at, cx);
        if self.spec.labels.get("single").is_some() {
            if self.spec.child.is_some() {
                cx.retract(&path.field("spec").field("child"));
                cx.push(
                    FieldError::in_words(
                        &path.field("spec").field("child"),
                        Reason::Forbidden,
                        "",
                        "may not be given",
                    ),
                )
            }
        }
        if self.spec.count.is_some_and(|value| value >= 9) {
            if !(self.spec.labels.get("must").is_some()) {
                cx.push(
                    FieldError::in_words(
                        &path.field("spec").field("labels").key("must"),
                        Reason::Required,
                        "",
                        "",
                    ),
                )
            }
        }
        if matches!(
            self.spec.labels.get("kind").map_or("", | text | text.as_str()), "a" | "b"
        ) {
            if let Some(value) = self.spec.labels.get("must") {
                rule::one_of(
                    value,
                    &["small"],
                    &path.field("spec").field("must.be"),
                    cx,
                );
            }
        }
        if expression::is_broken(|| Ok(
            expression::entry(
                    expression::given_if(
                        !self.spec.labels.is_empty(),
                        &self.spec.labels,
                        "labels",
                    )?,
                    "x",
                )?
                .as_str() == "y",
        )) {
            if !cx.is_full() {
                cx.push(
                    FieldError::in_words(
                        &path
                            .field("spec")
                            .field("labels")
                            .key(&format!("{}/size", cx.vocabulary.label_domain)),
                        Reason::Invalid,
                        &expression::made_shown(|| Ok(
                                expression::Value::Int(
                                    expression::count(
                                        expression::given_if(
                                                !self.spec.labels.is_empty(),
                                                &self.spec.labels,
                                                "labels",
                                            )?
                                            .len(),
                                    ),
                                ),
                            ))
                            .unwrap_or_default(),
                        "needs x",
                    ),
                )
            }
        }
        for (subscript_2, item_2) in self.spec.amounts.iter() {
            if expression::is_broken(|| Ok(
                item_2.value() >= 0i64 && i64::from(item_2.sign()) >= 0i64
                    && item_2.is_whole(),
            )) {
                if !cx.is_full() {
                    cx.push(
                        FieldError::in_words(
                            &path.field("spec").field("amounts").key(subscript_2),
                            Reason::Invalid,
                            &expression::made_shown(|| Ok(
                                    expression::Value::Int(item_2.value()),
                                ))
                                .unwrap_or_default(),
                            "is wrong",
                        ),
                    )
                }
            }
        }
        {
            if !self.spec.labels.is_empty() {
                let mut seen = Seen::new();
                for item_2 in self.spec.items.iter() {
                    if !item_2.name.is_empty() {
                        seen.insert(item_2.name.as_str());
                    }
                }
                for (subscript_2, _) in self.spec.labels.iter() {
                    if {
                        let words = cx.vocabulary;
                        expression::holds(|| Ok(
                            expression::begins(
                                subscript_2.as_str(),
                                &["use.", words.label_domain, "/"],
                            ),
                        ))
                    } {
                        if let Some(text) = {
                            let words = cx.vocabulary;
                            expression::made_text(|| Ok({
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "substring",
                                    &[
                                        (
                                            "(string).substring(int) -> string",
                                            &[expression::Kind::Text, expression::Kind::Int],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            expression::Value::from(subscript_2.as_str()),
                                            expression::Value::Int(
                                                expression::characters(
                                                    expression::text(
                                                        &expression::joined(&["use.", words.label_domain, "/"]),
                                                    )?,
                                                ),
                                            ),
                                        ],
                                    )?
                            }))
                        }
                            .as_deref()
                        {
                            if !seen.contains(text) {
                                cx.push(
                                    FieldError::in_words(
                                        &path.field("spec").field("labels").key(subscript_2),
                                        Reason::NotFound,
                                        &Shown::shown(text),
                                        "is no item",
                                    ),
                                )
                            }
                        }
                    }
                }
            }
        }
        for (subscript_2, item_2) in self.spec.labels.iter() {
            if {
                let words = cx.vocabulary;
                expression::holds(|| Ok(
                    expression::consists(
                        subscript_2.as_str(),
                        &[words.label_domain, "/colour"],
                    ),
                ))
            } {
                cx.invalid_all(
                    &path
                        .field("spec")
                        .field("labels")
                        .key(
                            &format!(
                                "of {}", self.spec.count.as_ref().map_or_else(|| ""
                                .to_owned(), | given | (given).to_string())
                            ),
                        ),
                    item_2,
                    &crate::formats::of_words(item_2, cx.vocabulary),
                );
            }
        }
        if let Some(value) = &self.spec.child {
            crate::validators::child(value, &path.field("spec").field("child"), cx);
        }
    }

    fn validate_update(&self, old: &Self, path: &Path<'_>, cx: &mut Validation<'_>) {
        if !((self.spec.items.len() == old.spec.items.len()
            && self
                .spec
                .items
                .iter()
                .zip(old.spec.items.iter())
                .all(|(new_0, old_0)| {
                    new_0.name == old_0.name && new_0.protocol == old_0.protocol
                }))
            && match (&self.spec.child, &old.spec.child) {
                (None, None) => true,
                (Some(new_0), Some(old_0)) => {
                    new_0.flag == old_0.flag
                        && (new_0.text == old_0.text
                            || !(old
                                .spec
                                .child
                                .as_ref()
                                .is_some_and(|value_0| !value_0.text.is_empty())))
                }
                (Some(new_0), None) | (None, Some(new_0)) => {
                    ((!(old
                        .spec
                        .child
                        .as_ref()
                        .is_some_and(|value_0| !value_0.text.is_empty()))))
                        && {
                            let old_0 = &Child::default();
                            new_0.flag == old_0.flag
                                && (new_0.text == old_0.text
                                    || !(old
                                        .spec
                                        .child
                                        .as_ref()
                                        .is_some_and(|value_0| !value_0.text.is_empty())))
                        }
                }
            }
            && self
                .spec
                .labels
                .iter()
                .filter(|(key, _)| {
                    key.as_str() != "own"
                        || !(expression::holds(|| Ok(
                            expression::and(
                                || Ok(
                                    i64::from(*expression::given(&self.spec.count, "count")?)
                                        > 5i64,
                                ),
                                || Ok(
                                    i64::from(*expression::given(&old.spec.count, "count")?)
                                        < 20i64,
                                ),
                            )?,
                        )))
                })
                .eq(
                    old
                        .spec
                        .labels
                        .iter()
                        .filter(|(key, _)| {
                            key.as_str() != "own"
                                || !(expression::holds(|| Ok(
                                    expression::and(
                                        || Ok(
                                            i64::from(*expression::given(&self.spec.count, "count")?)
                                                > 5i64,
                                        ),
                                        || Ok(
                                            i64::from(*expression::given(&old.spec.count, "count")?)
                                                < 20i64,
                                        ),
                                    )?,
                                )))
                        }),
                ) && self.spec.amounts == old.spec.amounts)
        {
            cx.push(
                FieldError::in_words(
                    &path.field("spec"),
                    Reason::Forbidden,
                    "",
                    "may not change",
                ),
            )
        }
        if expression::is_broken(|| Ok(
            i64::from(*expression::given(&self.spec.count, "count")?)
                >= i64::from(*expression::given(&old.spec.count, "count")?),
        )) {
            cx.push(
                FieldError::in_words(
                    &path.field("spec").field("count"),
                    Reason::Invalid,
                    &self
                        .spec
                        .count
                        .as_ref()
                        .map_or_else(
                            || "\"null\"".to_owned(),
                            |given| Shown::shown(given),
                        ),
                    "must not fall",
                ),
            );
            return;
        }
        if Some(
            expression::entry_of_parts(
                &self.spec.labels,
                &[cx.vocabulary.label_domain, "/fixed"],
            ),
        )
            != Some(
                expression::entry_of_parts(
                    &old.spec.labels,
                    &[cx.vocabulary.label_domain, "/fixed"],
                ),
            )
        {
            cx.push(
                FieldError::in_words(
                    &path
                        .field("spec")
                        .field("labels")
                        .key(&format!("{}/fixed", cx.vocabulary.label_domain)),
                    Reason::Invalid,
                    &expression::entry_of_parts(
                            &self.spec.labels,
                            &[cx.vocabulary.label_domain, "/fixed"],
                        )
                        .as_ref()
                        .map_or_else(
                            || "\"null\"".to_owned(),
                            |given| Shown::shown(given),
                        ),
                    "field is immutable",
                ),
            )
        }
        for (subscript_2, item_2) in old.spec.amounts.iter() {
            if expression::is_broken(|| Ok(
                !self.spec.amounts.is_empty()
                    && expression::given_if(
                            !self.spec.amounts.is_empty(),
                            &self.spec.amounts,
                            "amounts",
                        )?
                        .contains_key(subscript_2.as_str()),
            )) {
                cx.push(
                    FieldError::in_words(
                        &path.field("spec").field("amounts").key(subscript_2),
                        Reason::Invalid,
                        &Shown::shown(&(item_2).to_string()),
                        &format!("{} was taken", subscript_2),
                    ),
                )
            }
        }
        {
            if !old.spec.items.is_empty() {
                let mut seen = Seen::new();
                for item_2 in self.spec.items.iter() {
                    seen.insert((Some(&item_2.name), Some(&item_2.protocol)));
                }
                for item_2 in old.spec.items.iter() {
                    if !seen.contains((Some(&item_2.name), Some(&item_2.protocol))) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("spec").field("items"),
                                Reason::Forbidden,
                                "",
                                &format!("was removed: {}", Shown::shown(& item_2.name)),
                            ),
                        );
                        break;
                    }
                }
            }
        }
        {
            if !self.spec.items.is_empty() {
                let mut seen = Seen::new();
                for item_2 in old.spec.items.iter() {
                    if !item_2.name.is_empty() {
                        seen.insert(item_2.name.as_str());
                    }
                }
                for (subscript_2, item_2) in self.spec.items.iter().enumerate() {
                    if !item_2.name.is_empty() {
                        if !seen.contains(item_2.name.as_str()) {
                            cx.push(
                                FieldError::in_words(
                                    &path
                                        .field("spec")
                                        .field("items")
                                        .index(subscript_2)
                                        .field("name"),
                                    Reason::Forbidden,
                                    "",
                                    &format!("was added: {}", Shown::shown(& item_2.name)),
                                ),
                            )
                        }
                    }
                }
            }
        }
        {
            if !self.spec.labels.is_empty() {
                let mut seen = Seen::new();
                for item_2 in self.spec.items.iter() {
                    if !item_2.name.is_empty() {
                        seen.insert(item_2.name.as_str());
                    }
                }
                for (subscript_2, _) in self.spec.labels.iter() {
                    if {
                        let words = cx.vocabulary;
                        expression::holds(|| Ok(
                            expression::begins(
                                subscript_2.as_str(),
                                &["use.", words.label_domain, "/"],
                            ),
                        ))
                    } {
                        if let Some(text) = {
                            let words = cx.vocabulary;
                            expression::made_text(|| Ok({
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "substring",
                                    &[
                                        (
                                            "(string).substring(int) -> string",
                                            &[expression::Kind::Text, expression::Kind::Int],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            expression::Value::from(subscript_2.as_str()),
                                            expression::Value::Int(
                                                expression::characters(
                                                    expression::text(
                                                        &expression::joined(&["use.", words.label_domain, "/"]),
                                                    )?,
                                                ),
                                            ),
                                        ],
                                    )?
                            }))
                        }
                            .as_deref()
                        {
                            if !seen.contains(text) {
                                cx.push(
                                    FieldError::in_words(
                                        &path.field("spec").field("labels").key(subscript_2),
                                        Reason::NotFound,
                                        &Shown::shown(text),
                                        "is no item",
                                    ),
                                )
                            }
                        }
                    }
                }
            }
        }
        for (subscript_2, item_2) in self.spec.labels.iter() {
            if {
                let words = cx.vocabulary;
                expression::holds(|| Ok(
                    expression::consists(
                        subscript_2.as_str(),
                        &[words.label_domain, "/colour"],
                    ),
                ))
            } {
                cx.invalid_all(
                    &path
                        .field("spec")
                        .field("labels")
                        .key(
                            &format!(
                                "of {}", self.spec.count.as_ref().map_or_else(|| ""
                                .to_owned(), | given | (given).to_string())
                            ),
                        ),
                    item_2,
                    &crate::formats::of_words(item_2, cx.vocabulary),
                );
            }
        }
        if let Some(value) = &self.spec.child {
            crate::validators::child(value, &path.field("spec").field("child"), cx);
        }
        crate::validators::kept_change(self, old, path, cx);
    }
}

/// The table of [`Kept`].
pub static KEPT_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Kept",
    short_name: "Kept",
    fields: &[
        FieldDef {
            name: "spec",
            shape: Shape::Object(&KEPT_SPEC_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Kept>(),
};

impl ObjectType for Kept {
    const TYPE: &'static TypeDef = &KEPT_TYPE;
}

/// Parts of what stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptSpec {
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
    /// Items.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub items: Vec<Port>,
    /// A child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<Child>,
    /// Labels.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub labels: BTreeMap<String, String>,
    /// Amounts.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub amounts: BTreeMap<String, Quantity>,
}

impl SetDefaults for KeptSpec {}

impl Validate for KeptSpec {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("items");
        for (index, item) in self.items.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        let at = path.field("child");
        if let Some(value) = &self.child {
            value.validate(&at, cx);
        }
    }
}

/// The table of [`KeptSpec`].
pub static KEPT_SPEC_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.KeptSpec",
    short_name: "KeptSpec",
    fields: &[
        FieldDef {
            name: "count",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "items",
            shape: Shape::List {
                item: &Shape::Object(&PORT_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "child",
            shape: Shape::Object(&CHILD_TYPE),
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
            name: "amounts",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::Quantity),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<KeptSpec>(),
};

impl ObjectType for KeptSpec {
    const TYPE: &'static TypeDef = &KEPT_SPEC_TYPE;
}

/// An object whose wrong values are accepted as long as they stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lenient {
    /// A name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// A path.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub path: String,
    /// A type.
    #[serde(
        rename = "type",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub type_: String,
    /// Parts.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub parts: Vec<LenientPart>,
    /// More.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Lenient2>,
}

impl SetDefaults for Lenient {}

impl Validate for Lenient {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        if !self.name.is_empty() {
            rule::min_length(&self.name, 2, &path.field("name"), cx);
        }
        let at = path.field("parts");
        for (index, item) in self.parts.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
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
        if old.is_none_or(|old| Some(&self.name) != Some(&old.name)) {
            if !self.name.is_empty() {
                rule::max_length(&self.name, 3, &path.field("name"), cx);
            }
        }
        if old
            .is_none_or(|old| {
                Some(&self.path) != Some(&old.path)
                    || Some(&self.type_) != Some(&old.type_)
            })
        {
            if self.type_.as_str() == "Local" {
                if !(!self.path.is_empty()) {
                    cx.push(
                        FieldError::in_words(
                            &path.field("path"),
                            Reason::Required,
                            "",
                            "is needed",
                        ),
                    )
                }
            }
        }
        if old.is_none_or(|old| Some(&self.parts) != Some(&old.parts)) {
            {
                if !self.parts.is_empty() {
                    let mut seen = Seen::new();
                    for (subscript_1, item_1) in self.parts.iter().enumerate() {
                        if !item_1.name.is_empty() {
                            if !seen.insert(item_1.name.as_str()) {
                                cx.push(
                                    FieldError::in_words(
                                        &path.field("parts").index(subscript_1).field("name"),
                                        Reason::Duplicate,
                                        &Shown::shown(&item_1.name),
                                        "",
                                    ),
                                )
                            }
                        }
                    }
                }
            }
        }
        if old.is_none_or(|old| old != self) {
            if expression::is_broken(|| Ok(
                expression::given_if(!self.name.is_empty(), self.name.as_str(), "name")?
                    != expression::given_if(
                        !self.type_.is_empty(),
                        self.type_.as_str(),
                        "type",
                    )?,
            )) {
                cx.push(
                    FieldError::in_words(
                        &path.field("name"),
                        Reason::Invalid,
                        &Shown::shown(&self.name),
                        "must not be the type",
                    ),
                )
            }
        }
        if let Some(value) = &self.below {
            let at = &path.field("below");
            let old = old.and_then(|old| old.below.as_ref());
            value.validate_expressions(old, at, cx);
        }
    }
}

/// The table of [`Lenient`].
pub static LENIENT_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Lenient",
    short_name: "Lenient",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "path",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "type",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "parts",
            shape: Shape::List {
                item: &Shape::Object(&LENIENT_PART_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "below",
            shape: Shape::Object(&LENIENT2_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Lenient>(),
};

impl ObjectType for Lenient {
    const TYPE: &'static TypeDef = &LENIENT_TYPE;
}

/// What is below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lenient2 {
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
}

impl SetDefaults for Lenient2 {}

impl Validate for Lenient2 {
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
        if old.is_none_or(|old| Some(&self.count) != Some(&old.count)) {
            if let Some(value) = &self.count {
                if *value > 5 {
                    cx.push(
                        FieldError::in_words(
                            &path.field("count"),
                            Reason::Invalid,
                            &Shown::shown(value),
                            &format!("is too large: {}", (value).to_string()),
                        ),
                    )
                }
            }
        }
    }
}

/// The table of [`Lenient2`].
pub static LENIENT2_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Lenient2",
    short_name: "Lenient2",
    fields: &[
        FieldDef {
            name: "count",
            shape: Shape::Scalar(Scalar::Int64),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Lenient2>(),
};

impl ObjectType for Lenient2 {
    const TYPE: &'static TypeDef = &LENIENT2_TYPE;
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LenientPart {
    /// A name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
}

impl SetDefaults for LenientPart {}

impl Validate for LenientPart {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }
}

/// The table of [`LenientPart`].
pub static LENIENT_PART_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.LenientPart",
    short_name: "LenientPart",
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
    size: size_of::<LenientPart>(),
};

impl ObjectType for LenientPart {
    const TYPE: &'static TypeDef = &LENIENT_PART_TYPE;
}

/// A port of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodePort {
    /// The name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
    /// The port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    /// The port of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<i32>,
    /// The protocol.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub protocol: String,
}

impl SetDefaults for NodePort {}

impl Validate for NodePort {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::required(&at, ""));
        }
    }
}

/// The table of [`NodePort`].
pub static NODE_PORT_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.NodePort",
    short_name: "NodePort",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "port",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "node",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "protocol",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<NodePort>(),
};

impl ObjectType for NodePort {
    const TYPE: &'static TypeDef = &NODE_PORT_TYPE;
}

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Port {
    /// The name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// The port of the node.
    #[serde(
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub node: i32,
    /// The protocol.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::empty_as_absent"
    )]
    pub protocol: Option<Protocol>,
}

impl SetDefaults for Port {}

impl Validate for Port {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("protocol");
        if let Some(value) = &self.protocol {
            text_enum::listed(value, &at, cx);
        }
    }
}

/// The table of [`Port`].
pub static PORT_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Port",
    short_name: "Port",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "node",
            shape: Shape::Scalar(Scalar::Int32),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "protocol",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
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
    /// Protocols.
    pub enum Protocol {
        TCP = "TCP",
        UDP = "UDP",
        SCTP = "SCTP",
    }
}

/// Rules under conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ruled {
    /// One source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Child>,
    /// Another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Child>,
    /// Another still.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub third: String,
    /// Targets.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub targets: Vec<String>,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lun: Option<i32>,
    /// A type.
    #[serde(
        rename = "type",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub type_: String,
    /// A profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// A count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
    /// A child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<Child>,
    /// Ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub ports: Vec<Port>,
    /// Other ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub others: Vec<Port>,
    /// Names of ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub mounts: Vec<String>,
    /// Limits.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub limits: BTreeMap<String, i64>,
    /// Data.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub data: BTreeMap<String, String>,
    /// Whether data stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen: Option<bool>,
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub a: String,
    /// Another.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub b: String,
    /// An amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Quantity>,
    /// A size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Quantity>,
}

impl SetDefaults for Ruled {}

impl Validate for Ruled {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        if !(self.first.is_some() || self.second.is_some() || !self.third.is_empty()) {
            cx.push(
                FieldError::in_words(path, Reason::Required, "", "must specify a source"),
            )
        }
        if self.type_.as_str() == "Both" {
            if !(!self.a.is_empty() || !self.b.is_empty()) {
                if !cx.is_full() {
                    cx.push(
                        FieldError::in_words(
                            path,
                            Reason::Invalid,
                            &json(self),
                            "must specify a or b",
                        ),
                    )
                }
            }
        }
        let at = path.field("second");
        if let Some(value) = &self.second {
            value.validate(&at, cx);
        }
        let mut taken_13 = self.second.is_some();
        if taken_13 && !self.third.is_empty() {
            cx.push(
                FieldError::in_words(
                    &path.field("Third"),
                    Reason::Forbidden,
                    "",
                    "may not specify more than 1 source",
                ),
            )
        } else {
            let at = path.field("third");
            if !self.third.is_empty() {
                rule::max_length(&self.third, 3, &at, cx);
            }
            taken_13 |= !self.third.is_empty();
        }
        if !self.targets.is_empty() {
            if !(self.lun.is_some()) {
                cx.push(
                    FieldError::in_words(
                        &path.field("lun"),
                        Reason::Required,
                        "",
                        "lun is required if targets are given",
                    ),
                )
            }
        }
        if !self.targets.is_empty() {
            if let Some(value) = &self.lun {
                rule::between(*value, 0, 255, &path.field("lun"), cx);
            }
        }
        if !(matches!(self.type_.as_str(), "Local" | "Shared")) {
            if self.profile.is_some() {
                cx.push(
                    FieldError::in_words(
                        &path.field("profile"),
                        Reason::Forbidden,
                        "",
                        &format!(
                            "may not be used when type is {}", (& self.type_).to_string()
                        ),
                    ),
                )
            }
        }
        if self.type_.as_str() == "Local" {
            if let Some(value) = &self.profile {
                rule::format(
                    value,
                    constraint::relative_path,
                    &path.field("profile"),
                    cx,
                );
            }
        }
        if self.b.len() >= 3 {
            if let Some(value) = &self.profile {
                rule::min_length(value, 2, &path.field("profile"), cx);
            }
        }
        let at = path.field("child");
        if let Some(value) = &self.child {
            value.validate(&at, cx);
        }
        if self.count.is_some_and(|value| value >= 2 && value <= 5) {
            if let Some(below_0) = &self.child {
                if below_0.flag != true {
                    cx.push(
                        FieldError::in_words(
                            &path.field("child").field("flag"),
                            Reason::Invalid,
                            &Shown::shown(&below_0.flag),
                            "must be true",
                        ),
                    )
                }
            }
        }
        let at = path.field("ports");
        for (index, item) in self.ports.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        {
            if !self.ports.is_empty() {
                let applies_0 = self.ports.len() >= 2;
                let mut seen_1 = Seen::new();
                for (subscript_1, item_1) in self.ports.iter().enumerate() {
                    if applies_0 {
                        if !(!item_1.name.is_empty()) {
                            cx.push(
                                FieldError::in_words(
                                    &path.field("ports").index(subscript_1).field("name"),
                                    Reason::Required,
                                    "",
                                    "",
                                ),
                            )
                        }
                    }
                    if !item_1.name.is_empty() {
                        if !seen_1.insert(item_1.name.as_str()) {
                            cx.push(
                                FieldError::in_words(
                                    &path.field("ports").index(subscript_1).field("name"),
                                    Reason::Duplicate,
                                    &Shown::shown(&item_1.name),
                                    "",
                                ),
                            )
                        }
                    }
                    if item_1.protocol.as_ref().map_or("", TextEnum::as_str) == "UDP" {
                        if !presence::is_empty(&item_1.node) {
                            cx.push(
                                FieldError::in_words(
                                    &path.field("ports").index(subscript_1).field("node"),
                                    Reason::Invalid,
                                    &Shown::shown(&item_1.node),
                                    "not for UDP",
                                ),
                            )
                        }
                    }
                }
            }
        }
        let at = path.field("others");
        for (index, item) in self.others.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        {
            if !self.others.is_empty() {
                let mut seen = Seen::new();
                for item_1 in self.ports.iter() {
                    if !item_1.name.is_empty() {
                        seen.insert(item_1.name.as_str());
                    }
                }
                for (subscript_1, item_1) in self.others.iter().enumerate() {
                    if !item_1.name.is_empty() {
                        if !seen.insert(item_1.name.as_str()) {
                            cx.push(
                                FieldError::in_words(
                                    &path.field("others").index(subscript_1),
                                    Reason::Duplicate,
                                    &Shown::shown(&item_1.name),
                                    "",
                                ),
                            )
                        }
                    }
                }
            }
        }
        {
            if !self.mounts.is_empty() {
                let mut seen = Seen::new();
                for item_1 in self.ports.iter() {
                    if !item_1.name.is_empty() {
                        seen.insert(item_1.name.as_str());
                    }
                }
                for (subscript_1, item_1) in self.mounts.iter().enumerate() {
                    if !seen.contains(item_1.as_str()) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("mounts").index(subscript_1),
                                Reason::NotFound,
                                &Shown::shown(item_1),
                                "",
                            ),
                        )
                    }
                }
            }
        }
        for (subscript_1, item_1) in self.limits.iter() {
            rule::maximum(*item_1, 9, &path.field("limits").key(subscript_1), cx);
        }
        if usize::from(!self.a.is_empty())
            + usize::from(
                self.child.as_ref().is_some_and(|value_0| !value_0.text.is_empty()),
            ) > 1
        {
            if !cx.is_full() {
                cx.push(
                    FieldError::in_words(
                        &path.field("a"),
                        Reason::Invalid,
                        &Shown::shown(&self.a),
                        "excludes child.text",
                    ),
                )
            }
        }
        if !(self.frozen.is_some()) {
            if !self.a.is_empty() {
                cx.warn(path, "is ignored");
            }
        }
        if self
            .ports
            .iter()
            .any(|value_0| {
                matches!(
                    value_0.protocol.as_ref().map_or("", TextEnum::as_str), "UDP" |
                    "SCTP"
                )
            })
        {
            if !self.b.is_empty() {
                rule::min_length(&self.b, 2, &path.field("b"), cx);
            }
        }
        if {
            static PATTERN: LazyLock<rule::Pattern> = LazyLock::new(|| {
                rule::Pattern::new("^x").with_ends("x", "")
            });
            PATTERN.is_match(self.a.as_str())
        } {
            if !self.b.is_empty() {
                let faults = constraint::label_value(self.b.as_str());
                if !faults.is_empty() {
                    if !cx.is_full() {
                        cx.push(
                            FieldError::in_words(
                                &path.field("a"),
                                Reason::Invalid,
                                &Shown::shown(&self.a),
                                &format!("{}", faults.join(";")),
                            ),
                        )
                    }
                }
            }
        }
        let at = path.field("amount");
        if let Some(value) = &self.amount {
            rule::not_negative(value, &at, cx);
        }
        let at = path.field("size");
        if let Some(value) = &self.size {
            if value.sign() <= 0 {
                cx.push(
                    FieldError::in_words(
                        &at,
                        Reason::Invalid,
                        &Shown::shown(&(value).to_string()),
                        "must be greater than zero",
                    ),
                )
            }
        }
        if taken_13 && self.first.is_some() {
            cx.push(
                FieldError::in_words(
                    &path.field("first"),
                    Reason::Forbidden,
                    "",
                    "may not specify more than 1 source",
                ),
            )
        } else {
            let at = path.field("first");
            if let Some(value) = &self.first {
                value.validate(&at, cx);
            }
        }
    }

    fn validate_update(&self, old: &Self, path: &Path<'_>, cx: &mut Validation<'_>) {
        if matches!(old.frozen, Some(true)) && Some(&self.data) != Some(&old.data) {
            cx.push(
                FieldError::in_words(
                    &path.field("data"),
                    Reason::Forbidden,
                    "",
                    "is frozen",
                ),
            )
        }
        if old.child.as_ref().is_some_and(|value_0| !value_0.text.is_empty())
            && self.child.as_ref().and_then(|value_0| Some(&value_0.text))
                != old.child.as_ref().and_then(|value_0| Some(&value_0.text))
        {
            cx.push(
                FieldError::in_words(
                    &path.field("child").field("text"),
                    Reason::Invalid,
                    &self
                        .child
                        .as_ref()
                        .map_or_else(
                            || "\"null\"".to_owned(),
                            |value_0| Shown::shown(&value_0.text),
                        ),
                    "field is immutable once set",
                ),
            )
        }
    }
}

/// The table of [`Ruled`].
pub static RULED_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Ruled",
    short_name: "Ruled",
    fields: &[
        FieldDef {
            name: "first",
            shape: Shape::Object(&CHILD_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "second",
            shape: Shape::Object(&CHILD_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "third",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "targets",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "lun",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "type",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "profile",
            shape: Shape::Scalar(Scalar::String),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "count",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "child",
            shape: Shape::Object(&CHILD_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "ports",
            shape: Shape::List {
                item: &Shape::Object(&PORT_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "others",
            shape: Shape::List {
                item: &Shape::Object(&PORT_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "mounts",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
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
            name: "data",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::String),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "frozen",
            shape: Shape::Scalar(Scalar::Boolean),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "a",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "b",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "amount",
            shape: Shape::Scalar(Scalar::Quantity),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "size",
            shape: Shape::Scalar(Scalar::Quantity),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[15, 17, 16, 8, 7, 13, 0, 14, 12, 4, 11, 10, 9, 6, 1, 18, 3, 2, 5],
    atomic: false,
    size: size_of::<Ruled>(),
};

impl ObjectType for Ruled {
    const TYPE: &'static TypeDef = &RULED_TYPE;
}

/// Rules with expressions, and rules about a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Said {
    /// Metadata.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub metadata: crate::meta::v1::ObjectMeta,
    /// A name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub name: String,
    /// A flag.
    #[serde(
        skip_serializing_if = "presence::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub wanted: bool,
    /// A flag with a default.
    #[serde(rename = "onHost", skip_serializing_if = "Option::is_none")]
    pub on_host: Option<bool>,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<i32>,
    /// Another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<i32>,
    /// Ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub ports: Vec<NodePort>,
    /// Labels.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub labels: BTreeMap<String, String>,
    /// Domains.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub searches: Vec<String>,
    /// Groups.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub groups: Vec<Group>,
    /// Names of ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub uses: Vec<String>,
    /// Names of none.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub excludes: Vec<String>,
    /// Names of ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub mains: Vec<String>,
    /// Names of ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "presence::list")]
    pub spares: Vec<String>,
    /// A detail.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub detail: String,
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub last: String,
}

impl SetDefaults for Said {
    fn set_defaults(&mut self) {
        self.on_host.get_or_insert(false);
    }
}

impl Validate for Said {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("metadata");
        self.metadata.validate(&at, cx);
        if {
            let words = cx.vocabulary;
            expression::is_broken(|| Ok(
                expression::or(
                    || Ok(
                        expression::begins(
                            expression::given_if(
                                !self.name.is_empty(),
                                self.name.as_str(),
                                "name",
                            )?,
                            &[words.label_domain, "/"],
                        ),
                    ),
                    || Ok(
                        expression::characters(
                            expression::given_if(
                                !self.name.is_empty(),
                                self.name.as_str(),
                                "name",
                            )?,
                        ) < 9i64,
                    ),
                )?,
            ))
        } {
            cx.push(
                FieldError::in_words(
                    &path.field("name"),
                    Reason::Invalid,
                    &Shown::shown(&self.name),
                    "is too long",
                ),
            )
        }
        if expression::holds(|| Ok(
            expression::and(
                || Ok(
                    expression::given_if(
                        !presence::is_empty(&self.wanted),
                        self.wanted,
                        "wanted",
                    )?,
                ),
                || Ok(i64::from(*expression::given(&self.least, "least")?) > 5i64),
            )?,
        )) {
            if let Some(value) = &self.most {
                if *value > 10 {
                    cx.push(
                        FieldError::in_words(
                            &path.field("most"),
                            Reason::Invalid,
                            &Shown::shown(value),
                            &expression::made_text(|| Ok({
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
                                                expression::Value::from("at most 10 beside %d"),
                                                expression::Value::list(
                                                    vec![
                                                        expression::Value::Int(i64::from(* expression::given(& self
                                                        .least, "least") ?))
                                                    ],
                                                ),
                                            ],
                                        )?
                                }))
                                .unwrap_or_default(),
                        ),
                    )
                }
            }
        }
        let at = path.field("ports");
        for (index, item) in self.ports.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        {
            if !self.ports.is_empty() {
                let applies_0 = expression::holds(|| Ok(
                    *expression::given(&self.on_host, "onHost")?,
                ));
                let mut seen_2 = Seen::new();
                for (subscript_1, item_1) in self.ports.iter().enumerate() {
                    if applies_0 {
                        if expression::is_broken(|| Ok(
                            i64::from(*expression::given(&item_1.node, "node")?)
                                == i64::from(*expression::given(&item_1.port, "port")?),
                        )) {
                            cx.push(
                                FieldError::in_words(
                                    &path.field("ports").index(subscript_1).field("node"),
                                    Reason::Invalid,
                                    &item_1
                                        .node
                                        .as_ref()
                                        .map_or_else(
                                            || "\"null\"".to_owned(),
                                            |given| Shown::shown(given),
                                        ),
                                    &format!(
                                        "must match {}", item_1.port.as_ref().map_or_else(|| ""
                                        .to_owned(), | given | (given).to_string())
                                    ),
                                ),
                            )
                        }
                    }
                    if expression::is_broken(|| Ok(
                        expression::count(subscript_1) < 3i64,
                    )) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("ports").index(subscript_1),
                                Reason::Forbidden,
                                "",
                                "only three",
                            ),
                        )
                    }
                    if !seen_2.insert((Some(&item_1.protocol), Some(&item_1.node))) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("ports").index(subscript_1).field("node"),
                                Reason::Duplicate,
                                &Shown::shown(
                                    &format!(
                                        "{}/{}", (& item_1.protocol).to_string(), item_1.node
                                        .as_ref().map_or_else(|| "".to_owned(), | given | (given)
                                        .to_string())
                                    ),
                                ),
                                "",
                            ),
                        )
                    }
                }
            }
        }
        for (subscript_1, _) in self.labels.iter() {
            if expression::is_broken(|| Ok(
                subscript_1.as_str()
                    == expression::text(
                        &{
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "lowerAscii",
                                &[
                                    (
                                        "(string).lowerAscii() -> string",
                                        &[expression::Kind::Text],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(&[expression::Value::from(subscript_1.as_str())])?
                        },
                    )?,
            )) {
                cx.push(
                    FieldError::in_words(
                        &path.field("labels").key(subscript_1),
                        Reason::Invalid,
                        "\"a label\"",
                        "must be small",
                    ),
                )
            }
        }
        for (subscript_1, item_1) in self.searches.iter().enumerate() {
            if let Some(text) = expression::made_text(|| Ok(
                    if item_1.as_str().ends_with(".") {
                        {
                            static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                            expression::Function::new(
                                "substring",
                                &[
                                    (
                                        "(string).substring(int, int) -> string",
                                        &[
                                            expression::Kind::Text,
                                            expression::Kind::Int,
                                            expression::Kind::Int,
                                        ],
                                    ),
                                ],
                            ));
                            FUNCTION
                                .call(
                                    &[
                                        expression::Value::from(item_1.as_str()),
                                        expression::Value::Int(0i64),
                                        expression::Value::Int(
                                            expression::fits(
                                                i64::checked_sub(
                                                    expression::characters(item_1.as_str()),
                                                    1i64,
                                                ),
                                            )?,
                                        ),
                                    ],
                                )?
                        }
                    } else {
                        expression::Value::from(item_1.as_str())
                    },
                ))
                .as_deref()
            {
                rule::format(
                    text,
                    constraint::dns_subdomain,
                    &path.field("searches").index(subscript_1),
                    cx,
                );
            }
        }
        let at = path.field("groups");
        for (index, item) in self.groups.iter().enumerate() {
            let at = at.index(index);
            item.validate(&at, cx);
        }
        for (subscript_1, item_1) in self.groups.iter().enumerate() {
            let mut seen_1 = Seen::new();
            let mut seen_2 = Seen::new();
            for (subscript_3, item_3) in item_1.ports.iter().enumerate() {
                if expression::holds(|| Ok(
                    expression::given_if(
                        !item_1.name.is_empty(),
                        item_1.name.as_str(),
                        "name",
                    )? == "x",
                )) {
                    if expression::is_broken(|| Ok(item_3.name.as_str() == "y")) {
                        cx.push(
                            FieldError::in_words(
                                &path
                                    .field("groups")
                                    .index(subscript_1)
                                    .field("ports")
                                    .index(subscript_3)
                                    .field("name"),
                                Reason::Invalid,
                                &Shown::shown(&item_3.name),
                                "must be y",
                            ),
                        )
                    }
                }
                if !item_3.name.is_empty() {
                    if !seen_1.insert(item_3.name.as_str()) {
                        cx.push(
                            FieldError::in_words(
                                &path
                                    .field("groups")
                                    .index(subscript_1)
                                    .field("ports")
                                    .index(subscript_3)
                                    .field("name"),
                                Reason::Duplicate,
                                &Shown::shown(&item_3.name),
                                "",
                            ),
                        )
                    }
                }
                if !(matches!(item_3.node, Some(0))) {
                    if let Some(value) = &item_3.node {
                        if !seen_2.insert(*value) {
                            cx.push(
                                FieldError::in_words(
                                    &path
                                        .field("groups")
                                        .index(subscript_1)
                                        .field("ports")
                                        .index(subscript_3)
                                        .field("node"),
                                    Reason::Duplicate,
                                    &Shown::shown(value),
                                    "",
                                ),
                            )
                        }
                    }
                }
            }
            let found = cx.found();
            if expression::is_broken(|| Ok(
                expression::characters(
                    expression::given_if(
                        !item_1.name.is_empty(),
                        item_1.name.as_str(),
                        "name",
                    )?,
                ) < 5i64,
            )) {
                cx.push(
                    FieldError::in_words(
                        &path.field("groups").index(subscript_1).field("name"),
                        Reason::Invalid,
                        &Shown::shown(&item_1.name),
                        "is too long",
                    ),
                )
            }
            if cx.found() == found {
                if expression::is_broken(|| Ok(
                    expression::given_if(
                        !item_1.name.is_empty(),
                        item_1.name.as_str(),
                        "name",
                    )? != "bad",
                )) {
                    cx.push(
                        FieldError::in_words(
                            &path.field("groups").index(subscript_1).field("name"),
                            Reason::Invalid,
                            &Shown::shown(&item_1.name),
                            "is bad",
                        ),
                    )
                }
            }
            if cx.found() == found {
                if expression::is_broken(|| Ok(
                    expression::or(
                        || Ok(
                            expression::given_if(
                                    !item_1.name.is_empty(),
                                    item_1.name.as_str(),
                                    "name",
                                )?
                                .starts_with("x"),
                        ),
                        || Ok(
                            expression::given_if(
                                    !item_1.name.is_empty(),
                                    item_1.name.as_str(),
                                    "name",
                                )?
                                .starts_with("y"),
                        ),
                    )?,
                )) {
                    cx.push(
                        FieldError::in_words(
                            &path.field("groups").index(subscript_1).field("name"),
                            Reason::Invalid,
                            &Shown::shown(&item_1.name),
                            "begins wrong",
                        ),
                    )
                }
            }
        }
        {
            if !self.uses.is_empty() {
                let mut seen = Seen::new();
                let wrong = cx.items_with_errors(&path.field("ports"));
                for (subscript_1, item_1) in self.ports.iter().enumerate() {
                    if !wrong.contains(&subscript_1) {
                        if !item_1.name.is_empty() {
                            seen.insert(item_1.name.as_str());
                        }
                    }
                }
                for (subscript_1, item_1) in self.uses.iter().enumerate() {
                    if !seen.contains(item_1.as_str()) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("uses").index(subscript_1),
                                Reason::NotFound,
                                &Shown::shown(item_1),
                                "",
                            ),
                        )
                    }
                }
            }
        }
        {
            if !self.excludes.is_empty() {
                let mut seen = Seen::new();
                for item_1 in self.uses.iter() {
                    seen.insert(item_1.as_str());
                }
                for (subscript_1, item_1) in self.excludes.iter().enumerate() {
                    if seen.contains(item_1.as_str()) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("excludes").index(subscript_1),
                                Reason::Invalid,
                                &Shown::shown(item_1),
                                "is used",
                            ),
                        )
                    }
                }
            }
        }
        {
            if !self.mains.is_empty() {
                let mut seen = Seen::new();
                for item_1 in self.ports.iter() {
                    if expression::holds(|| Ok(
                        i64::from(*expression::given(&item_1.port, "port")?) > 0i64,
                    )) {
                        if !item_1.name.is_empty() {
                            seen.insert(item_1.name.as_str());
                        }
                    }
                }
                for item_1 in self.groups.iter() {
                    for item_3 in item_1.ports.iter() {
                        if expression::holds(|| Ok(
                            i64::from(*expression::given(&item_3.port, "port")?) > 0i64,
                        )) {
                            if !item_3.name.is_empty() {
                                seen.insert(item_3.name.as_str());
                            }
                        }
                    }
                }
                for (subscript_1, item_1) in self.mains.iter().enumerate() {
                    if !seen.contains(item_1.as_str()) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("mains").index(subscript_1),
                                Reason::Invalid,
                                &Shown::shown(item_1),
                                "has no port",
                            ),
                        )
                    }
                }
            }
        }
        {
            if !self.spares.is_empty() {
                let mut seen = Seen::new();
                for item_1 in self.ports.iter() {
                    if expression::holds(|| Ok(
                        i64::from(*expression::given(&item_1.port, "port")?) > 0i64,
                    )) {
                        if !item_1.name.is_empty() {
                            seen.insert(item_1.name.as_str());
                        }
                    }
                }
                for item_1 in self.groups.iter() {
                    for item_3 in item_1.ports.iter() {
                        if expression::holds(|| Ok(
                            i64::from(*expression::given(&item_3.port, "port")?) > 0i64,
                        )) {
                            if !item_3.name.is_empty() {
                                seen.insert(item_3.name.as_str());
                            }
                        }
                    }
                }
                for (subscript_1, item_1) in self.spares.iter().enumerate() {
                    if !seen.contains(item_1.as_str()) {
                        cx.push(
                            FieldError::in_words(
                                &path.field("spares").index(subscript_1),
                                Reason::Invalid,
                                &Shown::shown(item_1),
                                "has no port",
                            ),
                        )
                    }
                }
            }
        }
        if !(!(self.wanted)) {
            let at = path.field("detail");
            if !self.detail.is_empty() {
                rule::max_length(&self.detail, 3, &at, cx);
            }
        }
        if expression::is_broken(|| Ok(
            i64::from(*expression::given(&self.least, "least")?)
                <= i64::from(*expression::given(&self.most, "most")?),
        )) {
            if !cx.is_full() {
                cx.push(
                    FieldError::in_words(
                        &path.field("least"),
                        Reason::Invalid,
                        &self
                            .least
                            .as_ref()
                            .map_or_else(
                                || "\"null\"".to_owned(),
                                |given| Shown::shown(given),
                            ),
                        &format!(
                            "must not be greater than {}", self.most.as_ref()
                            .map_or_else(|| "".to_owned(), | given | (given).to_string())
                        ),
                    ),
                )
            }
        }
        cx.arrange(
            path,
            const {
                &[
                    Order::of("last"),
                    Order::with("ports", const { &[Order::of("node"), Order::of("*")] }),
                    Order::of(""),
                    Order::of("*"),
                ]
            },
        );
        if expression::holds(|| Ok(
            expression::given_if(
                !self.metadata.name.is_empty(),
                self.metadata.name.as_str(),
                "name",
            )? == "none",
        )) {
            if !self.last.is_empty() {
                cx.push(
                    FieldError::in_words(
                        &path.field("last"),
                        Reason::Forbidden,
                        "",
                        "comes last",
                    ),
                )
            }
        }
    }

    fn validate_update(&self, old: &Self, path: &Path<'_>, cx: &mut Validation<'_>) {
        if expression::is_broken(|| Ok(
            i64::from(*expression::given(&self.least, "least")?)
                >= i64::from(*expression::given(&old.least, "least")?),
        )) {
            cx.push(
                FieldError::in_words(
                    &path.field("least"),
                    Reason::Invalid,
                    &self
                        .least
                        .as_ref()
                        .map_or_else(
                            || "\"null\"".to_owned(),
                            |given| Shown::shown(given),
                        ),
                    "must not fall",
                ),
            )
        }
        if Some(&self.labels) != Some(&old.labels) {
            if !(!self.name.is_empty()) {
                cx.push(
                    FieldError::in_words(&path.field("name"), Reason::Required, "", ""),
                )
            }
        }
    }
}

/// The table of [`Said`].
pub static SAID_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Said",
    short_name: "Said",
    fields: &[
        FieldDef {
            name: "metadata",
            shape: Shape::Object(&crate::meta::v1::OBJECT_META_TYPE),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "wanted",
            shape: Shape::Scalar(Scalar::Boolean),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "onHost",
            shape: Shape::Scalar(Scalar::Boolean),
            default: Some("false"),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "least",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "most",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "ports",
            shape: Shape::List {
                item: &Shape::Object(&NODE_PORT_TYPE),
                semantics: ListSemantics::Atomic,
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
            name: "searches",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "groups",
            shape: Shape::List {
                item: &Shape::Object(&GROUP_TYPE),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "uses",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "excludes",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "mains",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "spares",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "detail",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "last",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[14, 11, 9, 7, 15, 4, 12, 0, 5, 1, 3, 6, 8, 13, 10, 2],
    atomic: false,
    size: size_of::<Said>(),
};

impl ObjectType for Said {
    const TYPE: &'static TypeDef = &SAID_TYPE;
}

/// What has some fields of another type, and shares rules about them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Twin {
    /// The parts.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub spec: KeptSpec,
}

impl SetDefaults for Twin {}

impl Validate for Twin {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("spec");
        self.spec.validate(&at, cx);
        {
            if !self.spec.labels.is_empty() {
                let mut seen = Seen::new();
                for item_2 in self.spec.items.iter() {
                    if !item_2.name.is_empty() {
                        seen.insert(item_2.name.as_str());
                    }
                }
                for (subscript_2, _) in self.spec.labels.iter() {
                    if {
                        let words = cx.vocabulary;
                        expression::holds(|| Ok(
                            expression::begins(
                                subscript_2.as_str(),
                                &["use.", words.label_domain, "/"],
                            ),
                        ))
                    } {
                        if let Some(text) = {
                            let words = cx.vocabulary;
                            expression::made_text(|| Ok({
                                static FUNCTION: LazyLock<expression::Function> = LazyLock::new(||
                                expression::Function::new(
                                    "substring",
                                    &[
                                        (
                                            "(string).substring(int) -> string",
                                            &[expression::Kind::Text, expression::Kind::Int],
                                        ),
                                    ],
                                ));
                                FUNCTION
                                    .call(
                                        &[
                                            expression::Value::from(subscript_2.as_str()),
                                            expression::Value::Int(
                                                expression::characters(
                                                    expression::text(
                                                        &expression::joined(&["use.", words.label_domain, "/"]),
                                                    )?,
                                                ),
                                            ),
                                        ],
                                    )?
                            }))
                        }
                            .as_deref()
                        {
                            if !seen.contains(text) {
                                cx.push(
                                    FieldError::in_words(
                                        &path.field("spec").field("labels").key(subscript_2),
                                        Reason::NotFound,
                                        &Shown::shown(text),
                                        "is no item",
                                    ),
                                )
                            }
                        }
                    }
                }
            }
        }
        for (subscript_2, item_2) in self.spec.labels.iter() {
            if {
                let words = cx.vocabulary;
                expression::holds(|| Ok(
                    expression::consists(
                        subscript_2.as_str(),
                        &[words.label_domain, "/colour"],
                    ),
                ))
            } {
                cx.invalid_all(
                    &path
                        .field("spec")
                        .field("labels")
                        .key(
                            &format!(
                                "of {}", self.spec.count.as_ref().map_or_else(|| ""
                                .to_owned(), | given | (given).to_string())
                            ),
                        ),
                    item_2,
                    &crate::formats::of_words(item_2, cx.vocabulary),
                );
            }
        }
        if let Some(value) = &self.spec.child {
            crate::validators::child(value, &path.field("spec").field("child"), cx);
        }
        if !(self.spec.labels.get("twin").is_some()) {
            cx.push(
                FieldError::in_words(
                    &path.field("spec").field("labels").key("twin"),
                    Reason::Required,
                    "",
                    "is for twins",
                ),
            )
        }
        cx.relocate(&path.field("spec").field("child"), &path.field("child"));
    }
}

/// The table of [`Twin`].
pub static TWIN_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Twin",
    short_name: "Twin",
    fields: &[
        FieldDef {
            name: "spec",
            shape: Shape::Object(&KEPT_SPEC_TYPE),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: size_of::<Twin>(),
};

impl ObjectType for Twin {
    const TYPE: &'static TypeDef = &TWIN_TYPE;
}

/// Rules that are told in words and at places of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Worded {
    /// A name.
    #[serde(deserialize_with = "presence::null_as_empty")]
    pub name: String,
    /// A list.
    #[serde(deserialize_with = "presence::list")]
    pub list: Vec<String>,
    /// A weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<i32>,
    /// An age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<i64>,
    /// A size.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub size: String,
    /// A key.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub key: String,
    /// A text.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub text: String,
    /// A text with a format of the crate.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "presence::null_as_empty"
    )]
    pub own: String,
    /// Data.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "presence::map"
    )]
    pub data: BTreeMap<String, String>,
}

impl SetDefaults for Worded {}

impl Validate for Worded {
    fn validate(&self, path: &Path<'_>, cx: &mut Validation<'_>) {
        let at = path.field("name");
        if self.name.is_empty() {
            cx.push(FieldError::in_words(&at, Reason::Required, "", "must be specified"))
        }
        let at = path.field("list");
        if self.list.is_empty() {
            cx.push(
                FieldError::in_words(
                    &at.parent().field("lists"),
                    Reason::Required,
                    "",
                    "give one or more",
                ),
            )
        } else {
            rule::min_items(&self.list, 1, &at, cx);
            for (index, item) in self.list.iter().enumerate() {
                let at = at.index(index);
                rule::format(item, constraint::driver_name, at.parent(), cx);
            }
        }
        let at = path.field("weight");
        if let Some(value) = &self.weight {
            if !(1..=100).contains(value) {
                cx.push(
                    FieldError::in_words(
                        &at,
                        Reason::Invalid,
                        &Shown::shown(value),
                        "must be in the range 1-100",
                    ),
                )
            }
        }
        let at = path.field("age");
        if let Some(value) = &self.age {
            if *value < 600 {
                cx.push(
                    FieldError::in_words(
                        &at,
                        Reason::Invalid,
                        &Shown::shown(value),
                        &format!("too young: {}", (value).to_string()),
                    ),
                )
            }
            if *value > 4294967296 {
                cx.push(FieldError::in_words(&at, Reason::TooLong, "", "too old"))
            }
        }
        let at = path.field("size");
        if !self.size.is_empty() {
            if !matches!(self.size.as_str(), "small" | "large") {
                cx.warn(&at, "will be ignored");
            }
        }
        let at = path.field("key");
        if !self.key.is_empty() {
            for fault in constraint::qualified_name(self.key.as_str()) {
                cx.push(
                    FieldError::in_words(
                        &at,
                        Reason::Invalid,
                        &Shown::shown(&self.key),
                        &format!("is no key; {}", fault),
                    ),
                )
            }
        }
        let at = path.field("text");
        if !self.text.is_empty() {
            {
                static PATTERN: LazyLock<rule::Pattern> = LazyLock::new(|| rule::Pattern::new(
                    "^[a-z]*$",
                ));
                if !PATTERN.is_match(self.text.as_str()) {
                    cx.push(
                        FieldError::in_words(
                            &at,
                            Reason::Invalid,
                            "\"hidden\"",
                            "must be small",
                        ),
                    )
                }
            }
            if self.text.as_str().len() > 3 {
                cx.push(
                    FieldError::in_words(
                        &at,
                        Reason::Invalid,
                        &Shown::shown(&self.text),
                        "must be short",
                    ),
                )
            }
        }
        let at = path.field("own");
        if !self.own.is_empty() {
            rule::format(&self.own, crate::formats::even, &at, cx);
        }
        let at = path.field("data");
        if self.data.len() > 2 {
            cx.push(
                FieldError::in_words(
                    &at,
                    Reason::TooMany,
                    &self.data.len().to_string(),
                    "is too large",
                ),
            )
        }
        for key in self.data.keys() {
            let at = at.key(key);
            rule::format(key, constraint::config_key, &at, cx);
        }
    }
}

/// The table of [`Worded`].
pub static WORDED_TYPE: TypeDef = TypeDef {
    name: "checks.example.io.v1.Worded",
    short_name: "Worded",
    fields: &[
        FieldDef {
            name: "name",
            shape: Shape::Scalar(Scalar::String),
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "list",
            shape: Shape::List {
                item: &Shape::Scalar(Scalar::String),
                semantics: ListSemantics::Atomic,
            },
            required: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "weight",
            shape: Shape::Scalar(Scalar::Int32),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "age",
            shape: Shape::Scalar(Scalar::Int64),
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "size",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "key",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "text",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "own",
            shape: Shape::Scalar(Scalar::String),
            omit_empty: true,
            ..FieldDef::PLAIN
        },
        FieldDef {
            name: "data",
            shape: Shape::Map {
                value: &Shape::Scalar(Scalar::String),
                atomic: false,
            },
            omit_empty: true,
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[3, 8, 5, 1, 0, 7, 4, 6, 2],
    atomic: false,
    size: size_of::<Worded>(),
};

impl ObjectType for Worded {
    const TYPE: &'static TypeDef = &WORDED_TYPE;
}

/// The kinds and published types of this group and version.
pub static GROUP_VERSION: GroupVersionDef = GroupVersionDef {
    group: "checks.example.io",
    version: "v1",
    resources: &[],
    feature_gates: &[],
    schemas: include_str!("v1.openapi.json"),
};
