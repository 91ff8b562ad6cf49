//! Which objects of a collection a request is about: namespace, name, label and field selectors.

use std::{borrow::Cow, collections::BTreeMap, fmt, num::NonZeroU64, sync::Arc};

use orch_machinery::selector::{SelectorError, field::FieldSelector, label::LabelSelector};
use orch_runtime::{
    Tree,
    resource_def::{ResourceDef, Scope},
    type_def::{Scalar, Shape, TypeDef},
};
use orch_storage::{Object, Scope as StoreScope, Snapshot};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{
    index,
    label_digest::{self, Wanted},
};
use crate::{
    catalog::ServedResource,
    continue_token::Binding,
    error::{ApiError, Result},
    stored,
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

/// The labels of an object, remembered with it once they were needed: `key NUL value NUL` ... in one piece of memory, because
/// a list looks at those of many objects. Neither keys nor values can hold a NUL.
#[derive(Debug)]
struct Labels(Box<str>);

impl Labels {
    fn of(bytes: &[u8]) -> Self {
        let mut text = String::new();
        for (key, value) in labels_of(bytes) {
            text.extend([key.as_str(), "\0", &value, "\0"]);
        }
        Labels(text.into())
    }

    fn get(&self, key: &str) -> Option<&str> {
        let mut parts = self.0.split('\0');
        while let (Some(known), Some(value)) = (parts.next(), parts.next()) {
            if known == key {
                return Some(value);
            }
        }
        None
    }
}

impl Selection {
    /// Reads the selectors of a request. `named` is the one object that the path of a watch names, else empty.
    ///
    /// # Errors
    /// 400 for bad syntax.
    pub fn parse(labels: &str, fields: &str, named: &str) -> Result<Self> {
        let labels = LabelSelector::parse(labels).map_err(|error| refused(&error))?;
        let fields = FieldSelector::parse(fields).map_err(|error| refused(&error))?;
        let reads_object = fields.terms().iter().any(|term| !term.path.starts_with("metadata."));
        Ok(Selection { labels, fields, named: named.to_owned(), reads_object })
    }

    /// A selection that leaves nothing out.
    pub fn everything() -> Self {
        Selection::parse("", "", "").expect("empty selectors have no bad syntax")
    }

    /// Whether the kind has what is selected by.
    ///
    /// # Errors
    /// 400 for fields that cannot be selected by, and for those of a watch whose path says another thing.
    pub fn check(&self, def: &ResourceDef) -> Result<()> {
        let selectable: Vec<&str> = def.selectable_fields.iter().map(|field| field.label).collect();
        self.fields.check(&selectable, def.scope == Scope::Namespaced).map_err(|error| refused(&error))?;
        let is_contradiction = !self.named.is_empty()
            && !self.fields.is_everything()
            && self.fields.requires_exact("metadata.name") != Some(&self.named);
        if is_contradiction {
            let message = "fieldSelector metadata.name doesn't match requested name";
            return Err(ApiError::BadRequest(message.to_owned()));
        }
        Ok(())
    }

    /// Whether an object matches.
    ///
    /// # Errors
    /// 500 where the object is damaged.
    pub fn matches(&self, resource: &ServedResource, object: &Object) -> Result<bool> {
        let bytes = stored::bytes_of(resource, object)?;
        if self.named.is_empty() && self.is_everything() {
            return Ok(true);
        }
        let key = object.key();
        if !self.named.is_empty() && *key.name != *self.named {
            return Ok(false);
        }
        let tree = if self.reads_object { Some(stored::tree_of(resource, object)?) } else { None };
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
        let labels = object.memo(|_| Labels::of(bytes));
        Ok(self.labels.matches(|key| labels.get(key)))
    }

    /// Whether the selectors leave nothing out.
    pub fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// The part of the collection that the path and the selectors' names confine the request to. The store keeps
    /// it in order, and wakes a watch for nothing else.
    pub fn scope(&self, resource: &ServedResource, namespace: &str) -> StoreScope {
        let cluster_scoped = resource.def.scope == Scope::Cluster;
        let namespace = match namespace {
            "" if cluster_scoped => Some(""),
            "" => self.fields.requires_exact("metadata.namespace").filter(|namespace| !namespace.is_empty()),
            namespace => Some(namespace),
        };
        let name = if self.named.is_empty() {
            self.fields.requires_exact("metadata.name")
        } else {
            Some(&*self.named)
        };
        match (namespace, name) {
            (Some(namespace), Some(name)) => StoreScope::Name(namespace.into(), name.into()),
            (Some(namespace), None) if !cluster_scoped => StoreScope::Namespace(namespace.into()),
            _ => StoreScope::All,
        }
    }

    /// Calls `with` with what a continue token of this request is good for.
    pub fn with_binding<T>(
        &self,
        resource: &ServedResource,
        namespace: &str,
        with: impl FnOnce(Binding<'_>) -> T,
    ) -> T {
        let (labels, fields) = (self.labels.to_string(), self.fields.to_string());
        with(Binding {
            resource: resource.storage_name.as_str(),
            namespace,
            labels: &labels,
            fields: &fields,
        })
    }

    /// The selected objects in `scope` behind a namespace and name, in the order of their keys. Damaged objects are
    /// left out and logged: a list must not fail for one of them.
    pub fn select<'a>(
        &'a self,
        resource: &'a ServedResource,
        snapshot: &'a Snapshot,
        scope: &'a StoreScope,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let candidates: Box<dyn Iterator<Item = &Arc<Object>>> =
            match index::usable(resource.def, &self.labels, &self.fields) {
                Some((index, value)) if !matches!(scope, StoreScope::Name(..)) => {
                    Box::new(snapshot.with_term(index, value, scope, after))
                }
                _ => match Wanted::of(&self.labels) {
                    Some(wanted) => {
                        let admits = move |digest| wanted.admits(digest);
                        Box::new(snapshot.in_scope_by_digest(scope, after, digest, admits))
                    }
                    None => Box::new(snapshot.in_scope(scope, after)),
                },
            };
        candidates.filter(move |object| match self.matches(resource, object) {
            Ok(matches) => matches,
            Err(error) => {
                tracing::error!(?error, "left out of a list");
                false
            }
        })
    }
}

/// The labels in the stored text of an object. What comes behind them is not read.
pub fn labels_of(bytes: &[u8]) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    // That the text goes on is an error to the reader, and none to us.
    let _ = serde_json::Deserializer::from_slice(bytes)
        .deserialize_map(Descent(&["metadata", "labels"], &mut labels));
    labels
}

