//! POST to a collection.

use crate::{
    answer::Answer,
    context::RequestContext,
    error::Result,
    request::CreateRequest,
    write::{
        propose::{Proposal, Sent},
        write,
    },
};

/// Creates the object in the body.
///
/// # Errors
/// 400, 404 (namespace), 409 (the name is taken), 422, and errors of the store.
pub async fn create(cx: &RequestContext<'_>, request: CreateRequest<'_>) -> Result<Answer> {
    let CreateRequest { target, body, options } = request;
    let sent = Sent::body(cx, &target, body, options.field_validation)?;
    write(cx, &target, &mut Proposal::New(sent), &options).await
}
