//! Extensions that ask for behaviour: computed defaults, immutability, feature gates, unions, rules.

use std::borrow::Cow;

use orch_runtime::type_def::GateStage;
use schemars::{JsonSchema, SchemaGenerator, json_schema};

use super::reading::{Entries, OneOf, Read, idl_object, idl_word_list, mismatch};
use crate::{
    diagnostic::Diagnostics,
    source::{Node, Spanned, Value},
};

idl_object! {
    /// `x-orch-default`.
    pub struct DefaultFunction, "x-orch-default", refused: &[("value", "write a constant as `default:`")], {
        /// Name of the function in the module `defaults` of the crate.
        "fn" => function: Spanned<String>,
    }
}

idl_object! {
    /// `x-orch-format`.
    pub struct FormatFunction, "x-orch-format", refused: &[("name", "write a named format as `format:`")], {
        /// Name of the function in the module `formats` of the crate.
        "fn" => function: Spanned<String>,
        /// Whether it gets the product words too.
        "words" => words: Option<Spanned<bool>>,
    }
}

idl_object! {
    /// `x-orch-union`: exactly one, or at most one, of some fields of the object is set.
    pub struct UnionExtension, "x-orch-union", refused: &[
        ("oneOf", "write `exactlyOne`"),
        ("anyOf", "write `atMostOne`"),
    ], {
        /// Fields of which exactly one is set.
        "exactlyOne" => exactly_one: Option<Vec<Spanned<String>>>,
        /// Fields of which at most one is set.
        "atMostOne" => at_most_one: Option<Vec<Spanned<String>>>,
        /// The field that says which of them is set.
        "discriminator" => discriminator: Option<Discriminator>,
    }
}

idl_object! {
    /// The field that says which member of a union is set.
    pub struct Discriminator, "discriminator", refused: &[("mapping", "write `values`")], {
        /// Its name.
        "field" => field: Spanned<String>,
        /// Its value for each member: `{recreate: Recreate}`.
        "values" => values: Entries<Spanned<String>>,
    }
}

/// `x-orch-immutable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immutable {
    /// `true` or `false`.
    Flag(bool),
    /// `once-set`.
    OnceSet,
}

impl Read for Immutable {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Boolean(flag) => Some(Immutable::Flag(*flag)),
            Value::String(text) if text == "once-set" => Some(Immutable::OnceSet),
            Value::String(text) => {
                let message = format!("unknown value `{text}`");
                diagnostics.error(&node.span, message, "known here: `true`, `once-set`").code("E0125");
                None
            }
            _ => {
                mismatch(node, "`true` or `once-set`", "write one of the two", diagnostics);
                None
            }
        }
    }
}

impl JsonSchema for Immutable {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Immutable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        json_schema!({ "enum": [true, false, "once-set"] })
    }
}

/// `x-orch-feature-gate`: a name, or a description.
#[derive(Debug)]
pub enum FeatureGate {
    /// A gate that is described elsewhere, or is like most gates.
    Name(Spanned<String>),
    /// A gate that is described here.
    Described(DescribedGate),
}

impl FeatureGate {
    /// Its name.
    pub fn name(&self) -> &Spanned<String> {
        match self {
            FeatureGate::Name(name) => name,
            FeatureGate::Described(gate) => &gate.name,
        }
    }
}

impl Read for FeatureGate {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::String(_) => Spanned::read(node, diagnostics).map(FeatureGate::Name),
            Value::Map(_) => DescribedGate::read(node, diagnostics).map(FeatureGate::Described),
            _ => {
                let help = "write `WidgetColours`, or `{name: WidgetColours, stage: alpha}`";
                mismatch(node, "the name of a feature gate, or a map", help, diagnostics);
                None
            }
        }
    }
}

impl JsonSchema for FeatureGate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FeatureGate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let described = generator.subschema_for::<DescribedGate>();
        json_schema!({ "anyOf": [{ "type": "string" }, described] })
    }
}

idl_object! {
    /// A feature gate.
    pub struct DescribedGate, "x-orch-feature-gate", refused: &[("enabled", "write `default`")], {
        /// Its name, which is given to `--feature-gates`.
        "name" => name: Spanned<String>,
        /// How far along the feature is; `beta` if absent.
        #[schemars(with = "Option<OneOf<GateStage>>")]
        "stage" => stage: Option<Spanned<GateStage>>,
        /// Whether the feature is on; by the stage if absent.
        "default" => default: Option<Spanned<bool>>,
    }
}

idl_word_list!(GateStage {
    Alpha = "alpha",
    Beta = "beta",
});
