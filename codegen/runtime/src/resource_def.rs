//! The resource table: one [`ResourceDef`] per served kind, from which routes, discovery, dispatch, tables
//! and the published documents are derived.
//!
//! Groups are in the schema's spelling (`coordination.orch.io`); the server maps them through its
//! [`Vocabulary`](crate::vocabulary::Vocabulary) once, at start.

use std::borrow::Cow;

use crate::{
    Tree,
    api_object::ApiObject,
    conversion::{self, Direction, Step, Wholes},
    release::Release,
    scalar::Time,
    type_def::{FeatureGate, TypeDef},
    vocabulary::Vocabulary,
};

/// All kinds and published types of one group and version.
#[derive(Debug)]
pub struct GroupVersionDef {
    /// `""` for the core group.
    pub group: &'static str,
    /// `v1`, `v1beta1` ...
    pub version: &'static str,
    /// The kinds, in the order of their plural names.
    pub resources: &'static [&'static ResourceDef],
    /// The feature gates of the fields of this group and version's types, sorted by name.
    pub feature_gates: &'static [&'static FeatureGate],
    /// The published OpenAPI v3 schemas of this group and version: a JSON object, schema name to schema.
    /// Names are qualified (`core.v1.ConfigMap`) and references cross group versions by them.
    pub schemas: &'static str,
}

/// One kind: how it is named, scoped, served and described.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property that the schema states")]
pub struct ResourceDef {
    /// `""` for the core group.
    pub group: &'static str,
    /// `v1`, `v1beta1` ...
    pub version: &'static str,
    /// `ConfigMap`.
    pub kind: &'static str,
    /// `ConfigMapList`.
    pub list_kind: &'static str,
    /// The name in URLs: `configmaps`.
    pub plural: &'static str,
    /// `configmap`.
    pub singular: &'static str,
    /// What people type: `cm`.
    pub short_names: &'static [&'static str],
    /// Named sets that the kind belongs to: `all`.
    pub categories: &'static [&'static str],
    /// Cluster or namespace.
    pub scope: Scope,
    /// What may be done with it, sorted by name.
    pub verbs: &'static [Verb],
    /// Whether objects are stored; a virtual kind only answers `create`.
    pub stored: bool,
    /// Paths below an item, sorted by name.
    pub subresources: &'static [SubresourceDef],
    /// The rule for `metadata.name`.
    pub name_format: NameFormat,
    /// Whether a PUT (or an apply) of a missing object creates it.
    pub create_on_update: bool,
    /// Whether an update may leave out the resourceVersion.
    pub unconditional_update: bool,
    /// What the kind checks on an update, in the order in which errors are told.
    pub update_checks: &'static [UpdateCheck],
    /// Which rules its metadata has to keep.
    pub metadata_rules: MetadataRules,
    /// Whether `metadata.generation` counts changes of the object outside `metadata` and `status`.
    pub counts_generation: bool,
    /// Whether a DELETE that removes the object at once answers with the object instead of a Status.
    pub delete_returns_object: bool,
    /// Columns of the Table form.
    pub columns: &'static [ColumnDef],
    /// Field selectors besides `metadata.name` and `metadata.namespace`.
    pub selectable_fields: &'static [SelectableField],
    /// Selectable fields, by their labels, that an index is kept for.
    pub indexed_fields: &'static [&'static str],
    /// Labels that an index is kept for.
    pub indexed_labels: &'static [&'static str],
    /// Since when, until when.
    pub lifecycle: Lifecycle,
    /// Whether objects of the kind, and of all kinds that are converted to it, are stored in this version.
    pub storage_version: bool,
    /// How its objects become those of another version or kind: all of them read and write the same objects.
    pub conversion: Option<ConversionDef>,
    /// The object's type.
    pub type_def: &'static TypeDef,
    /// The published schema's name: `core.v1.ConfigMap`.
    pub schema_name: &'static str,
    /// Reads a tree as an object of this kind.
    pub from_tree: fn(Tree) -> Result<Box<dyn ApiObject>, serde_json::Error>,
}

