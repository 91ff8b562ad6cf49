//! Access reviews: whether a user may do something.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use orch_api::authorization::v1::{
    LocalSubjectAccessReview, NonResourceAttributes, ResourceAttributes, SelfSubjectAccessReview,
    SubjectAccessReview, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use orch_auth::{
    authorization::Authorization,
    authorizer::{Attributes, Authorizer, Decision, ResourceTarget, Target},
    user::UserInfo,
};
use orch_registry::{
    context::RequestContext,
    error::{ApiError, Result},
    operation::Review,
};

use crate::selectors;

/// Answers questions about access with the decisions that the authorizers would make.
#[derive(Clone)]
pub(crate) struct Access {
    pub(super) authorization: Arc<Authorization>,
}

impl Access {
    pub(crate) fn new(authorization: Arc<Authorization>) -> Self {
        Access { authorization }
    }

    async fn of_subject(&self, spec: &SubjectAccessReviewSpec) -> SubjectAccessReviewStatus {
        let user = UserInfo {
            name: spec.user.clone(),
            uid: spec.uid.clone(),
            groups: spec.groups.clone(),
            extra: spec.extra.clone(),
        };
        self.of_user(&user, spec.resource_attributes.as_ref(), spec.non_resource_attributes.as_ref()).await
    }

    /// Exactly one of `resource` and `path` is set: the question is valid.
    async fn of_user(
        &self,
        user: &UserInfo,
        resource: Option<&ResourceAttributes>,
        path: Option<&NonResourceAttributes>,
    ) -> SubjectAccessReviewStatus {
        let fields = selectors::of_field_attributes(resource.and_then(|it| it.field_selector.as_ref()));
        let labels = selectors::of_label_attributes(resource.and_then(|it| it.label_selector.as_ref()));
        let (verb, target) = match (resource, path) {
            (Some(resource), _) => {
                let target = ResourceTarget { fields: &fields, labels: &labels, ..resource_target(resource) };
                (resource.verb.as_str(), Target::Resource(target))
            }
            (None, Some(path)) => (path.verb.as_str(), Target::Path(&path.path)),
            (None, None) => return SubjectAccessReviewStatus::default(),
        };
        let attributes = Attributes { user, verb, target };
        let decision = self.authorization.authorize(&attributes).resolve().await;
        SubjectAccessReviewStatus {
            allowed: decision.is_allowed(),
            denied: matches!(decision, Decision::Deny { .. }),
            reason: decision.reason().to_owned(),
            evaluation_error: match decision {
                Decision::Failed { problem, .. } => problem,
                _ => String::new(),
            },
        }
    }
}

impl Review<SubjectAccessReview> for Access {
    fn prepare(&self, question: &mut SubjectAccessReview) -> Result<()> {
        check_selectors(question.spec.resource_attributes.as_ref())
    }

    fn answer<'a>(
        &'a self,
        _cx: &'a RequestContext<'a>,
        question: &'a mut SubjectAccessReview,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            question.status = self.of_subject(&question.spec).await;
            Ok(())
        })
    }
}

impl Review<LocalSubjectAccessReview> for Access {
    /// The namespace is that of the request unless the client names one.
    fn prepare(&self, question: &mut LocalSubjectAccessReview) -> Result<()> {
        if let Some(resource) = &mut question.spec.resource_attributes
            && resource.namespace.is_empty()
        {
            resource.namespace.clone_from(&question.metadata.namespace);
        }
        check_selectors(question.spec.resource_attributes.as_ref())
    }

    fn answer<'a>(
        &'a self,
        _cx: &'a RequestContext<'a>,
        question: &'a mut LocalSubjectAccessReview,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            question.status = self.of_subject(&question.spec).await;
            Ok(())
        })
    }
}

impl Review<SelfSubjectAccessReview> for Access {
    fn prepare(&self, question: &mut SelfSubjectAccessReview) -> Result<()> {
        check_selectors(question.spec.resource_attributes.as_ref())
    }

    fn answer<'a>(
        &'a self,
        cx: &'a RequestContext<'a>,
        question: &'a mut SelfSubjectAccessReview,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let spec = &question.spec;
            let (resource, path) = (&spec.resource_attributes, &spec.non_resource_attributes);
            question.status = self.of_user(cx.caller.user, resource.as_ref(), path.as_ref()).await;
            Ok(())
        })
    }
}

fn resource_target(resource: &ResourceAttributes) -> ResourceTarget<'_> {
    ResourceTarget {
        group: &resource.group,
        // As the reference asks for every version.
        version: if resource.version.is_empty() { "*" } else { &resource.version },
        resource: &resource.resource,
        subresource: &resource.subresource,
        namespace: &resource.namespace,
        name: &resource.name,
        ..ResourceTarget::default()
    }
}

/// A selector is a text or a list of requirements. With neither it is unlimited.
fn check_selectors(resource: Option<&ResourceAttributes>) -> Result<()> {
    let Some(resource) = resource else { return Ok(()) };
    let fields = resource.field_selector.as_ref();
    let fields = fields.map(|it| ("fieldSelector", &it.raw_selector, it.requirements.is_empty()));
    let labels = resource.label_selector.as_ref();
    let labels = labels.map(|it| ("labelSelector", &it.raw_selector, it.requirements.is_empty()));
    for (field, text, is_text_alone) in fields.into_iter().chain(labels) {
        if !text.is_empty() && !is_text_alone {
            return Err(ApiError::BadRequest(format!(
                "spec.resourceAttributes.{field}.rawSelector: may not specified at the same time as \
                 requirements"
            )));
        }
    }
    Ok(())
}
