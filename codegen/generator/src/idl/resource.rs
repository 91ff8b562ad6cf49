//! `x-orch-resource`: how a kind is served.

use std::borrow::Cow;

use orch_runtime::resource_def::{MetadataRules, NameFormat, Scope, UpdateCheck, Verb};
use schemars::{JsonSchema, SchemaGenerator, json_schema};

use super::{
    conversion::ConversionExtension,
    reading::{OneOf, Read, idl_object, idl_word_list, idl_words},
};
use crate::{
    diagnostic::Diagnostics,
    source::{Node, Spanned, Value},
};

idl_object! {
    /// Makes an object type a kind that is served. Its `apiVersion`, `kind`, `metadata` and List kind are
    /// implied.
    pub struct ResourceExtension, "x-orch-resource", refused: &[
        ("kind", "the kind is the name of the type"),
        ("group", "the group is `info.title`"),
        ("version", "the version is `info.version`"),
        ("storedAs", "write `conversion: {to: ..}`"),
        ("listKind", "the List kind is implied: the kind's name with `List`"),
    ], {
        /// The name in URLs.
        "plural" => plural: Spanned<String>,
        /// The kind in lower case unless given.
        "singular" => singular: Option<Spanned<String>>,
        /// What people type.
        "shortNames" => short_names: Option<Vec<Spanned<String>>>,
        /// Named sets that the kind belongs to.
        "categories" => categories: Option<Vec<Spanned<String>>>,
        /// Whether objects live in namespaces.
        #[schemars(with = "OneOf<Scope>")]
        "scope" => scope: Scope,
        /// What may be done; everything unless given.
        #[schemars(with = "Option<Vec<OneOf<Verb>>>")]
        "verbs" => verbs: Option<Vec<Spanned<Verb>>>,
        /// An operation instead of an object: answers to `create`, nothing is stored.
        "virtual" => is_virtual: Option<Spanned<bool>>,
        /// Paths below an item: `status`, `scale`, named operations.
        "subresources" => subresources: Option<Vec<SubresourceEntry>>,
        /// Rule for `metadata.name`; `dns-subdomain` unless given.
        #[schemars(with = "Option<OneOf<NameFormat>>")]
        "nameFormat" => name_format: Option<Spanned<NameFormat>>,
        /// Columns of the Table form; name and age unless given.
        "columns" => columns: Option<Vec<ColumnExtension>>,
        /// Paths that field selectors may name: `.status.phase`.
        "selectableFields" => selectable_fields: Option<Vec<Spanned<String>>>,
        /// Other names that field selectors may use.
        "selectableNames" => selectable_names: Option<Vec<SelectableNameExtension>>,
        /// Those of the selectable fields that lists are often selected by: an index is kept for each.
        "indexedFields" => indexed_fields: Option<Vec<Spanned<String>>>,
        /// Labels that lists are often selected by: an index is kept for each.
        "indexedLabels" => indexed_labels: Option<Vec<Spanned<String>>>,
        /// Since when, until when.
        "lifecycle" => lifecycle: Option<LifecycleExtension>,
        /// Whether objects are stored in this version; the most stable and newest one unless given.
        "storageVersion" => storage_version: Option<Spanned<bool>>,
        /// How objects become those of another version, or of another kind.
        "conversion" => conversion: Option<ConversionExtension>,
        /// Whether a PUT of a missing object creates it; false unless given.
        "createOnUpdate" => create_on_update: Option<Spanned<bool>>,
        /// Whether an update may leave out the resourceVersion; true unless given.
        "unconditionalUpdate" => unconditional_update: Option<Spanned<bool>>,
        /// What is checked on an update, in the order in which errors are told; `metadata`, `rules`, `change`
        /// unless given.
        #[schemars(with = "Option<Vec<OneOf<UpdateCheck>>>")]
        "updateChecks" => update_checks: Option<Vec<Spanned<UpdateCheck>>>,
        /// Which rules its metadata has to keep; `all` unless given.
        #[schemars(with = "Option<OneOf<MetadataRules>>")]
        "metadataRules" => metadata_rules: Option<Spanned<MetadataRules>>,
        /// Whether `metadata.generation` counts changes; false unless given.
        "generation" => generation: Option<Spanned<bool>>,
        /// Whether a DELETE answers with the object instead of a Status; false unless given.
        "deleteReturnsObject" => delete_returns_object: Option<Spanned<bool>>,
    }
}

idl_object! {
    /// A name in field selectors that is no path, or the path of another field.
    pub struct SelectableNameExtension, "a selectable name", refused: &[], {
        /// As clients write it: `source`.
        "name" => name: Spanned<String>,
        /// The fields behind it; the first that has a value counts, and without any it is always empty.
        "paths" => paths: Vec<Spanned<String>>,
    }
}

idl_word_list!(Scope {
    Namespaced = "Namespaced",
    Cluster = "Cluster",
});

idl_word_list!(Verb {
    Create = "create",
    Delete = "delete",
    DeleteCollection = "deletecollection",
    Get = "get",
    List = "list",
    Patch = "patch",
    Update = "update",
    Watch = "watch",
});

idl_word_list!(UpdateCheck {
    Metadata = "metadata",
    Rules = "rules",
    Fields = "fields",
    Change = "change",
});

