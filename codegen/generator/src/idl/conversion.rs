//! `conversion`: how objects of a kind become those of another version, or of another kind.

use std::borrow::Cow;

use schemars::{JsonSchema, SchemaGenerator, json_schema};

use super::reading::{Entries, Read, idl_object};
use crate::{
    diagnostic::Diagnostics,
    source::{Node, Spanned, Value},
};

idl_object! {
    /// How objects of a kind become those of another version, or of another kind: all of them read and write
    /// the same stored objects.
    pub struct ConversionExtension, "conversion", refused: &[], {
        /// Qualified name of the other kind: `example.orch.io.v1.Widget`.
        "to" => to: Spanned<String>,
        /// What is not the same in both.
        "steps" => steps: Option<Vec<StepExtension>>,
    }
}

idl_object! {
    /// A step of a conversion, with exactly one of `move`, `default`, `wrap`, `unwrap`, `join`, `split`,
    /// `values`, `constant`, `keep` and `fn`. Paths as `.spec.ports[*].name`.
    pub struct StepExtension, "a step", refused: &[("rename", "write `move: .old` and `to: .new`")], {
        /// The field at this path has another place there.
        "move" => moved: Option<Paths>,
        /// The field at this path, which is absent or zero, has a value there.
        "default" => default: Option<Paths>,
        /// The value at this path is the only item of a list there.
        "wrap" => wrap: Option<Paths>,
        /// The only item of the list at this path is a value there.
        "unwrap" => unwrap: Option<Paths>,
        /// The texts at these paths are one text there.
        "join" => join: Option<Paths>,
        /// The text at this path is several texts there.
        "split" => split: Option<Paths>,
        /// The texts at this path are called otherwise there.
        "values" => values: Option<Paths>,
        /// The field at this path of the other kind always has the same value.
        "constant" => constant: Option<Paths>,
        /// The field at this path is in one of the two kinds only.
        "keep" => keep: Option<Paths>,
        /// Name of a function in the module `conversions` of the crate.
        "fn" => function: Option<Spanned<String>>,
        /// With `fn`: the paths here.
        "from" => from: Option<Paths>,
        /// The path, or the paths, in the other kind; the same one unless given.
        "to" => to: Option<Paths>,
        /// With `default` and `constant`: the value.
        "value" => value: Option<Node>,
        /// With `join` and `split`: the text between the parts.
        "with" => with: Option<Spanned<String>>,
        /// With `values`: what the texts here are called there.
        "map" => map: Option<Entries<Spanned<String>>>,
        /// The annotation that keeps what has no place in the other form: `example.orch.io/hosts`.
        "annotation" => annotation: Option<Spanned<String>>,
    }
}

/// A path, or a list of paths.
#[derive(Debug)]
pub struct Paths(pub Vec<Spanned<String>>);

impl Read for Paths {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::List(_) => Vec::read(node, diagnostics).map(Paths),
            _ => Spanned::read(node, diagnostics).map(|path| Paths(vec![path])),
        }
    }
}

impl JsonSchema for Paths {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Paths".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let list = generator.subschema_for::<Vec<String>>();
        json_schema!({ "anyOf": [{ "type": "string" }, list] })
    }
}
