//! Static descriptions of types: what every codec, patch and pruning engine walks.
//!
//! One [`TypeDef`] is generated per named object type. Engines are written once over these tables instead of
//! being generated per kind.

/// A named object type: its fields in wire order.
#[derive(Debug)]
pub struct TypeDef {
    /// The qualified schema name: `core.v1.ConfigMap`.
    pub name: &'static str,
    /// Name without group and version: `ConfigMap`.
    pub short_name: &'static str,
    /// The fields, in the order in which they are written.
    pub fields: &'static [FieldDef],
    /// The positions of the fields in the order of their names, by which a field is found. Empty where the
    /// fields are so few that they are searched one by one.
    pub by_name: &'static [u16],
    /// Whether the object is replaced as a whole by merges (`x-orch-map-type: atomic`).
    pub atomic: bool,
    /// The memory of one value of the Rust type, in bytes, without what it refers to; 0 for a table without
    /// a Rust type.
    pub size: usize,
}

impl TypeDef {
    /// The field of that wire name.
    pub fn field(&self, name: &str) -> Option<&'static FieldDef> {
        self.position(name).map(|position| &self.fields[position])
    }

    /// Where among [`fields`](Self::fields) the one of that wire name stands.
    pub fn position(&self, name: &str) -> Option<usize> {
        if self.by_name.is_empty() {
            return self.fields.iter().position(|field| field.name == name);
        }
        let found =
            self.by_name.binary_search_by(|position| self.fields[usize::from(*position)].name.cmp(name));
        found.ok().map(|index| usize::from(self.by_name[index]))
    }
}

/// One field of an object type.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property that the schema states")]
pub struct FieldDef {
    /// Name on the wire.
    pub name: &'static str,
    /// Protobuf field number, where the type has them.
    pub tag: Option<u32>,
    /// Protobuf field number of the message in which the field is nested, although it stands in the object
    /// itself everywhere else (`x-orch-inline-tag`).
    pub inline_tag: Option<u32>,
    /// What the field holds.
    pub shape: Shape,
    /// Whether a value must be given.
    pub required: bool,
    /// Whether an empty value (`""`, 0, false, no items) is left out when written.
    pub omit_empty: bool,
    /// Whether `null` is a value of its own, distinct from being absent.
    pub nullable: bool,
    /// Whether it is written as `null` where it is left out (`x-orch-omit-empty: false` of a time). It is no
    /// value of its own.
    pub null_when_absent: bool,
    /// Accepted on writes, never stored or returned (`x-orch-write-only`).
    pub write_only: bool,
    /// The constant that the field holds where it is left out, as JSON text.
    pub default: Option<&'static str>,
    /// How a strategic merge patch treats the field.
    pub patch: PatchStrategy,
    /// The feature gate without which the field is dropped on writes (`x-orch-feature-gate`).
    pub feature_gate: Option<&'static FeatureGate>,
    /// What a client is warned of when it sets the field (`x-orch-deprecated`).
    pub deprecated: Option<&'static str>,
}

impl FieldDef {
    /// A field that nothing special is said about, for tables to begin from.
    pub const PLAIN: FieldDef = FieldDef {
        name: "",
        tag: None,
        inline_tag: None,
        shape: Shape::Any,
        required: false,
        omit_empty: false,
        nullable: false,
        null_when_absent: false,
        write_only: false,
        default: None,
        patch: PatchStrategy::DEFAULT,
        feature_gate: None,
        deprecated: None,
    };
}

/// What an operator turns on and off by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    /// `WidgetColours`.
    pub name: &'static str,
    /// How far along the feature is.
    pub stage: GateStage,
    /// Whether it is on unless the operator says otherwise.
    pub default: bool,
}

/// How far along a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateStage {
    /// It may vanish.
    Alpha,
    /// It stays, in this form or another.
    Beta,
    /// It stays as it is. The gate cannot be changed any more, and goes away.
    Stable,
    /// It goes away.
    Deprecated,
}

/// What a field, list item or map value holds.
#[derive(Debug)]
pub enum Shape {
    /// A single value.
    Scalar(Scalar),
    /// An object of a named type. The indirection allows recursive types.
    Object(&'static TypeDef),
    /// A list.
    List {
        /// What each item holds.
        item: &'static Shape,
        /// How merges identify items.
        semantics: ListSemantics,
    },
    /// A map with string keys.
    Map {
        /// What each value holds.
        value: &'static Shape,
        /// Whether merges replace the map as a whole.
        atomic: bool,
    },
    /// Any JSON value; nothing below it is known to the schema.
    Any,
}

/// The kinds of single values, by their wire form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// JSON true or false.
    Boolean,
    /// JSON integer of 32 bits.
    Int32,
    /// JSON integer of 64 bits.
    Int64,
    /// JSON number.
    Double,
    /// JSON string.
    String,
    /// JSON string, standard base64 with padding.
    Bytes,
    /// JSON string, RFC 3339 in whole seconds; `null` is the zero time.
    Time,
    /// JSON string, RFC 3339 with six fraction digits.
    MicroTime,
    /// JSON string such as `1h30m`.
    Duration,
    /// JSON string or number, written as canonical text.
    Quantity,
    /// JSON integer of 32 bits or string.
    IntOrString,
}

/// How merges identify the items of a list (`x-orch-list-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListSemantics {
    /// Replaced as a whole.
    Atomic,
    /// Items are scalars and each occurs once.
    Set,
    /// Items are objects identified by these fields.
    Map {
        /// Wire names of the key fields.
        keys: &'static [&'static str],
    },
}

/// How a strategic merge patch treats a field (`x-orch-patch-strategy`, `x-orch-patch-merge-key`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Lists are merged instead of replaced.
    pub merge: bool,
    /// `$retainKeys` applies.
    pub retain_keys: bool,
    /// Objects and maps are replaced instead of merged.
    pub replace: bool,
    /// The field that identifies an item of a merged list of objects.
    pub merge_key: Option<&'static str>,
}

impl PatchStrategy {
    /// Maps are merged, lists are replaced: what a field without a strategy does.
    pub const DEFAULT: PatchStrategy =
        PatchStrategy { merge: false, retain_keys: false, replace: false, merge_key: None };
}
