//! The objects of the seed, and what becomes of those that differ from it.

use futures_util::future::try_join_all;
use orch_api::{
    flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration},
    seed,
};
use orch_machinery::meta::{Meta, set_type};
use orch_registry::{
    catalog::ServedResource,
    client::Client,
    error::{ApiError, Result},
    options::DeletionOptions,
};
use orch_runtime::{Tree, object::Kind, resource_def::ResourceDef, vocabulary::Vocabulary};
use serde_json::json;

use crate::{
    key::ObjectKey,
    product::present::{Present, present},
};

/// The kinds of the seed, and the names of their lists in it. Levels are first, so that no flow schema is
/// without its level for a moment.
const KINDS: [(&ResourceDef, &str); 2] =
    [(PriorityLevelConfiguration::RESOURCE, "priorityLevels"), (FlowSchema::RESOURCE, "flowSchemas")];

/// The part of a spec that operators may set although the rest is mandatory.
const OPEN_FIELD: &str = "exempt";

/// An object of the seed.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) spec: Tree,
    /// Whether the server relies on this spec.
    pub(super) is_mandatory: bool,
}

/// Makes and corrects all of them.
pub(super) async fn ensure_all(client: &Client) -> Result<()> {
    for (def, _) in KINDS {
        let Some(resource) = client.core().catalog().served(def) else { continue };
        let wanted = wanted(client.core().vocabulary(), def)?;
        let stored: Vec<String> =
            client.snapshot(resource).iter().map(|object| object.key().name.to_string()).collect();
        let missing = wanted.iter().map(|wanted| &wanted.name).filter(|name| !stored.contains(name));
        let names: Vec<&String> = stored.iter().chain(missing).collect();
        // Together, so that they share transactions.
        try_join_all(names.into_iter().map(|name| ensure_one(client, def, name, &wanted))).await?;
    }
    Ok(())
}

/// The names of the objects of one kind.
pub(super) fn names(vocabulary: &Vocabulary, def: &'static ResourceDef) -> Vec<ObjectKey> {
    let wanted = wanted(vocabulary, def).unwrap_or_default();
    wanted.into_iter().map(|wanted| ObjectKey::new("", wanted.name)).collect()
}

/// Makes or corrects one object; removes one that the seed has no more.
pub(super) async fn ensure(client: &Client, def: &'static ResourceDef, name: &str) -> Result<()> {
    ensure_one(client, def, name, &wanted(client.core().vocabulary(), def)?).await
}

async fn ensure_one(client: &Client, def: &'static ResourceDef, name: &str, all: &[Wanted]) -> Result<()> {
    // A server without the kind has no such objects.
    let Some(resource) = client.core().catalog().served(def) else { return Ok(()) };
    let annotation = annotation(client.core().vocabulary());
    let wanted = all.iter().find(|wanted| wanted.name == name);
    let current = match present(client, resource, "", name) {
        Present::Nothing => None,
        Present::Damaged => return Ok(()),
        Present::Object(current) => Some(current),
    };
    let done = match (wanted, current) {
        // Only older releases made objects with the annotation that the seed does not have.
        (None, Some(current)) if is_kept_up_to_date(&current, &annotation) == Some(true) => {
            client.delete(resource, "", name, DeletionOptions::default()).await.map(drop)
        }
        (None, _) => return Ok(()),
        (Some(wanted), None) => {
            client.create(resource, "", wanted.tree(resource, &annotation)).await.map(drop)
        }
        (Some(wanted), Some(current)) => match wanted.corrected(&current, &annotation) {
            Some(corrected) => client.update(resource, "", corrected).await.map(drop),
            None => return Ok(()),
        },
    };
    match done {
        // Somebody else was first, and that change brings the name again.
        Err(ApiError::AlreadyExists { .. } | ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        done => done,
    }
}

impl Wanted {
    fn tree(&self, resource: &ServedResource, annotation: &str) -> Tree {
        let metadata = json!({"name": self.name, "annotations": {annotation: "true"}});
        let mut tree = json!({"metadata": metadata, "spec": self.spec});
        set_type(&mut tree, resource.def.kind, &resource.api_version);
        tree
    }

    /// The object as it should be; `None` where it is so.
    fn corrected(&self, current: &Tree, annotation: &str) -> Option<Tree> {
        let annotated = is_kept_up_to_date(current, annotation);
        // An object without a legible annotation is a suggestion that nobody has changed, or somebody's own.
        let is_kept = self.is_mandatory || annotated.unwrap_or_else(|| Meta::of(current).generation() == 1);
        let mut corrected = current.clone();
        if annotated != Some(is_kept) {
            corrected["metadata"]["annotations"][annotation] = is_kept.to_string().into();
        }
        if is_kept {
            corrected["spec"] = self.spec_beside(&current["spec"]);
        }
        (corrected != *current).then_some(corrected)
    }

    /// The wanted spec, with what operators may set.
    fn spec_beside(&self, current: &Tree) -> Tree {
        let mut spec = self.spec.clone();
        if let (Some(wanted), Some(set)) = (spec.get_mut(OPEN_FIELD), current.get(OPEN_FIELD)) {
            wanted.clone_from(set);
        }
        spec
    }
}

/// Whether the annotation says that the server keeps the spec of an object; `None` where it says nothing.
fn is_kept_up_to_date(object: &Tree, annotation: &str) -> Option<bool> {
    match Meta::of(object).annotation(annotation)? {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// The objects of one kind, in the words of a vocabulary.
pub(super) fn wanted(vocabulary: &Vocabulary, def: &ResourceDef) -> Result<Vec<Wanted>> {
    let unusable = |why: &dyn std::fmt::Display| ApiError::internal("the seed cannot be read", why);
    let (_, list) =
        KINDS.iter().find(|(kind, _)| kind.kind == def.kind).ok_or_else(|| unusable(&def.kind))?;
    let text = vocabulary.translate(seed::FLOW_CONTROL);
    let seed: Tree = serde_json::from_str(&text).map_err(|error| unusable(&error))?;
    let entries = seed.get(list).and_then(Tree::as_array).ok_or_else(|| unusable(list))?;
    let read = |entry: &Tree| Wanted {
        name: entry["name"].as_str().unwrap_or_default().to_owned(),
        spec: entry["spec"].clone(),
        is_mandatory: entry["mandatory"] == true,
    };
    Ok(entries.iter().map(read).collect())
}

pub(super) fn annotation(vocabulary: &Vocabulary) -> String {
    format!("apf.{}", vocabulary.label("autoupdate-spec"))
}
