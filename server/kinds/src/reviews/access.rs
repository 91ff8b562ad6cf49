//! Access reviews: may they?

use orch_api::authorization::v1::{
    LocalSubjectAccessReview, NonResourceAttributes, ResourceAttributes, SelfSubjectAccessReview,
    SubjectAccessReview, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use orch_auth::{
    authorizer::{Attributes, Authorizer, Decision, ResourceTarget, Target},
    user::UserInfo,
};
use orch_runtime::object::ApiObject;

use super::{Answering, Asked, Review};
use crate::{error::Result, registry::Call};

pub(super) struct Subject;
pub(super) struct LocalSubject;
pub(super) struct SelfSubject;

impl Review for Subject {
    fn answer<'a>(&'a self, asked: Asked<'a>) -> Answering<'a> {
        Box::pin(async move {
            if let Some(review) = asked.question.as_any_mut().downcast_mut::<SubjectAccessReview>() {
                review.status = about_anybody(asked.call, &review.spec).await;
            }
            Ok(())
        })
    }
}

impl Review for LocalSubject {
    /// The namespace is that of the request unless the client names one.
    fn prepare(&self, question: &mut dyn ApiObject) -> Result<()> {
        if let Some(review) = question.as_any_mut().downcast_mut::<LocalSubjectAccessReview>()
            && let Some(resource) = &mut review.spec.resource_attributes
            && resource.namespace.is_empty()
        {
            resource.namespace.clone_from(&review.metadata.namespace);
        }
        Ok(())
    }

    fn answer<'a>(&'a self, asked: Asked<'a>) -> Answering<'a> {
        Box::pin(async move {
            if let Some(review) = asked.question.as_any_mut().downcast_mut::<LocalSubjectAccessReview>() {
                review.status = about_anybody(asked.call, &review.spec).await;
            }
            Ok(())
        })
    }
}

impl Review for SelfSubject {
    fn answer<'a>(&'a self, asked: Asked<'a>) -> Answering<'a> {
        Box::pin(async move {
            if let Some(review) = asked.question.as_any_mut().downcast_mut::<SelfSubjectAccessReview>() {
                let spec = &review.spec;
                let (resource, other) = (&spec.resource_attributes, &spec.non_resource_attributes);
                review.status = decide(asked.call, asked.user, resource.as_ref(), other.as_ref()).await;
            }
            Ok(())
        })
    }
}

async fn about_anybody(call: Call<'_>, spec: &SubjectAccessReviewSpec) -> SubjectAccessReviewStatus {
    let user = UserInfo {
        name: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: spec.extra.clone(),
    };
    decide(call, &user, spec.resource_attributes.as_ref(), spec.non_resource_attributes.as_ref()).await
}

/// Asks the authorizers as a request would. Exactly one of the two is given: the question is valid.
async fn decide(
    call: Call<'_>,
    user: &UserInfo,
    resource: Option<&ResourceAttributes>,
    other: Option<&NonResourceAttributes>,
) -> SubjectAccessReviewStatus {
    let (verb, target) = match (resource, other) {
        (Some(resource), _) => (resource.verb.as_str(), Target::Resource(resource_target(resource))),
        (None, Some(other)) => (other.verb.as_str(), Target::Path(&other.path)),
        (None, None) => return SubjectAccessReviewStatus::default(),
    };
    let attributes = Attributes { user, verb, target };
    let decision = call.app.authorization.authorize(&attributes).resolve().await;
    SubjectAccessReviewStatus {
        allowed: decision.is_allowed(),
        denied: matches!(decision, Decision::Deny { .. }),
        reason: decision.reason().to_owned(),
        evaluation_error: String::new(),
    }
}

fn resource_target(resource: &ResourceAttributes) -> ResourceTarget<'_> {
    ResourceTarget {
        group: &resource.group,
        version: &resource.version,
        resource: &resource.resource,
        subresource: &resource.subresource,
        namespace: &resource.namespace,
        name: &resource.name,
    }
}
