//! Access where several servers share one store: a caller who is refused here may be allowed by a token, an
//! account or a right that another server has written and acknowledged already. So before it refuses, this
//! server reads what was written until now, and decides again.
//!
//! What was revoked elsewhere is not looked up: that would cost each request a call to etcd. It is revoked
//! here when the watch of etcd brings it.

use std::time::Duration;

use orch_auth::{
    authenticator::{Authenticated, Credentials},
    impersonation::Impersonation,
};
use orch_registry::error::ApiError;
use orch_storage::{Revision, Storage};

use crate::{
    access::{Refused, Unauthenticated},
    app::App,
    request::RequestHead,
};

/// How long a refusal waits for what others have written.
const PATIENCE: Duration = Duration::from_secs(2);

/// Authenticates the caller.
///
/// # Errors
/// As [`AccessControl::authenticate`](crate::access::AccessControl::authenticate).
pub async fn authenticate(
    app: &App,
    credentials: &Credentials<'_>,
) -> Result<Authenticated, Unauthenticated> {
    let seen = Seen::now(app.core.storage());
    match app.access.authenticate(credentials).await {
        Err(Unauthenticated::BadCredentials) if Box::pin(seen.is_outdated()).await => {
            app.access.authenticate(credentials).await
        }
        judged => judged,
    }
}

/// The user that the caller impersonates.
///
/// # Errors
/// As [`AccessControl::impersonate`](crate::access::AccessControl::impersonate).
pub async fn impersonate(
    app: &App,
    caller: &Authenticated,
    wanted: Impersonation,
) -> Result<Authenticated, ApiError> {
    let seen = Seen::now(app.core.storage());
    match app.access.impersonate(caller, wanted.clone()).await {
        Err(_) if Box::pin(seen.is_outdated()).await => app.access.impersonate(caller, wanted).await,
        judged => judged,
    }
}

/// Checks one access.
///
/// # Errors
/// As [`AccessControl::authorize`](crate::access::AccessControl::authorize).
pub async fn authorize(app: &App, caller: &Authenticated, head: RequestHead<'_>) -> Result<(), Refused> {
    let seen = Seen::now(app.core.storage());
    match app.access.authorize(caller, head).await {
        Err(Refused::Denied(_) | Refused::NoOpinion(_)) if Box::pin(seen.is_outdated()).await => {
            app.access.authorize(caller, head).await
        }
        judged => judged,
    }
}

/// What this server had seen when it judged; nothing can be new where it is the only one.
#[derive(Clone, Copy)]
struct Seen<'a>(Option<(&'a Storage, Revision)>);

impl<'a> Seen<'a> {
    fn now(storage: &'a Storage) -> Self {
        Self(storage.is_shared().then(|| (storage, storage.current_revision())))
    }

    /// Whether there was something else to see.
    async fn is_outdated(self) -> bool {
        let Some((storage, before)) = self.0 else { return false };
        let reached = tokio::time::timeout(PATIENCE, storage.barrier()).await;
        matches!(reached, Ok(Ok(_))) && storage.current_revision() > before
    }
}
