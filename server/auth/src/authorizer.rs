//! Authorizers: the trait, what it is asked, and what it answers.
//!
//! [`Authorization`](crate::authorization) combines several authorizers.

use std::sync::Arc;

use crate::{
    answer::Answer,
    authorizer::{reason::Reason, rules::Rules, selector::Requirement},
    user::UserInfo,
};

pub mod always_allow;
pub mod always_deny;
pub mod counted;
pub mod privileged_group;
pub mod reason;
pub mod replaceable;
pub mod rules;
pub mod selector;

/// Decides about requests, or has no opinion.
pub trait Authorizer: Send + Sync {
    /// Decides about one request.
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision>;

    /// Lists what a user may do in a namespace, and with cluster-scoped resources and paths. An authorizer
    /// that cannot list returns [`Rules::unknown`].
    fn rules<'a>(&'a self, _user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        Answer::Ready(Rules::unknown())
    }
}

/// What is to be decided: whether the user may use the verb on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes<'a> {
    /// The caller.
    pub user: &'a UserInfo,
    /// `get`, `list`, `create` ...; for a path, the HTTP method in lower case.
    pub verb: &'a str,
    /// The resource or path.
    pub target: Target<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// An API resource.
    Resource(ResourceTarget<'a>),
    /// Another path, such as `/healthz`.
    Path(&'a str),
}

/// A resource, or one object of it. Parts that do not apply are empty.
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
    /// What the fields of the objects must be; empty where nothing is asked of them.
    pub fields: &'a [Requirement],
    /// What the labels of the objects must be; empty where nothing is asked of them.
    pub labels: &'a [Requirement],
}

/// The answer of an authorizer. The reason may be empty; clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Allowed. No other authorizer is asked.
    Allow {
        /// Why it is allowed.
        reason: Reason,
    },
    /// Denied. No other authorizer is asked.
    Deny {
        /// Why it is denied.
        reason: Reason,
    },
    /// The next authorizer decides; if there is none, the request is forbidden.
    NoOpinion {
        /// Why this authorizer does not allow it.
        reason: Reason,
    },
    /// The authorizer could not find out. The next one decides; if there is none, the request fails.
    Failed {
        /// Why this authorizer and those before it do not allow it.
        reason: Reason,
        /// What went wrong; clients see it.
        problem: String,
    },
}

impl<T: Authorizer + ?Sized> Authorizer for Arc<T> {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        (**self).authorize(attributes)
    }

    fn rules<'a>(&'a self, user: &'a UserInfo, namespace: &'a str) -> Answer<'a, Rules> {
        (**self).rules(user, namespace)
    }
}

impl Decision {
    /// Whether the request is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    /// The reason, whatever the decision.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow { reason }
            | Self::Deny { reason }
            | Self::NoOpinion { reason }
            | Self::Failed { reason, .. } => reason,
        }
    }
}
