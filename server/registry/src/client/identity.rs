//! Whom a client acts as, and who decides what they may do.

use std::sync::Arc;

use orch_auth::{
    answer::Answer,
    authorizer::{self, Attributes, Authorizer, Decision, ResourceTarget, privileged_group::PrivilegedGroup},
    user::{GROUP_AUTHENTICATED, GROUP_MASTERS, UserInfo},
};
use orch_runtime::resource_def::Verb;

use crate::{
    context::{Access, Caller},
    error::{ApiError, Result},
    refusal::{forbidden, resource_target},
    request::Target,
};

/// The user that the server is to itself.
const SERVER: &str = "system:apiserver";

/// Whom a [`Client`](super::Client) acts as, and who decides what they may do.
#[derive(Clone)]
pub struct Identity {
    user: Arc<UserInfo>,
    authorizer: Arc<dyn Authorizer>,
}

/// What an identity may do to one target: it was asked about the verb of a request, and decides about others.
pub(super) struct Allowed<'a> {
    identity: &'a Identity,
    target: ResourceTarget<'a>,
}

impl Identity {
    /// The server itself. Like every member of `system:masters` it may do everything, whatever authorizers
    /// are configured.
    pub fn server() -> Self {
        let user = UserInfo::new(SERVER, [GROUP_MASTERS, GROUP_AUTHENTICATED]);
        Identity { user: Arc::new(user), authorizer: Arc::new(PrivilegedGroup) }
    }

    /// This user, who may do what this authorizer allows.
    pub fn new(user: UserInfo, authorizer: Arc<dyn Authorizer>) -> Self {
        Identity { user: Arc::new(user), authorizer }
    }

    /// Whether it is the server itself.
    pub(super) fn is_server(&self) -> bool {
        self.user.name == SERVER
    }

    /// Asks whether a request may be made, as it is asked for a request over the network.
    pub(super) async fn ask<'a>(&'a self, verb: Verb, target: &'a Target<'_>) -> Result<Allowed<'a>> {
        let allowed = Allowed { identity: self, target: resource_target(target) };
        self.check(verb.as_str(), allowed.target).await?;
        Ok(allowed)
    }

    pub(super) async fn check(&self, verb: &str, target: ResourceTarget<'_>) -> Result<()> {
        let attributes = self.attributes(verb, target);
        match self.authorizer.authorize(&attributes).resolve().await {
            Decision::Allow { .. } => Ok(()),
            decision @ (Decision::Deny { .. } | Decision::NoOpinion { .. }) => {
                Err(forbidden(&attributes, &decision))
            }
            Decision::Failed { problem, .. } => {
                Err(ApiError::internal("nobody could find out whether this is allowed", problem))
            }
        }
    }

    fn attributes<'a>(&'a self, verb: &'a str, target: ResourceTarget<'a>) -> Attributes<'a> {
        Attributes { user: &self.user, verb, target: authorizer::Target::Resource(target) }
    }
}

impl Allowed<'_> {
    pub(super) fn caller(&self) -> Caller<'_> {
        Caller { user: &self.identity.user, access: self }
    }
}

impl Access for Allowed<'_> {
    fn may<'a>(&'a self, verb: &'a str) -> Answer<'a, Decision> {
        Answer::Later(Box::pin(async move {
            let attributes = self.identity.attributes(verb, self.target);
            self.identity.authorizer.authorize(&attributes).resolve().await
        }))
    }
}
