//! Access control of HTTP requests: authentication, impersonation, authorization, and refusals.

use std::{borrow::Cow, sync::Arc};

use arc_swap::ArcSwap;
use orch_audit::record::Record;
use orch_auth::{
    answer::Answer,
    authentication::Authentication,
    authenticator::{Authenticated, Credentials},
    authorization::Authorization,
    authorizer::{self, Attributes, Authorizer as _, Decision, ResourceTarget, selector::Requirement},
    impersonation::{self, Impersonation},
    user::UserInfo,
};
use orch_registry::{
    context::Access,
    error::{ApiError, Result},
    refusal::forbidden,
    requirements::{of_fields, of_labels},
};
use orch_runtime::vocabulary::Vocabulary;

use crate::request::{RequestHead, info::Names, query::Query};

/// The authentication and authorization of a server.
pub struct AccessControl {
    /// Replaced when the files that it is read from have changed.
    pub authentication: Arc<ArcSwap<Authentication>>,
    /// All authorizers.
    pub authorization: Arc<Authorization>,
    /// Whether authorizers see the selectors of requests.
    pub shows_selectors: bool,
    /// Names the API group of identities.
    pub vocabulary: &'static Vocabulary,
}

/// The selectors of a request about several objects.
#[derive(Default)]
struct Selectors {
    fields: Vec<Requirement>,
    labels: Vec<Requirement>,
}

/// Why a request is not answered.
pub enum Refused {
    /// An authorizer says that the caller may not: the answer is this error, a 403.
    Denied(ApiError),
    /// No authorizer says that the caller may: the same answer.
    NoOpinion(ApiError),
    /// An authorizer failed, and no other one decided.
    Undecided(String),
}

/// Why a request is not authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unauthenticated {
    /// Credentials are missing or wrong.
    BadCredentials,
    /// Whether the credentials are right could not be decided.
    Undecided,
}

impl From<Unauthenticated> for ApiError {
    /// The client is not told which.
    fn from(_: Unauthenticated) -> Self {
        ApiError::Unauthorized
    }
}

/// The outcome of another review of a caller who was allowed before.
pub enum Review<T> {
    /// They are allowed as before.
    Allowed(T),
    /// They are not allowed any more.
    Refused,
    /// It could not be decided.
    Undecided,
}

/// Why an impersonation is refused.
struct NotImpersonated {
    /// A 403.
    error: ApiError,
    /// Whether an authorizer decided so; otherwise one failed.
    is_certain: bool,
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
    /// Authenticates the caller of a request.
    ///
    /// # Errors
    /// Where it cannot be authenticated; the answer is 401.
    pub async fn authenticate(
        &self,
        credentials: &Credentials<'_>,
    ) -> std::result::Result<Authenticated, Unauthenticated> {
        self.authentication.load_full().authenticate(credentials).resolve().await.map_err(|error| {
            tracing::debug!(%error, "not authenticated");
            if error.is_credential() { Unauthenticated::BadCredentials } else { Unauthenticated::Undecided }
        })
    }

    /// Authenticates the caller of a request again that was allowed before.
    pub async fn identify(&self, credentials: &Credentials<'_>) -> Review<Authenticated> {
        match self.authentication.load_full().authenticate(credentials).resolve().await {
            Ok(caller) => Review::Allowed(caller),
            Err(error) if error.is_credential() => Review::Refused,
            Err(_) => Review::Undecided,
        }
    }

    /// Whether a request that was allowed before still is: to act as `wanted`, and then the request.
    pub async fn review(
        &self,
        mut caller: Authenticated,
        wanted: Option<Impersonation>,
        names: &Names<'_>,
        path: &str,
        query: &Query,
    ) -> Review<()> {
        if let Some(wanted) = wanted {
            match self.acting_as(&caller, wanted).await {
                Ok(other) => caller = other,
                Err(NotImpersonated { is_certain: true, .. }) => return Review::Refused,
                Err(NotImpersonated { is_certain: false, .. }) => return Review::Undecided,
            }
        }
        match self.may(&caller, names, path, query, None).await {
            Ok(()) => Review::Allowed(()),
            Err(Refused::Denied(_) | Refused::NoOpinion(_)) => Review::Refused,
            Err(Refused::Undecided(_)) => Review::Undecided,
        }
    }

    /// The user that the caller impersonates, where each part of it is allowed.
    ///
    /// # Errors
    /// 403 for the first part that the caller may not impersonate, or that could not be decided.
    pub async fn impersonate(&self, caller: &Authenticated, wanted: Impersonation) -> Result<Authenticated> {
        let caller_name = &caller.user().name;
        let other = self.acting_as(caller, wanted).await.map_err(|not| not.error)?;
        tracing::debug!(caller = caller_name, user = other.user().name, "impersonates");
        Ok(other)
    }

    /// The API group of identities.
    pub fn identity_group(&self) -> String {
        format!("authentication.{}", self.vocabulary.group_suffix)
    }

    async fn acting_as(
        &self,
        caller: &Authenticated,
        wanted: Impersonation,
    ) -> std::result::Result<Authenticated, NotImpersonated> {
        let group = self.identity_group();
        for target in wanted.targets(&group) {
            let target = authorizer::Target::Resource(target);
            let attributes = Attributes { user: caller.user(), verb: impersonation::VERB, target };
            let decision = self.authorization.authorize(&attributes).resolve().await;
            if !decision.is_allowed() {
                let is_certain = !matches!(decision, Decision::Failed { .. });
                return Err(NotImpersonated { error: forbidden(&attributes, &decision), is_certain });
            }
        }
        Ok(caller.acting_as(wanted.into_user()))
    }

    /// Checks one access, and records what was decided.
    ///
    /// # Errors
    /// Where the access is refused, or could not be decided.
    pub async fn authorize(
        &self,
        caller: &Authenticated,
        head: RequestHead<'_>,
    ) -> std::result::Result<(), Refused> {
        self.may(caller, &head.info.names, head.parts.uri.path(), head.query, head.record).await
    }

    async fn may(
        &self,
        caller: &Authenticated,
        names: &Names<'_>,
        path: &str,
        query: &Query,
        record: Option<&Arc<Record>>,
    ) -> std::result::Result<(), Refused> {
        let selectors = self.selectors(names, query);
        let Selectors { fields, labels } = &selectors;
        let target = if names.is_resource {
            authorizer::Target::Resource(ResourceTarget { fields, labels, ..resource_target(names) })
        } else {
            authorizer::Target::Path(path)
        };
        let attributes = Attributes { user: caller.user(), verb: &names.verb, target };
        let decision = self.authorization.authorize(&attributes).resolve().await;
        if let Some(record) = record {
            record_decision(record, &decision);
        }
        match decision {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny { .. } => Err(Refused::Denied(forbidden(&attributes, &decision))),
            Decision::NoOpinion { .. } => Err(Refused::NoOpinion(forbidden(&attributes, &decision))),
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
            fields: of_fields(query.text("fieldSelector")),
            labels: of_labels(query.text("labelSelector")),
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
    let (verdict, reason): (_, Cow<'static, str>) = match decision {
        Decision::Allow { reason } => (Some("allow"), reason.into()),
        Decision::Deny { reason } | Decision::NoOpinion { reason } => (Some("forbid"), reason.into()),
        Decision::Failed { .. } => (None, "internal error".into()),
    };
    if let Some(verdict) = verdict {
        record.annotate(AREA, "decision", verdict);
    }
    record.annotate(AREA, "reason", reason);
}
