//! The methods of authentication for which other servers are asked.

use std::sync::Arc;

use orch_auth::{
    authentication::AuthenticationConfig,
    authenticator::{Authenticator, issued_token::IssuedTokenAuthenticator},
    oidc::issuer::Issuers,
};
use orch_runtime::vocabulary::Vocabulary;

use crate::start_error::StartError;

/// What is configured, made of files that are read before anything listens.
pub fn read(
    config: &AuthenticationConfig,
    vocabulary: &Vocabulary,
) -> Result<Vec<Arc<dyn Authenticator>>, StartError> {
    let mut methods: Vec<Arc<dyn Authenticator>> = Vec::new();
    if let Some(oidc) = &config.oidc {
        let issuer = oidc.issuer(vocabulary).map_err(|error| StartError::caused("--oidc-ca-file", &error))?;
        let issuers = Issuers::from([(issuer.name().to_owned(), issuer)]);
        methods.push(Arc::new(IssuedTokenAuthenticator::new(issuers)));
    }
    Ok(methods)
}
