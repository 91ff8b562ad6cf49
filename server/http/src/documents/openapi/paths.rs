//! The paths of a kind with their operations, as the request parser knows them.

use std::collections::{BTreeMap, BTreeSet};

use orch_machinery::media_type::MediaTypes;
use orch_registry::catalog::{Catalog, ServedResource};
use orch_runtime::resource_def::{Scope, Verb};
use serde::Serialize;

use super::{
    operation::{Extent, Operation, Subject},
    parameters::{self, Parameter},
};

/// What one path answers.
#[derive(Serialize)]
pub(super) struct PathItem {
    /// By lower-case method.
    #[serde(flatten)]
    operations: BTreeMap<&'static str, Operation>,
    parameters: Vec<&'static Parameter>,
}

/// Paths, and the names of the schemas that they refer to, in schema spelling.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) items: BTreeMap<String, PathItem>,
    pub(super) schemas: BTreeSet<String>,
}

/// The verbs on collections.
const COLLECTION: &[Verb] = &[Verb::Create, Verb::DeleteCollection, Verb::List];
/// The verbs on items.
const ITEM: &[Verb] = &[Verb::Delete, Verb::Get, Verb::Patch, Verb::Update];

impl Paths {
    /// Adds all paths of a kind.
    pub(super) fn add(&mut self, catalog: &Catalog, media_types: &MediaTypes, resource: &ServedResource) {
        let def = resource.def;
        let root = if resource.group.is_empty() { "/api" } else { "/apis" };
        let base = format!("{root}/{}", resource.api_version);
        let (extent, below, parameters) = match def.scope {
            Scope::Cluster => (Extent::Cluster, "", vec![]),
            Scope::Namespaced => (Extent::Namespace, "/namespaces/{namespace}", vec![&parameters::NAMESPACE]),
        };
        let vocabulary = catalog.vocabulary;
        let subject = Subject { media_types, vocabulary, resource, subresource: None, extent };
        let collection = format!("{below}/{}", def.plural);
        let item = format!("{collection}/{{name}}");
        let of_item = [&[&parameters::NAME], &parameters[..]].concat();

        self.insert(format!("{base}{collection}"), subject, def.verbs, COLLECTION, &parameters);
        self.insert(format!("{base}{item}"), subject, def.verbs, ITEM, &of_item);
        for sub in def.subresources {
            let subject = Subject { subresource: Some(sub), ..subject };
            let path = format!("{base}{item}/{}", sub.name);
            self.insert(path, subject, sub.verbs, Verb::ALL, &of_item);
        }
        // The deprecated paths of watches, with a prefix instead of the query parameter.
        self.insert(format!("{base}/watch{collection}"), subject, def.verbs, &[Verb::Watch], &parameters);
        self.insert(format!("{base}/watch{item}"), subject, def.verbs, &[Verb::Watch], &of_item);
        if def.scope == Scope::Namespaced {
            let subject = Subject { extent: Extent::AllNamespaces, ..subject };
            self.insert(format!("{base}/{}", def.plural), subject, def.verbs, &[Verb::List], &[]);
            self.insert(format!("{base}/watch/{}", def.plural), subject, def.verbs, &[Verb::Watch], &[]);
        }
    }

    /// Adds a path, if any of the verbs that fit it is served.
    fn insert(
        &mut self,
        path: String,
        subject: Subject<'_>,
        served: &[Verb],
        fitting: &[Verb],
        parameters: &[&'static Parameter],
    ) {
        let item = path.contains("{name}");
        let mut operations = BTreeMap::new();
        for verb in fitting.iter().copied().filter(|verb| served.contains(verb)) {
            self.schemas.extend(Operation::schemas(subject, verb, item));
            operations.insert(method(verb), Operation::new(subject, verb, item));
        }
        if !operations.is_empty() {
            let parameters = parameters.iter().copied().chain([&parameters::PRETTY]).collect();
            self.items.insert(path, PathItem { operations, parameters });
        }
    }
}

fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "post",
        Verb::Delete | Verb::DeleteCollection => "delete",
        Verb::Get | Verb::List | Verb::Watch => "get",
        Verb::Patch => "patch",
        Verb::Update => "put",
    }
}
