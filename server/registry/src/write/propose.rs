//! The stage **propose**: makes the wanted object from what the client sent and, where there is one, the
//! current object.

use orch_machinery::meta::{Meta, MetaMut};
use orch_runtime::Tree;
use serde_json::json;

use super::{
    attempt::Attempt,
    body,
    configuration::Configuration,
    draft::{Ownership, Proposed},
    names, owner_references,
    patch::Patch,
    place,
};
use crate::{
    context::RequestContext,
    conversion::{LostManagers, drop_owners_of_unknown_versions, name_owners_here},
    error::{ApiError, Result},
    objects::Current,
    options::FieldValidation,
    request::{Body, Target},
    scale::Scaling,
};

/// What a client wants to do with an object.
pub enum Proposal {
    /// Create it.
    New(Sent),
    /// Replace it, or create it where the kind allows that.
    Replacement(Sent),
    /// Patch it.
    Patch(Patch),
    /// Apply a configuration to it.
    Configuration(Configuration),
}

/// A whole object that was sent. The first attempt of a write takes the decoded tree; later ones, which are
/// rare, decode again.
pub struct Sent {
    source: Source,
    tree: Option<Tree>,
}

enum Source {
    Body(Body),
    Tree(Tree),
}

impl Sent {
    /// The object of a body. Repeated owner references are dropped, with a warning.
    ///
    /// # Errors
    /// 400 for a body that is not an object of the kind.
    pub fn body(
        cx: &RequestContext<'_>,
        target: &Target<'_>,
        body: Body,
        validation: FieldValidation,
    ) -> Result<Self> {
        let tree = body::decode(cx, target, &body, validation)?;
        Ok(Sent { source: Source::Body(body), tree: Some(tree) })
    }

    /// An object of the server's own.
    pub fn tree(tree: Tree) -> Self {
        Sent { source: Source::Tree(tree), tree: None }
    }

    /// The decoded body, for checks and changes before the write begins.
    pub fn decoded(&mut self) -> Option<&mut Tree> {
        self.tree.as_mut()
    }

    fn take(&mut self, attempt: Attempt<'_>) -> Result<Tree> {
        let mut tree = match (self.tree.take(), &self.source) {
            (Some(tree), _) => tree,
            (None, Source::Tree(tree)) => tree.clone(),
            (None, Source::Body(body)) => {
                // The first decoding has reported unknown fields.
                let mut tree = body::decode(attempt.cx, attempt.target, body, FieldValidation::Ignore)?;
                place::put_into_namespace(attempt.target, &mut tree)?;
                tree
            }
        };
        if let Some(warning) = owner_references::drop_repeated(&mut tree, false) {
            attempt.cx.warn(warning);
        }
        let lost = name_owners_here(attempt.target.resource, &mut tree);
        keep_place_of_managers(attempt.target, lost, &mut tree);
        Ok(tree)
    }
}

/// The client sent managers, all of them of unknown versions. An entry that owns nothing is left in their
/// place: an empty list would count as "not sent", and the stored managers would stay.
fn keep_place_of_managers(target: &Target<'_>, lost: LostManagers, tree: &mut Tree) {
    if lost == LostManagers::All {
        let nobody = json!({
            "operation": "Update", "apiVersion": target.resource.api_version,
            "fieldsType": "FieldsV1", "fieldsV1": {},
        });
        MetaMut::of(tree).set_managed_fields(vec![nobody]);
    }
}

/// The object that a proposal makes of the current one.
///
/// # Errors
/// 404 where the object is missing and cannot be created, 409 for another uid, and the errors of patches and
/// applies.
pub fn propose(attempt: Attempt<'_>, proposal: &mut Proposal) -> Result<Proposed> {
    if let Proposal::New(sent) = proposal {
        return Ok(Proposed { tree: sent.take(attempt)?, ownership: TRACKED, current: None });
    }
    let Attempt { cx, target, .. } = attempt;
    match cx.core.objects().lookup(target.resource, &target.namespace, &target.name)? {
        Some(mut current) => {
            current.lost_managers = name_owners_here(target.resource, &mut current.tree);
            change(attempt, proposal, current)
        }
        None => create_instead(attempt, proposal),
    }
}

const TRACKED: Ownership = Ownership::Tracked { sent: None };

fn change(attempt: Attempt<'_>, proposal: &mut Proposal, current: Current) -> Result<Proposed> {
    let Attempt { cx, target, .. } = attempt;
    let scaling = Scaling::of(target);
    let (tree, ownership) = match proposal {
        Proposal::New(sent) | Proposal::Replacement(sent) => {
            let tree = sent.take(attempt)?;
            check_uid(target, Meta::of(&current.tree).uid(), &tree)?;
            (tree, TRACKED)
        }
        Proposal::Patch(patch) => {
            let mut tree = match scaling {
                Some(scaling) => patch.apply(attempt, &scaling.of_object(&current.tree))?,
                None => patch.apply(attempt, &current.tree)?,
            };
            let lost = drop_owners_of_unknown_versions(target.resource, &mut tree);
            keep_place_of_managers(target, lost, &mut tree);
            place::put_into_namespace(target, &mut tree)?;
            names::check_name(target, &tree)?;
            if let Some(warning) = owner_references::drop_repeated(&mut tree, true) {
                cx.warn(warning);
            }
            (tree, TRACKED)
        }
        Proposal::Configuration(configuration) => configuration.apply(attempt, Some(&current))?,
    };
    let tree = match (scaling, &ownership) {
        // A patch and a body are scales; an apply is of the object already.
        (Some(scaling), Ownership::Tracked { .. }) => scaling.scaled(cx, &current.tree, &tree)?,
        _ => tree,
    };
    Ok(Proposed { tree, ownership, current: Some(current) })
}

/// An apply of a missing object creates it, and so does a PUT where the kind allows that.
fn create_instead(attempt: Attempt<'_>, proposal: &mut Proposal) -> Result<Proposed> {
    let target = attempt.target;
    let missing = || ApiError::not_found(target.resource, &target.name);
    let (mut tree, ownership) = match proposal {
        Proposal::New(sent) | Proposal::Replacement(sent) => {
            let tree = sent.take(attempt)?;
            check_uid(target, "", &tree)?;
            if target.subresource.is_some() || !target.resource.def.create_on_update {
                return Err(missing());
            }
            (tree, TRACKED)
        }
        Proposal::Configuration(configuration) if target.subresource.is_none() => {
            configuration.check_creates(target)?;
            configuration.apply(attempt, None)?
        }
        Proposal::Configuration(_) | Proposal::Patch(_) => return Err(missing()),
    };
    place::sent_version(&tree)?;
    MetaMut::of(&mut tree).set_resource_version("");
    Ok(Proposed { tree, ownership, current: None })
}

/// A uid in the body of a PUT is a precondition. For patches the rules of metadata refuse another uid.
fn check_uid(target: &Target<'_>, have: &str, proposed: &Tree) -> Result<()> {
    let wanted = Meta::of(proposed).uid();
    if wanted.is_empty() || wanted == have {
        return Ok(());
    }
    Err(ApiError::failed_precondition(
        target.resource,
        (&*target.namespace, &*target.name),
        "UID",
        wanted,
        have,
    ))
}
