//! The stage **mutate**: admission plugins change the object, or refuse the write.

use super::{attempt::Attempt, draft::Draft, own::tree_of, plugins};
use crate::{error::Result, meter::Step};

/// Lets plugins change the object.
///
/// # Errors
/// Of the plugin that refuses; 500 where the object has no structural form.
pub async fn mutate(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    if draft.old.is_none() && attempt.cx.core.admission().adds_items(attempt.target.resource.def) {
        draft.as_asked = Some(tree_of(attempt.target.resource, &*draft.object)?);
    }
    let mut request = plugins::request(attempt, draft);
    attempt.cx.core.admit(Step::Mutate, &mut request).await
}
