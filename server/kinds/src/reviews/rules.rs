//! The review of the caller's own rules.

use orch_api::authorization::v1::{
    NonResourceRule, ResourceRule, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec,
    SubjectRulesReviewStatus,
};
use orch_auth::authorizer::{Authorizer, rules};
use orch_runtime::object::ApiObject;

use super::{Answering, Asked, Review};
use crate::error::{ApiError, Result};

pub(super) struct SelfRules;

impl Review for SelfRules {
    fn prepare(&self, question: &mut dyn ApiObject) -> Result<()> {
        match question.as_any_mut().downcast_mut::<SelfSubjectRulesReview>() {
            Some(review) if review.spec.namespace.is_empty() => {
                Err(ApiError::BadRequest("no namespace on request".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn repeats_question(&self) -> bool {
        false
    }

    fn answer<'a>(&'a self, asked: Asked<'a>) -> Answering<'a> {
        Box::pin(async move {
            if let Some(review) = asked.question.as_any_mut().downcast_mut::<SelfSubjectRulesReview>() {
                let rules =
                    asked.call.app.authorization.rules(asked.user, &review.spec.namespace).resolve().await;
                // The answer is all that clients get to see.
                let (spec, status) = (SelfSubjectRulesReviewSpec::default(), status(rules));
                *review = SelfSubjectRulesReview { spec, status, ..SelfSubjectRulesReview::default() };
            }
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
