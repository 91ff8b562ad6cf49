//! What the schema files say, resolved: the only thing that the checks and the emitters see.
//!
//! Types are linked by [`TypeId`], names are final (wire name and Rust name), extensions are typed, and every
//! item remembers where it was written, so that a rule that spans files can still point at a line. Nothing
//! here knows YAML or Rust syntax.

mod checks;
mod conversion;
mod defaults;
mod formats;
mod lifecycle;
mod place;
mod presence;
mod resolved;
mod rules;
mod validation;
mod words;

use std::collections::BTreeMap;

pub use checks::{Check, Condition, Constant, Demand, Exception, Expressions, Moment, Shows, Test, Words};
pub use conversion::{Conversion, ConversionStep, How, Names};
pub use defaults::{ConditionalDefault, DefaultSource};
pub use formats::StringFormat;
pub use lifecycle::{Lifecycle, Replacement};
pub use orch_runtime::{
    resource_def::{MetadataRules, NameFormat, Scope, UpdateCheck, Verb},
    type_def::GateStage,
};
pub use place::{EACH, LostStep, Step, Target};
pub use presence::{Empty, Omitted, Presence};
pub use resolved::Resolved;
pub use rules::Rule;
pub use validation::{Expression, PathStep, RuleReason, ValidationRule};
pub use words::WORDS;

use crate::diagnostic::Span;

/// The type of the `metadata` of kinds.
pub const OBJECT_META: &str = "meta.v1.ObjectMeta";

/// Everything that one run of the generator knows.
#[derive(Debug, Default)]
pub struct Model {
    /// All groups and versions, sorted by group, then version.
    pub group_versions: Vec<GroupVersion>,
    /// All named types of all files; a [`TypeId`] is an index into it.
    pub types: Vec<Type>,
    /// The product words of `vocabulary.yaml`, where the folder has one.
    pub vocabularies: Vec<VocabularyWords>,
}

impl Model {
    /// The id of a type of this model.
    pub fn id(&self, ty: &Type) -> TypeId {
        let position = self.types.iter().position(|other| std::ptr::eq(other, ty));
        TypeId(position.expect("the type is one of the model"))
    }

    /// The type of that id.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0]
    }
}

/// One group and version.
#[derive(Debug)]
pub struct GroupVersion {
    /// `""` for the core group.
    pub group: String,
    /// `v1`.
    pub version: String,
    /// Kinds, sorted by plural name.
    pub resources: Vec<Resource>,
    /// Types of this group and version, sorted by name.
    pub types: Vec<TypeId>,
    /// The crate that holds the generated code, where it is not the one being generated: `orch_api`.
    pub extern_crate: Option<String>,
    /// Whether it lies in the folder that is generated from, although another crate may hold the code.
    pub in_folder: bool,
}

/// Index of a type in [`Model::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub usize);

/// A named type.
#[derive(Debug)]
pub struct Type {
    /// `core.v1.ConfigMap`: `<group or "core">.<version>.<name>`.
    pub qualified_name: String,
    /// `""` for the core group.
    pub group: String,
    /// `v1`.
    pub version: String,
    /// `ConfigMap`; also the Rust name.
    pub name: String,
    /// Prose for docs and published documents.
    pub description: String,
    /// What the type is.
    pub kind: TypeKind,
    /// `x-orch-validator` on the type: a hand-written Rust function of that name.
    pub validator: Option<String>,
    /// `x-orch-first-validator` on the type: the same, called before the rules of the fields.
    pub first_validator: Option<String>,
    /// `x-orch-update-validator` on the type: a hand-written Rust function that checks a change.
    pub update_validator: Option<String>,
    /// `x-orch-defaulter` on the type: a hand-written Rust function that is called before the defaults of
    /// fields.
    pub defaulter: Option<String>,
    /// Rules in the expression language on the type.
    pub validations: Vec<ValidationRule>,
    /// Where the type is declared.
    pub span: Span,
}

