//! The indexes of the schema and of claims: under which terms an object is found, and which index a selector
//! can use.
//!
//! The index of a field has every object; an absent field counts as the empty text. The index of a label has
//! the objects with the label. The index of a claim has the objects that claim a value. An index gives
//! candidates: selectors check each object that it finds.

use std::{collections::HashMap, sync::Arc};

use orch_machinery::selector::{field::FieldSelector, label::LabelSelector};
use orch_runtime::Tree;
use orch_storage::{Indexer, ResourceName, Term};

use super::{controlled, selectable_field::FieldValues};
use crate::{
    catalog::{Catalog, ServedResource},
    claims::Claim,
    forms::Way,
    stored,
};

/// Reads the terms of the kinds of a catalog.
pub struct CatalogIndexer {
    resources: HashMap<ResourceName, Arc<ServedResource>>,
}

impl CatalogIndexer {
    /// An indexer for the kinds whose schemas ask for indexes and those whose objects make claims.
    pub fn new(catalog: &Catalog) -> Self {
        let indexed = catalog.stored_resources().filter(|resource| is_indexed(resource));
        CatalogIndexer {
            resources: indexed
                .map(|resource| (resource.storage_name.clone(), Arc::clone(resource)))
                .collect(),
        }
    }
}

/// Whether objects of the kind have terms.
fn is_indexed(resource: &ServedResource) -> bool {
    let def = resource.def;
    let has_claims = resource.behaviour.claim_sorts() > 0;
    has_claims
        || resource.behaviour.is_found_by_controller()
        || !def.indexed_fields.is_empty()
        || !def.indexed_labels.is_empty()
}

impl Indexer for CatalogIndexer {
    fn covers(&self, resource: &ResourceName) -> bool {
        self.resources.contains_key(resource)
    }

    fn terms(&self, resource: &ResourceName, value: &[u8]) -> Option<Vec<Term>> {
        let Some(resource) = self.resources.get(resource) else { return Some(Vec::new()) };
        let value = &*stored::in_form_of(resource, value)?;
        let def = resource.def;
        let mut terms = Vec::new();
        if !def.indexed_fields.is_empty() {
            let values = FieldValues::read(def, value).ok()?;
            for (index, label) in def.indexed_fields.iter().enumerate() {
                terms.push(Term { index: field_index(index), value: values.get(def, label).into() });
            }
        }
        if resource.behaviour.claim_sorts() > 0 {
            let tree = stored::tree_of_bytes(def, value).ok()?;
            terms.extend(claims(resource, tree).iter().map(Claim::term));
        }
        if resource.behaviour.is_found_by_controller() {
            terms.push(controlled::term(value)?);
        }
        if !def.indexed_labels.is_empty() {
            let labels = stored::labels_of(value);
            for (index, label) in def.indexed_labels.iter().enumerate() {
                let found = labels.get(*label).map(|value| Arc::from(value.as_str()));
                terms.extend(found.map(|value| Term { index: label_index(index), value }));
            }
        }
        Some(terms)
    }
}

/// The claims of a stored object.
fn claims(resource: &ServedResource, tree: Tree) -> Vec<Claim> {
    let object = (resource.def.from_tree)(tree);
    object.map(|object| resource.behaviour.claims(&*object)).unwrap_or_default()
}

/// An index with every object that these selectors can select, and the value to look up. Indexes are of the
/// stored form.
pub fn usable<'s>(
    resource: &ServedResource,
    labels: &'s LabelSelector,
    fields: &'s FieldSelector,
) -> Option<(u16, &'s str)> {
    let def = resource.stored().def;
    let label = |(index, label): (usize, &&str)| Some((label_index(index), labels.requires_exact(label)?));
    let field = |(index, label): (usize, &&str)| {
        let own = Way::between(def, resource.def).path(label)?;
        Some((field_index(index), fields.requires_exact(&own)?))
    };
    let by_label = def.indexed_labels.iter().enumerate().find_map(label);
    by_label.or_else(|| def.indexed_fields.iter().enumerate().find_map(field))
}

