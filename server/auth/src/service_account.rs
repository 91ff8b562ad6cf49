//! Service account tokens: how they are issued and verified.
//!
//! A token is a JSON Web Token (RFC 7519) in compact form, signed with a key of the server. It names the
//! account by name and uid, and may name another object; it is valid while both exist.

mod claims;
mod key;
pub mod key_files;
mod legacy;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_runtime::vocabulary::Vocabulary;
use serde_json::{Value, json};

pub use self::{
    claims::{BoundObject, Grant},
    key::{PublicKey, SigningKey},
};
pub(crate) use self::{
    claims::{Claims, PrivateClaims},
    legacy::SecretToken,
};
use crate::{error::AuthError, jwt::compact::Compact, kept_answers, user::UserInfo};

/// The group of all service accounts.
pub const GROUP_SERVICE_ACCOUNTS: &str = "system:serviceaccounts";
/// What the user names of all service accounts begin with, before a colon.
pub(crate) const USER_PREFIX: &str = "system:serviceaccount";

/// The user name of a service account.
pub fn user_name(namespace: &str, name: &str) -> String {
    format!("{USER_PREFIX}:{namespace}:{name}")
}

/// A service account as a user, as far as its name tells.
pub fn user(namespace: &str, name: &str) -> UserInfo {
    UserInfo::new(user_name(namespace, name), groups(namespace)).authenticated()
}

/// The groups of the service accounts of a namespace.
pub(crate) fn groups(namespace: &str) -> Vec<String> {
    vec![GROUP_SERVICE_ACCOUNTS.to_owned(), format!("{GROUP_SERVICE_ACCOUNTS}:{namespace}")]
}

/// The kinds of objects that tokens are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The account itself.
    ServiceAccount,
    /// A pod that runs as the account.
    Pod,
    /// A secret in the account's namespace.
    Secret,
    /// A node.
    Node,
}

/// The current state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its uid.
    pub uid: String,
    /// The deletion time, in seconds since 1970, if the object is being deleted; it may be in the future.
    pub deleted_at: Option<i64>,
}

/// Finds the objects that tokens are bound to.
pub trait Directory: Send + Sync {
    /// The object of that name; the namespace is empty for nodes.
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<Found>;

    /// The token of an account that the secret of that name holds, if it holds one that is valid.
    fn token_held(&self, namespace: &str, secret: &str) -> Option<TokenDigest>;
}

/// Tells tokens apart without keeping them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest(kept_answers::Key);

impl TokenDigest {
    /// The digest of this token.
    pub fn of(token: &[u8]) -> Self {
        TokenDigest(kept_answers::key(token))
    }
}

impl From<kept_answers::Key> for TokenDigest {
    fn from(key: kept_answers::Key) -> Self {
        TokenDigest(key)
    }
}

/// The lifetime of a token that its bearer renews by itself, as the reference asks for it in every pod.
const RENEWED: i64 = 3607;
/// How long such a token lives in truth, in seconds: bearers that never read it again are told, and not cut
/// off.
const EXTENDED: i64 = 365 * 24 * 60 * 60;

/// What the operator says about tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenConfig {
    /// The file with the key that signs; a key of the server's own, if there is none.
    pub signing_key_file: Option<PathBuf>,
    /// Files with further keys whose tokens are accepted.
    pub key_files: Vec<PathBuf>,
    /// The issuers whose tokens are accepted; the first one issues. If empty, the vocabulary names one.
    pub issuers: Vec<String>,
    /// Where clients of other servers find the keys.
    pub keys_url: Option<String>,
    /// The longest lifetime that a client gets, in seconds.
    pub max_lifetime: Option<i64>,
    /// Whether tokens that pods renew live longer than they ask for.
    pub extends_lifetime: bool,
    /// Whether tokens that are kept in secrets are valid only while secret and account exist.
    pub looks_up: bool,
}

impl TokenConfig {
    /// The issuers whose tokens are accepted; the first one issues.
    pub fn issuers(&self, vocabulary: &Vocabulary) -> Vec<String> {
        if self.issuers.is_empty() {
            vec![format!("https://{}.default.svc", vocabulary.name)]
        } else {
            self.issuers.clone()
        }
    }
}