/// What a named type is.
#[derive(Debug)]
pub enum TypeKind {
    /// An object with fields.
    Object(ObjectType),
    /// A string with a closed set of values.
    Enum(Vec<EnumValue>),
    /// Another name for an unnamed shape (`Time`, `Quantity`, a map ...).
    Alias(Usage),
}

/// The fields of an object type.
#[derive(Debug, Default)]
pub struct ObjectType {
    /// In the order written; for a kind, `metadata` is first.
    pub fields: Vec<Field>,
    /// `x-orch-map-type: atomic`.
    pub atomic: bool,
    /// `x-orch-union`, where the object is one.
    pub union: Option<Union>,
    /// `x-orch-rules`.
    pub checks: Vec<Check>,
    /// `x-orch-defaults`.
    pub defaults: Vec<ConditionalDefault>,
    /// `x-orch-order`: the fields in the order in which they are judged, `"*"` for the others.
    pub order: Vec<String>,
    /// `x-orch-error-order`: the order in which errors are told; empty where they stay as they are found.
    pub error_order: Vec<ErrorPlace>,
    /// `x-orch-told-at`: places of errors, and where they are told instead.
    pub told_at: Vec<(Vec<Step>, Vec<Step>)>,
}

/// A field that errors name, and the order of those below it.
#[derive(Debug)]
pub struct ErrorPlace {
    /// The name; `"*"` for all that are not listed, the empty text for the place itself.
    pub field: String,
    /// The order below it; empty where errors stay as they are found.
    pub below: Vec<ErrorPlace>,
}

/// `x-orch-union`: how many of some fields may be set.
#[derive(Debug)]
pub struct Union {
    /// Exactly one, or at most one.
    pub exactly_one: bool,
    /// The member fields' wire names.
    pub members: Vec<String>,
    /// The field that names the member in use, with the value that belongs to each member.
    pub discriminator: Option<(String, BTreeMap<String, String>)>,
    /// Where it is declared.
    pub span: Span,
}

/// One value of an enum.
#[derive(Debug)]
pub struct EnumValue {
    /// On the wire.
    pub value: String,
    /// The Rust variant.
    pub rust_name: String,
}

/// A field of an object type.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property that the schema states")]
pub struct Field {
    /// On the wire.
    pub name: String,
    /// In Rust.
    pub rust_name: String,
    /// Prose for docs and published documents.
    pub description: String,
    /// What it holds, and the constraints on it.
    pub usage: Usage,
    /// Listed in `required`.
    pub required: bool,
    /// Whether a required text of it may be empty where no `minLength` says so: its file accepts them, or a
    /// rule of its object says when it is required.
    pub accepts_empty: bool,
    /// Whether an empty value is left out when written. Strings, lists and maps: true unless said otherwise;
    /// other values: false unless said otherwise (`x-orch-omit-empty`). Always false for required fields.
    pub omit_empty: bool,
    /// Whether a time that is absent is written, as null (`x-orch-omit-empty: false`).
    pub null_when_absent: bool,
    /// Constant default.
    pub default: Option<serde_json::Value>,
    /// `x-orch-default: {fn: name}`: a hand-written Rust function of that name.
    pub default_fn: Option<String>,
    /// `x-orch-tag`.
    pub tag: Option<u32>,
    /// `x-orch-inline-tag`: the protobuf field number of the message around the field.
    pub inline_tag: Option<u32>,
    /// `x-orch-patch-strategy` and `x-orch-patch-merge-key`.
    pub patch: Patch,
    /// `x-orch-map-type: granular` beside a reference: merges go into the object here, although its type is
    /// atomic.
    pub granular: bool,
    /// `x-orch-immutable`.
    pub immutable: Option<Immutability>,
    /// `x-orch-write-only`.
    pub write_only: bool,
    /// `x-orch-secret`.
    pub secret: bool,
    /// `x-orch-feature-gate`.
    pub feature_gate: Option<FeatureGate>,
    /// `x-orch-deprecated`: the warning's text.
    pub deprecated: Option<String>,
    /// `x-orch-validator` on the field: a hand-written Rust function of that name.
    pub validator: Option<String>,
    /// Rules in the expression language on the field.
    pub validations: Vec<ValidationRule>,
    /// Where it is declared.
    pub span: Span,
}

