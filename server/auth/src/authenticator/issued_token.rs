//! Tokens of OpenID Connect providers, and of other issuers that the configuration names.
//!
//! A token belongs to the issuer that it names; tokens of other issuers are left to other methods. One that
//! was accepted is remembered for a short time, and never beyond its end.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;

use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials},
    error::AuthError,
    jwt::Jwt,
    kept_answers::{self, KeptAnswers, Key},
    lookups::{LookupCounts, Lookups},
    oidc::issuer::Issuers,
};

/// How long an accepted token is remembered.
const REMEMBERED: Duration = Duration::from_secs(10);

/// Accepts the tokens of some issuers, which can be replaced while requests are authenticated.
pub struct IssuedTokenAuthenticator {
    trusted: ArcSwap<Trusted>,
    lookups: Lookups,
}

/// Issuers, and the bearers of their tokens.
struct Trusted {
    issuers: Arc<Issuers>,
    accepted: KeptAnswers<Authenticated>,
}

impl IssuedTokenAuthenticator {
    /// Accepts the tokens of these issuers first.
    pub fn new(first: Issuers) -> Self {
        Self { trusted: ArcSwap::from_pointee(Trusted::new(first)), lookups: Lookups::default() }
    }

    /// From here on tokens of these issuers are accepted, and no others.
    pub fn replace(&self, next: Issuers) {
        self.trusted.store(Arc::new(Trusted::new(next)));
    }

    /// The issuers whose tokens are accepted now.
    pub fn issuers(&self) -> Arc<Issuers> {
        Arc::clone(&self.trusted.load().issuers)
    }
}

impl Trusted {
    fn new(issuers: Issuers) -> Self {
        Trusted { issuers: Arc::new(issuers), accepted: KeptAnswers::default() }
    }

    async fn accept(&self, token: Jwt<'_>, key: Key, now: u64) -> Result<Option<Authenticated>, AuthError> {
        let issuer = token.text("iss").and_then(|issuer| self.issuers.get(issuer));
        let Some(issuer) = issuer else { return Ok(None) };
        let (user, end) = issuer.user(&token, now).await?;
        let caller = Authenticated::new(user, "oidc");
        let left = Duration::try_from_secs_f64(end - now as f64).unwrap_or(REMEMBERED);
        self.accepted.keep(key, caller.clone(), Instant::now(), left.min(REMEMBERED));
        Ok(Some(caller))
    }
}

impl Authenticator for IssuedTokenAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        let trusted = self.trusted.load();
        let Some(token) = credentials.token().filter(|_| !trusted.issuers.is_empty()) else {
            return Answer::Ready(Ok(None));
        };
        let key = kept_answers::key(token.secret());
        let began = Instant::now();
        if let Some(caller) = trusted.accepted.get(&key, began) {
            self.lookups.hit(began);
            return Answer::Ready(Ok(Some(caller)));
        }
        let read = Jwt::read(token.secret());
        let ours = |token: &Jwt<'_>| token.text("iss").is_some_and(|name| trusted.issuers.contains_key(name));
        let Some(token) = read.filter(ours) else { return Answer::Ready(Ok(None)) };
        let (trusted, now) = (Arc::clone(&trusted), credentials.now().as_secs());
        Answer::Later(Box::pin(async move {
            let (_missed, judging) = (self.lookups.missed(began), self.lookups.judge());
            judging.end(trusted.accept(token, key, now).await)
        }))
    }

    fn lookups(&self) -> Option<LookupCounts> {
        Some(self.lookups.counts())
    }
}
