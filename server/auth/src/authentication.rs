//! All configured authentication methods together.
//!
//! The order is: an authenticating proxy, client certificates, the token file, then methods that are added:
//! service account tokens, bootstrap tokens, and those for which other servers are asked. The first method
//! that accepts decides. A request with credentials that no method accepts is refused. A request without
//! credentials is anonymous, if that is allowed.

use std::{ops::ControlFlow, path::PathBuf, sync::Arc};

use arc_swap::ArcSwap;
use orch_runtime::vocabulary::Vocabulary;

use crate::{
    anonymous::Anonymous,
    answer::{Answer, in_order},
    authenticator::{
        Authenticated, Authenticator, Credentials,
        certificate::CertificateAuthenticator,
        proxy::{ProxyAuthenticator, ProxyConfig},
        token_file::TokenFileAuthenticator,
        webhook_token::TokenWebhookConfig,
    },
    error::AuthError,
    lookups::LookupCounts,
    oidc::flags::OidcConfig,
    service_account::TokenConfig,
};

/// How callers prove who they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthenticationConfig {
    /// PEM files of the authorities that issue client certificates; without any, client certificates are
    /// ignored.
    pub client_ca_files: Vec<PathBuf>,
    /// The proxy that authenticates users, if there is one.
    pub proxy: Option<ProxyConfig>,
    /// CSV file of static tokens.
    pub token_file: Option<PathBuf>,
    /// Whether a request without credentials is made by `system:anonymous`; otherwise it is refused.
    pub anonymous: bool,
    /// Whether bootstrap tokens are accepted.
    pub bootstrap_tokens: bool,
    /// Tokens of service accounts.
    pub tokens: TokenConfig,
    /// The audiences of tokens that this server accepts; if empty, the issuers.
    pub api_audiences: Vec<String>,
    /// Why the file may not say who is anonymous.
    pub no_anonymous_in_file: Option<&'static str>,
    /// An issuer whose tokens are accepted.
    pub oidc: Option<OidcConfig>,
    /// A file that names issuers, and the requests that need no credentials.
    pub file: Option<PathBuf>,
    /// Another server that judges tokens.
    pub token_webhook: Option<TokenWebhookConfig>,
}

impl AuthenticationConfig {
    /// The audiences of tokens that this server accepts.
    pub fn audiences(&self, vocabulary: &Vocabulary) -> Vec<String> {
        if self.api_audiences.is_empty() {
            self.tokens.issuers(vocabulary)
        } else {
            self.api_audiences.clone()
        }
    }
}

/// The methods that read files, in their order.
fn read_files(
    config: &AuthenticationConfig,
    vocabulary: &Vocabulary,
) -> Vec<Result<Arc<dyn Authenticator>, AuthError>> {
    let AuthenticationConfig { proxy, client_ca_files, token_file, .. } = config;
    let certificates = (!client_ca_files.is_empty()).then_some(client_ca_files);
    let proxy = proxy.iter().map(|proxy| {
        let read = ProxyAuthenticator::new(proxy, client_ca_files)?;
        Ok(Arc::new(read) as Arc<dyn Authenticator>)
    });
    let certificates = certificates.into_iter().map(|files| {
        let read = CertificateAuthenticator::from_files(files, vocabulary)?;
        Ok(Arc::new(read) as Arc<dyn Authenticator>)
    });
    let tokens = token_file.iter().map(|file| {
        let read = TokenFileAuthenticator::from_file(file)?;
        Ok(Arc::new(read) as Arc<dyn Authenticator>)
    });
    proxy.chain(certificates).chain(tokens).collect()
}

/// What stays as it is where the files of credentials are read again.
#[derive(Clone, Default)]
pub struct Lasting {
    /// Methods that are asked after the others.
    pub methods: Vec<Arc<dyn Authenticator>>,
    /// Which requests need no credentials, where a file says so instead of `AuthenticationConfig`.
    pub anonymous: Option<Arc<ArcSwap<Anonymous>>>,
}

/// Identifies the caller of every request.
pub struct Authentication {
    /// First those that read files.
    methods: Vec<Arc<dyn Authenticator>>,
    anonymous: Arc<ArcSwap<Anonymous>>,
    nobody: Authenticated,
}

impl Authentication {
    /// Reads the configured files. `vocabulary` names the extra attributes of users.
    pub fn new(config: &AuthenticationConfig, vocabulary: &Vocabulary) -> Result<Self, AuthError> {
        let methods = read_files(config, vocabulary).into_iter().collect::<Result<_, _>>()?;
        Ok(Self::from_methods(methods, config.anonymous))
    }

    /// Reads the files again. Where one has errors, which are returned, what it held before stays in force,
    /// and the others count all the same: a withdrawn credential must not stay because of another file.
    pub fn read_again(
        &self,
        config: &AuthenticationConfig,
        vocabulary: &Vocabulary,
    ) -> (Self, Vec<AuthError>) {
        let (mut methods, mut errors) = (Vec::new(), Vec::new());
        for (read, before) in read_files(config, vocabulary).into_iter().zip(&self.methods) {
            methods.push(read.unwrap_or_else(|error| {
                errors.push(error);
                Arc::clone(before)
            }));
        }
        (Self::from_methods(methods, config.anonymous), errors)
    }

    /// Uses exactly these methods, in this order.
    pub fn from_methods(methods: Vec<Arc<dyn Authenticator>>, anonymous: bool) -> Self {
        let anonymous = if anonymous { Anonymous::Everywhere } else { Anonymous::Nowhere };
        let nobody = Authenticated::anonymous();
        Self { methods, anonymous: Arc::new(ArcSwap::from_pointee(anonymous)), nobody }
    }

    /// With methods after the others, and with what else stays as it is.
    #[must_use]
    pub fn with(mut self, lasting: &Lasting) -> Self {
        self.methods.extend(lasting.methods.iter().cloned());
        if let Some(anonymous) = &lasting.anonymous {
            self.anonymous = Arc::clone(anonymous);
        }
        self
    }

    /// The caller of a request. An error becomes a 401 answer without its text, which is logged. Token
    /// reviews show the text.
    pub fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Authenticated, AuthError>> {
        let answers = self.methods.iter().map(|method| method.authenticate(credentials));
        in_order(answers, None, consider, |refusal| self.conclude(credentials, refusal))
    }

    /// How tokens were looked up and judged, by all methods that remember some.
    pub fn lookups(&self) -> LookupCounts {
        let mut counts = LookupCounts::default();
        for method in self.methods.iter().filter_map(Authenticator::lookups) {
            counts += &method;
        }
        counts
    }

    /// The result if no method accepted a credential.
    fn conclude(
        &self,
        credentials: &Credentials<'_>,
        refusal: Option<AuthError>,
    ) -> Result<Authenticated, AuthError> {
        if let Some(error) = refusal {
            return Err(error);
        }
        if credentials.token().is_some() {
            return Err(AuthError::UnknownToken);
        }
        let admits = self.anonymous.load().admits(credentials.path());
        if admits { Ok(self.nobody.clone()) } else { Err(AuthError::NoCredentials) }
    }
}

/// Ends with the first identity; keeps the first error.
fn consider(
    refusal: &mut Option<AuthError>,
    answer: Result<Option<Authenticated>, AuthError>,
) -> ControlFlow<Result<Authenticated, AuthError>> {
    match answer {
        Ok(Some(identity)) => return ControlFlow::Break(Ok(identity)),
        Ok(None) => {}
        Err(error) => *refusal = refusal.take().or(Some(error)),
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests;
