//! Objects of manifests, created in the data directory of a server that does not run.
//!
//! Each is created as a client would create it, by the same stages and with the field validation `Strict`.
//! An owner reference gets the uid of the owner that has this name here; one whose owner is not here is left
//! out.

use std::{collections::HashSet, sync::Arc};

use orch_api::core::v1::Secret;
use orch_config::start_error::StartError;
use orch_http::response::status;
use orch_kinds::token_secret;
use orch_machinery::meta::{self, Meta, MetaMut};
use orch_meta::VOCABULARIES;
use orch_registry::{
    catalog::{Catalog, ServedResource},
    client::Client,
    error::ApiError,
};
use orch_runtime::{Tree, object::Kind, resource_def::Scope, vocabulary::Vocabulary};

use super::Server;
use crate::{bootstrap::strip, manifests::Manifest};

/// What came of an import.
#[derive(Debug, Default)]
pub struct Imported {
    /// How many objects were created.
    pub created: usize,
    /// Objects that were there already, and are as they were.
    pub existing: Vec<String>,
    /// Objects without some of their owners.
    pub without_owner: Vec<String>,
    /// Objects that were refused, with the reason.
    pub refused: Vec<String>,
}

/// An object that is to be created.
struct Wanted {
    resource: Arc<ServedResource>,
    name: Name,
    tree: Tree,
}

/// How an object is found: API version, kind, namespace and name.
type Name = [String; 4];

impl Server {
    /// Creates the objects of these manifests, owners before what they own. The server answers no requests,
    /// and no controller runs.
    ///
    /// # Errors
    /// Where manifests are in the words of another vocabulary, before anything is made; what keeps the server
    /// from starting, or from closing its store.
    pub async fn import(self, manifests: Vec<Manifest>) -> Result<Imported, StartError> {
        for manifest in &manifests {
            self.refuse_other_words(manifest)?;
        }
        Box::pin(self.instead_of_serving("import", async |client| create_all(client, manifests).await)).await
    }

    /// An object under a name that another vocabulary has for a group of this server would be refused, and so
    /// would most of its file: names of labels, namespaces and roles are others too.
    fn refuse_other_words(&self, manifest: &Manifest) -> Result<(), StartError> {
        let Some((group, _)) = meta::api_version(&manifest.tree).split_once('/') else { return Ok(()) };
        let own = self.config.vocabulary;
        let has =
            |vocabulary: &Vocabulary| self.tables.iter().any(|def| vocabulary.group(def.group) == group);
        match VOCABULARIES.iter().find(|other| has(other)) {
            Some(other) if !has(own) => {
                let problem = format!(
                    "{group} is a word of the vocabulary {}, and the import is made in that of {}; give \
                     --vocabulary {}, and a data directory that is new or has this vocabulary",
                    other.name, own.name, other.name
                );
                Err(StartError::configuration(&manifest.place, problem))
            }
            _ => Ok(()),
        }
    }
}

async fn create_all(client: &Client, manifests: Vec<Manifest>) -> Imported {
    let catalog = client.core().catalog();
    let mut imported = Imported::default();
    let mut waiting = Vec::new();
    for manifest in manifests {
        match wanted(catalog, manifest.tree) {
            Ok(wanted) => waiting.push(wanted),
            Err(refused) => imported.refused.push(refused),
        }
    }
    // A namespace is there before its content.
    waiting.sort_by_key(|wanted| wanted.resource.def.scope == Scope::Namespaced);
    let mut is_stuck = false;
    while !waiting.is_empty() {
        let coming: HashSet<Name> = waiting.iter().map(|wanted| wanted.name.clone()).collect();
        let (mut later, count) = (Vec::new(), waiting.len());
        for wanted in waiting {
            let is_early = |owner: &Name| coming.contains(owner) && uid_of(client, owner).is_none();
            if !is_stuck && owners(catalog, &wanted).iter().any(is_early) {
                later.push(wanted);
            } else {
                create(client, wanted, &mut imported).await;
            }
        }
        // Owners that own each other do not come by themselves.
        is_stuck = later.len() == count;
        waiting = later;
    }
    imported
}