/// The name of an index in metrics: `f:spec.nodeName` of a field, `l:owner` of a label.
pub fn name(resource: &ServedResource, index: u16) -> Option<String> {
    let (def, position) = (resource.stored().def, usize::from(index / 2));
    let (of, name) = if index.is_multiple_of(2) {
        ("l", def.indexed_labels.get(position))
    } else {
        ("f", def.indexed_fields.get(position))
    };
    name.map(|name| format!("{of}:{name}"))
}

/// Labels have the even numbers, fields the odd ones.
fn label_index(position: usize) -> u16 {
    (position * 2) as u16
}

fn field_index(position: usize) -> u16 {
    (position * 2 + 1) as u16
}

#[cfg(test)]
mod tests {
    use orch_machinery::selector::{field::FieldSelector, label::LabelSelector};
    use orch_storage::Indexer;

    use super::{CatalogIndexer, usable};
    use crate::catalog::Catalog;

    #[test]
    fn what_a_selector_selects_is_under_the_term_that_it_uses() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        let secrets = catalog.resource("", "v1", "secrets").unwrap();
        let indexer = CatalogIndexer::new(&catalog);
        assert!(indexer.covers(&secrets.storage_name));
        let config_maps = catalog.resource("", "v1", "configmaps").unwrap();
        assert!(!indexer.covers(&config_maps.storage_name));

        let value =
            br#"{"kind":"Secret","apiVersion":"v1","metadata":{"labels":{"owner":"helm"}},"type":"t"}"#;
        let plain = br#"{"kind":"Secret","apiVersion":"v1","metadata":{}}"#;
        for (labels, fields, uses_index, has_value, has_plain) in [
            ("owner=helm", "", true, true, false),
            ("owner in (helm),a", "", true, true, false),
            ("owner=other", "", true, false, false),
            ("", "type=t", true, true, false),
            ("", "type=", true, false, true),
            ("owner", "", false, false, false),
            ("owner!=helm", "type!=t", false, false, false),
            ("", "", false, false, false),
        ] {
            let (labels, fields) =
                (LabelSelector::parse(labels).unwrap(), FieldSelector::parse(fields).unwrap());
            let usable = usable(secrets, &labels, &fields);
            assert_eq!(usable.is_some(), uses_index, "{labels} {fields}");
            let found = |value: &[u8]| {
                let terms = indexer.terms(&secrets.storage_name, value).unwrap();
                usable.is_some_and(|(index, value)| {
                    terms.iter().any(|term| term.index == index && *term.value == *value)
                })
            };
            assert_eq!((found(value), found(plain)), (has_value, has_plain), "{labels} {fields}");
        }
        assert_eq!(indexer.terms(&secrets.storage_name, b"{"), None, "it cannot be read");
    }

    /// What clients with many requests select by: the agent of a node its pods, a person the events of an
    /// object.
    #[test]
    fn common_selectors_use_an_index() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        for (plural, fields, is_indexed) in [
            ("pods", "spec.nodeName=n", true),
            ("pods", "spec.nodeName=n,status.phase!=Failed", true),
            ("pods", "spec.nodeName!=n", false),
            ("events", "involvedObject.name=p,involvedObject.namespace=n,involvedObject.uid=u", true),
            ("events", "involvedObject.uid=u", true),
            ("events", "regarding.name=p", true),
            ("events", "regarding.kind=Pod", false),
        ] {
            let group = if fields.contains("regarding") { "events.k8s.io" } else { "" };
            let resource = catalog.resource(group, "v1", plural).unwrap();
            let fields = FieldSelector::parse(fields).unwrap();
            let labels = LabelSelector::default();
            let usable = usable(resource, &labels, &fields);
            assert_eq!(usable.is_some(), is_indexed, "{plural} {fields}");
        }
    }
}