impl Default for TokenConfig {
    fn default() -> Self {
        Self {
            signing_key_file: None,
            key_files: Vec::new(),
            issuers: Vec::new(),
            keys_url: None,
            max_lifetime: None,
            extends_lifetime: true,
            looks_up: true,
        }
    }
}

/// How long a token lives, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The lifetime that the answer states.
    pub told: i64,
    /// After so long the token expires.
    pub real: i64,
    /// After so long the bearer should have another one.
    pub warn_after: Option<i64>,
}

/// Issues tokens, and verifies those that it has issued.
pub struct TokenIssuer {
    /// They may be changed while tokens are issued and read.
    keys: ArcSwap<Keys>,
    issuers: Vec<String>,
    audiences: Vec<String>,
    max_lifetime: Option<i64>,
    extends_lifetime: bool,
    looks_up: bool,
    /// The claim that holds all non-standard claims; the vocabulary names it.
    private_claim: &'static str,
    in_secrets: legacy::Words,
    uses: Uses,
}

/// The keys of one time.
pub struct Keys {
    signing: SigningKey,
    /// All keys whose tokens are accepted, each once: the signing one first.
    accepted: Vec<PublicKey>,
}

impl Keys {
    /// Signs with `signing`, and accepts what `further` keys have signed too.
    pub fn new(signing: SigningKey, further: Vec<PublicKey>) -> Self {
        let mut accepted = vec![signing.public().clone()];
        for further in further {
            if accepted.iter().all(|known| known.id() != further.id()) {
                accepted.push(further);
            }
        }
        Keys { signing, accepted }
    }

    /// The keys whose tokens are accepted; the first one signs.
    pub fn accepted(&self) -> &[PublicKey] {
        &self.accepted
    }
}

/// What a token is bound to.
pub(crate) enum Bond {
    /// Objects that it names.
    Objects(PrivateClaims),
    /// The secret that holds it.
    Secret(SecretToken),
}

/// How often tokens were accepted that live longer than their bearers were told.
#[derive(Default)]
struct Uses {
    fresh: AtomicU64,
    stale: AtomicU64,
}

impl TokenIssuer {
    /// With these keys. This server accepts tokens for one of `audiences`; if empty, for its issuers.
    pub fn new(keys: Keys, config: &TokenConfig, audiences: &[String], vocabulary: &Vocabulary) -> Self {
        let issuers = config.issuers(vocabulary);
        let audiences = if audiences.is_empty() { issuers.clone() } else { audiences.to_vec() };
        Self {
            keys: ArcSwap::from_pointee(keys),
            issuers,
            audiences,
            max_lifetime: config.max_lifetime,
            extends_lifetime: config.extends_lifetime,
            looks_up: config.looks_up,
            private_claim: vocabulary.label_domain,
            in_secrets: legacy::Words::new(vocabulary),
            uses: Uses::default(),
        }
    }

    /// The issuer in new tokens.
    pub fn issuer(&self) -> &str {
        &self.issuers[0]
    }

    /// The keys of now.
    pub fn keys(&self) -> Arc<Keys> {
        self.keys.load_full()
    }

    /// From here on tokens are signed with these keys and accepted by them. Returns whether they are others
    /// than before.
    pub fn replace_keys(&self, keys: Keys) -> bool {
        let ids = |keys: &Keys| keys.accepted.iter().map(|key| key.id().to_owned()).collect::<Vec<_>>();
        let is_new = ids(&self.keys.load()) != ids(&keys);
        if is_new {
            self.keys.store(Arc::new(keys));
        }
        is_new
    }

    /// Whether these are the keys of now.
    pub(crate) fn has_keys(&self, keys: &Arc<Keys>) -> bool {
        Arc::ptr_eq(&self.keys.load(), keys)
    }

    /// The audiences that this server accepts.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// How long a token lives for which a client asks so many seconds.
    pub fn lifetime(&self, asked: i64, audiences: &[String], is_for_pod: bool) -> Lifetime {
        let told = self.max_lifetime.map_or(asked, |longest| asked.min(longest));
        let is_own = audiences.iter().all(|audience| self.audiences.contains(audience));
        if self.extends_lifetime && is_for_pod && told == RENEWED && is_own {
            return Lifetime { told, real: EXTENDED, warn_after: Some(told) };
        }
        Lifetime { told, real: told, warn_after: None }
    }

