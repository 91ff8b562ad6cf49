//! Service accounts: tokens that the server has issued.
//!
//! A token with a valid signature is accepted for its audiences, until it expires, while the account and the
//! object that it is bound to exist with the same uid. One that is kept in a secret has no end and no
//! audiences: it is accepted while the secret holds it.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use orch_runtime::vocabulary::Vocabulary;

use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials, bearer::MAX_TOKEN},
    error::AuthError,
    kept_answers::{self, KeptAnswers, Key},
    lookups::{LookupCounts, Lookups},
    service_account::{
        Bond, BoundObject, Claims, Directory, Found, Keys, Kind, PrivateClaims, SecretToken, TokenDigest,
        TokenIssuer, groups, invalid, user_name,
    },
    user::UserInfo,
};

/// How long an object still counts after its deletion, in seconds.
const DELETION_LEEWAY: i64 = 60;

/// How long it is remembered that the signature of a token is right. Verifying it costs more than the rest of
/// a small request. The objects that it names are looked up for every request all the same.
const REMEMBERED: Duration = Duration::from_secs(10);

/// A token with a right signature, for this server.
struct Verified {
    /// The keys of which one has made the signature.
    keys: Arc<Keys>,
    /// Who the bearer is while the objects exist that the token names.
    caller: Authenticated,
    /// The objects.
    bond: Bond,
    /// In seconds since 1970.
    expires: i64,
}

/// Accepts the tokens of one issuer.
pub struct ServiceAccountAuthenticator {
    tokens: Arc<TokenIssuer>,
    directory: Box<dyn Directory>,
    verified: KeptAnswers<Arc<Verified>>,
    lookups: Lookups,
    /// The prefix of the names of extra attributes.
    extra_prefix: String,
}

impl ServiceAccountAuthenticator {
    /// `directory` finds the objects that tokens are bound to; `vocabulary` names the extra attributes of
    /// users.
    pub fn new(tokens: Arc<TokenIssuer>, directory: Box<dyn Directory>, vocabulary: &Vocabulary) -> Self {
        let extra_prefix = format!("authentication.{}", vocabulary.label_domain);
        let (verified, lookups) = (KeptAnswers::default(), Lookups::default());
        Self { tokens, directory, verified, lookups, extra_prefix }
    }

    fn accept(&self, credentials: &Credentials<'_>) -> Result<Option<Authenticated>, AuthError> {
        let token = credentials.token().filter(|token| token.secret().len() <= MAX_TOKEN);
        let Some(token) = token else { return Ok(None) };
        let now = i64::try_from(credentials.now().as_secs()).unwrap_or(i64::MAX);
        // For other audiences the answer may be another one; they are asked about seldom.
        let is_for_server = credentials.audiences().is_empty();
        let key = kept_answers::key(token.secret());
        let began = Instant::now();
        let known = self.verified.get(&key, began);
        if let Some(verified) =
            known.filter(|known| is_for_server && now <= known.expires && self.tokens.has_keys(&known.keys))
        {
            self.lookups.hit(began);
            self.check_bond(&verified.bond, key.into(), now)?;
            return Ok(Some(self.notice_use(verified.caller.clone(), &verified.bond, now)));
        }
        let keys = self.tokens.keys();
        let Some(read) = self.tokens.read(token.secret()).transpose() else { return Ok(None) };
        let (_missed, judging) = (self.lookups.missed(began), self.lookups.judge());
        judging.end(read.and_then(|read| self.judge(credentials, read, (key, keys), now))).map(Some)
    }

    /// Whose token it is whose signature is right.
    fn judge(
        &self,
        credentials: &Credentials<'_>,
        (claims, bond): (Claims, Bond),
        (key, keys): (Key, Arc<Keys>),
        now: i64,
    ) -> Result<Authenticated, AuthError> {
        if now > claims.exp {
            return Err(invalid("the token has expired"));
        }
        if now < claims.nbf {
            return Err(invalid("the token is not good yet"));
        }
        let wanted = match credentials.audiences() {
            [] => self.tokens.audiences(),
            named => named,
        };
        let named = if claims.aud.is_empty() { self.tokens.audiences() } else { &claims.aud };
        // Both lists may be long: one is in the token, the other in the review.
        let wanted: HashSet<&String> = wanted.iter().collect();
        let audiences: Vec<String> =
            named.iter().filter(|audience| wanted.contains(audience)).cloned().collect();
        if audiences.is_empty() {
            return Err(invalid("the token is for other audiences"));
        }
        self.check_bond(&bond, key.into(), now)?;
        let user = self.user(&claims, &bond)?;
        let caller = Authenticated::new(user, "service-account").with_audiences(audiences);
        let noticed = self.notice_use(caller.clone(), &bond, now);
        if credentials.audiences().is_empty() {
            let verified = Verified { keys, caller, bond, expires: claims.exp };
            self.verified.keep(key, Arc::new(verified), Instant::now(), REMEMBERED);
        }
        Ok(noticed)
    }

