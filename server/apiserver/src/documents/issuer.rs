//! How others verify the tokens of service accounts: who issues them, and the keys (`OpenID` Connect
//! Discovery 1.0, section 4; RFC 7517, section 5).

use std::collections::BTreeSet;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, header};
use orch_auth::service_account::{PublicKey, TokenIssuer, is_https_url};
use serde_json::json;

/// Where the issuer is described.
pub const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// Where the keys are.
pub const KEYS: &str = "/openid/v1/jwks";

/// The prepared documents.
#[derive(Clone, Debug)]
pub struct IssuerDocuments {
    configuration: Bytes,
    keys: Bytes,
}

impl IssuerDocuments {
    /// Describes an issuer whose keys are at `keys_url`. `None` where the issuer is no https URL: then nobody
    /// could find the documents by it.
    pub fn new(tokens: &TokenIssuer, keys_url: &str) -> Option<Self> {
        if !is_https_url(tokens.issuer()) {
            return None;
        }
        let algorithms: BTreeSet<&str> = tokens.keys().iter().map(PublicKey::algorithm).collect();
        let configuration = json!({
            "issuer": tokens.issuer(),
            "jwks_uri": keys_url,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        });
        let keys: Vec<_> = tokens.keys().iter().map(PublicKey::jwk).collect();
        let keys = json!({ "keys": keys });
        Some(Self { configuration: configuration.to_string().into(), keys: keys.to_string().into() })
    }

    /// The description of the issuer.
    pub fn configuration(&self) -> Response {
        answer("application/json", &self.configuration)
    }

    /// The keys.
    pub fn keys(&self) -> Response {
        answer("application/jwk-set+json", &self.keys)
    }
}

fn answer(content_type: &'static str, body: &Bytes) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
    ];
    (headers, Body::from(body.clone())).into_response()
}
