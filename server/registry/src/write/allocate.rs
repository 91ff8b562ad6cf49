//! The stage **allocate**: a valid object gets what only the server can choose, such as a free address.
//!
//! Nothing is reserved. Each new claim is a condition of the commit: where another write claims the value
//! first, this one runs again.

use std::collections::HashSet;

use orch_storage::Condition;

use super::{attempt::Attempt, draft::Draft, validate::refuse_violations};
use crate::{
    claims::{Claim, Claimed},
    error::Result,
};

/// Lets the kind's behaviour fill in what it chooses, and makes the new claims conditions of the commit.
///
/// # Errors
/// 422 where no value is left, or where the value that the client asks for is taken.
pub fn allocate(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let resource = attempt.target.resource;
    let behaviour = &*resource.behaviour;
    if behaviour.claim_sorts() == 0 {
        return Ok(());
    }
    let snapshot = attempt.cx.core.objects().snapshot(resource);
    let claimed = Claimed::new(&snapshot, &attempt.target.namespace, &draft.placed.name);
    let violations = &mut draft.placed.violations;
    behaviour.allocate(&mut *draft.object, draft.old.as_deref(), &claimed, violations);
    refuse_violations(attempt, draft)?;
    let had: HashSet<Claim> = draft.old.iter().flat_map(|old| behaviour.claims(&**old)).collect();
    let new = behaviour.claims(&*draft.object).into_iter().filter(|claim| !had.contains(claim));
    draft.conditions.extend(new.map(|claim| Condition::Unclaimed { term: claim.term() }));
    Ok(())
}
