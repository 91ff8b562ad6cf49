//! How callers prove who they are.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction::Set, Args};
use orch_auth::{
    authentication::AuthenticationConfig, authorization::Mode, oidc::url, service_account::TokenConfig,
};
use orch_registry::feature_gates::{
    ANONYMOUS_CONDITIONS, FeatureGates, PROXY_UID, STRUCTURED_AUTHENTICATION,
};

use super::{
    boolean::BOOL, duration::positive, oidc::OidcFlags, proxy::ProxyFlags, token_webhook::TokenWebhookFlags,
};
use crate::start_error::StartError;

/// Flags about authentication.
#[derive(Debug, Args)]
pub struct AuthenticationFlags {
    /// Certificates, in PEM, of the authorities whose client certificates are accepted, besides the server's
    /// own: the common name is the user, each organisation a group.
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Static bearer tokens, one line each: token,user,uid,"group1,group2" (groups may be left out).
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// Whether requests without credentials are made by the user system:anonymous instead of being refused.
    /// true, unless it is given or a mode of --authorization-mode allows everything.
    #[arg(long, value_name = BOOL, action = Set)]
    anonymous_auth: Option<bool>,
    #[command(flatten)]
    proxy: ProxyFlags,
    /// Whether bootstrap tokens are accepted: each has a secret in the system namespace.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = false)]
    enable_bootstrap_token_auth: bool,
    /// Keys whose service account tokens are accepted besides those of the signing key: RSA or ECDSA, public
    /// keys, private keys or certificates, in PEM. May be given several times, and a file can have several
    /// keys.
    #[arg(long, value_name = "FILE")]
    service_account_key_file: Vec<PathBuf>,
    /// The private key that signs service account tokens, in PEM. One in the data directory, unless it is
    /// given.
    #[arg(long, value_name = "FILE")]
    service_account_signing_key_file: Option<PathBuf>,
    /// What the server calls itself in the tokens that it makes for service accounts, mostly a URL. May be
    /// given several times: tokens of all are accepted, and the first one is put into new tokens.
    #[arg(long, value_name = "NAME")]
    service_account_issuer: Vec<String>,
    /// Where others find the keys of service account tokens, as an https URL. This server at /openid/v1/jwks,
    /// unless it is given.
    #[arg(long, value_name = "URL")]
    service_account_jwks_uri: Option<String>,
    /// The longest lifetime of a service account token: at least 1h. Requests for more are shortened.
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    service_account_max_token_expiration: Option<Duration>,
    /// Whether tokens that pods renew by themselves live for a year, so that programs that never read the new
    /// one go on.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = true)]
    service_account_extend_token_expiration: bool,
    /// Whether service account tokens that are kept in secrets are accepted only while the account exists and
    /// the secret holds the token.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = true)]
    service_account_lookup: bool,
    /// Audiences of tokens that this server accepts. The issuers, unless it is given.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    api_audiences: Vec<String>,
    /// A file that says whose tokens are accepted, which claims make the user, and for which paths
    /// no credentials are needed.
    #[arg(long, value_name = "FILE")]
    authentication_config: Option<PathBuf>,
    #[command(flatten)]
    oidc: OidcFlags,
    #[command(flatten)]
    token_webhook: TokenWebhookFlags,
}

impl AuthenticationFlags {
    /// Checks issuers, URLs, lifetimes and the flags of the proxy. Under the mode `AlwaysAllow` callers
    /// without credentials would be let in to everything, so there they are let in only where the operator
    /// says so.
    pub fn check(self, modes: &[Mode], gates: &FeatureGates) -> Result<AuthenticationConfig, StartError> {
        if let Some(flag) = self.oidc.given().filter(|_| self.authentication_config.is_some()) {
            return Err(StartError::configuration(flag, "cannot be given with --authentication-config"));
        }
        if self.authentication_config.is_some() && !gates.is_on(&STRUCTURED_AUTHENTICATION) {
            let problem = "needs the feature gate StructuredAuthenticationConfiguration";
            return Err(StartError::configuration("--authentication-config", problem));
        }
        let tokens = self.tokens()?;
        Ok(AuthenticationConfig {
            client_ca_files: self.client_ca_file.into_iter().collect(),
            proxy: self.proxy.check(gates.is_on(&PROXY_UID))?,
            token_file: self.token_auth_file,
            anonymous: self.anonymous_auth.unwrap_or(!modes.contains(&Mode::AlwaysAllow)),
            no_anonymous_in_file: match self.anonymous_auth {
                Some(_) => Some("cannot be given with --anonymous-auth"),
                None if !gates.is_on(&ANONYMOUS_CONDITIONS) => {
                    Some("cannot be given while the feature gate AnonymousAuthConfigurableEndpoints is off")
                }
                None => None,
            },
            bootstrap_tokens: self.enable_bootstrap_token_auth,
            tokens,
            api_audiences: self.api_audiences,
            oidc: self.oidc.check()?,
            file: self.authentication_config,
            token_webhook: self.token_webhook.check()?,
        })
    }

    fn tokens(&self) -> Result<TokenConfig, StartError> {
        const LONGEST: i64 = 1 << 32;
        let issuers = &self.service_account_issuer;
        for (position, issuer) in issuers.iter().enumerate() {
            check_issuer(issuer, &issuers[..position])
                .map_err(|problem| StartError::configuration("--service-account-issuer", problem))?;
        }
        if let Some(url) = &self.service_account_jwks_uri {
            let flag = "--service-account-jwks-uri";
            url::check(url)
                .map_err(|problem| StartError::configuration(flag, format_args!("{url:?} {problem}")))?;
            if let Some(issuer) = issuers.first().filter(|issuer| url::check(issuer).is_err()) {
                let problem = format_args!("needs an issuer that is an https URL, and {issuer} is not");
                return Err(StartError::configuration(flag, problem));
            }
        }
        let seconds = |longest: Duration| i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
        let max_lifetime = self.service_account_max_token_expiration.map(seconds);
        if max_lifetime.is_some_and(|longest| !(60 * 60..=LONGEST).contains(&longest)) {
            let problem = "must be between 1 hour and 2^32 seconds";
            return Err(StartError::configuration("--service-account-max-token-expiration", problem));
        }
        Ok(TokenConfig {
            signing_key_file: self.service_account_signing_key_file.clone(),
            key_files: self.service_account_key_file.clone(),
            issuers: issuers.clone(),
            keys_url: self.service_account_jwks_uri.clone(),
            max_lifetime,
            extends_lifetime: self.service_account_extend_token_expiration,
            looks_up: self.service_account_lookup,
        })
    }
}

/// An issuer is any text, and a URL where it looks like one; each is given once.
fn check_issuer(issuer: &str, earlier: &[String]) -> Result<(), String> {
    let is_text = |issuer: &str| {
        !issuer.contains(|character: char| character.is_whitespace() || character.is_control())
    };
    if issuer.is_empty() {
        return Err("may not be empty".to_owned());
    }
    if !is_text(issuer) || (issuer.contains("://") && issuer.parse::<http::Uri>().is_err()) {
        return Err(format!("{issuer:?} is no URL"));
    }
    if earlier.iter().any(|known| known == issuer) {
        return Err(format!("{issuer} is given twice"));
    }
    Ok(())
}
