//! What can go wrong: at start with the files that were given, and per request with the credentials.
//!
//! No message holds a token or a private key.

use std::path::PathBuf;

/// Every error of this crate. [`AuthError::is_credential`] tells the two kinds apart.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The request carries no credential and anonymous requests are not allowed.
    #[error("the request has no credentials")]
    NoCredentials,
    /// The request carries a bearer token that no method accepts.
    #[error("the bearer token is not valid")]
    UnknownToken,
    /// The client certificate of the connection is not acceptable.
    #[error("the client certificate is not valid: {problem}")]
    Certificate {
        /// What is wrong with it.
        problem: String,
    },
    /// The token of a service account is not acceptable.
    #[error("the service account token is not valid: {problem}")]
    ServiceAccountToken {
        /// What is wrong with it, without the token.
        problem: String,
    },
    /// The key of service account tokens cannot be used.
    #[error("the key of service account tokens is not usable: {problem}")]
    SigningKey {
        /// Why.
        problem: &'static str,
    },
    /// A file that was named in the configuration cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line of a token file is not acceptable.
    #[error("{}:{line}: {problem}", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong, without the line's content.
        problem: String,
    },
    /// A file of trusted certificates is not acceptable.
    #[error("{}: {problem}", path.display())]
    TrustBundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl AuthError {
    /// Whether a request's credentials are at fault (answer 401), rather than the server's configuration.
    pub fn is_credential(&self) -> bool {
        match self {
            Self::NoCredentials
            | Self::UnknownToken
            | Self::Certificate { .. }
            | Self::ServiceAccountToken { .. } => true,
            Self::SigningKey { .. }
            | Self::Read { .. }
            | Self::TokenFile { .. }
            | Self::TrustBundle { .. } => false,
        }
    }
}