/// What a tree describes, without what belongs to the server that it is from.
fn wanted(catalog: &Catalog, mut tree: Tree) -> Result<Wanted, String> {
    let (api_version, kind) = (meta::api_version(&tree).to_owned(), meta::kind(&tree).to_owned());
    let name = Meta::of(&tree).name().to_owned();
    let Some(resource) = served(catalog, &api_version, &kind) else {
        return Err(format!("{api_version} {kind} {name}: the kind is not served"));
    };
    strip(&mut tree);
    if resource.def.kind == Secret::RESOURCE.kind && resource.group == Secret::RESOURCE.group {
        // The accounts have other uids here, and the controller makes tokens of them.
        token_secret::empty(&mut tree, resource.vocabulary);
    }
    if let Some(claim) = tree.pointer_mut("/spec/claimRef").and_then(Tree::as_object_mut) {
        // A volume finds its claim by name, where the reference has no uid.
        claim.retain(|field, _| !["uid", "resourceVersion"].contains(&field.as_str()));
    }
    let namespace = match resource.def.scope {
        Scope::Cluster => String::new(),
        Scope::Namespaced => match Meta::of(&tree).namespace() {
            "" => "default".to_owned(),
            namespace => namespace.to_owned(),
        },
    };
    Ok(Wanted { resource: Arc::clone(resource), name: [api_version, kind, namespace, name], tree })
}

fn served<'c>(catalog: &'c Catalog, api_version: &str, kind: &str) -> Option<&'c Arc<ServedResource>> {
    let is_meant = |resource: &&Arc<ServedResource>| {
        resource.def.stored && resource.def.kind == kind && resource.api_version == api_version
    };
    catalog.resources().find(is_meant)
}

/// The owners of an object, in the order of its references.
fn owners(catalog: &Catalog, wanted: &Wanted) -> Vec<Name> {
    let [_, _, namespace, _] = &wanted.name;
    let name = |reference: &Tree| {
        let [api_version, kind, name] = ["apiVersion", "kind", "name"]
            .map(|field| reference[field].as_str().unwrap_or_default().to_owned());
        let is_cluster_wide =
            served(catalog, &api_version, &kind).is_some_and(|owner| owner.def.scope == Scope::Cluster);
        [api_version, kind, if is_cluster_wide { String::new() } else { namespace.clone() }, name]
    };
    Meta::of(&wanted.tree).owner_references().iter().map(name).collect()
}

fn uid_of(client: &Client, [api_version, kind, namespace, name]: &Name) -> Option<String> {
    let resource = served(client.core().catalog(), api_version, kind)?;
    let found = client.get(resource, namespace, name).ok()?;
    Some(Meta::of(&found.tree).uid().to_owned())
}

async fn create(client: &Client, mut wanted: Wanted, imported: &mut Imported) {
    let owners = owners(client.core().catalog(), &wanted);
    let mut references = Meta::of(&wanted.tree).owner_references().to_vec();
    for (reference, owner) in references.iter_mut().zip(&owners) {
        reference["uid"] = uid_of(client, owner).into();
    }
    references.retain(|reference| !reference["uid"].is_null());
    let Wanted { resource, name, tree } = &mut wanted;
    let shown = shown(name);
    if references.len() < owners.len() {
        imported.without_owner.push(shown.clone());
    }
    if !owners.is_empty() {
        MetaMut::of(tree).set_owner_references(references);
    }
    match client.create_strictly(resource, &name[2], tree).await {
        Ok(_) => imported.created += 1,
        Err(ApiError::AlreadyExists { .. }) => imported.existing.push(shown),
        Err(error) => imported.refused.push(format!("{shown}: {}", status::text_for_operator(&error))),
    }
}

/// `v1 ConfigMap default/a`.
fn shown([api_version, kind, namespace, name]: &Name) -> String {
    let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
    format!("{api_version} {kind} {place}{name}")
}
