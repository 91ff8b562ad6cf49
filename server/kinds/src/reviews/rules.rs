//! The review of the caller's own rules: all that they may do in a namespace.

use futures_util::future::BoxFuture;
use orch_api::authorization::v1::{
    NonResourceRule, ResourceRule, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec,
    SubjectRulesReviewStatus,
};
use orch_auth::authorizer::{Authorizer, rules};
use orch_registry::{
    context::RequestContext,
    error::{ApiError, Result},
    operation::Review,
};

use super::Access;

impl Review<SelfSubjectRulesReview> for Access {
    fn prepare(&self, question: &mut SelfSubjectRulesReview) -> Result<()> {
        if question.spec.namespace.is_empty() {
            return Err(ApiError::BadRequest("no namespace on request".to_owned()));
        }
        Ok(())
    }

    fn repeats_question(&self) -> bool {
        false
    }

    fn may_be_long(&self) -> bool {
        true
    }

    fn answer<'a>(
        &'a self,
        cx: &'a RequestContext<'a>,
        question: &'a mut SelfSubjectRulesReview,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let rules = self.authorization.rules(cx.caller.user, &question.spec.namespace).resolve().await;
            let (spec, status) = (SelfSubjectRulesReviewSpec::default(), status(rules));
            *question = SelfSubjectRulesReview { spec, status, ..SelfSubjectRulesReview::default() };
            Ok(())
        })
    }
}

fn status(rules: rules::Rules) -> SubjectRulesReviewStatus {
    let resource_rule = |rule: rules::ResourceRule| ResourceRule {
        verbs: rule.verbs,
        api_groups: rule.groups,
        resources: rule.resources,
        resource_names: rule.names,
    };
    let path_rule =
        |rule: rules::PathRule| NonResourceRule { verbs: rule.verbs, non_resource_urls: rule.paths };
    SubjectRulesReviewStatus {
        resource_rules: rules.resource.into_iter().map(resource_rule).collect(),
        non_resource_rules: rules.path.into_iter().map(path_rule).collect(),
        incomplete: !rules.problems.is_empty(),
        evaluation_error: rules.problems.join(", "),
    }
}
