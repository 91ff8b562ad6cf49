//! Tokens of service accounts: who has one, what it says and by what it is known to be genuine.
//!
//! A token is a JSON web token in its compact form, signed with the key that the server keeps. It names the account by
//! its uid as well, and may name another object: it is good while both exist.

mod claims;
mod key;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_runtime::vocabulary::Vocabulary;
use serde_json::{Value, json};

pub(crate) use self::claims::{Claims, Private};
pub use self::{
    claims::{Grant, Named},
    key::SigningKey,
};
use crate::error::AuthError;

/// Every service account is a member.
pub const GROUP_SERVICE_ACCOUNTS: &str = "system:serviceaccounts";
const USER_PREFIX: &str = "system:serviceaccount";

/// The user name of a service account.
pub fn user_name(namespace: &str, name: &str) -> String {
    format!("{USER_PREFIX}:{namespace}:{name}")
}

/// What tokens are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The account itself.
    ServiceAccount,
    /// A pod that runs as the account.
    Pod,
    /// A secret in the account's namespace.
    Secret,
    /// A machine.
    Node,
}

/// An object as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its uid.
    pub uid: String,
    /// When it stops or stopped existing, in seconds since 1970, where it is being deleted.
    pub deleted_at: Option<i64>,
}

/// The objects that tokens are bound to.
pub trait Directory: Send + Sync {
    /// The object of that name; the namespace is empty for nodes.
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<Found>;
}

/// Makes tokens, and reads those that it made.
pub struct TokenIssuer {
    key: SigningKey,
    issuer: String,
    audiences: Vec<String>,
    /// The claim that holds what is no standard claim; a word of the vocabulary.
    private_claim: &'static str,
}

impl TokenIssuer {
    /// Tokens name `issuer`; this server accepts those that are for one of `audiences`, which is the issuer where there is
    /// none.
    pub fn new(key: SigningKey, issuer: String, audiences: Vec<String>, vocabulary: &Vocabulary) -> Self {
        let audiences = if audiences.is_empty() { vec![issuer.clone()] } else { audiences };
        Self { key, issuer, audiences, private_claim: vocabulary.label_domain }
    }

    /// The audiences that this server is one of.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Makes a token.
    ///
    /// # Errors
    /// Where the signature cannot be made.
    pub fn issue(&self, grant: &Grant) -> Result<String, AuthError> {
        let header = json!({"alg": SigningKey::ALGORITHM, "kid": self.key.id(), "typ": "JWT"});
        let claims = grant.claims(&self.issuer, self.private_claim);
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let signature = self.key.sign(signed.as_bytes())?;
        Ok(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }

    /// What a token says, if it is one of this issuer and genuine. `None` for what is no token of this issuer: another
    /// method may know it.
    ///
    /// # Errors
    /// What is wrong with a token of this issuer.
    pub(crate) fn read(&self, token: &[u8]) -> Result<Option<(Claims, Private)>, AuthError> {
        let Some((signed, [header, claims], signature)) = split(token) else { return Ok(None) };
        if claims.get("iss").and_then(Value::as_str) != Some(&self.issuer) {
            return Ok(None);
        }
        // The algorithm is the key's own: what the token says is only compared.
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

/// A refused token; the problem is for the log.
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
