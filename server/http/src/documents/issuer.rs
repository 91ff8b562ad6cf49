//! How others verify the tokens of service accounts: who issues them, and the keys (`OpenID` Connect
//! Discovery 1.0, section 4; RFC 7517, section 5).

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, header};
use orch_auth::{
    oidc::url,
    service_account::{PublicKey, TokenIssuer},
};
use serde_json::{Value, json};

/// Where the issuer is described.
pub const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// Where the keys are.
pub const KEYS: &str = "/openid/v1/jwks";

/// The documents, made when they are asked for: keys change while the server runs.
pub struct IssuerDocuments {
    tokens: Arc<TokenIssuer>,
    keys_url: String,
}

impl IssuerDocuments {
    /// Describes an issuer whose keys are at `keys_url`. `None` where the issuer is no https URL by which the
    /// documents could be found.
    pub fn new(tokens: Arc<TokenIssuer>, keys_url: String) -> Option<Self> {
        url::check(tokens.issuer()).is_ok().then_some(Self { tokens, keys_url })
    }

    /// The description of the issuer.
    pub fn configuration(&self) -> Response {
        let keys = self.tokens.keys();
        let algorithms: BTreeSet<&str> = keys.accepted().iter().map(PublicKey::algorithm).collect();
        let configuration = json!({
            "issuer": self.tokens.issuer(),
            "jwks_uri": self.keys_url,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        });
        answer("application/json", &configuration)
    }

    /// The keys.
    pub fn keys(&self) -> Response {
        let known = self.tokens.keys();
        let keys: Vec<_> = known.accepted().iter().map(PublicKey::jwk).collect();
        answer("application/jwk-set+json", &json!({ "keys": keys }))
    }
}

fn answer(content_type: &'static str, body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
    ];
    (headers, Body::from(body.to_string())).into_response()
}
