//! May they: what is asked of an authorizer, and what it answers.
//!
//! The combination of several authorizers is [`Authorization`](crate::authorization).

use std::borrow::Cow;

use crate::{answer::Answer, authorizer::rules::Rules, user::UserInfo};

pub mod always_allow;
pub mod always_deny;
pub mod privileged_group;
pub mod rules;

/// Decides about requests, or has no opinion.
pub trait Authorizer: Send + Sync {
    /// Decides about one request.
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision>;

    /// Lists what a user may do in a namespace, and outside of all. An authorizer that cannot list says so.
    fn rules<'a>(&'a self, _user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        Answer::Ready(Rules::unknown())
    }
}

/// What is to be decided: may this user do this to that?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes<'a> {
    /// Who asks.
    pub user: &'a UserInfo,
    /// `get`, `list`, `create` ...; the lower-case HTTP method when the target is a path.
    pub verb: &'a str,
    /// What it is done to.
    pub target: Target<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// An API resource.
    Resource(ResourceTarget<'a>),
    /// Any other path, such as `/healthz`.
    Path(&'a str),
}

/// A resource, or one object of it. What does not apply is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceTarget<'a> {
    /// Empty for the core group.
    pub group: &'a str,
    /// `v1` ...
    pub version: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// `status`, `scale` ...
    pub subresource: &'a str,
    /// Empty for cluster-scoped resources and for requests across namespaces.
    pub namespace: &'a str,
    /// Empty for requests about a collection.
    pub name: &'a str,
}

/// The answer of an authorizer. A reason may be empty; clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Final: yes.
    Allow {
        /// What grants it.
        reason: Cow<'static, str>,
    },
    /// Final: no.
    Deny {
        /// What forbids it.
        reason: Cow<'static, str>,
    },
    /// The next authorizer decides; if there is none, the request is forbidden.
    NoOpinion {
        /// Why this one does not grant it.
        reason: Cow<'static, str>,
    },
}

impl Decision {
    /// Whether the request may go on.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    /// The reason, whatever the decision.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow { reason } | Self::Deny { reason } | Self::NoOpinion { reason } => reason,
        }
    }
}