/// Goes down a path of names to a map of texts.
struct Descent<'a>(&'static [&'static str], &'a mut BTreeMap<String, String>);

impl<'de> Visitor<'de> for Descent<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<(), A::Error> {
        let Some((name, rest)) = self.0.split_first() else {
            while let Some((key, value)) = entries.next_entry()? {
                self.1.insert(key, value);
            }
            return Ok(());
        };
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            if key == *name {
                return entries.next_value_seed(Descent(rest, self.1));
            }
            entries.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Descent<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> std::result::Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

/// What the store keeps to reject an object by.
fn digest(object: &Object) -> NonZeroU64 {
    let Ok(bytes) = object.value() else { return label_digest::ANYTHING };
    label_digest::of(labels_of(bytes).iter().map(|(key, value)| (key.as_str(), value.as_str())))
}

fn refused(error: &SelectorError) -> ApiError {
    ApiError::BadRequest(error.to_string())
}

/// The value of a selectable field, by its label: that of the first of its places that has one.
pub fn selectable_value(def: &ResourceDef, label: &str, tree: Option<&Tree>) -> Option<String> {
    let field = def.selectable_fields.iter().find(|field| field.label == label)?;
    field.paths.iter().filter_map(|path| value_at(def, path, tree)).find(|value| !value.is_empty())
}

/// A boolean or a number that is not there counts as false or 0.
fn value_at(def: &ResourceDef, path: &[&str], tree: Option<&Tree>) -> Option<String> {
    match path.iter().try_fold(tree?, |tree, name| tree.get(name)) {
        Some(Tree::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
        None => zero_of(def.type_def, path).map(str::to_owned),
    }
}

fn zero_of(def: &'static TypeDef, path: &[&str]) -> Option<&'static str> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(def, |def, name| match def.field(name)?.shape {
        Shape::Object(inner) => Some(inner),
        _ => None,
    })?;
    match parent.field(last)?.shape {
        Shape::Scalar(Scalar::Boolean) => Some("false"),
        Shape::Scalar(Scalar::Int32 | Scalar::Int64) => Some("0"),
        _ => None,
    }
}
