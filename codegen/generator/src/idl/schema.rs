//! One schema: OpenAPI's keywords and the extensions, as written.

use std::borrow::Cow;

use schemars::{JsonSchema, SchemaGenerator, json_schema};

use super::{
    alternatives::Rules,
    defaults::{DefaultRule, RoundUp},
    format::Format,
    operation::{DefaultFunction, FeatureGate, FormatFunction, Immutable, UnionExtension},
    reading::{Entries, Read, idl_object, idl_words, mismatch},
    resource::ResourceExtension,
    rules::{ErrorWords, OrderedPlace},
    validation::ValidationExtension,
};
use crate::{
    diagnostic::{Diagnostics, Span},
    source::{Node, Spanned, Value},
};

/// Keywords of JSON Schema and OpenAPI that the language leaves out, and what to write instead.
const REFUSED: &[(&str, &str)] = &[
    ("allOf", "write `$ref` with its siblings (description, default ...) instead, or repeat the fields"),
    ("anyOf", "write one object with optional fields and `x-orch-union: {atMostOne: [...]}`"),
    ("oneOf", "write one object with optional fields and `x-orch-union: {exactlyOne: [...]}`"),
    ("not", "write an `x-orch-validator`"),
    ("if", "write a rule with `when` under `x-orch-rules`"),
    ("then", "write a rule with `when` under `x-orch-rules`"),
    ("else", "write a rule with `when` under `x-orch-rules`"),
    ("const", "write an `enum` of one value"),
    ("discriminator", "write `x-orch-union` with a `discriminator`"),
    ("readOnly", "fields that the server fills belong into `status`, with the subresource `status`"),
    ("writeOnly", "write `x-orch-write-only: true`"),
    ("patternProperties", "write `additionalProperties`, and `propertyNames: {pattern: ...}`"),
    ("unevaluatedProperties", "objects are closed already: remove it"),
    ("unevaluatedItems", "lists are of one item type: remove it"),
    ("prefixItems", "lists are of one item type: write an object with named fields"),
    ("contains", "write an `x-orch-validator` on the list"),
    ("minContains", "write an `x-orch-validator` on the list"),
    ("maxContains", "write an `x-orch-validator` on the list"),
    ("dependentRequired", "write `x-orch-rules: [{field: .b, required: true, when: {.a: {given: true}}}]`"),
    ("dependentSchemas", "write an `x-orch-validator` on the object"),
    ("contentEncoding", "write `format: byte`"),
    ("contentMediaType", "write `format: byte`, and the media type into the description"),
    ("contentSchema", "write `format: byte`, and the content into the description"),
    ("$defs", "name types under components.schemas"),
    ("definitions", "name types under components.schemas"),
    ("$id", "types are named by components.schemas: remove it"),
    ("$schema", "the dialect is that of OpenAPI 3.1: remove it"),
    ("$anchor", "types are named by components.schemas: remove it"),
    ("$dynamicRef", "write `$ref`"),
    ("$dynamicAnchor", "types are named by components.schemas: remove it"),
    ("$comment", "write a YAML comment: `# ...`"),
    ("xml", "there is no XML form: remove it"),
    ("externalDocs", "put the link into the description"),
];

