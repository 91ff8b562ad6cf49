//! The stage **mutate**: admission plugins change the object, or refuse the write.

use super::{attempt::Attempt, draft::Draft, plugins};
use crate::{error::Result, meter::Step};

/// Lets plugins change the object.
///
/// # Errors
/// Of the plugin that refuses.
pub async fn mutate(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let mut request = plugins::request(attempt, draft);
    attempt.cx.core.admit(Step::Mutate, &mut request).await
}
