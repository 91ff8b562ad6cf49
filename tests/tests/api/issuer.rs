//! An issuer of tokens that tests start: its keys, its documents, and the tokens that it signs.

use std::{
    sync::{Arc, Mutex},
    time::{SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::remote::{Remote, Reply, Seen, Site};

/// The audience of tokens.
pub const CLIENT_ID: &str = "orch-tests";

/// A key of an issuer, for the algorithm `ES256`.
pub struct Key {
    id: &'static str,
    pair: EcdsaKeyPair,
}

/// What an issuer does; tests change it while it runs.
pub struct Conduct {
    /// The name in its document.
    pub name: String,
    /// Its documents.
    pub keys: Value,
    /// What is at `/groups`.
    pub groups: String,
    /// What it answers instead, if anything: its documents are asked for in vain.
    pub instead: Option<fn() -> Reply>,
}

/// An issuer.
pub struct Provider {
    pub site: Site,
    pub conduct: Arc<Mutex<Conduct>>,
    remote: Option<Remote>,
}

impl Key {
    pub fn new(id: &'static str) -> Key {
        Key { id, pair: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap() }
    }

    fn public(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let (x, y) = point[1..].split_at(32);
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.id, "x": encode(x), "y": encode(y)})
    }

    /// A token with these claims.
    pub fn sign(&self, claims: &Value) -> String {
        self.sign_as(&json!({"alg": "ES256", "kid": self.id, "typ": "JWT"}), claims)
    }

    /// A token with this header.
    pub fn sign_as(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", encode(signature.as_ref()))
    }
}

/// The document with these keys.
pub fn key_set(keys: &[&Key]) -> Value {
    json!({"keys": keys.iter().map(|key| key.public()).collect::<Vec<_>>()})
}

impl Provider {
    /// An issuer with these keys that does not listen yet.
    pub async fn absent(keys: &[&Key]) -> Provider {
        let site = Site::new().await;
        let conduct = Conduct { name: site.url(), keys: key_set(keys), groups: String::new(), instead: None };
        Provider { site, conduct: Arc::new(Mutex::new(conduct)), remote: None }
    }

    /// An issuer with these keys.
    pub async fn start(keys: &[&Key]) -> Provider {
        let mut provider = Provider::absent(keys).await;
        provider.listen().await;
        provider
    }

    /// Listens from here on.
    pub async fn listen(&mut self) {
        let (url, conduct) = (self.site.url(), Arc::clone(&self.conduct));
        let handler = move |seen: &Seen| {
            let conduct = conduct.lock().unwrap();
            if let Some(instead) = conduct.instead {
                return instead();
            }
            match seen.path.as_str() {
                "/.well-known/openid-configuration" | "/elsewhere/document" => {
                    let document = json!({"issuer": conduct.name, "jwks_uri": format!("{url}/keys")});
                    Reply::Answer(200, document.to_string())
                }
                "/groups" => Reply::Answer(200, conduct.groups.clone()),
                "/keys" => Reply::Answer(200, conduct.keys.to_string()),
                _ => Reply::Answer(404, String::new()),
            }
        };
        self.remote = Some(self.site.start(handler).await);
    }

    /// All that it was asked.
    pub fn seen(&self) -> Vec<Seen> {
        self.remote.as_ref().map(Remote::seen).unwrap_or_default()
    }

    /// How often its document was fetched.
    pub fn fetches(&self) -> usize {
        self.seen().iter().filter(|seen| seen.path != "/keys").count()
    }

    /// Claims of a user with a minute to live.
    pub fn claims(&self, user: &str) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        json!({"iss": self.site.url(), "aud": CLIENT_ID, "sub": user, "exp": now + 60, "iat": now})
    }

    /// The same with one claim changed; null takes it away.
    pub fn claims_with(&self, user: &str, claim: &str, value: Value) -> Value {
        let mut claims = self.claims(user);
        match value {
            Value::Null => {
                claims.as_object_mut().unwrap().remove(claim);
            }
            value => claims[claim] = value,
        }
        claims
    }
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}
