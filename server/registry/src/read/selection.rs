//! Which objects of a collection a request is about: namespace, name, label and field selectors.

use std::{borrow::Cow, num::NonZeroU64, sync::Arc};

use orch_machinery::selector::{SelectorError, field::FieldSelector, label::LabelSelector};
use orch_runtime::resource_def::{ResourceDef, Scope};
use orch_storage::{Object, Scope as StoreScope, Snapshot};

use super::{
    index,
    label_digest::{self, Wanted},
    selectable_field::selectable_value,
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
    /// The name in the path of a watch of one object; else empty.
    named: String,
    /// Whether fields other than name and namespace are selected by: then objects must be decoded.
    reads_object: bool,
}

/// The labels of an object, kept with it once they were needed: `key NUL value NUL` ... in one allocation,
/// because lists look at those of many objects. Keys and values cannot contain NUL.
#[derive(Debug)]
struct Labels(Box<str>);

impl Labels {
    fn of(bytes: &[u8]) -> Self {
        let mut text = String::new();
        for (key, value) in stored::labels_of(bytes) {
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
    /// Reads the selectors of a request. `named` is the object in the path of a watch of one object, else
    /// empty.
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

    /// Checks that the kind has the fields that are selected by.
    ///
    /// # Errors
    /// 400 for fields that the kind cannot be selected by, and for a name that contradicts the path of a
    /// watch.
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

    /// The part of the collection that path and field selectors limit the request to, for the store: it lists
    /// only this part, and wakes a watch only for its events.
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

    /// Calls `with` with the list that continue tokens of this request are for.
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

    /// The selected objects in `scope` behind a namespace and name, in the order of their keys. Damaged
    /// objects are left out and logged: a list must not fail for one of them.
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

/// The digest of an object's labels.
fn digest(object: &Object) -> NonZeroU64 {
    let Ok(bytes) = object.value() else { return label_digest::ANYTHING };
    label_digest::of(stored::labels_of(bytes).iter().map(|(key, value)| (key.as_str(), value.as_str())))
}

fn refused(error: &SelectorError) -> ApiError {
    ApiError::BadRequest(error.to_string())
}
