//! Where the credentials of a client come from.

use std::sync::Arc;

use crate::{cache::Cache, credential::Credential, error::Error, token_file::TokenFile};

/// Credentials that change while the client is in use.
pub enum Source {
    Plugin(Arc<Cache>),
    TokenFile(TokenFile),
}

impl Source {
    /// The credential for a request that is sent now.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn credential(&self) -> Result<Arc<Credential>, Error> {
        match self {
            Source::Plugin(cache) => cache.credential().await,
            Source::TokenFile(file) => file.credential(),
        }
    }

    /// A request with this credential was answered by a 401.
    pub fn refused(&self, credential: &Arc<Credential>) {
        match self {
            Source::Plugin(cache) => cache.refused(credential),
            Source::TokenFile(file) => file.refused(),
        }
    }

    /// Names it in errors.
    pub fn name(&self) -> &str {
        match self {
            Source::Plugin(cache) => cache.name(),
            Source::TokenFile(_) => "token file",
        }
    }
}
