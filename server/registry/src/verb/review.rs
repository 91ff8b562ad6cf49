//! POST of a kind that is a question: it is answered at once and never stored. A question in another version
//! is answered in the preferred one.

use orch_machinery::{
    managed_fields,
    meta::{self, MetaMut},
};
use orch_runtime::{Tree, field_error::Validation, object::ApiObject};

use crate::{
    answer::{Answer, Outcome},
    context::RequestContext,
    conversion,
    error::{ApiError, Result},
    operation::AnyReview,
    options::WriteOptions,
    request::{CreateRequest, Target},
    stored,
    write::{Attempt, body, own, place, prepare},
};

/// Answers the question in the body. A dry run is the same: nothing is ever changed.
///
/// # Errors
/// 400 and 422 for invalid questions, and the errors of the review.
pub async fn review(
    cx: &RequestContext<'_>,
    request: CreateRequest<'_>,
    review: &dyn AnyReview,
) -> Result<Answer> {
    let CreateRequest { target, body, options } = request;
    let resource = target.resource;
    let mut tree = body::decode(cx, &target, &body, options.field_validation)?;
    place::put_into_namespace(&target, &mut tree)?;
    place::forget_system_fields(&mut tree);
    prepare::drop_gated(cx, resource, &mut tree, None);
    let mut question = match resource.storage_version() {
        None => prepare::typed(resource, tree)?,
        Some(answered) => prepare::typed(answered, prepare::with_defaults_converted(resource, tree)?)?,
    };
    question.set_defaults();
    review.prepare(&mut *question)?;
    let mut violations = Validation::new(cx.core.vocabulary());
    question.validate(&mut violations);
    question.validate_expressions(None, &mut violations);
    if !violations.is_empty() {
        // As in the reference, the error has neither kind nor name.
        let (group, errors) = (resource.group.clone(), violations.into_errors());
        return Err(ApiError::Invalid { group, kind: String::new(), name: String::new(), errors });
    }
    let owners =
        if review.repeats_question() { owners(cx, &target, &options, &*question)? } else { Vec::new() };
    review.answer(cx, &mut *question).await?;
    let mut tree = tree_of(&target, &*question)?;
    if review.repeats_question() {
        MetaMut::of(&mut tree).set_managed_fields(owners);
    }
    let json = stored::transient(resource.def.type_def, &tree, None);
    Ok(Answer::Transient { json, outcome: Outcome::Created })
}

/// The managed fields of the question: the client owns all of it but the answer.
fn owners(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    options: &WriteOptions,
    question: &dyn ApiObject,
) -> Result<Vec<Tree>> {
    let mut tree = tree_of(target, question)?;
    let time = cx.core.now().to_string();
    let write = own::record(Attempt { cx, target, options }, &time, &[&["status"]]);
    let empty = own::empty_object(target.resource)?;
    managed_fields::track_create(&write, empty, &mut tree, target.resource.def.type_def);
    Ok(managed_fields::take_entries(&mut tree))
}

fn tree_of(target: &Target<'_>, question: &dyn ApiObject) -> Result<Tree> {
    let mut tree =
        question.to_tree().map_err(|error| ApiError::internal("the review cannot be written", error))?;
    match target.resource.storage_version() {
        None => meta::set_type(&mut tree, target.resource.def.kind, &target.resource.api_version),
        Some(answered) => {
            tree = conversion::convert(answered.def, target.resource, tree)
                .map_err(|error| ApiError::internal("the review cannot be converted", error))?;
        }
    }
    Ok(tree)
}