impl ResourceDef {
    /// Whether `verb` is served.
    pub fn allows(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }

    /// The sub-resource of that name.
    pub fn subresource(&self, name: &str) -> Option<&'static SubresourceDef> {
        self.subresources.iter().find(|sub| sub.name == name)
    }

    /// Whether `status` is a sub-resource, so that the main path must not touch it.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}

/// How objects of a kind become objects of another version of it, or of another kind, and back.
#[derive(Clone, Copy, Debug)]
pub struct ConversionDef {
    /// The other kind.
    pub to: &'static ResourceDef,
    /// All of them take their values before any puts one; their order decides nothing else than that of the
    /// annotations.
    pub steps: &'static [Step],
    /// What is owned as a whole, of all that holds places of steps.
    pub wholes: Wholes,
}

impl ConversionDef {
    /// See [`conversion::convert`].
    pub fn convert(&self, direction: Direction, keeps: bool, vocabulary: &Vocabulary, tree: &mut Tree) {
        conversion::convert(self.steps, direction, keeps, vocabulary, tree);
    }

    /// See [`conversion::convert_owned`].
    pub fn convert_owned(&self, direction: Direction, set: &mut Tree) {
        conversion::convert_owned(self.steps, &self.wholes, direction, set);
    }

    /// See [`conversion::path`].
    pub fn path<'p>(&self, direction: Direction, path: &'p str) -> Option<Cow<'p, str>> {
        conversion::path(self.steps, direction, path)
    }
}

/// A part of what a kind checks on an update. The server checks metadata for all kinds before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateCheck {
    /// Whether metadata may change like this.
    Metadata,
    /// All rules for the new object.
    Rules,
    /// The rules for the new object, without those for its metadata.
    Fields,
    /// The rules for the change.
    Change,
}

impl UpdateCheck {
    /// The checks of a kind that does not say otherwise.
    pub const USUAL: &'static [UpdateCheck] =
        &[UpdateCheck::Metadata, UpdateCheck::Rules, UpdateCheck::Change];
}

/// Which rules the metadata of a kind has to keep, and when what is wrong with it is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataRules {
    /// All of them.
    #[default]
    All,
    /// Without the one that a finalizer has a domain.
    Common,
    /// The common ones; those of a new object are told only where nothing else is wrong with it.
    Afterwards,
}

/// Where objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One set for the whole server.
    Cluster,
    /// One set per namespace.
    Namespaced,
}

/// What may be asked of a resource; the order is that of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// POST to a collection.
    Create,
    /// DELETE of an item.
    Delete,
    /// DELETE of a collection.
    DeleteCollection,
    /// GET of an item.
    Get,
    /// GET of a collection.
    List,
    /// PATCH of an item.
    Patch,
    /// PUT of an item.
    Update,
    /// GET of a collection with `watch`.
    Watch,
}

impl Verb {
    /// Every verb of a stored kind.
    pub const ALL: &'static [Verb] = &[
        Verb::Create,
        Verb::Delete,
        Verb::DeleteCollection,
        Verb::Get,
        Verb::List,
        Verb::Patch,
        Verb::Update,
        Verb::Watch,
    ];

    /// The word used in discovery and authorization.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Patch => "patch",
            Verb::Update => "update",
            Verb::Watch => "watch",
        }
    }
}

/// A path below an item: `status`, `scale`, `eviction`.
#[derive(Debug)]
pub struct SubresourceDef {
    /// The last segment of the path.
    pub name: &'static str,
    /// What may be done with it, sorted by name.
    pub verbs: &'static [Verb],
    /// The body's kind, where it is not the kind itself.
    pub body: Option<BodyKind>,
    /// For `scale`: where the object has what its scale shows.
    pub scale: Option<ScaleDef>,
}

/// Where an object has what its scale shows.
#[derive(Clone, Copy, Debug)]
pub struct ScaleDef {
    /// The wanted number of replicas, which a write of the scale sets.
    pub replicas: FieldPath,
    /// The present number.
    pub status_replicas: FieldPath,
    /// The text of a label selector that finds the replicas.
    pub selector: Option<FieldPath>,
}