idl_object! {
    /// A type, or what stands in one place: OpenAPI's keywords and the extensions.
    pub struct Schema, "a schema", refused: REFUSED, {
        /// Another type: `#/components/schemas/Name` in the same file, `group.version.Name` anywhere.
        "$ref" => reference: Option<Spanned<String>>,
        /// The type of the value; with "null", the value may be null.
        "type" => types: Option<Types>,
        /// A narrower type, or a rule for a string.
        "format" => format: Option<Spanned<Format>>,
        /// Documentation only.
        "title" => title: Option<Spanned<String>>,
        /// What it means, for people: published, and shown by client tools.
        "description" => description: Option<Spanned<String>>,
        /// Documentation only.
        "example" => example: Option<Node>,
        /// Documentation only.
        "examples" => examples: Option<Vec<Node>>,
        /// Documentation only; `x-orch-deprecated` also warns clients.
        "deprecated" => deprecated: Option<Spanned<bool>>,
        /// Whether null is a value of its own.
        "nullable" => nullable: Option<Spanned<bool>>,
        /// Value of the field where a client gives none.
        "default" => default: Option<Node>,
        /// The closed set of values of a string.
        "enum" => enumeration: Option<Spanned<Vec<Spanned<String>>>>,
        /// Fields that must be given.
        "required" => required: Option<Vec<Spanned<String>>>,
        /// Fields of an object, in the order in which they are written.
        "properties" => properties: Option<Entries<Schema>>,
        /// Type of the values of a map.
        "additionalProperties" => additional: Option<Spanned<Additional>>,
        /// Rule for the keys of a map.
        "propertyNames" => property_names: Option<Box<Schema>>,
        /// Type of the items of a list.
        "items" => items: Option<Box<Schema>>,
        /// A regular expression that a string contains; anchor it with ^ and $.
        "pattern" => pattern: Option<Spanned<String>>,
        /// Least number.
        "minimum" => minimum: Option<Spanned<f64>>,
        /// Greatest number.
        "maximum" => maximum: Option<Spanned<f64>>,
        /// The number is greater than this.
        "exclusiveMinimum" => exclusive_minimum: Option<Spanned<f64>>,
        /// The number is less than this.
        "exclusiveMaximum" => exclusive_maximum: Option<Spanned<f64>>,
        /// The number divides by this.
        "multipleOf" => multiple_of: Option<Spanned<f64>>,
        /// Least length of a string, in bytes.
        "minLength" => min_length: Option<Spanned<u64>>,
        /// Greatest length of a string, in bytes.
        "maxLength" => max_length: Option<Spanned<u64>>,
        /// Least number of items of a list.
        "minItems" => min_items: Option<Spanned<u64>>,
        /// Greatest number of items of a list.
        "maxItems" => max_items: Option<Spanned<u64>>,
        /// Whether each item may occur once only.
        "uniqueItems" => unique_items: Option<Spanned<bool>>,
        /// Least number of entries of a map.
        "minProperties" => min_properties: Option<Spanned<u64>>,
        /// Greatest number of entries of a map.
        "maxProperties" => max_properties: Option<Spanned<u64>>,
        /// Makes the object a kind that is served.
        "x-orch-resource" => resource: Option<ResourceExtension>,
        /// Protobuf field number. A kind with no tags is not served as protobuf.
        "x-orch-tag" => tag: Option<Spanned<u32>>,
        /// Protobuf field number of the message in which the field is nested, although it stands in the
        /// object itself everywhere else.
        "x-orch-inline-tag" => inline_tag: Option<Spanned<u32>>,
        /// How merges identify the items of a list.
        "x-orch-list-type" => list_type: Option<Spanned<ListType>>,
        /// With `x-orch-list-type: map`, the fields that identify an item.
        "x-orch-list-map-keys" => list_map_keys: Option<Spanned<Vec<Spanned<String>>>>,
        /// Whether merges look into a map or object, or replace it.
        "x-orch-map-type" => map_type: Option<Spanned<MapType>>,
        /// How a strategic merge patch treats the field.
        "x-orch-patch-strategy" => patch_strategy: Option<Spanned<PatchStrategy>>,
        /// With the strategy `merge`, the field that identifies an item of a list of objects.
        "x-orch-patch-merge-key" => patch_merge_key: Option<Spanned<String>>,
        /// A computed default: a hand-written Rust function.
        "x-orch-default" => default_function: Option<DefaultFunction>,
        /// A hand-written Rust function that fills in defaults which depend on several fields.
        "x-orch-defaulter" => defaulter: Option<Spanned<String>>,
        /// Defaults of members that depend on other members.
        "x-orch-defaults" => defaults: Option<Vec<DefaultRule>>,
        /// To what a quantity is rounded up where defaults are filled in.
        "x-orch-round-up" => round_up: Option<Spanned<RoundUp>>,
        /// Whether the field may change.
        "x-orch-immutable" => immutable: Option<Spanned<Immutable>>,
        /// How many of some fields may be set.
        "x-orch-union" => union: Option<UnionExtension>,
        /// Accepted on writes, never stored or returned.
        "x-orch-write-only" => write_only: Option<Spanned<bool>>,
        /// Hidden where generated code prints the object for people who look for faults.
        "x-orch-secret" => secret: Option<Spanned<bool>>,
        /// Dropped on writes unless this feature gate is on.
        "x-orch-feature-gate" => feature_gate: Option<FeatureGate>,
        /// Clients that set the field are warned with this text.
        "x-orch-deprecated" => deprecation: Option<Spanned<String>>,
        /// How broken rules of the keywords beside it are told: by keyword, or `all`.
        "x-orch-errors" => errors: Option<Entries<ErrorWords>>,
        /// Rules about the members of an object, with conditions and words of their own.
        "x-orch-rules" => rules: Option<Rules>,
        /// The order in which the fields of an object are judged: `"*"` for those that are not listed, `"."`
        /// for the object as a whole.
        "x-orch-order" => order: Option<Vec<Spanned<String>>>,
        /// The order in which errors are told, by the fields that they name: `"*"` for all others, `"."` for
        /// the object as a whole, `name: [..]` for an order below a field.
        "x-orch-error-order" => error_order: Option<Vec<OrderedPlace>>,
        /// Places at which errors are told instead of their own: `{.metadata.labels: .labels}`.
        "x-orch-told-at" => told_at: Option<Entries<Spanned<String>>>,
        /// A format of strings of your own: a hand-written Rust function.
        "x-orch-format" => own_format: Option<FormatFunction>,
        /// Rules in an expression language.
        "x-orch-validations" => validations: Option<Vec<ValidationExtension>>,
        /// A hand-written Rust function that checks the value.
        "x-orch-validator" => validator: Option<Spanned<String>>,
        /// As `x-orch-validator`, but before the rules of the fields.
        "x-orch-first-validator" => first_validator: Option<Spanned<String>>,
        /// A hand-written Rust function that checks the change of an object from its old value.
        "x-orch-update-validator" => update_validator: Option<Spanned<String>>,
        /// Whether an empty value is left out when written.
        "x-orch-omit-empty" => omit_empty: Option<Spanned<bool>>,
        /// Whether required texts may be empty where they do not say `minLength: 1`: `accepted`.
        "x-orch-empty-texts" => empty_texts: Option<Spanned<EmptyTexts>>,
    }
}

