//! Where the credentials of a client come from.

use std::sync::Arc;

use crate::{
    cache::Cache, certificate_files::CertificateFiles, credential::Credential, error::Error,
    token_file::TokenFile,
};

/// Credentials that change while the client is in use.
pub enum Source {
    Plugin(Arc<Cache>),
    TokenFile(TokenFile),
    CertificateFiles(CertificateFiles),
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
            Source::CertificateFiles(files) => files.credential(),
        }
    }

    /// A request with this credential was answered by a 401.
    pub fn refused(&self, credential: &Arc<Credential>) {
        match self {
            Source::Plugin(cache) => cache.refused(credential),
            Source::TokenFile(file) => file.refused(),
            Source::CertificateFiles(files) => files.refused(),
        }
    }

    /// Whether requests go on with the connections that there are, where the certificate and its key do not
    /// fit together. Two files are not replaced at one instant.
    pub fn may_be_half_replaced(&self) -> bool {
        matches!(self, Source::CertificateFiles(_))
    }

    /// Names it in errors.
    pub fn name(&self) -> &str {
        match self {
            Source::Plugin(cache) => cache.name(),
            Source::TokenFile(_) => "token file",
            Source::CertificateFiles(_) => "client certificate",
        }
    }
}
