//! The claims of a token.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::{Kind, user_name};

/// An object that a token is bound to: its account, and those beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundObject {
    /// Its name.
    pub name: String,
    /// Its uid; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

/// The contents of a new token. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The id of the token, from [`Grant::new_id`].
    pub id: String,
    /// The namespace of the account.
    pub namespace: String,
    /// The account.
    pub account: BoundObject,
    /// Who may accept the token.
    pub audiences: Vec<String>,
    /// The object that the token is bound to, besides the account.
    pub bound: Option<(Kind, BoundObject)>,
    /// The node of the pod that the token is bound to.
    pub node: Option<BoundObject>,
    /// From when the token is valid.
    pub issued: i64,
    /// Until when it is valid.
    pub expires: i64,
    /// From when on its bearer should have another one.
    pub warn_after: Option<i64>,
}

impl Grant {
    /// An id that no other token has.
    pub fn new_id() -> String {
        uuid::Uuid::new_v4().to_string()
    }

    /// The id of the token, as users have it and events of audit name it.
    pub fn credential_id(&self) -> String {
        format!("JTI={}", self.id)
    }

    pub(super) fn claims(&self, issuer: &str, private_claim: &str) -> Value {
        let bound = |kind| self.bound.as_ref().filter(|(of, _)| *of == kind).map(|(_, named)| named.clone());
        let private = PrivateClaims {
            namespace: self.namespace.clone(),
            serviceaccount: self.account.clone(),
            pod: bound(Kind::Pod),
            secret: bound(Kind::Secret),
            node: bound(Kind::Node).or_else(|| self.node.clone()),
            warn_after: self.warn_after,
        };
        json!({
            "aud": self.audiences,
            "exp": self.expires,
            "iat": self.issued,
            "iss": issuer,
            "jti": self.id,
            "nbf": self.issued,
            "sub": user_name(&self.namespace, &self.account.name),
            private_claim: private,
        })
    }
}

/// The standard claims that are checked.
#[derive(Debug, Deserialize)]
pub(crate) struct Claims {
    /// One or several; without any, the token is for the server that has issued it.
    #[serde(default, deserialize_with = "one_or_several")]
    pub(crate) aud: Vec<String>,
    pub(crate) exp: i64,
    pub(crate) nbf: i64,
    pub(crate) sub: String,
    #[serde(default)]
    pub(crate) jti: String,
}

/// The claims about objects.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PrivateClaims {
    pub(crate) namespace: String,
    pub(crate) serviceaccount: BoundObject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pod: Option<BoundObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<BoundObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<BoundObject>,
    #[serde(default, rename = "warnafter", skip_serializing_if = "Option::is_none")]
    pub(crate) warn_after: Option<i64>,
}

/// RFC 7519, section 4.1.3: the list may be left away around one audience.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Audiences {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Audiences::deserialize(deserializer)? {
        Audiences::One(audience) => vec![audience],
        Audiences::Several(audiences) => audiences,
    })
}

/// The claims of a token; none if one is missing or has a wrong type.
pub(super) fn read(mut claims: Value, private_claim: &str) -> Option<(Claims, PrivateClaims)> {
    let private = claims.get_mut(private_claim)?.take();
    Some((serde_json::from_value(claims).ok()?, serde_json::from_value(private).ok()?))
}
