//! The first stage: what a client sent becomes the object that it wants, over the current one where there is one.

use orch_machinery::meta::{Meta, MetaMut};
use orch_runtime::Tree;

use super::{
    Attempt, body,
    configuration::Configuration,
    draft::{Ownership, Proposed},
    names, owner_references,
    patch::Patch,
    place,
};
use crate::{
    context::RequestContext,
    error::{ApiError, Result},
    objects::Current,
    options::FieldValidation,
    request::{Body, Target},
};

/// What a write makes of an object.
pub enum Proposal {
    /// A new object.
    New(Sent),
    /// An object in place of the current one, whatever that is.
    Replacement(Sent),
    /// A patch of the current one.
    Patch(Patch),
    /// What a manager wants of it.
    Configuration(Configuration),
}

/// A whole object that was sent. The first attempt of a write takes it; a later one, which is rare, makes it anew.
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
    /// 400 for what is no object of the kind.
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

    /// Looks at the decoded body, and may change it.
    pub fn decoded(&mut self) -> Option<&mut Tree> {
        self.tree.as_mut()
    }

    fn take(&mut self, attempt: Attempt<'_>) -> Result<Tree> {
        let mut tree = match (self.tree.take(), &self.source) {
            (Some(tree), _) => tree,
            (None, Source::Tree(tree)) => tree.clone(),
            (None, Source::Body(body)) => {
                // What there was to say about unknown fields has been said.
                let mut tree = body::decode(attempt.cx, attempt.target, body, FieldValidation::Ignore)?;
                place::put_into_namespace(attempt.target, &mut tree)?;
                tree
            }
        };
        if let Some(warning) = owner_references::drop_repeated(&mut tree, false) {
            attempt.cx.warn(warning);
        }
        Ok(tree)
    }
}

/// The object that a proposal makes of the current one.
///
/// # Errors
/// 404 where there must be a current object and is none, 409 for a uid that it does not have, and what patches and
/// merges may meet.
pub fn propose(attempt: Attempt<'_>, proposal: &mut Proposal) -> Result<Proposed> {
    if let Proposal::New(sent) = proposal {
        return Ok(Proposed { tree: sent.take(attempt)?, ownership: TRACKED, current: None });
    }
    let Attempt { cx, target, .. } = attempt;
    match cx.core.objects().lookup(target.resource, &target.namespace, &target.name)? {
        Some(current) => change(attempt, proposal, current),
        None => create_instead(attempt, proposal),
    }
}

const TRACKED: Ownership = Ownership::Tracked { sent: None };

fn change(attempt: Attempt<'_>, proposal: &mut Proposal, current: Current) -> Result<Proposed> {
    let Attempt { cx, target, .. } = attempt;
    let (tree, ownership) = match proposal {
        Proposal::New(sent) | Proposal::Replacement(sent) => {
            let tree = sent.take(attempt)?;
            check_uid(target, Meta::of(&current.tree).uid(), &tree)?;
            (tree, TRACKED)
        }
        Proposal::Patch(patch) => {
            let mut tree = patch.apply(attempt, &current.tree)?;
            place::put_into_namespace(target, &mut tree)?;
            names::check_name(target, &tree)?;
            if let Some(warning) = owner_references::drop_repeated(&mut tree, true) {
                cx.warn(warning);
            }
            (tree, TRACKED)
        }
        Proposal::Configuration(configuration) => configuration.apply(attempt, Some(&current.tree))?,
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

/// A uid in a PUT is a precondition; that a patch cannot change it is a rule of metadata.
fn check_uid(target: &Target<'_>, have: &str, proposed: &Tree) -> Result<()> {
    let wanted = Meta::of(proposed).uid();
    if wanted.is_empty() || wanted == have {
        return Ok(());
    }
    let cause = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {have}");
    Err(ApiError::conflict(target.resource, &target.name, cause))
}