/// The kind of a sub-resource's body, where it differs from its parent's.
#[derive(Clone, Copy, Debug)]
pub struct BodyKind {
    /// `""` for the core group.
    pub group: &'static str,
    /// `v1`.
    pub version: &'static str,
    /// `Eviction`.
    pub kind: &'static str,
    /// The body's type.
    pub type_def: &'static TypeDef,
}

/// The rule that an object's name obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFormat {
    /// Lower-case RFC 1123 subdomain of at most 253 bytes.
    DnsSubdomain,
    /// Lower-case RFC 1123 label of at most 63 bytes.
    DnsLabel,
    /// Lower-case RFC 1035 label of at most 63 bytes: it begins with a letter.
    Dns1035Label,
    /// Anything that can stand between two slashes of a URL.
    PathSegment,
}

/// A column of the Table form.
#[derive(Debug)]
pub struct ColumnDef {
    /// Heading: `Age`.
    pub name: &'static str,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub column_type: &'static str,
    /// `name` for the name column, else mostly empty.
    pub format: &'static str,
    /// What the column shows.
    pub description: &'static str,
    /// 0 is always shown, more only in wide output.
    pub priority: i32,
    /// What a cell shows that would be empty: `<none>`; mostly nothing.
    pub empty: &'static str,
    /// Where the cells come from.
    pub value: ColumnValue,
}

/// A place in an object: wire names from the root, `["status", "phase"]`.
pub type FieldPath = &'static [&'static str];

/// Where the cells of a column come from.
#[derive(Debug)]
pub enum ColumnValue {
    /// The value at a path.
    Path(FieldPath),
    /// The number of entries of the lists or maps at these paths, added up.
    Count(&'static [FieldPath]),
    /// The time since the timestamp at a path, as people read it: `5d`.
    Age(FieldPath),
    /// What a hand-written function says.
    Computed(fn(&Tree, &CellContext<'_>) -> Tree),
}

/// What a computed cell may look at besides the object.
#[derive(Clone, Copy, Debug)]
pub struct CellContext<'c> {
    /// The product words in force.
    pub vocabulary: &'c Vocabulary,
    /// The time of the request.
    pub now: Time,
}

/// A field that field selectors may name.
#[derive(Debug)]
pub struct SelectableField {
    /// As written in a selector: `status.phase`.
    pub label: &'static str,
    /// Where its value stands: the first of these places that has one.
    pub paths: &'static [FieldPath],
}

/// The life of a kind in releases of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// How much clients may rely on it.
    pub stability: Stability,
    /// Release that brought it.
    pub introduced: Option<Release>,
    /// Release from which its use draws a warning.
    pub deprecated: Option<Release>,
    /// First release without it.
    pub removed: Option<Release>,
    /// What to use instead.
    pub replacement: Option<Replacement>,
}

impl Lifecycle {
    /// Whether a release has it, or had it: a schema file may tell of releases that are to come.
    pub fn is_introduced(&self, release: Release) -> bool {
        self.introduced.is_none_or(|introduced| introduced <= release)
    }

    /// Whether its use draws a warning in a release.
    pub fn is_deprecated(&self, release: Release) -> bool {
        self.deprecated.is_some_and(|deprecated| deprecated <= release)
    }

    /// Whether it is gone by a release.
    pub fn is_removed(&self, release: Release) -> bool {
        self.removed.is_some_and(|removed| removed <= release)
    }
}

/// The kind to use instead of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// In the schema's spelling; empty for the core group.
    pub group: &'static str,
    /// `v2`.
    pub version: &'static str,
    /// `Widget`.
    pub kind: &'static str,
}

/// How much clients may rely on a kind; follows from the version's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Off unless enabled; may vanish.
    Alpha,
    /// Off unless enabled; changes are announced.
    Beta,
    /// On; stays.
    Stable,
}