/// `x-orch-feature-gate`: what an operator turns on and off by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    /// `WidgetColours`.
    pub name: String,
    /// How far along the feature is.
    pub stage: GateStage,
    /// Whether it is on unless the operator says otherwise.
    pub default: bool,
}

/// `x-orch-immutable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immutability {
    /// The value at creation stays.
    Always,
    /// May be set once, later than at creation.
    OnceSet,
}

/// Strategic merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// Lists merge.
    pub merge: bool,
    /// `$retainKeys` applies.
    pub retain_keys: bool,
    /// Objects and maps are replaced too.
    pub replace: bool,
    /// Identifies items of a merged list.
    pub merge_key: Option<String>,
}

/// What stands at one place: a shape and the constraints on it there.
#[derive(Debug)]
pub struct Usage {
    /// The shape.
    pub shape: Shape,
    /// The constraints.
    pub constraints: Constraints,
    /// `nullable: true`, or `type: [x, "null"]`.
    pub nullable: bool,
    /// `x-orch-errors`: how broken rules are told, by keyword or `all`.
    pub words: BTreeMap<String, Words>,
    /// `x-orch-round-up: milli`: a quantity is rounded up to thousandths where defaults are filled in.
    pub rounds_up: bool,
    /// Prose, where the place is not a field of its own (items, map values).
    pub description: String,
    /// Where it is written.
    pub span: Span,
}

/// The shapes of values.
#[derive(Debug)]
pub enum Shape {
    /// `type: boolean`.
    Boolean,
    /// `type: integer, format: int32`.
    Int32,
    /// `type: integer` (`format: int64`).
    Int64,
    /// `type: number`.
    Double,
    /// `type: string`, with the format that is checked, if any.
    String(Option<StringFormat>),
    /// `format: byte`.
    Bytes,
    /// `format: date-time`.
    Time,
    /// `format: micro-time`.
    MicroTime,
    /// `format: duration`.
    Duration,
    /// `format: quantity`.
    Quantity,
    /// `format: int-or-string`.
    IntOrString,
    /// An object without properties and without `additionalProperties`, or no type at all: any JSON.
    Any,
    /// `$ref`.
    Named(TypeId),
    /// `type: array`.
    List {
        /// Each item.
        item: Box<Usage>,
        /// `x-orch-list-type`.
        semantics: ListSemantics,
    },
    /// `type: object` with `additionalProperties`.
    Map {
        /// `propertyNames`: format, pattern and lengths of the keys.
        keys: Box<Usage>,
        /// Each value.
        value: Box<Usage>,
        /// `x-orch-map-type: atomic`.
        atomic: bool,
    },
}

/// `x-orch-list-type` with `x-orch-list-map-keys`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListSemantics {
    /// Replaced as a whole; what a list without the extension is.
    Atomic,
    /// Unique scalars.
    Set,
    /// Objects with these key fields.
    Map(Vec<String>),
}

/// OpenAPI's own keywords at one place.
#[derive(Debug, Default)]
pub struct Constraints {
    /// `enum` of an unnamed string, in the order written.
    pub enum_values: Vec<String>,
    /// `x-orch-format: {fn: name}`: a hand-written Rust function of that name.
    pub format_fn: Option<OwnFormat>,
    /// `pattern`, proven to be linear-time.
    pub pattern: Option<String>,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: Option<f64>,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: Option<f64>,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
    /// `minLength`, in bytes.
    pub min_length: Option<u64>,
    /// `maxLength`, in bytes.
    pub max_length: Option<u64>,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
    /// `uniqueItems: true`.
    pub unique_items: bool,
    /// `uniqueItems: false`, written out: a set or a keyed list that is accepted with repeated items.
    pub repeated_items: bool,
    /// `minProperties`.
    pub min_properties: Option<u64>,
    /// `maxProperties`.
    pub max_properties: Option<u64>,
}

/// `x-orch-format`: a hand-written Rust function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFormat {
    /// In the module `formats` of the crate.
    pub function: String,
    /// It gets the product words too.
    pub takes_words: bool,
}

