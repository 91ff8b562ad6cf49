//! The stage **prepare**: the tree becomes an object of its type, and the kind adjusts it.

use orch_machinery::{meta, tree::at};
use orch_runtime::{
    Tree,
    object::ApiObject,
    resource_def::{FieldPath, ResourceDef},
};

use super::{
    attempt::Attempt,
    draft::{Draft, Placed},
    own,
};
use crate::{
    behaviour::WriteInfo,
    catalog::ServedResource,
    context::RequestContext,
    conversion,
    error::{ApiError, Result},
    stored,
};

/// Drops fields whose feature gates are off, reads the tree as its type, in the version of `ruled`, and lets
/// the kind's behaviour adjust it.
///
/// # Errors
/// 400 where the tree does not fit the type.
pub fn prepare<'w>(attempt: Attempt<'w>, ruled: Attempt<'_>, mut placed: Placed<'w>) -> Result<Draft<'w>> {
    let resource = attempt.target.resource;
    let current = placed.proposed.current.as_ref().map(|current| &current.tree);
    let unowned = match current {
        None => unowned_fields_of_new(attempt, &placed.proposed.tree),
        Some(current) => unowned_fields_of_changed(attempt, current, &placed.proposed.tree),
    };
    let in_storage_version = resource.storage_version().is_some();
    let converted = match &placed.proposed.current {
        Some(current) if in_storage_version => Some(stored::tree_of(ruled.target.resource, &current.object)?),
        _ => None,
    };
    // Managed fields are added in the stage **own**; no rule before it needs them.
    let old = match converted.as_ref().or(current) {
        Some(current) => Some(typed(ruled.target.resource, meta::without_managed_fields(current))?),
        None => None,
    };
    let mut tree = std::mem::take(&mut placed.proposed.tree);
    drop_gated(attempt.cx, resource, &mut tree, current);
    let overruled = current.map(|current| resource.behaviour.overruled(&tree, current)).unwrap_or_default();
    if in_storage_version {
        tree = with_defaults_converted(resource, tree)?;
        drop_gated(attempt.cx, ruled.target.resource, &mut tree, converted.as_ref());
    }
    let mut object = typed(ruled.target.resource, tree)?;
    resource.behaviour.prepare(&mut *object, old.as_deref(), &write_info(attempt));
    Ok(Draft { object, old, placed, unowned, before_additions: None, overruled, conditions: Vec::new() })
}

/// An object in the stored version. What the client leaves out gets the defaults of its own version before.
///
/// # Errors
/// 400 where it does not fit the type.
pub fn with_defaults_converted(resource: &ServedResource, tree: Tree) -> Result<Tree> {
    let mut object = typed(resource, tree)?;
    object.set_defaults();
    let converted = object.to_tree().and_then(|tree| conversion::to_stored(resource, tree));
    converted.map_err(|error| cannot_be_handled(resource.def, &error))
}

/// Fields of a new object that no manager owns: those that the server sets, and those that it adds because
/// the client did not send them.
fn unowned_fields_of_new(attempt: Attempt<'_>, tree: &Tree) -> Vec<FieldPath> {
    let resource = attempt.target.resource;
    let mut unowned = own::unowned_fields(attempt);
    let by_plugins = attempt.cx.core.admission().added_fields(resource.def);
    let added = resource.behaviour.added_fields().iter().chain(by_plugins);
    // An empty list is not sent, as in the reference.
    unowned.extend(
        added.filter(|path| at(tree, path).is_none_or(|sent| sent.as_array().is_some_and(Vec::is_empty))),
    );
    unowned
}

/// Fields of a changed object that no manager owns by this write. A field that the server sets is owned by
/// the client that sends another value than it has.
fn unowned_fields_of_changed(attempt: Attempt<'_>, current: &Tree, tree: &Tree) -> Vec<FieldPath> {
    let set = attempt.target.resource.behaviour.server_fields(attempt.target.subresource_name());
    let is_sent = |path: &FieldPath| at(tree, path).is_some_and(|sent| at(current, path) != Some(sent));
    let unowned = set.iter().copied().filter(|path| !is_sent(path));
    unowned.chain(own::reset_fields(attempt)).collect()
}

/// Drops fields whose feature gates are off, unless the stored object has them.
pub fn drop_gated(
    cx: &RequestContext<'_>,
    resource: &ServedResource,
    tree: &mut Tree,
    current: Option<&Tree>,
) {
    let gated = resource.gated_fields(cx.core.gates());
    resource.behaviour.drop_gated(tree, current, gated, resource.def.type_def);
}

/// What the behaviour of a kind gets to know about a write.
pub fn write_info(attempt: Attempt<'_>) -> WriteInfo<'_> {
    WriteInfo {
        vocabulary: attempt.cx.core.vocabulary(),
        subresource: attempt.target.subresource_name(),
        now: attempt.cx.core.now(),
    }
}

/// A tree as an object of its kind.
///
/// # Errors
/// 400 where it does not fit the type.
pub fn typed(resource: &ServedResource, tree: Tree) -> Result<Box<dyn ApiObject>> {
    (resource.def.from_tree)(tree).map_err(|error| cannot_be_handled(resource.def, &error))
}

fn cannot_be_handled(def: &ResourceDef, error: &serde_json::Error) -> ApiError {
    let message =
        format!("{0} in version \"{1}\" cannot be handled as a {0}: {error}", def.kind, def.version);
    ApiError::BadRequest(message)
}
