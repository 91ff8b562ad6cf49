//! Errors: at start about files, and per request about credentials.
//!
//! No message contains a token or a private key.

use std::path::PathBuf;

/// Every error of this crate. [`AuthError::is_credential`] distinguishes the two groups.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The request carries no credential and anonymous requests are not allowed.
    #[error("the request has no credentials")]
    NoCredentials,
    /// The request carries a bearer token that no method accepts.
    #[error("the bearer token is not valid")]
    UnknownToken,
    /// The client certificate of the connection is not valid.
    #[error("the client certificate is not valid: {problem}")]
    Certificate {
        /// What is wrong with it.
        problem: String,
    },
    /// The proxy on the other end may not name users, or names none rightly.
    #[error("the headers of the proxy do not count: {problem}")]
    Proxy {
        /// Why.
        problem: String,
    },
    /// The service account token is not valid.
    #[error("the service account token is not valid: {problem}")]
    ServiceAccountToken {
        /// What is wrong with it, without the token.
        problem: String,
    },
    /// The token of an issuer that the configuration names is not valid.
    #[error("the token of {issuer:?} is not valid: {problem}")]
    IssuedToken {
        /// Who is said to have issued it.
        issuer: String,
        /// What is wrong with it, without the token.
        problem: String,
    },
    /// Nobody could find out whether a token is valid: another server has not told what is needed.
    #[error("the token cannot be judged: {problem}")]
    Unjudged {
        /// Why, without the token.
        problem: String,
    },
    /// A service account token cannot be signed.
    #[error("the key of service account tokens cannot sign")]
    Signing,
    /// A file with keys of service account tokens is not right.
    #[error("{}: {problem}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong, without the key.
        problem: String,
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
    /// A line of a token file is not valid.
    #[error("{}:{line}: {problem}", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong, without the line's content.
        problem: String,
    },
    /// A file that configures authentication or authorization is not right.
    #[error("{}:{line}:{column}: {problem}", path.display())]
    ConfigFile {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// Counted from 1.
        column: u64,
        /// What is wrong.
        problem: String,
    },
    /// Another server that is configured cannot be called.
    #[error(transparent)]
    Outbound(orch_outbound::error::OutboundError),
    /// A file of trusted certificates is not valid.
    #[error("{}: {problem}", path.display())]
    TrustBundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl AuthError {
    /// Whether the credentials of a request are at fault, and not the configuration of the server or another
    /// server. The answer to a request is 401 in each case.
    pub fn is_credential(&self) -> bool {
        match self {
            Self::NoCredentials
            | Self::UnknownToken
            | Self::Certificate { .. }
            | Self::Proxy { .. }
            | Self::ServiceAccountToken { .. }
            | Self::IssuedToken { .. } => true,
            Self::Unjudged { .. }
            | Self::Signing
            | Self::KeyFile { .. }
            | Self::Read { .. }
            | Self::TokenFile { .. }
            | Self::ConfigFile { .. }
            | Self::Outbound(_)
            | Self::TrustBundle { .. } => false,
        }
    }
}
