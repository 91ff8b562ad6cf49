//! Tokens without an end, which are kept in secrets: the form that was there before tokens were bound to
//! objects and times. Such a token is valid while its secret holds it.

use orch_runtime::vocabulary::Vocabulary;
use serde_json::{Value, json};

use super::{BoundObject, Claims, user_name};

/// What a token says that is kept in a secret.
pub(crate) struct SecretToken {
    pub(crate) namespace: String,
    pub(crate) account: BoundObject,
    /// The name of the secret.
    pub(crate) secret: String,
}

/// The names of the claims, which the vocabulary spells.
pub(super) struct Words {
    issuer: String,
    /// What the names of the other claims begin with.
    prefix: String,
}

impl Words {
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let issuer = format!("{}/serviceaccount", vocabulary.name);
        Words { issuer, prefix: vocabulary.label("serviceaccount") }
    }

    /// Whether these tokens have this issuer.
    pub(super) fn is_issuer(&self, issuer: &str) -> bool {
        self.issuer == issuer
    }

    pub(super) fn claims(&self, namespace: &str, account: &BoundObject, secret: &str) -> Value {
        json!({
            "iss": self.issuer,
            "sub": user_name(namespace, &account.name),
            self.name("namespace"): namespace,
            self.name("secret.name"): secret,
            self.name("service-account.name"): account.name,
            self.name("service-account.uid"): account.uid,
        })
    }

    /// The claims of a token; none if one is missing.
    pub(super) fn read(&self, claims: &Value) -> Option<(Claims, SecretToken)> {
        let text = |name: &str| claims.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let own = |name: &str| text(&self.name(name));
        let account = BoundObject { name: own("service-account.name")?, uid: own("service-account.uid")? };
        let token = SecretToken { namespace: own("namespace")?, account, secret: own("secret.name")? };
        let claims = Claims { aud: Vec::new(), exp: i64::MAX, nbf: 0, sub: text("sub")?, jti: String::new() };
        Some((claims, token))
    }

    fn name(&self, last: &str) -> String {
        format!("{}/{last}", self.prefix)
    }
}
