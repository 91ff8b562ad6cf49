//! Who makes a request of a server that is put together, and whether they may.

use std::{net::SocketAddr, sync::Arc};

use arc_swap::ArcSwap;
use orch_auth::{
    authentication::{Authentication, Lasting},
    authenticator::{
        Authenticator, bootstrap_token::BootstrapTokenAuthenticator,
        service_account::ServiceAccountAuthenticator,
    },
    authorization::Authorization,
    authorizer::Authorizer,
    service_account::TokenIssuer,
};
use orch_config::Config;
use orch_http::{
    access::AccessControl,
    documents::issuer::{self, IssuerDocuments},
};
use orch_kinds::sources::{AccountDirectory, bootstrap_secrets::BootstrapSecrets};
use orch_registry::{feature_gates::AUTHORIZE_WITH_SELECTORS, objects::Objects};

use super::Server;
use crate::{authorizers, bootstrap};

impl Server {
    /// Who makes a request, as far as objects say so: the tokens of service accounts that exist, and
    /// bootstrap tokens.
    pub(super) fn authenticators_over_objects(
        &self,
        objects: &Objects,
        tokens: &Arc<TokenIssuer>,
    ) -> Vec<Arc<dyn Authenticator>> {
        let directory = Box::new(AccountDirectory::new(objects.clone()));
        let vocabulary = self.config.vocabulary;
        let accounts = ServiceAccountAuthenticator::new(Arc::clone(tokens), directory, vocabulary);
        let mut authenticators: Vec<Arc<dyn Authenticator>> = vec![Arc::new(accounts)];
        if self.config.authentication.bootstrap_tokens {
            let secrets = Box::new(BootstrapSecrets::new(objects.clone()));
            authenticators.push(Arc::new(BootstrapTokenAuthenticator::new(secrets)));
        }
        authenticators
    }

    /// Both, of the methods of the configuration and those of the program.
    pub(super) fn access(
        &mut self,
        authentication: Authentication,
        lasting: &Lasting,
        modes: &authorizers::Modes,
    ) -> AccessControl {
        let authentication = authentication.with(lasting);
        let authorizers = std::mem::take(&mut self.authorizers);
        AccessControl {
            authentication: Arc::new(ArcSwap::from_pointee(authentication)),
            authorization: Arc::new(Authorization::new(
                authorizers,
                [Box::new(Arc::clone(&modes.current)) as Box<dyn Authorizer>],
            )),
            shows_selectors: self.shows_selectors(),
            vocabulary: self.config.vocabulary,
        }
    }

    /// Whether authorizers see the selectors of requests.
    pub(super) fn shows_selectors(&self) -> bool {
        self.config.feature_gates.is_on(&AUTHORIZE_WITH_SELECTORS)
    }

    /// How others verify the tokens of service accounts. `address` is where the server listens.
    pub(super) fn issuer_documents(
        &self,
        tokens: &Arc<TokenIssuer>,
        address: SocketAddr,
    ) -> Option<IssuerDocuments> {
        let Config { serving, authentication, .. } = &self.config;
        let own = || bootstrap::url(address, serving.external_hostname.as_ref()) + issuer::KEYS;
        let keys_url = authentication.tokens.keys_url.clone().unwrap_or_else(own);
        let documents = IssuerDocuments::new(Arc::clone(tokens), keys_url);
        if documents.is_none() {
            let issuer = tokens.issuer();
            tracing::warn!(issuer, "others cannot look up the keys of tokens: the issuer is no https URL");
        }
        documents
    }
}
