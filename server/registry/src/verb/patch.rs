//! PATCH of an item.

use orch_machinery::media_type::PatchKind;

use crate::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    request::PatchRequest,
    write::{configuration::Configuration, patch::Patch, propose::Proposal, write},
};

/// Patches the object; an apply creates it where there is none.
///
/// # Errors
/// 400 and 422 for patches that cannot be read or applied, and those of an update.
pub async fn patch(cx: &RequestContext<'_>, request: PatchRequest<'_>) -> Result<Answer> {
    let PatchRequest { target, kind, syntax, bytes, force, options } = request;
    let mut proposal = match kind {
        PatchKind::Apply => Proposal::Configuration(Configuration::read(cx, &target, syntax, &bytes, force)?),
        PatchKind::Merge | PatchKind::Strategic | PatchKind::Json => {
            // A missing object is reported before errors in the patch.
            if cx.core.objects().is_absent(target.resource, &target.namespace, &target.name) {
                return Err(ApiError::not_found(target.resource, &target.name));
            }
            let mut patch = Patch::read(kind, &bytes, options.field_validation)?;
            if let Some(spelling) = cx.spelling() {
                patch.respell(spelling);
            }
            Proposal::Patch(patch)
        }
    };
    write(cx, &target, &mut proposal, &options).await
}
