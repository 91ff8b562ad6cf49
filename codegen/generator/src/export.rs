//! `orch-codegen export`: the types of a schema folder in forms that tools outside understand.
//!
//! All forms are made of the published schemas, so that they say what clients find at the server.

mod crd;
mod json_schema;
mod typescript;

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::vocabulary::SCHEMA_SUFFIX;
use serde_json::{Map, Value};

use crate::{
    emit,
    model::{GroupVersion, Model, Resource},
};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `CustomResourceDefinition`s, as a List.
    Crd,
    /// One JSON schema of draft 2020-12 for the objects of all kinds.
    JsonSchema,
    /// Interfaces, in a namespace for each group and version.
    Typescript,
}

/// The text of a form. Groups of the product get another suffix than they have in schema files: `k8s.io`.
pub fn export(model: &Model, form: Form, group_suffix: &str) -> String {
    let published = Published { model, schemas: reachable(model, emit::published(model)), group_suffix };
    match form {
        Form::Crd => format!("{:#}\n", crd::list(&published)),
        Form::JsonSchema => format!("{:#}\n", json_schema::schema(&published)),
        Form::Typescript => typescript::text(&published),
    }
}

/// The types of the folder itself, and those of imported folders that they refer to.
fn reachable(model: &Model, all: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let imported: Vec<String> = model
        .group_versions
        .iter()
        .filter(|group_version| group_version.extern_crate.is_some())
        .map(|group_version| {
            let group = if group_version.group.is_empty() { "core" } else { &group_version.group };
            format!("{group}.{}.", group_version.version)
        })
        .collect();
    let is_own = |name: &String| !imported.iter().any(|prefix| name.starts_with(prefix.as_str()));
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut pending: Vec<String> = all.keys().filter(|name| is_own(name)).cloned().collect();
    while let Some(name) = pending.pop() {
        if let Some(schema) = all.get(&name) {
            references(schema, &mut pending);
            pending.retain(|name| !kept.contains(name));
            kept.insert(name);
        }
    }
    all.into_iter().filter(|(name, _)| kept.contains(name)).collect()
}

/// The names that a schema refers to.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Object(map) => {
            found.extend(referred(map).map(str::to_owned));
            map.values().for_each(|value| references(value, found));
        }
        _ => {}
    }
}

/// What is exported.
struct Published<'m> {
    model: &'m Model,
    /// Every type by qualified name, as OpenAPI 3.0.
    schemas: BTreeMap<String, Value>,
    group_suffix: &'m str,
}

impl<'m> Published<'m> {
    /// The kinds of the folder itself, with the schema of each.
    fn kinds(&self) -> impl Iterator<Item = Kind<'m>> {
        let model = self.model;
        let own = model.group_versions.iter().filter(|group_version| group_version.extern_crate.is_none());
        own.flat_map(move |group_version| {
            group_version.resources.iter().map(move |resource| {
                let name = &model.ty(resource.ty).qualified_name;
                Kind { group_version, resource, name }
            })
        })
    }

    /// The group as clients name it.
    fn group(&self, group: &str) -> String {
        match group.strip_suffix(SCHEMA_SUFFIX) {
            Some(rest) if rest.is_empty() || rest.ends_with('.') => format!("{rest}{}", self.group_suffix),
            _ => group.to_owned(),
        }
    }

    /// `apiVersion` of the objects of a group and version.
    fn api_version(&self, group_version: &GroupVersion) -> String {
        match self.group(&group_version.group).as_str() {
            "" => group_version.version.clone(),
            group => format!("{group}/{}", group_version.version),
        }
    }
}

/// A kind that is served.
#[derive(Clone, Copy)]
struct Kind<'m> {
    group_version: &'m GroupVersion,
    resource: &'m Resource,
    /// The qualified name of its type.
    name: &'m str,
}

/// The qualified name in a reference of a published document.
fn referred(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/")
}

/// The one schema that an `allOf` has: a reference that has siblings.
fn wrapped(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    match schema.get("allOf")?.as_array()?.as_slice() {
        [Value::Object(only)] => Some(only),
        _ => None,
    }
}

/// Whether an extension or keyword is `true`.
fn is_set(schema: &Map<String, Value>, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}