idl_word_list!(MetadataRules {
    All = "all",
    Common = "common",
    Afterwards = "afterwards",
});

idl_word_list!(NameFormat {
    DnsSubdomain = "dns-subdomain",
    DnsLabel = "dns-label",
    Dns1035Label = "dns-1035-label",
    PathSegment = "path-segment",
});

idl_object! {
    /// A path below an item.
    pub struct SubresourceExtension, "a subresource", refused: &[], {
        /// The last segment of the path.
        "name" => name: Spanned<String>,
        /// What may be done; `create` unless given (`status` and `scale`: get, patch, update).
        #[schemars(with = "Option<Vec<OneOf<Verb>>>")]
        "verbs" => verbs: Option<Vec<Spanned<Verb>>>,
        /// Qualified name of the body's type, where it is not the kind itself: `policy.v1.Eviction`.
        "body" => body: Option<Spanned<String>>,
        /// For `scale`: the wanted number of replicas; `.spec.replicas` unless given.
        "replicas" => replicas: Option<Spanned<String>>,
        /// For `scale`: the present number; `.status.replicas` unless given.
        "statusReplicas" => status_replicas: Option<Spanned<String>>,
        /// For `scale`: the text of a label selector that finds the replicas.
        "selector" => selector: Option<Spanned<String>>,
    }
}

/// An item of `subresources`: a name, or a name with more.
#[derive(Debug)]
pub enum SubresourceEntry {
    /// `status`.
    Name(Spanned<String>),
    /// `{name: eviction, body: policy.v1.Eviction}`.
    Full(Box<SubresourceExtension>),
}

impl SubresourceEntry {
    /// The name, and what else is said.
    pub fn parts(&self) -> (&Spanned<String>, Option<&SubresourceExtension>) {
        match self {
            SubresourceEntry::Name(name) => (name, None),
            SubresourceEntry::Full(full) => (&full.name, Some(&**full)),
        }
    }
}

impl SubresourceExtension {
    /// The paths of a scale's wanted and present number. Where they are not said, they are the usual ones,
    /// found at the name.
    pub fn counts(name: &Spanned<String>, full: Option<&Self>) -> [Spanned<String>; 2] {
        let usual = |path: &str| Spanned { value: path.to_owned(), span: name.span.clone() };
        let replicas = full.and_then(|full| full.replicas.clone());
        let status_replicas = full.and_then(|full| full.status_replicas.clone());
        [
            replicas.unwrap_or_else(|| usual(".spec.replicas")),
            status_replicas.unwrap_or_else(|| usual(".status.replicas")),
        ]
    }
}

impl Read for SubresourceEntry {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Map(_) => {
                SubresourceExtension::read(node, diagnostics).map(Box::new).map(SubresourceEntry::Full)
            }
            _ => Spanned::read(node, diagnostics).map(SubresourceEntry::Name),
        }
    }
}

impl JsonSchema for SubresourceEntry {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SubresourceEntry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let full = generator.subschema_for::<SubresourceExtension>();
        json_schema!({ "anyOf": [{ "type": "string" }, full] })
    }
}

idl_object! {
    /// A column of the Table form, with exactly one of `path`, `count`, `age` and `fn`.
    pub struct ColumnExtension, "a column", refused: &[("jsonPath", "write `path: .status.phase`")], {
        /// Heading.
        "name" => name: Spanned<String>,
        /// Type of the cells; follows from where they come from unless given.
        "type" => column_type: Option<Spanned<ColumnType>>,
        /// `name` for the name column.
        "format" => format: Option<Spanned<String>>,
        /// What it shows; the field's description unless given.
        "description" => description: Option<Spanned<String>>,
        /// 0 is always shown, more only in wide output.
        "priority" => priority: Option<Spanned<i32>>,
        /// Shows the value at this path, `.status.phase`; of a list or map its single values, `a,b` or
        /// `a=1,b=2`.
        "path" => path: Option<Spanned<String>>,
        /// Shows the number of entries at these paths: `[.data, .binaryData]`.
        "count" => count: Option<Vec<Spanned<String>>>,
        /// Shows the time since the time at this path: `.metadata.creationTimestamp`.
        "age" => age: Option<Spanned<String>>,
        /// Shows what a hand-written Rust function says.
        "fn" => function: Option<Spanned<String>>,
        /// Shown instead of an empty cell: `<none>`.
        "empty" => empty: Option<Spanned<String>>,
    }
}

idl_words! {
    /// `type` of a column.
    pub enum ColumnType {
        /// Text.
        String = "string",
        /// Whole numbers.
        Integer = "integer",
        /// Numbers.
        Number = "number",
        /// True and false.
        Boolean = "boolean",
        /// Times.
        Date = "date",
    }
}

idl_object! {
    /// The life of a kind in releases of the product.
    pub struct LifecycleExtension, "lifecycle", refused: &[], {
        /// First release with it: "1.2".
        "introduced" => introduced: Option<Spanned<String>>,
        /// First release that warns.
        "deprecated" => deprecated: Option<Spanned<String>>,
        /// First release without it.
        "removed" => removed: Option<Spanned<String>>,
        /// What to use instead: `example.orch.io/v2 Widget`.
        "replacement" => replacement: Option<Spanned<String>>,
    }
}
