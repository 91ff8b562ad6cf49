//! Which objects of a collection a request is about: namespace, name, label and field selectors, and versions.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use orch_machinery::selector::{SelectorError, field::FieldSelector, label::LabelSelector};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    path::Path,
    resource_def::{ResourceDef, Scope, Verb},
};
use orch_storage::{Object, Revision, Snapshot};

use super::{Call, current};
use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
    query::Query,
};

/// Selectors of a request, parsed.
#[derive(Debug)]
pub struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
    /// The one name that a watch's path gives.
    named: String,
    /// Selected fields besides name and namespace, for which objects must be decoded.
    reads_object: bool,
}

/// What selectors look at, remembered with each object once it was needed.
#[derive(Debug)]
struct Facts {
    labels: BTreeMap<String, String>,
}

impl Selection {
    /// Reads the selectors of a request.
    ///
    /// # Errors
    /// 400 for bad syntax and for fields that cannot be selected.
    pub fn parse(call: Call<'_>) -> Result<Self> {
        let def = call.target.resource.def;
        let refused = |error: SelectorError| ApiError::BadRequest(error.to_string());
        let labels = LabelSelector::parse(call.query.text("labelSelector")).map_err(refused)?;
        let fields = FieldSelector::parse(call.query.text("fieldSelector")).map_err(refused)?;
        let selectable: Vec<&str> = def.selectable_fields.iter().map(|field| field.label).collect();
        fields.check(&selectable).map_err(refused)?;
        let reads_object = fields.terms().iter().any(|term| !term.path.starts_with("metadata."));
        let named = if call.target.verb == Verb::Watch { call.target.name.clone() } else { String::new() };
        Ok(Selection { labels, fields, named, reads_object })
    }

    /// The name that the field selector pins.
    pub fn name(&self) -> Option<&str> {
        self.fields.requires_exact("metadata.name")
    }

    /// Whether an object matches.
    ///
    /// # Errors
    /// 500 where the object is damaged.
    pub fn matches(&self, resource: &ServedResource, object: &Object) -> Result<bool> {
        let bytes = current::bytes_of(resource, object)?;
        let key = object.key();
        if !self.named.is_empty() && *key.name != *self.named {
            return Ok(false);
        }
        let tree = if self.reads_object { Some(current::tree_of(resource, object)?) } else { None };
        let field = |label: &str| match label {
            "metadata.name" => Some(Cow::Borrowed(&*key.name)),
            "metadata.namespace" => Some(Cow::Borrowed(&*key.namespace)),
            label => selectable_value(resource.def, label, tree.as_ref()).map(Cow::Owned),
        };
        if !self.fields.matches(field) {
            return Ok(false);
        }
        if self.labels.is_everything() {
            return Ok(true);
        }
        let facts = object.memo(|_| Facts::read(bytes));
        Ok(self.labels.matches(|key| facts.labels.get(key).map(String::as_str)))
    }

    /// The selected objects of the request's namespace (or of all), in the order of their keys. Damaged objects are
    /// left out and logged: a list must not fail for one of them.
    pub fn select(&self, call: Call<'_>, snapshot: &Snapshot) -> Vec<Arc<Object>> {
        let resource = call.target.resource;
        let namespace = call.target.namespace.as_str();
        let all = resource.def.scope == Scope::Cluster || namespace.is_empty();
        let wanted = |object: &Arc<Object>| match self.matches(resource, object) {
            Ok(matches) => matches,
            Err(error) => {
                tracing::error!(?error, "left out of a list");
                false
            }
        };
        if all {
            snapshot.iter().filter(|object| wanted(object)).cloned().collect()
        } else {
            snapshot.in_namespace(namespace).filter(|object| wanted(object)).cloned().collect()
        }
    }
}

impl Facts {
    fn read(bytes: &[u8]) -> Self {
        #[derive(serde::Deserialize)]
        struct Labelled {
            #[serde(default)]
            metadata: Metadata,
        }
        #[derive(Default, serde::Deserialize)]
        struct Metadata {
            #[serde(default)]
            labels: BTreeMap<String, String>,
        }
        let labels = serde_json::from_slice::<Labelled>(bytes).map(|object| object.metadata.labels);
        Facts { labels: labels.unwrap_or_default() }
    }
}

/// The version that a read must have reached: absent for none and `0`.
///
/// # Errors
/// 400 where it is no number.
pub fn minimum_version(query: &Query) -> Result<Option<Revision>> {
    match query.text("resourceVersion") {
        "" | "0" => Ok(None),
        text => text
            .parse::<Revision>()
            .map(Some)
            .map_err(|_| ApiError::BadRequest(format!("invalid resource version: {text:?}"))),
    }
}

/// The version after which a watch starts: absent for none and `0`.
///
/// # Errors
/// 422 where it is no number; watches differ from reads in that.
pub fn watch_version(call: Call<'_>) -> Result<Option<Revision>> {
    let text = call.query.text("resourceVersion");
    minimum_version(call.query).map_err(|_| {
        let mut cx = Validation::new(call.app.catalog.vocabulary);
        let detail = "must be a version that the server gave";
        cx.push(FieldError::invalid(&Path::ROOT.field("resourceVersion"), text, detail));
        let resource = call.target.resource;
        ApiError::Invalid {
            group: resource.group.clone(),
            kind: resource.def.plural.to_owned(),
            name: String::new(),
            errors: cx.into_errors(),
        }
    })
}

fn selectable_value(def: &ResourceDef, label: &str, tree: Option<&Tree>) -> Option<String> {
    let path = def.selectable_fields.iter().find(|field| field.label == label)?.path;
    let value = path.iter().try_fold(tree?, |tree, name| tree.get(name))?;
    Some(match value {
        Tree::String(text) => text.clone(),
        other => other.to_string(),
    })
}
