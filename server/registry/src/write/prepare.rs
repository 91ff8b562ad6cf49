//! The stage **prepare**: the tree becomes an object of its type, and the kind adjusts it.

use orch_machinery::{meta, tree::at};
use orch_runtime::{Tree, object::ApiObject, resource_def::FieldPath};

use super::{
    Attempt,
    draft::{Draft, Placed},
    own,
};
use crate::{
    behaviour::WriteInfo,
    catalog::ServedResource,
    context::RequestContext,
    error::{ApiError, Result},
};

/// Drops what is behind feature gates that are off, reads the tree as its type and lets the kind adjust it.
///
/// # Errors
/// 400 where the tree does not fit the type.
pub fn prepare<'w>(attempt: Attempt<'w>, mut placed: Placed<'w>) -> Result<Draft<'w>> {
    let resource = attempt.target.resource;
    let current = placed.proposed.current.as_ref().map(|current| &current.tree);
    let unset = match current {
        None => unset_fields_of_new(attempt, &placed.proposed.tree),
        Some(_) => own::unset_fields(attempt),
    };
    // Who owns what comes back at the end; no rule looks at it.
    let old = match current {
        Some(current) => Some(typed(resource, meta::without_managed_fields(current))?),
        None => None,
    };
    let mut tree = std::mem::take(&mut placed.proposed.tree);
    drop_gated(attempt.cx, resource, &mut tree, current);
    let mut object = typed(resource, tree)?;
    resource.behaviour.prepare(&mut *object, old.as_deref(), &write_info(attempt));
    Ok(Draft { object, old, placed, unset, conditions: Vec::new() })
}

/// Fields that nobody comes to own: what the server sets, and what it adds to the object because the client did not
/// send it.
fn unset_fields_of_new(attempt: Attempt<'_>, tree: &Tree) -> Vec<FieldPath> {
    let resource = attempt.target.resource;
    let mut unset = own::unset_fields(attempt);
    let by_plugins = attempt.cx.core.admission().added_fields(resource.def);
    let added = resource.behaviour.added_fields().iter().chain(by_plugins);
    unset.extend(added.filter(|path| at(tree, path).is_none()));
    unset
}

/// Drops what is behind feature gates that are off, unless the stored object uses it.
pub fn drop_gated(
    cx: &RequestContext<'_>,
    resource: &ServedResource,
    tree: &mut Tree,
    current: Option<&Tree>,
) {
    resource.gated_fields(cx.core.gates()).drop_from(tree, current, resource.def.type_def);
}

/// What the behaviour of a kind is told of a write.
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
    let def = resource.def;
    (def.from_tree)(tree).map_err(|error| {
        let message =
            format!("{0} in version \"{1}\" cannot be handled as a {0}: {error}", def.kind, def.version);
        ApiError::BadRequest(message)
    })
}
