//! The stage **encode**: makes the write for the store from the complete object, or the answer where there is
//! nothing to commit.

use std::borrow::Cow;

use orch_machinery::meta::Meta;
use orch_runtime::Tree;
use orch_storage::{Body, Change, Key, Write};

use super::{attempt::Attempt, draft::Owned};
use crate::{
    answer::{Answer, Outcome},
    catalog::ServedResource,
    conversion,
    error::{ApiError, ExistsDetail, ResourceName, Result},
    objects::{Current, key},
    stored,
};

/// What is left to do.
pub enum Encoded {
    /// Nothing: this is the answer.
    Answer(Answer),
    /// To commit a new object.
    New {
        /// The write.
        write: Write,
        /// Whether another name can be generated if this one is taken.
        is_generated: bool,
        /// See [`Placed`](super::draft::Placed).
        generate_name: String,
    },
    /// To commit a new state; the answer is the stored object.
    State(Write),
    /// To commit the removal of the object, because an update completes its deletion. Watchers see the last
    /// stored state; the client sees the result of its update.
    Removal {
        /// The write.
        write: Write,
        /// The answer.
        answer: Answer,
    },
}

/// Encodes the object. A dry run ends here; so does an update that changes nothing, unless the store would
/// keep the object otherwise by now.
///
/// # Errors
/// 409 where the name of a dry run is taken, 413 for an object that is too large, 500 for a new object with a
/// version.
pub fn encode(attempt: Attempt<'_>, owned: Owned) -> Result<Encoded> {
    match owned.current {
        None => encode_new(attempt, owned),
        Some(_) => encode_changed(attempt, owned),
    }
}

fn encode_new(attempt: Attempt<'_>, owned: Owned) -> Result<Encoded> {
    let Attempt { cx, target, options } = attempt;
    let Owned { tree, owners, may_shrink, generate_name, is_generated, sent_version, conditions, .. } = owned;
    let name = Meta::of(&tree).name();
    if options.dry_run {
        if let Some(existing) = cx.core.objects().lookup(target.resource, &target.namespace, name)? {
            let is_deleting = Meta::of(&existing.tree).deletion_timestamp().is_some();
            return Err(taken(target.resource, name, &generate_name, is_deleting));
        }
        let json = stored::transient(target.resource.def.type_def, &tree, owners.as_deref());
        return Ok(Encoded::Answer(Answer::Transient { json, outcome: Outcome::Created }));
    }
    if sent_version != 0 {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(ApiError::Unclassified(message.to_owned()));
    }
    let body = stored::encode_body(target.resource, &tree, owners.as_deref(), may_shrink)?;
    let change = Change::Create { key: key(target.resource, &target.namespace, name), body };
    Ok(Encoded::New { write: Write { change, conditions }, is_generated, generate_name })
}

fn encode_changed(attempt: Attempt<'_>, owned: Owned) -> Result<Encoded> {
    let Attempt { cx, target, options } = attempt;
    let Owned { tree, current, differs, may_shrink, conditions, .. } = owned;
    let resource = target.resource;
    let current = current.expect("a changed object has a current state");
    let meta = Meta::of(&tree);
    let completes_deletion = meta.deletion_timestamp().is_some()
        && meta.deletion_grace_period_seconds().unwrap_or(0) == 0
        && meta.finalizers().next().is_none()
        && resource.behaviour.may_be_removed(&*in_storage_version(resource, &tree)?);
    // A write that changes nothing is how objects get under another key, and into the version that is stored.
    let is_stale = cx.core.storage().is_stale(&current.object)
        || !stored::is_in_storage_version(resource, &current.object)?;
    if !completes_deletion && !differs && !is_stale {
        return Ok(Encoded::Answer(Answer::Object(current.object)));
    }
    let transient = || Answer::Transient {
        json: stored::transient(resource.def.type_def, &tree, None),
        outcome: Outcome::Done,
    };
    if options.dry_run {
        return Ok(Encoded::Answer(transient()));
    }
    let key = key(resource, &target.namespace, &target.name);
    if completes_deletion {
        let last = stored::tree_of(resource, &current.object)?;
        let body = stored::encode_body(resource, &last, None, true)?;
        let change = Change::Remove { key, expected: current.revision(), body };
        return Ok(Encoded::Removal { write: Write { change, conditions }, answer: transient() });
    }
    let body = stored::encode_body(resource, &tree, None, may_shrink)?;
    let change = replacement(&current, &tree, key, body);
    Ok(Encoded::State(Write { change, conditions }))
}

/// The object as behaviour sees it.
fn in_storage_version<'t>(resource: &ServedResource, tree: &'t Tree) -> Result<Cow<'t, Tree>> {
    if resource.storage_version().is_none() {
        return Ok(Cow::Borrowed(tree));
    }
    let converted = conversion::to_stored(resource, tree.clone());
    converted.map(Cow::Owned).map_err(|error| ApiError::internal("the object cannot be converted", error))
}

/// The change that replaces an object. An object that is being deleted and has fewer finalizers than before
/// is retired: that is allowed on a full disk.
pub fn replacement(current: &Current, tree: &Tree, key: Key, body: Body) -> Change {
    let expected = current.revision();
    let meta = Meta::of(tree);
    if meta.deletion_timestamp().is_some()
        && meta.finalizers().count() < Meta::of(&current.tree).finalizers().count()
    {
        Change::Retire { key, expected, body }
    } else {
        Change::Replace { key, expected, body }
    }
}

/// 409 for a name that is taken. The message mentions the generation of names wherever the client sent a
/// `generateName`, even beside a name.
pub fn taken(resource: &ServedResource, name: &str, generate_name: &str, deleting: bool) -> ApiError {
    let detail = ExistsDetail { generated: !generate_name.is_empty(), deleting };
    ApiError::AlreadyExists { resource: ResourceName::of(resource), name: name.to_owned(), detail }
}
