//! Reviews of identity: who is the caller, and whose token is this?

use std::time::{Duration, SystemTime};

use orch_api::authentication::{
    v1::{self, TokenReview, TokenReviewStatus},
    v1alpha1, v1beta1,
};
use orch_auth::{
    authenticator::{Credentials, certificate::PeerCertificates},
    user::UserInfo,
};
use orch_runtime::object::ApiObject;

use super::{Answering, Asked, Review};
use crate::{
    error::{ApiError, Result},
    registry::Call,
};

pub(super) struct SelfSubject;
pub(super) struct Token;

impl Review for SelfSubject {
    fn repeats_question(&self) -> bool {
        false
    }

    fn answer<'a>(&'a self, asked: Asked<'a>) -> Answering<'a> {
        Box::pin(async move {
            // Whatever the client sent, the answer is about the caller alone. It is the same in every version.
            macro_rules! answer {
                ($($version:ident),*) => {$(
                    if let Some(review) = asked.question.as_any_mut().downcast_mut::<$version::SelfSubjectReview>() {
                        *review = $version::SelfSubjectReview::default();
                        review.metadata.creation_timestamp = Some(asked.call.app.now());
                        review.status.user_info = described(asked.user);
                    }
                )*};
            }
            answer!(v1, v1beta1, v1alpha1);
            Ok(())
        })
    }
}

impl Review for Token {
    fn prepare(&self, question: &mut dyn ApiObject) -> Result<()> {
        match question.as_any_mut().downcast_mut::<TokenReview>() {
            Some(review) if review.spec.token.is_empty() => {
                Err(ApiError::BadRequest("token is required for TokenReview in authentication".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn answer<'a>(&'a self, asked: Asked<'a>) -> Answering<'a> {
        Box::pin(async move {
            if let Some(review) = asked.question.as_any_mut().downcast_mut::<TokenReview>() {
                review.status = owner(asked.call, &review.spec.token, &review.spec.audiences).await;
            }
            Ok(())
        })
    }
}

/// Asks the authentication methods as a request with the token to one of the audiences would. A token that does not say
/// for whom it is good is good for this server.
async fn owner(call: Call<'_>, token: &str, audiences: &[String]) -> TokenReviewStatus {
    let (peer, header) = (PeerCertificates::default(), format!("Bearer {token}"));
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(call.app.clock.now().0);
    let credentials = Credentials::new(&peer, Some(header.as_bytes()), now).for_audiences(audiences);
    if credentials.token().is_none() {
        // Without a token the question would be about the anonymous user.
        return refused("the token is malformed");
    }
    let authentication = call.app.authentication.load_full();
    let identity = match authentication.authenticate(&credentials).resolve().await {
        Ok(identity) => identity,
        Err(error) => return refused(&error.to_string()),
    };
    let own = call.app.tokens.audiences().iter();
    let good_for: Vec<String> = match identity.audiences() {
        [] => own.filter(|own| audiences.is_empty() || audiences.contains(own)).cloned().collect(),
        named => named.to_vec(),
    };
    if good_for.is_empty() {
        return refused("the token is for none of the audiences");
    }
    TokenReviewStatus {
        authenticated: true,
        user: described(identity.user()),
        audiences: good_for,
        ..TokenReviewStatus::default()
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