    /// Tells the operator of programs that never read the new token of their pod: they stop working when
    /// tokens are no longer extended. Returns the caller with what audit is to say of that.
    fn notice_use(&self, caller: Authenticated, bond: &Bond, now: i64) -> Authenticated {
        let Bond::Objects(PrivateClaims { warn_after: Some(warn_after), .. }) = *bond else { return caller };
        self.tokens.notice_use(warn_after, now);
        if now <= warn_after {
            return caller;
        }
        let (user, seconds) = (&caller.user().name, now - warn_after);
        tracing::debug!(user, seconds, "a token is used although its pod has a newer one");
        caller.with_stale(seconds)
    }

    fn check_bond(&self, bond: &Bond, token: TokenDigest, now: i64) -> Result<(), AuthError> {
        let private = match bond {
            Bond::Objects(private) => private,
            Bond::Secret(held) => return self.check_held(held, token, now),
        };
        let namespace = private.namespace.as_str();
        self.check(Kind::ServiceAccount, namespace, &private.serviceaccount, now)?;
        // A token that names a pod and its node is bound to the pod.
        match (&private.secret, &private.pod, &private.node) {
            (Some(secret), _, _) => self.check(Kind::Secret, namespace, secret, now),
            (_, Some(pod), _) => self.check(Kind::Pod, namespace, pod, now),
            (_, _, Some(node)) => self.check(Kind::Node, "", node, now),
            (None, None, None) => Ok(()),
        }
    }

    fn check_held(&self, held: &SecretToken, token: TokenDigest, now: i64) -> Result<(), AuthError> {
        if !self.tokens.looks_up() {
            return Ok(());
        }
        let SecretToken { namespace, account, secret } = held;
        self.find(Kind::Secret, namespace, secret, now)?;
        if self.directory.token_held(namespace, secret) != Some(token) {
            return Err(invalid("the secret does not hold the token any more"));
        }
        self.check(Kind::ServiceAccount, namespace, account, now)
    }

    fn check(&self, kind: Kind, namespace: &str, named: &BoundObject, now: i64) -> Result<(), AuthError> {
        if self.find(kind, namespace, &named.name, now)?.uid != named.uid {
            return Err(invalid(format!("the {kind:?} is another one by now")));
        }
        Ok(())
    }

    /// An object that exists, or did a moment ago.
    fn find(&self, kind: Kind, namespace: &str, name: &str, now: i64) -> Result<Found, AuthError> {
        let Some(found) = self.directory.find(kind, namespace, name) else {
            return Err(invalid(format!("the {kind:?} is gone")));
        };
        if found.deleted_at.is_some_and(|gone| now > gone.saturating_add(DELETION_LEEWAY)) {
            return Err(invalid(format!("the {kind:?} has been deleted")));
        }
        Ok(found)
    }

    fn user(&self, claims: &Claims, bond: &Bond) -> Result<UserInfo, AuthError> {
        let (namespace, account, pod, node) = match bond {
            Bond::Objects(PrivateClaims { namespace, serviceaccount, pod, node, .. }) => {
                (namespace, serviceaccount, pod.as_ref(), node.as_ref())
            }
            Bond::Secret(SecretToken { namespace, account, .. }) => (namespace, account, None, None),
        };
        let name = user_name(namespace, &account.name);
        if claims.sub != name {
            return Err(invalid("the subject is not the account"));
        }
        let mut extra = BTreeMap::new();
        let mut add = |key: &str, value: String| {
            if !value.is_empty() {
                extra.insert(format!("{}/{key}", self.extra_prefix), vec![value]);
            }
        };
        add(
            "credential-id",
            if claims.jti.is_empty() { String::new() } else { format!("JTI={}", claims.jti) },
        );
        for (kind, named) in [("pod", pod), ("node", node)] {
            if let Some(BoundObject { name, uid }) = named {
                add(&format!("{kind}-name"), name.clone());
                add(&format!("{kind}-uid"), uid.clone());
            }
        }
        let groups = groups(namespace);
        Ok(UserInfo { name, uid: account.uid.clone(), groups, extra })
    }
}

impl Authenticator for ServiceAccountAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        Answer::Ready(self.accept(credentials))
    }

    fn lookups(&self) -> Option<LookupCounts> {
        Some(self.lookups.counts())
    }
}

#[cfg(test)]
mod tests;
