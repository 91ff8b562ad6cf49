//! Reviews of identity: who the caller is, and who a token belongs to.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use orch_api::authentication::{
    v1::{self, TokenReview, TokenReviewStatus},
    v1alpha1, v1beta1,
};
use orch_auth::{
    authentication::Authentication,
    authenticator::{Credentials, certificate::PeerCertificates},
    error::AuthError,
    service_account::TokenIssuer,
    user::UserInfo,
};
use orch_registry::{
    context::RequestContext,
    error::{ApiError, Result},
    operation::Review,
};

/// What is told of a token that is unknown, or meant for another audience.
const INVALID: &str = "invalid bearer token";

/// Answers who the caller is.
pub(crate) struct Caller;

/// The answer is about the caller alone, whatever the client sends; it is the same in every version.
macro_rules! answer_in {
    ($($version:ident),*) => {$(
        impl Review<$version::SelfSubjectReview> for Caller {
            fn repeats_question(&self) -> bool {
                false
            }

            fn answer<'a>(
                &'a self,
                cx: &'a RequestContext<'a>,
                question: &'a mut $version::SelfSubjectReview,
            ) -> BoxFuture<'a, Result<()>> {
                *question = $version::SelfSubjectReview::default();
                question.metadata.creation_timestamp = Some(cx.core.now());
                question.status.user_info = described(cx.caller.user);
                Box::pin(std::future::ready(Ok(())))
            }
        }
    )*};
}

answer_in!(v1, v1beta1, v1alpha1);

/// Answers who a token belongs to.
pub(crate) struct TokenOwner {
    authentication: Arc<ArcSwap<Authentication>>,
    tokens: Arc<TokenIssuer>,
}

impl TokenOwner {
    pub(crate) fn new(authentication: Arc<ArcSwap<Authentication>>, tokens: Arc<TokenIssuer>) -> Self {
        TokenOwner { authentication, tokens }
    }

    /// Asks the authentication methods as a request with the token would, to one of the audiences. A token
    /// that names no audience is for this server.
    async fn find(&self, token: &str, audiences: &[String], now: SystemTime) -> TokenReviewStatus {
        let (peer, header) = (PeerCertificates::default(), format!("Bearer {token}"));
        let credentials = Credentials::new(&peer, Some(header.as_bytes()), now).for_audiences(audiences);
        if credentials.token().is_none() {
            // Without a token the answer would be about the anonymous user.
            return refused(INVALID);
        }
        let authentication = self.authentication.load_full();
        let identity = match authentication.authenticate(&credentials).resolve().await {
            Ok(identity) => identity,
            Err(error) => return refused(&told(&error)),
        };
        let own = self.tokens.audiences().iter();
        let valid_for: Vec<String> = match identity.audiences() {
            [] => own.filter(|own| audiences.is_empty() || audiences.contains(own)).cloned().collect(),
            named => named.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
        };
        if valid_for.is_empty() {
            return refused(INVALID);
        }
        TokenReviewStatus {
            authenticated: true,
            user: described(identity.user()),
            audiences: valid_for,
            ..TokenReviewStatus::default()
        }
    }
}

impl Review<TokenReview> for TokenOwner {
    fn prepare(&self, question: &mut TokenReview) -> Result<()> {
        if question.spec.token.is_empty() {
            let message = "token is required for TokenReview in authentication";
            return Err(ApiError::BadRequest(message.to_owned()));
        }
        Ok(())
    }

    fn answer<'a>(
        &'a self,
        cx: &'a RequestContext<'a>,
        question: &'a mut TokenReview,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let now = SystemTime::UNIX_EPOCH + Duration::from_millis(cx.core.clock().now().0);
            question.status = self.find(&question.spec.token, &question.spec.audiences, now).await;
            Ok(())
        })
    }
}

/// Why a token is refused: as the reference tells it, and what else is known.
fn told(error: &AuthError) -> String {
    match error {
        AuthError::UnknownToken | AuthError::NoCredentials => INVALID.to_owned(),
        error => format!("[{INVALID}, {error}]"),
    }
}

fn refused(why: &str) -> TokenReviewStatus {
    TokenReviewStatus { error: why.to_owned(), ..TokenReviewStatus::default() }
}

fn described(user: &UserInfo) -> v1::UserInfo {
    v1::UserInfo {
        username: user.name.clone(),
        uid: user.uid.clone(),
        groups: user.groups.clone(),
        extra: user.extra.clone(),
    }
}
