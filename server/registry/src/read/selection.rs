//! Which objects of a collection a request is about: namespace, name, label and field selectors.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use orch_machinery::selector::{
    SelectorError,
    field::{FieldSelector, Term},
    label::LabelSelector,
};
use orch_runtime::resource_def::{ResourceDef, Scope};
use orch_storage::{Key, Object, Scope as StoreScope, Snapshot, Term as IndexTerm};
use tokio::task::yield_now;

use super::{
    index,
    label_digest::{self, Wanted},
    labels::Labels,
    selectable_field,
};
use crate::{
    catalog::ServedResource,
    continue_token::Binding,
    error::{ApiError, Result},
    stored,
};

/// The longest text of a selector, in bytes: a set of two hundred values of the longest kind.
const MAX_SELECTOR_BYTES: usize = 16 * 1024;
/// How many requirements a selector has at most: each is looked at for each object and each event. People and
/// controllers write a handful.
const MAX_TERMS: usize = 128;
/// After so many objects a list lets others have their turn. To look at a small object takes up to 13 us.
const SLICE: usize = 256;
/// The same for bytes of objects: what is in a large one is found by reading it, a few milliseconds for each
/// megabyte.
const SLICE_BYTES: usize = 1024 * 1024;

/// Selectors of a request, parsed.
#[derive(Debug)]
pub struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
    /// The name in the path of a watch of one object; else empty.
    named: String,
    /// Whether fields other than name and namespace are selected by: then objects must be read.
    reads_object: bool,
}

/// What a request selects of a collection.
#[derive(Debug, Default)]
pub struct Selected {
    /// In the order of their keys.
    pub objects: Vec<Arc<Object>>,
    /// Whether the limit was reached before the last object of the collection, selected or not. So a client
    /// may get an empty page at the end, as from the reference, and no page costs more than it holds.
    pub has_more: bool,
    /// How many objects the collection or an index offered.
    pub fetched: usize,
    /// How many of them selectors looked at.
    pub evaluated: usize,
    /// The index.
    pub index: Option<u16>,
}

