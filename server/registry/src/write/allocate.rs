//! The stage **allocate**: the object gets what only the server can choose, such as a free address. It comes
//! before the rules, as in the reference: what cannot be allocated is told alone.
//!
//! Nothing is reserved. Each new claim is a condition of the commit: where another write claims the value
//! first, this one runs again.

use std::collections::HashSet;

use orch_runtime::field_error::Validation;
use orch_storage::Condition;

use super::{attempt::Attempt, draft::Draft, own::tree_of};
use crate::{
    claims::{Claim, Claimed, Unallocated},
    error::{ApiError, Result},
};

/// Lets the kind's behaviour fill in what it chooses, and makes the new claims conditions of the commit.
///
/// # Errors
/// 422 where the value that the client asks for cannot be given; others where no value is left.
pub fn allocate(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let resource = attempt.target.resource;
    let behaviour = &*resource.behaviour;
    // A write of a sub-resource leaves alone what is claimed.
    if behaviour.claim_sorts() == 0 || attempt.target.subresource.is_some() {
        return Ok(());
    }
    if draft.before_additions.is_none() {
        draft.before_additions = Some(tree_of(resource, &*draft.object)?);
    }
    let snapshot = attempt.cx.core.objects().snapshot(resource);
    let claimed = Claimed::new(&snapshot, &attempt.target.namespace, &draft.placed.name);
    let mut violations = Validation::new(attempt.cx.core.vocabulary());
    let allocated = behaviour.allocate(&mut *draft.object, draft.old.as_deref(), &claimed, &mut violations);
    allocated.map_err(|unallocated| match unallocated {
        Unallocated::Contradiction(message) => ApiError::Unclassified(message),
        Unallocated::Failed(public) => ApiError::internal(public, "nothing could be allocated"),
    })?;
    if !violations.is_empty() {
        return Err(ApiError::invalid(resource, &draft.placed.name, violations.into_errors()));
    }
    let had: HashSet<Claim> = draft.old.iter().flat_map(|old| behaviour.claims(&**old)).collect();
    let new = behaviour.claims(&*draft.object).into_iter().filter(|claim| !had.contains(claim));
    draft.conditions.extend(new.map(|claim| Condition::Unclaimed { term: claim.term() }));
    Ok(())
}
