//! The stage **mutate**: admission plugins change the object, or refuse the write. Then the kind completes a
//! new one.

use super::{attempt::Attempt, draft::Draft, own::tree_of, plugins, prepare::write_info};
use crate::{error::Result, meter::Step};

/// Lets plugins change the object, and the behaviour of its kind complete it.
///
/// # Errors
/// Of the plugin that refuses; 500 where the object has no structural form.
pub async fn mutate(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let resource = attempt.target.resource;
    let is_new = draft.old.is_none();
    let admission = attempt.cx.core.admission();
    let adds_items = || {
        admission.adds_items(resource.def)
            || resource.behaviour.adds_items(&*draft.object, &write_info(attempt))
    };
    if is_new && adds_items() {
        draft.before_additions = Some(tree_of(resource, &*draft.object)?);
    }
    let mut request = plugins::request(attempt, draft);
    attempt.cx.core.admit(Step::Mutate, &mut request).await?;
    if is_new {
        attempt.cx.warn_all(resource.behaviour.complete(&mut *draft.object, &write_info(attempt)));
    }
    Ok(())
}