impl Selection {
    /// Reads the selectors of a request. `named` is the object in the path of a watch of one object, else
    /// empty.
    ///
    /// # Errors
    /// 400 for bad syntax, and for selectors that would cost too much at each object.
    pub fn parse(labels: &str, fields: &str, named: &str) -> Result<Self> {
        check_length("labelSelector", labels)?;
        check_length("fieldSelector", fields)?;
        let labels = LabelSelector::parse(labels).map_err(|error| refused(&error))?;
        let fields = FieldSelector::parse(fields).map_err(|error| refused(&error))?;
        check_terms("labelSelector", labels.requirements().len())?;
        check_terms("fieldSelector", fields.terms().len())?;
        let reads_object = fields.terms().iter().any(|term| !is_in_key(term));
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
    /// 500 where the object is damaged and its name alone does not rule it out.
    pub fn matches(&self, resource: &ServedResource, object: &Object) -> Result<bool> {
        let leaves_nothing_out = self.named.is_empty() && self.is_everything();
        if !leaves_nothing_out && !self.admits(object.key()) {
            return Ok(false);
        }
        let stored = resource.stored();
        let bytes = stored::bytes_of(stored, object)?;
        if leaves_nothing_out {
            return Ok(true);
        }
        if self.reads_object {
            for term in self.fields.terms().iter().filter(|term| !is_in_key(term)) {
                if !term.holds(&selectable_field::value(resource, object, &term.path)?) {
                    return Ok(false);
                }
            }
        }
        if self.labels.is_everything() {
            return Ok(true);
        }
        let labels = object.memo(|_| Labels::of(bytes));
        Ok(self.labels.matches(|key| labels.get(key)))
    }

    /// Whether an object of this name may be selected, whatever is in it.
    fn admits(&self, key: &Key) -> bool {
        let in_key = self.fields.terms().iter().filter(|term| is_in_key(term));
        let mut names = in_key.map(|term| match term.path.as_str() {
            "metadata.namespace" => term.holds(&key.namespace),
            _ => term.holds(&key.name),
        });
        (self.named.is_empty() || *key.name == *self.named) && names.all(|holds| holds)
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

    /// What every object has that can be selected, if an index knows it: a watch is woken only for those.
    pub fn term(&self, resource: &ServedResource) -> Option<IndexTerm> {
        let (index, value) = index::usable(resource, &self.labels, &self.fields)?;
        Some(IndexTerm { index, value: value.into() })
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

    /// The selected objects in `scope` behind a namespace and name, at most `limit`, in the order of their
    /// keys, and whether there may be more: where the limit is reached, nobody looks at the rest. Others get
    /// their turn while many objects are looked at.
    ///
    /// # Errors
    /// 500 for a damaged object within the limit that may be selected: a client that does not find it would
    /// take it for deleted.
    pub async fn select(
        &self,
        resource: &ServedResource,
        snapshot: &Snapshot,
        scope: &StoreScope,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Selected> {
        let term = self.usable(resource, snapshot, scope);
        let mut selected = Selected { index: term.map(|(index, _)| index), ..Selected::default() };
        let read = AtomicUsize::new(0);
        for candidate in self.candidates(term, snapshot, scope, after, &read) {
            if selected.objects.len() == limit {
                selected.has_more = true;
                break;
            }
            selected.fetched += 1;
            if selected.fetched.is_multiple_of(SLICE) || read.load(Relaxed) >= SLICE_BYTES {
                read.store(0, Relaxed);
                yield_now().await;
            }
            let Some(object) = candidate else { continue };
            selected.evaluated += 1;
            read.fetch_add(size(object), Relaxed);
            if self.matches(resource, object)? {
                selected.objects.push(Arc::clone(object));
            }
        }
        Ok(selected)
    }

    /// The index that finds the candidates, and the value to look up.
    fn usable(
        &self,
        resource: &ServedResource,
        snapshot: &Snapshot,
        scope: &StoreScope,
    ) -> Option<(u16, &str)> {
        // No index has the objects that cannot be read.
        let can_use_index = !matches!(scope, StoreScope::Name(..)) && !snapshot.has_unreadable();
        index::usable(resource, &self.labels, &self.fields).filter(|_| can_use_index)
    }

    /// The objects in `scope` that have to be looked at, and `None` for some that have not. Bytes that had to
    /// be read to know that are added to `read`.
    fn candidates<'a>(
        &'a self,
        term: Option<(u16, &'a str)>,
        snapshot: &'a Snapshot,
        scope: &'a StoreScope,
        after: Option<(&'a str, &'a str)>,
        read: &'a AtomicUsize,
    ) -> Box<dyn Iterator<Item = Option<&'a Arc<Object>>> + Send + 'a> {
        match term {
            Some((index, value)) => Box::new(snapshot.with_term(index, value, scope, after).map(Some)),
            None => match Wanted::of(&self.labels) {
                Some(wanted) => {
                    let admits = move |digest| wanted.admits(digest);
                    let digest = move |object: &Object| {
                        read.fetch_add(size(object), Relaxed);
                        digest(object)
                    };
                    Box::new(snapshot.in_scope_by_digest(scope, after, digest, admits))
                }
                None => Box::new(snapshot.in_scope(scope, after).map(Some)),
            },
        }
    }
}

/// Whether a term is about a part of the key, so that the object need not be read.
fn is_in_key(term: &Term) -> bool {
    term.path.starts_with("metadata.")
}

/// The bytes of an object.
fn size(object: &Object) -> usize {
    object.value().map_or(0, Bytes::len)
}

/// The digest of an object's labels.
fn digest(object: &Object) -> NonZeroU64 {
    let Ok(bytes) = object.value() else { return label_digest::ANYTHING };
    label_digest::of(stored::labels_of(bytes).iter().map(|(key, value)| (key.as_str(), value.as_str())))
}

fn check_length(parameter: &str, text: &str) -> Result<()> {
    if text.len() <= MAX_SELECTOR_BYTES {
        return Ok(());
    }
    let message = format!("{parameter}: may not be more than {MAX_SELECTOR_BYTES} bytes");
    Err(ApiError::BadRequest(message))
}

fn check_terms(parameter: &str, terms: usize) -> Result<()> {
    if terms <= MAX_TERMS {
        return Ok(());
    }
    Err(ApiError::BadRequest(format!(
        "{parameter}: may not have more than {MAX_TERMS} requirements, it has {terms}"
    )))
}

fn refused(error: &SelectorError) -> ApiError {
    ApiError::BadRequest(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, sync::Arc};

    use orch_storage::{Body, Change, Indexer, Key, Scope, Snapshot, Storage};

    use super::{MAX_SELECTOR_BYTES, MAX_TERMS, SLICE, SLICE_BYTES, Selected, Selection};
    use crate::{
        catalog::{Catalog, ServedResource},
        error::{ApiError, Result},
        read::index::CatalogIndexer,
    };

    #[test]
    fn selectors_are_bounded() {
        let terms = |count: usize| (0..count).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
        let long = format!("a in ({})", "v,".repeat(MAX_SELECTOR_BYTES / 2));
        for (labels, fields, refusal) in [
            (terms(MAX_TERMS), terms(MAX_TERMS), None),
            (terms(MAX_TERMS + 1), String::new(), Some("labelSelector: may not have more than 128")),
            (String::new(), terms(MAX_TERMS + 1), Some("fieldSelector: may not have more than 128")),
            (long.clone(), String::new(), Some("labelSelector: may not be more than 16384 bytes")),
            (String::new(), long, Some("fieldSelector: may not be more than 16384 bytes")),
        ] {
            match (Selection::parse(&labels, &fields, ""), refusal) {
                (Ok(_), None) => {}
                (Err(ApiError::BadRequest(message)), Some(start)) => {
                    assert!(message.starts_with(start), "{message}");
                }
                (other, expected) => panic!("{other:?} instead of {expected:?}"),
            }
        }
    }

    /// No selector leaves it out silently, with an index or without, unless its name is not selected.
    #[tokio::test]
    async fn what_cannot_be_read_is_an_error() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        let storage = Storage::in_memory();
        let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
        storage.index_by(&indexer);
        for (plural, field, is_indexed) in [("secrets", "type", true), ("namespaces", "status.phase", false)]
        {
            let resource = catalog.resource("", "v1", plural).unwrap();
            assert_eq!(indexer.covers(&resource.storage_name), is_indexed);
            let with_value = r#"{"v":"","type":"t","status":{"phase":"t"}}"#;
            for (name, text) in [("a", with_value), ("broken", "{"), ("c", r#"{"v":""}"#)] {
                let key = Key::new(resource.storage_name.clone(), "n", name);
                let body = Body::new(text.into(), 6.min(text.len()));
                storage.commit(Change::Create { key, body }).await.unwrap();
            }
            assert_eq!(selected(resource, &storage, "").await.unwrap(), ["a", "broken", "c"]);
            for (fields, expected) in [
                ("{}=t", None),
                ("{}!=t", None),
                ("{}=t,metadata.name!=broken", Some(vec!["a"])),
                ("metadata.name=a,{}=t", Some(vec!["a"])),
                ("metadata.name=broken,{}=t", None),
                ("metadata.name=none,{}=t", Some(vec![])),
            ] {
                let fields = fields.replace("{}", field);
                match (selected(resource, &storage, &fields).await, expected) {
                    (Ok(names), Some(expected)) => assert_eq!(names, expected, "{fields}"),
                    (Err(ApiError::Internal { public, .. }), None) => {
                        let expected = r#""broken" in namespace "n" cannot be read"#;
                        assert!(public.ends_with(expected), "{public}");
                    }
                    (other, expected) => panic!("{fields}: {other:?} instead of {expected:?}"),
                }
            }
        }
    }

    /// The names of what a field selector selects.
    async fn selected(resource: &ServedResource, storage: &Storage, fields: &str) -> Result<Vec<String>> {
        let selection = Selection::parse("", fields, "").unwrap();
        let snapshot = storage.snapshot(&resource.storage_name);
        let scope = selection.scope(resource, "n");
        let found = selection.select(resource, &snapshot, &scope, None, usize::MAX).await?;
        Ok(found.objects.iter().map(|object| object.key().name.to_string()).collect())
    }

    /// With every kind of selector, whether it selects much or nothing.
    #[tokio::test]
    async fn a_long_list_lets_others_have_their_turn() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        let storage = Storage::in_memory();
        let resource = catalog.resource("", "v1", "namespaces").unwrap();
        for number in 0..5 * SLICE {
            let key = Key::new(resource.storage_name.clone(), "", format!("n{number}"));
            storage.commit(Change::Create { key, body: Body::new(br#"{"v":""}"#.into(), 6) }).await.unwrap();
        }
        let snapshot = storage.snapshot(&resource.storage_name);
        for (labels, fields, expected) in
            [("", "", 5 * SLICE), ("a=b", "", 0), ("!a", "", 5 * SLICE), ("", "status.phase=none", 0)]
        {
            let selection = Selection::parse(labels, fields, "").unwrap();
            let scope = selection.scope(resource, "");
            let (found, turns) = turns(&selection, resource, &snapshot, &scope).await;
            assert_eq!((found.objects.len(), turns), (expected, 6), "{labels:?} {fields:?}");
            let looked_at = if labels == "a=b" { 0 } else { 5 * SLICE };
            assert_eq!((found.fetched, found.evaluated), (5 * SLICE, looked_at), "{labels:?} {fields:?}");
        }
    }

    /// What takes long is what is in them.
    #[tokio::test]
    async fn a_list_of_few_large_objects_lets_others_have_their_turn_too() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        let storage = Storage::in_memory();
        let resource = catalog.resource("", "v1", "namespaces").unwrap();
        let large =
            format!(r#"{{"v":"","metadata":{{"annotations":{{"a":"{}"}}}}}}"#, "x".repeat(SLICE_BYTES));
        for number in 0..8 {
            let key = Key::new(resource.storage_name.clone(), "", format!("n{number}"));
            storage.commit(Change::Create { key, body: Body::new(large.clone().into(), 6) }).await.unwrap();
        }
        let snapshot = storage.snapshot(&resource.storage_name);
        for (labels, fields) in [("", "status.phase=none"), ("a=b", ""), ("!a", "")] {
            let selection = Selection::parse(labels, fields, "").unwrap();
            let scope = selection.scope(resource, "");
            let (_, turns) = turns(&selection, resource, &snapshot, &scope).await;
            assert!(turns >= 8, "{turns} for {labels:?} {fields:?}");
        }
    }

    /// What is selected, and how many turns that took.
    async fn turns(
        selection: &Selection,
        resource: &ServedResource,
        snapshot: &Snapshot,
        scope: &Scope,
    ) -> (Selected, usize) {
        let mut list = pin!(selection.select(resource, snapshot, scope, None, usize::MAX));
        let mut turns = 0;
        let found = poll_fn(|context| {
            turns += 1;
            list.as_mut().poll(context)
        });
        (found.await.unwrap(), turns)
    }
}
