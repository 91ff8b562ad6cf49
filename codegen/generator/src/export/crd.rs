//! `CustomResourceDefinition`s: structural schemas, in which every reference is written out.

use std::collections::BTreeMap;

use orch_runtime::vocabulary::SCHEMA_SUFFIX;
use serde_json::{Map, Value, json};

use super::{Kind, Published, referred, wrapped};
use crate::model::{ColumnValue, Resource, Scale, Scope};

/// Keywords of published schemas that definitions do not have.
const UNKNOWN: &[&str] = &[
    "deprecated",
    "title",
    "uniqueItems",
    "writeOnly",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-unions",
];

/// More selectable fields than this are refused.
const MAX_SELECTABLE: usize = 8;

/// A List with a definition for each kind that is stored and has a group with a dot: others are refused.
pub(super) fn list(published: &Published<'_>) -> Value {
    let mut kinds: BTreeMap<(&str, &str), Vec<Kind<'_>>> = BTreeMap::new();
    for kind in published.kinds() {
        let group = kind.group_version.group.as_str();
        if group.contains('.') && !kind.resource.is_virtual {
            kinds.entry((group, &kind.resource.plural)).or_default().push(kind);
        }
    }
    let items: Vec<Value> = kinds.values().map(|versions| definition(published, versions)).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn definition(published: &Published<'_>, versions: &[Kind<'_>]) -> Value {
    let resource = versions[0].resource;
    let group = published.group(&versions[0].group_version.group);
    let scope = if resource.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" };
    // One version is stored, also where objects are those of another kind at this server.
    let stored = versions.iter().position(|kind| kind.resource.storage_version).unwrap_or_default();
    let versions: Vec<Value> =
        versions.iter().enumerate().map(|(index, kind)| version(published, kind, index == stored)).collect();
    json!({
        "apiVersion": format!("{}/v1", published.group(&format!("apiextensions.{SCHEMA_SUFFIX}"))),
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{group}", resource.plural)},
        "spec": {
            "group": group,
            "names": {
                "kind": resource.kind,
                "listKind": format!("{}List", resource.kind),
                "plural": resource.plural,
                "singular": resource.singular,
                "shortNames": resource.short_names,
                "categories": resource.categories,
            },
            "scope": scope,
            "versions": versions,
        },
    })
}

fn version(published: &Published<'_>, kind: &Kind<'_>, is_stored: bool) -> Value {
    let resource = kind.resource;
    let mut schema = written_out(
        published,
        &json!({"$ref": format!("#/components/schemas/{}", kind.name)}),
        &mut Vec::new(),
    );
    // The server knows what metadata is.
    schema["properties"]["metadata"] = json!({"type": "object"});
    let mut version = json!({
        "name": kind.group_version.version,
        "served": true,
        "storage": is_stored,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": columns(resource),
    });
    for part in &resource.subresources {
        if part.name == "status" {
            version["subresources"]["status"] = json!({});
        } else if let Some(scale) = &part.scale {
            version["subresources"]["scale"] = self::scale(scale);
        }
    }
    let paths: Vec<Value> = resource
        .selectable_fields
        .iter()
        .take(MAX_SELECTABLE)
        .map(|path| json!({"jsonPath": format!(".{}", path.join("."))}))
        .collect();
    if !paths.is_empty() {
        version["selectableFields"] = json!(paths);
    }
    if resource.lifecycle.deprecated.is_some() {
        version["deprecated"] = json!(true);
    }
    version
}

fn scale(scale: &Scale) -> Value {
    let path = |path: &[String]| format!(".{}", path.join("."));
    let mut said = json!({
        "specReplicasPath": path(&scale.replicas),
        "statusReplicasPath": path(&scale.status_replicas),
    });
    if let Some(selector) = &scale.selector {
        said["labelSelectorPath"] = json!(path(selector));
    }
    said
}

/// The columns that show a value; others are computed by this server. The name is always shown.
fn columns(resource: &Resource) -> Vec<Value> {
    let shown = resource.columns.iter().filter_map(|column| {
        let (path, ty) = match &column.value {
            ColumnValue::Path(path) if *path != ["metadata", "name"] => (path, column.column_type.as_str()),
            ColumnValue::Age(path) => (path, "date"),
            _ => return None,
        };
        let mut shown = json!({
            "name": column.name,
            "type": ty,
            "jsonPath": format!(".{}", path.join(".")),
            "priority": column.priority,
        });
        if !column.description.is_empty() {
            shown["description"] = json!(column.description);
        }
        Some(shown)
    });
    shown.collect()
}

/// A schema without references. `within` holds the types around this place: one that contains itself is any
/// object there.
fn written_out<'p>(published: &'p Published<'_>, schema: &'p Value, within: &mut Vec<&'p str>) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    if let Some(name) = referred(map) {
        let Some(target) = published.schemas.get(name).filter(|_| !within.contains(&name)) else {
            return json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        };
        // The key lives as long as the table.
        let name = published.schemas.get_key_value(name).map_or("", |(name, _)| name.as_str());
        within.push(name);
        let out = written_out(published, target, within);
        within.pop();
        return out;
    }
    let mut out = Map::new();
    if wrapped(map).is_some()
        && let Value::Object(inner) = written_out(published, &map["allOf"][0], within)
    {
        out = inner;
    }
    // A number or a text: said by one keyword.
    let is_choice = map.contains_key("oneOf");
    if is_choice {
        out.insert("x-kubernetes-int-or-string".to_owned(), json!(true));
    }
    // Rules have a budget: one over all keys exceeds it, where nothing says how many there are at most.
    let is_unbounded = map.contains_key("additionalProperties") && !map.contains_key("maxProperties");
    for (key, value) in map {
        let value = match key.as_str() {
            "allOf" | "oneOf" => continue,
            "format" if is_choice => continue,
            key if UNKNOWN.contains(&key) || key.starts_with("x-orch-") => continue,
            "x-kubernetes-validations" if is_unbounded => continue,
            "items" | "additionalProperties" => written_out(published, value, within),
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                fields.map(|(name, field)| (name.clone(), written_out(published, field, within))).collect()
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Object(out)
}
