//! The result of authentication: the caller, and how it was identified.

use std::sync::Arc;

use crate::user::UserInfo;

/// A caller whose credential was accepted. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    user: Arc<UserInfo>,
    method: &'static str,
    /// Behind a pointer, because each request carries a caller from layer to layer.
    notes: Option<Arc<Notes>>,
}

/// What is known of the credential.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Notes {
    audiences: Vec<String>,
    stale_for: Option<i64>,
}

/// The method of requests without a credential.
const ANONYMOUS: &str = "anonymous";

impl Authenticated {
    /// The caller without a credential.
    pub fn anonymous() -> Self {
        Self::new(UserInfo::anonymous(), ANONYMOUS)
    }

    /// `method` names the authentication method in audit records and metrics. The user becomes a member of
    /// `system:authenticated`.
    pub fn new(user: UserInfo, method: &'static str) -> Self {
        Self { user: Arc::new(user.authenticated()), method, notes: None }
    }

    /// The same caller, with the audiences that the credential is valid for.
    #[must_use]
    pub fn with_audiences(self, audiences: Vec<String>) -> Self {
        Self { notes: Some(Arc::new(Notes { audiences, ..self.notes() })), ..self }
    }

    /// The same caller, whose credential should have been replaced by a newer one so many seconds ago.
    #[must_use]
    pub fn with_stale(self, seconds: i64) -> Self {
        Self { notes: Some(Arc::new(Notes { stale_for: Some(seconds), ..self.notes() })), ..self }
    }

    /// For how many seconds the credential should have been replaced by a newer one.
    pub fn stale_for(&self) -> Option<i64> {
        self.notes.as_ref()?.stale_for
    }

    /// The caller as `user`, by the same credential.
    #[must_use]
    pub fn acting_as(&self, user: UserInfo) -> Self {
        Self::new(user, self.method)
    }

    /// Whether the request has no credential.
    pub fn is_anonymous(&self) -> bool {
        self.method == ANONYMOUS
    }

    /// Those of the audiences it was presented to for which the credential is valid. Empty if the credential
    /// does not name audiences; it is then valid for this server.
    pub fn audiences(&self) -> &[String] {
        self.notes.as_ref().map_or(&[], |notes| &notes.audiences)
    }

    fn notes(&self) -> Notes {
        self.notes.as_deref().cloned().unwrap_or_default()
    }

    /// The user.
    pub fn user(&self) -> &Arc<UserInfo> {
        &self.user
    }

    /// The authentication method that accepted the credential.
    pub fn method(&self) -> &'static str {
        self.method
    }
}
