//! Access control of HTTP requests: who makes a request, whether they may, and the answer where they may not.

use std::sync::Arc;

use arc_swap::ArcSwap;
use orch_audit::record::Record;
use orch_auth::{
    answer::Answer,
    authentication::Authentication,
    authenticator::{Authenticated, Credentials},
    authorization::Authorization,
    authorizer::{self, Attributes, Authorizer as _, Decision, ResourceTarget, selector::Requirement},
    user::UserInfo,
};
use orch_kinds::selectors;
use orch_registry::{
    context::Access,
    error::{ApiError, Forbidden, ResourceName, Result},
};

use crate::request::{RequestHead, info::Names, query::Query};

/// The authentication and authorization of a server.
pub struct AccessControl {
    /// Who makes a request; replaced when the files that it is read from have changed.
    pub authentication: Arc<ArcSwap<Authentication>>,
    /// Whether they may.
    pub authorization: Arc<Authorization>,
    /// Whether authorizers see the selectors of requests.
    pub shows_selectors: bool,
}

/// The selectors of a request about several objects.
#[derive(Default)]
struct Selectors {
    fields: Vec<Requirement>,
    labels: Vec<Requirement>,
}

/// Why a request is not answered.
pub enum Refused {
    /// The caller may not: the answer is this error, a 403.
    Forbidden(ApiError),
    /// An authorizer could not find out, and no other one knows.
    Undecided(String),
}

/// A caller and the names in their request: decides about verbs other than that of the request.
pub struct CallerAccess<'a> {
    authorization: &'a Authorization,
    user: &'a UserInfo,
    names: &'a Names<'a>,
}

impl Access for CallerAccess<'_> {
    fn may<'a>(&'a self, verb: &'a str) -> Answer<'a, Decision> {
        Answer::Later(Box::pin(async move {
            let target = authorizer::Target::Resource(resource_target(self.names));
            let attributes = Attributes { user: self.user, verb, target };
            self.authorization.authorize(&attributes).resolve().await
        }))
    }
}

impl AccessControl {
    /// Finds out who makes a request.
    ///
    /// # Errors
    /// 401 for missing or wrong credentials.
    pub async fn authenticate(&self, credentials: &Credentials<'_>) -> Result<Authenticated> {
        self.authentication.load_full().authenticate(credentials).resolve().await.map_err(|error| {
            tracing::debug!(%error, "not authenticated");
            ApiError::Unauthorized
        })
    }

    /// Checks one access.
    ///
    /// # Errors
    /// Where the caller may not, or nobody could find out.
    pub async fn authorize(
        &self,
        caller: &Authenticated,
        head: RequestHead<'_>,
    ) -> std::result::Result<(), Refused> {
        let (names, path) = (&head.info.names, head.parts.uri.path());
        let selectors = self.selectors(names, head.query);
        let Selectors { fields, labels } = &selectors;
        let target = if names.is_resource {
            authorizer::Target::Resource(ResourceTarget { fields, labels, ..resource_target(names) })
        } else {
            authorizer::Target::Path(path)
        };
        let attributes = Attributes { user: caller.user(), verb: &names.verb, target };
        let decision = self.authorization.authorize(&attributes).resolve().await;
        if let Some(record) = head.record {
            record_decision(record, &decision);
        }
        match decision {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny { .. } | Decision::NoOpinion { .. } => {
                Err(Refused::Forbidden(forbidden(caller, names, path, &decision)))
            }
            Decision::Failed { problem, .. } => Err(Refused::Undecided(problem)),
        }
    }

    fn selectors(&self, names: &Names<'_>, query: &Query) -> Selectors {
        if !self.shows_selectors || !names.is_resource {
            return Selectors::default();
        }
        if !matches!(names.verb.as_ref(), "list" | "watch" | "deletecollection") {
            return Selectors::default();
        }
        Selectors {
            fields: selectors::of_fields(query.text("fieldSelector")),
            labels: selectors::of_labels(query.text("labelSelector")),
        }
    }

    /// What else a caller may do to the target of their request.
    pub fn of_caller<'a>(&'a self, caller: &'a Authenticated, names: &'a Names<'a>) -> CallerAccess<'a> {
        CallerAccess { authorization: &self.authorization, user: caller.user(), names }
    }
}

fn resource_target<'a>(names: &'a Names<'_>) -> ResourceTarget<'a> {
    ResourceTarget {
        group: &names.group,
        version: &names.version,
        resource: &names.resource,
        subresource: &names.subresource,
        namespace: &names.namespace,
        name: &names.name,
        ..ResourceTarget::default()
    }
}

/// Records who decided about a request, and why.
fn record_decision(record: &Record, decision: &Decision) {
    const AREA: &str = "authorization";
    let (verdict, reason) = match decision {
        Decision::Allow { reason } => (Some("allow"), &**reason),
        Decision::Deny { reason } | Decision::NoOpinion { reason } => (Some("forbid"), &**reason),
        Decision::Failed { .. } => (None, "internal error"),
    };
    if let Some(verdict) = verdict {
        record.annotate(AREA, "decision", verdict);
    }
    record.annotate(AREA, "reason", reason);
}

/// The refusal of a caller, worded as by the reference, which escapes the message as for HTML.
fn forbidden(caller: &Authenticated, names: &Names<'_>, path: &str, decision: &Decision) -> ApiError {
    let user = &caller.user().name;
    let resource = ResourceName { group: names.group.to_string(), resource: names.resource.to_string() };
    let mut message = if names.is_resource {
        let subject = match names.name.as_ref() {
            "" => resource.qualified(),
            name => format!("{} \"{name}\"", resource.qualified()),
        };
        let what = match names.subresource.as_ref() {
            "" => names.resource.to_string(),
            subresource => format!("{}/{subresource}", names.resource),
        };
        let scope = match names.namespace.as_ref() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let (verb, group) = (&names.verb, &names.group);
        format!(
            "{subject} is forbidden: User \"{user}\" cannot {verb} resource \"{what}\" \
             in API group \"{group}\" {scope}"
        )
    } else {
        format!("forbidden: User \"{user}\" cannot {} path \"{path}\"", names.verb)
    };
    if !decision.reason().is_empty() {
        message = format!("{message}: {}", decision.reason());
    }
    let message = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    ApiError::Forbidden(Box::new(Forbidden { resource, name: names.name.to_string(), message, cause: None }))
}