/// A kind that is served: `x-orch-resource`.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the schema language, independent of the others"
)]
pub struct Resource {
    /// The object's type.
    pub ty: TypeId,
    /// `ConfigMap`.
    pub kind: String,
    /// `configmaps`.
    pub plural: String,
    /// `configmap`.
    pub singular: String,
    /// `cm`.
    pub short_names: Vec<String>,
    /// `all`.
    pub categories: Vec<String>,
    /// Where its objects live.
    pub scope: Scope,
    /// Sorted; all eight unless said otherwise.
    pub verbs: Vec<Verb>,
    /// Not stored: create only.
    pub is_virtual: bool,
    /// Sorted by name.
    pub subresources: Vec<Subresource>,
    /// The rule for `metadata.name`.
    pub name_format: NameFormat,
    /// `createOnUpdate`, default false.
    pub create_on_update: bool,
    /// `unconditionalUpdate`, default true.
    pub unconditional_update: bool,
    /// `updateChecks`, in order.
    pub update_checks: Vec<UpdateCheck>,
    /// `metadataRules`, default all.
    pub metadata_rules: MetadataRules,
    /// `generation`, default false.
    pub counts_generation: bool,
    /// `deleteReturnsObject`, default false.
    pub delete_returns_object: bool,
    /// Columns of the Table form; none stand for Name and Created At.
    pub columns: Vec<Column>,
    /// Paths that field selectors may name besides metadata's: `status.phase`.
    pub selectable_fields: Vec<Vec<String>>,
    /// Other names that field selectors may use, with the paths of which the first that has a value counts.
    pub selectable_names: Vec<(String, Vec<Vec<String>>)>,
    /// Those of the selectable fields that an index is kept for.
    pub indexed_fields: Vec<Vec<String>>,
    /// Labels that an index is kept for.
    pub indexed_labels: Vec<String>,
    /// Since when, until when.
    pub lifecycle: Lifecycle,
    /// Whether objects are stored in this version: `storageVersion`, or the most stable and newest one.
    pub storage_version: bool,
    /// `conversion`.
    pub conversion: Option<Conversion>,
    /// Where it is declared.
    pub span: Span,
}

/// A path below an item.
#[derive(Debug)]
pub struct Subresource {
    /// `status`.
    pub name: String,
    /// Sorted; `status`: get, patch, update.
    pub verbs: Vec<Verb>,
    /// The body's type, where it is not the kind itself.
    pub body: Option<TypeId>,
    /// For `scale`: where the object has what its scale shows.
    pub scale: Option<Scale>,
}

/// Paths of what the subresource `scale` shows.
#[derive(Debug)]
pub struct Scale {
    /// The wanted number of replicas.
    pub replicas: Vec<String>,
    /// The present number.
    pub status_replicas: Vec<String>,
    /// The text of a label selector.
    pub selector: Option<Vec<String>>,
}

/// A column of the Table form.
#[derive(Debug)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub column_type: String,
    /// `name`, or empty.
    pub format: String,
    /// What it shows; taken from the field where not given.
    pub description: String,
    /// 0, or more for wide output only.
    pub priority: i32,
    /// Shown instead of an empty cell.
    pub empty: String,
    /// Where the cells come from.
    pub value: ColumnValue,
}

/// Where the cells of a column come from; paths are proven to exist.
#[derive(Debug)]
pub enum ColumnValue {
    /// `path: .status.phase`.
    Path(Vec<String>),
    /// `count: [.data, .binaryData]`.
    Count(Vec<Vec<String>>),
    /// `age: .metadata.creationTimestamp`.
    Age(Vec<String>),
    /// `fn: node_status`: a function of the kind's crate.
    Computed(String),
}

/// One vocabulary of `vocabulary.yaml`.
#[derive(Debug)]
pub struct VocabularyWords {
    /// `orch`.
    pub name: String,
    /// Symbol (a field of the runtime's `Vocabulary`) to spelling.
    pub words: BTreeMap<String, String>,
    /// Where it is written.
    pub span: Span,
}