    /// How often tokens were accepted that live longer than their bearers were told: in the time that they
    /// were told, and after it.
    pub fn extended_uses(&self) -> (u64, u64) {
        (self.uses.fresh.load(Ordering::Relaxed), self.uses.stale.load(Ordering::Relaxed))
    }

    /// Notices that a token was accepted whose bearer should have another one after this time.
    pub(crate) fn notice_use(&self, warn_after: i64, now: i64) {
        let uses = if now > warn_after { &self.uses.stale } else { &self.uses.fresh };
        uses.fetch_add(1, Ordering::Relaxed);
    }

    /// Issues a token.
    ///
    /// # Errors
    /// If the token cannot be signed.
    pub fn issue(&self, grant: &Grant) -> Result<String, AuthError> {
        self.sign(&grant.claims(self.issuer(), self.private_claim))
    }

    /// Issues a token without an end, for the secret of that name in the namespace of the account. It is to
    /// be stored in that secret.
    ///
    /// # Errors
    /// If the token cannot be signed.
    pub fn issue_for_secret(
        &self,
        namespace: &str,
        account: &BoundObject,
        secret: &str,
    ) -> Result<String, AuthError> {
        self.sign(&self.in_secrets.claims(namespace, account, secret))
    }

    fn sign(&self, claims: &Value) -> Result<String, AuthError> {
        let keys = self.keys.load();
        let public = keys.signing.public();
        let header = json!({"alg": public.algorithm(), "kid": public.id(), "typ": "JWT"});
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = keys.signing.sign(signed.as_bytes())?;
        Ok(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The claims of a token that one of the keys has signed. `None` for tokens of another issuer, which
    /// another method may know.
    ///
    /// # Errors
    /// If a token of one of the issuers is not valid.
    pub(crate) fn read(&self, token: &[u8]) -> Result<Option<(Claims, Bond)>, AuthError> {
        let Some(Compact { signed, header, claims, signature }) = Compact::<Value, Value>::read(token) else {
            return Ok(None);
        };
        let issuer = claims.get("iss").and_then(Value::as_str).unwrap_or_default();
        let is_in_secret = self.in_secrets.is_issuer(issuer);
        if !is_in_secret && !self.issuers.iter().any(|known| known == issuer) {
            return Ok(None);
        }
        if !self.verifies(&header, signed, &signature) {
            return Err(invalid("the signature is not the server's"));
        }
        let read = if is_in_secret {
            self.in_secrets.read(&claims).map(|(claims, token)| (claims, Bond::Secret(token)))
        } else {
            claims::read(claims, self.private_claim).map(|(claims, private)| (claims, Bond::Objects(private)))
        };
        read.map(Some).ok_or_else(|| invalid("claims are missing"))
    }

    /// Whether tokens that are kept in secrets are valid only while secret and account exist.
    pub(crate) fn looks_up(&self) -> bool {
        self.looks_up
    }

    /// Whether one of the keys has signed this: the one that the header names, if it names a known one.
    fn verifies(&self, header: &Value, signed: &[u8], signature: &[u8]) -> bool {
        let text = |name: &str| header.get(name).and_then(Value::as_str).unwrap_or_default();
        // An extension that has to be understood is not (RFC 7515, section 4.1.11).
        if header.get("crit").is_some() {
            return false;
        }
        let keys = &self.keys.load().accepted;
        let named = keys.iter().find(|key| key.id() == text("kid"));
        // The key decides the algorithm; the header of the token is only compared with it (RFC 8725, section
        // 3.1).
        let verifies = |key: &PublicKey| text("alg") == key.algorithm() && key.verifies(signed, signature);
        named.map_or_else(|| keys.iter().any(verifies), verifies)
    }
}

/// The error for a refused token. `problem` is logged, and shown in token reviews.
pub(crate) fn invalid(problem: impl Into<String>) -> AuthError {
    AuthError::ServiceAccountToken { problem: problem.into() }
}
