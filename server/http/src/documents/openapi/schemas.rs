//! The component schemas of a document: those that its paths refer to, directly or through other schemas.
//!
//! Schemas come from the tables of all group versions, in schema spelling. Here they get the vocabulary's
//! names, and kinds get the extension with group, version and kind by which client tools find them.

use std::collections::{BTreeMap, BTreeSet};

use orch_registry::catalog::Catalog;
use orch_runtime::{Tree, TreeMap, resource_def::BodyKind, vocabulary::Vocabulary};
use serde::Serialize;
use serde_json::json;

use super::Unpublishable;

/// Body of a delete.
pub(super) const DELETE_OPTIONS: &str = "meta.v1.DeleteOptions";
/// Body of a patch, of any type.
pub(super) const PATCH: &str = "meta.v1.Patch";
/// Answer to a delete.
pub(super) const STATUS: &str = "meta.v1.Status";
/// One element of a watch stream.
pub(super) const WATCH_EVENT: &str = "meta.v1.WatchEvent";

/// In front of the name in a reference.
const REFERENCE: &str = "#/components/schemas/";

/// A kind, as `x-kubernetes-group-version-kind` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct GroupVersionKind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
}

/// The published schemas that `roots` (in schema spelling) reach, by published name.
///
/// # Errors
/// Where a table cannot be read or a reference leads nowhere.
pub(super) fn reachable(
    catalog: &Catalog,
    roots: BTreeSet<String>,
) -> Result<BTreeMap<String, Tree>, Unpublishable> {
    let kinds = kinds(catalog);
    let mut tables = Tables { catalog, parsed: BTreeMap::new() };
    let mut waiting: Vec<String> = roots.into_iter().collect();
    let mut found = BTreeMap::new();
    while let Some(name) = waiting.pop() {
        let published = published_name(catalog.vocabulary, &name);
        if found.contains_key(&published) {
            continue;
        }
        let mut schema = tables.take(&name)?;
        publish_references(catalog.vocabulary, &mut schema, &mut waiting);
        if let (Some(kinds), Some(fields)) = (kinds.get(name.as_str()), schema.as_object_mut()) {
            fields.insert("x-kubernetes-group-version-kind".to_owned(), json!(kinds));
            if name != WATCH_EVENT {
                add_type_meta(fields);
            }
        }
        found.insert(published, schema);
    }
    Ok(found)
}

/// The name of a sub-resource's body, in schema spelling.
pub(super) fn body_schema(body: BodyKind) -> String {
    let group = if body.group.is_empty() { "core" } else { body.group };
    format!("{group}.{}.{}", body.version, body.kind)
}

/// A reference to a schema that is given in schema spelling.
pub(super) fn reference(vocabulary: &Vocabulary, name: &str) -> String {
    format!("{REFERENCE}{}", published_name(vocabulary, name))
}

/// `coordination.orch.io.v1.Lease` with the group as the vocabulary spells it.
fn published_name(vocabulary: &Vocabulary, name: &str) -> String {
    let (group_version, kind) = split(name);
    match group_version.rsplit_once('.') {
        Some((group, version)) => format!("{}.{version}.{kind}", vocabulary.group(group)),
        None => name.to_owned(),
    }
}

/// `core.v1.ConfigMap` is `core.v1` and `ConfigMap`.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// The tables of schemas, read as far as they are needed.
struct Tables<'c> {
    catalog: &'c Catalog,
    /// By `<group or core>.<version>`; schemas leave it as they are taken.
    parsed: BTreeMap<String, TreeMap>,
}

impl Tables<'_> {
    /// Takes a schema out; each is taken once.
    fn take(&mut self, name: &str) -> Result<Tree, Unpublishable> {
        let (group_version, _) = split(name);
        if !self.parsed.contains_key(group_version) {
            let schemas = self.parse(group_version)?;
            self.parsed.insert(group_version.to_owned(), schemas);
        }
        let schema = self.parsed.get_mut(group_version).and_then(|schemas| schemas.remove(name));
        schema.ok_or_else(|| Unpublishable(format!("there is no schema {name}")))
    }

    fn parse(&self, group_version: &str) -> Result<TreeMap, Unpublishable> {
        let mut schemas = TreeMap::new();
        for def in self.catalog.group_versions.iter().map(|served| served.def) {
            let group = if def.group.is_empty() { "core" } else { def.group };
            if group_version.strip_prefix(group).and_then(|rest| rest.strip_prefix('.')) == Some(def.version)
            {
                let table: TreeMap = serde_json::from_str(def.schemas)
                    .map_err(|error| Unpublishable(format!("schemas of {group_version}: {error}")))?;
                schemas.extend(table);
            }
        }
        Ok(schemas)
    }
}

/// Spells the references in a schema as the vocabulary does, and collects their targets in schema spelling.
fn publish_references(vocabulary: &Vocabulary, schema: &mut Tree, targets: &mut Vec<String>) {
    match schema {
        Tree::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Tree::String(text) if key == "$ref" => {
                        if let Some(name) = text.strip_prefix(REFERENCE) {
                            targets.push(name.to_owned());
                            *text = reference(vocabulary, name);
                        }
                    }
                    value => publish_references(vocabulary, value, targets),
                }
            }
        }
        Tree::Array(items) => {
            for item in items {
                publish_references(vocabulary, item, targets);
            }
        }
        _ => {}
    }
}

/// Which kinds a schema (in schema spelling) is of. Options and events occur in every group version.
fn kinds(catalog: &Catalog) -> BTreeMap<String, BTreeSet<GroupVersionKind>> {
    let mut kinds: BTreeMap<String, BTreeSet<GroupVersionKind>> = BTreeMap::new();
    let mut add = |schema: &str, group: &str, version: &str, kind: &str| {
        let (group, version, kind) = (group.to_owned(), version.to_owned(), kind.to_owned());
        kinds.entry(schema.to_owned()).or_default().insert(GroupVersionKind { group, version, kind });
    };
    add(STATUS, "", "v1", "Status");
    for resource in catalog.resources() {
        let def = resource.def;
        add(def.schema_name, &resource.group, def.version, def.kind);
        add(&format!("{}List", def.schema_name), &resource.group, def.version, def.list_kind);
        for body in def.subresources.iter().filter_map(|sub| sub.body) {
            add(&body_schema(body), &catalog.vocabulary.group(body.group), body.version, body.kind);
        }
        add(DELETE_OPTIONS, &resource.group, def.version, "DeleteOptions");
        add(WATCH_EVENT, &resource.group, def.version, "WatchEvent");
    }
    kinds
}

/// Adds the two fields that name an object's kind, where the tables leave them out.
fn add_type_meta(fields: &mut TreeMap) {
    let Some(properties) = fields.get_mut("properties").and_then(Tree::as_object_mut) else { return };
    for (name, description) in
        [("apiVersion", "Group and version of the object's kind."), ("kind", "Kind of the object.")]
    {
        let text = || json!({"description": description, "type": "string"});
        properties.entry(name).or_insert_with(text);
    }
}
