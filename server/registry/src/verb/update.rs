//! PUT of an item.

use crate::{
    answer::Answer,
    context::RequestContext,
    error::Result,
    request::UpdateRequest,
    write::{
        names, place,
        propose::{Proposal, Sent},
        write,
    },
};

/// Replaces the object by the one in the body; creates it where the kind allows that.
///
/// # Errors
/// 400, 404, 409 (outdated version or another uid), 422, and errors of the store.
pub async fn update(cx: &RequestContext<'_>, request: UpdateRequest<'_>) -> Result<Answer> {
    let UpdateRequest { target, body, options } = request;
    let mut sent = Sent::body(cx, &target, body, options.field_validation)?;
    if let Some(tree) = sent.decoded() {
        place::put_into_namespace(&target, tree)?;
        names::check_name(&target, tree)?;
    }
    write(cx, &target, &mut Proposal::Replacement(sent), &options).await
}
