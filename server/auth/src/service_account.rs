//! Service account tokens: how they are issued and verified.
//!
//! A token is a JSON Web Token (RFC 7519) in compact form, signed with the key of the server. It names the
//! account by name and uid, and may name another object; it is valid while both exist.

mod claims;
mod key;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_runtime::vocabulary::Vocabulary;
use serde_json::{Value, json};

pub(crate) use self::claims::{Claims, PrivateClaims};
pub use self::{
    claims::{Grant, Named},
    key::SigningKey,
};
use crate::error::AuthError;

/// The group of all service accounts.
pub const GROUP_SERVICE_ACCOUNTS: &str = "system:serviceaccounts";
const USER_PREFIX: &str = "system:serviceaccount";

/// The user name of a service account.
pub fn user_name(namespace: &str, name: &str) -> String {
    format!("{USER_PREFIX}:{namespace}:{name}")
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
}

/// Issues tokens, and verifies those that it has issued.
pub struct TokenIssuer {
    key: SigningKey,
    issuer: String,
    audiences: Vec<String>,
    /// The claim that holds all non-standard claims; the vocabulary names it.
    private_claim: &'static str,
}

impl TokenIssuer {
    /// `issuer` is the issuer in tokens. This server accepts tokens for one of `audiences`; if empty, only
    /// for the issuer.
    pub fn new(key: SigningKey, issuer: String, audiences: Vec<String>, vocabulary: &Vocabulary) -> Self {
        let audiences = if audiences.is_empty() { vec![issuer.clone()] } else { audiences };
        Self { key, issuer, audiences, private_claim: vocabulary.label_domain }
    }

    /// The audiences that this server accepts.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Issues a token.
    ///
    /// # Errors
    /// If the token cannot be signed.
    pub fn issue(&self, grant: &Grant) -> Result<String, AuthError> {
        let header = json!({"alg": SigningKey::ALGORITHM, "kid": self.key.id(), "typ": "JWT"});
        let claims = grant.claims(&self.issuer, self.private_claim);
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let signature = self.key.sign(signed.as_bytes())?;
        Ok(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The claims of a token that this issuer has signed. `None` for tokens of another issuer, which another
    /// method may know.
    ///
    /// # Errors
    /// If a token of this issuer is not valid.
    pub(crate) fn read(&self, token: &[u8]) -> Result<Option<(Claims, PrivateClaims)>, AuthError> {
        let Some((signed, [header, claims], signature)) = split(token) else { return Ok(None) };
        if claims.get("iss").and_then(Value::as_str) != Some(&self.issuer) {
            return Ok(None);
        }
        // The key decides the algorithm; the header of the token is only compared with it (RFC 8725, section
        // 3.1).
        if header.get("alg").and_then(Value::as_str) != Some(SigningKey::ALGORITHM)
            || !self.key.verifies(signed, &signature)
        {
            return Err(invalid("the signature is not the server's"));
        }
        match claims::read(claims, self.private_claim) {
            Some(claims) => Ok(Some(claims)),
            None => Err(invalid("claims are missing")),
        }
    }
}

/// The error for a refused token. `problem` is logged, and shown in token reviews.
pub(crate) fn invalid(problem: impl Into<String>) -> AuthError {
    AuthError::ServiceAccountToken { problem: problem.into() }
}

/// The signed part of a compact token, the header and claims in it, and the signature.
fn split(token: &[u8]) -> Option<(&[u8], [Value; 2], Vec<u8>)> {
    let last = token.iter().rposition(|&byte| byte == b'.')?;
    let (signed, signature) = (&token[..last], &token[last + 1..]);
    let first = signed.iter().position(|&byte| byte == b'.')?;
    let decode = |part: &[u8]| BASE64_URL_SAFE_NO_PAD.decode(part).ok();
    let json = |part: &[u8]| serde_json::from_slice(&decode(part)?).ok();
    Some((signed, [json(&signed[..first])?, json(&signed[first + 1..])?], decode(signature)?))
}