impl Schema {
    /// Where a keyword is written; the schema as a whole where it is not.
    pub fn key_span(&self, keyword: &str) -> &Span {
        self.keys.iter().find(|key| key.value == keyword).map_or(&self.span, |key| &key.span)
    }
}

idl_words! {
    /// A type of JSON.
    pub enum TypeName {
        /// Text.
        String = "string",
        /// Whole numbers.
        Integer = "integer",
        /// Numbers.
        Number = "number",
        /// True and false.
        Boolean = "boolean",
        /// Objects and maps.
        Object = "object",
        /// Lists.
        Array = "array",
        /// Null.
        Null = "null",
    }
}

idl_words! {
    /// What is made of required texts that are empty.
    pub enum EmptyTexts {
        /// They are accepted.
        Accepted = "accepted",
    }
}

idl_words! {
    /// `x-orch-list-type`.
    pub enum ListType {
        /// Replaced as a whole.
        Atomic = "atomic",
        /// Unique scalars.
        Set = "set",
        /// Objects with key fields.
        Map = "map",
    }
}

idl_words! {
    /// `x-orch-map-type`.
    pub enum MapType {
        /// Merged entry by entry.
        Granular = "granular",
        /// Replaced as a whole.
        Atomic = "atomic",
    }
}

idl_words! {
    /// `x-orch-patch-strategy`.
    pub enum PatchStrategy {
        /// Items of lists are merged.
        Merge = "merge",
        /// Replaced as a whole.
        Replace = "replace",
        /// Only the keys that the patch names are kept.
        RetainKeys = "retainKeys",
        /// Both.
        MergeRetainKeys = "merge,retainKeys",
    }
}

/// `type`: one word, or a list of words.
#[derive(Debug)]
pub struct Types(pub Vec<Spanned<TypeName>>);

impl Read for Types {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::List(_) => Vec::read(node, diagnostics).map(Types),
            _ => Spanned::read(node, diagnostics).map(|word| Types(vec![word])),
        }
    }
}

impl JsonSchema for Types {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Types".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let word = generator.subschema_for::<TypeName>();
        json_schema!({ "anyOf": [word, { "type": "array", "items": word }] })
    }
}

/// `additionalProperties`.
#[derive(Debug)]
pub enum Additional {
    /// `true`: any JSON; `false`: none.
    Any(bool),
    /// The type of each value.
    Schema(Box<Schema>),
}

impl Read for Additional {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Boolean(value) => Some(Additional::Any(*value)),
            Value::Map(_) => Box::read(node, diagnostics).map(Additional::Schema),
            _ => {
                mismatch(node, "a schema", "write a map such as `{type: string}`", diagnostics);
                None
            }
        }
    }
}

impl JsonSchema for Additional {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AdditionalProperties".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let schema = generator.subschema_for::<Schema>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, schema] })
    }
}
