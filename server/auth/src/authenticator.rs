//! Who is it: what one authentication method is, and what it is given and returns.
//!
//! A method answers `Ok(None)` when the request carries no credential of its kind, or one that it does not know
//! and another method may; it answers an error when a credential is certainly meant for it and is not valid. How
//! the answers of several methods are combined is decided by [`Authentication`](crate::authentication).

use std::{sync::Arc, time::SystemTime};

use rustls_pki_types::UnixTime;

use crate::{
    answer::Answer,
    authenticator::{
        bearer::{Bearer, Token},
        certificate::PeerCertificates,
    },
    error::AuthError,
    user::UserInfo,
};

pub mod bearer;
pub mod certificate;
pub mod service_account;
pub mod token_file;

/// One authentication method.
pub trait Authenticator: Send + Sync {
    /// Looks for a credential of its kind.
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>>;
}

/// One that several share.
impl<T: Authenticator + ?Sized> Authenticator for Arc<T> {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        (**self).authenticate(credentials)
    }
}

/// Everything of a request that says who makes it.
///
/// There is no `Debug`: it holds secrets.
pub struct Credentials<'a> {
    peer_certificates: &'a PeerCertificates,
    bearer: Bearer<'a>,
    now: UnixTime,
    audiences: &'a [String],
}

impl<'a> Credentials<'a> {
    /// `authorization` is the value of the first `Authorization` header; `now` is when the request arrived, which
    /// periods of validity are judged by.
    pub fn new(
        peer_certificates: &'a PeerCertificates,
        authorization: Option<&'a [u8]>,
        now: SystemTime,
    ) -> Self {
        let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            peer_certificates,
            bearer: authorization.map_or(Bearer::Absent, Bearer::parse),
            now: UnixTime::since_unix_epoch(since_epoch),
            audiences: &[],
        }
    }

    /// The same, shown to others than this server: one of these audiences.
    #[must_use]
    pub fn for_audiences(self, audiences: &'a [String]) -> Self {
        Self { audiences, ..self }
    }

    /// To whom the credentials are shown; empty for this server.
    pub fn audiences(&self) -> &'a [String] {
        self.audiences
    }

    /// The certificates that the client presented in the TLS handshake; empty when it presented none.
    pub fn peer_certificates(&self) -> &'a PeerCertificates {
        self.peer_certificates
    }

    /// The bearer token, if there is one.
    pub fn token(&self) -> Option<Token<'a>> {
        match self.bearer {
            Bearer::Token(token) => Some(token),
            Bearer::Absent | Bearer::MisplacedSpace => None,
        }
    }

    /// What the client should be told in a `Warning` header, whatever becomes of the request.
    pub fn warning(&self) -> Option<&'static str> {
        matches!(self.bearer, Bearer::MisplacedSpace).then_some(bearer::MISPLACED_SPACE_WARNING)
    }

    /// When the request arrived.
    pub fn now(&self) -> UnixTime {
        self.now
    }
}

/// A caller whose credential was accepted. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    user: Arc<UserInfo>,
    method: &'static str,
    audiences: Arc<[String]>,
}

impl Authenticated {
    /// `method` names the authentication method in audit records and metrics. The user becomes a member of
    /// `system:authenticated`.
    pub fn new(user: UserInfo, method: &'static str) -> Self {
        Self { user: Arc::new(user.authenticated()), method, audiences: Arc::default() }
    }

    /// The same, by a credential that says for whom it is good.
    #[must_use]
    pub fn with_audiences(self, audiences: Vec<String>) -> Self {
        Self { audiences: audiences.into(), ..self }
    }

    /// For which of those to whom it was shown the credential is good; empty where it does not say: it is this server's own.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Who it is.
    pub fn user(&self) -> &Arc<UserInfo> {
        &self.user
    }

    /// Which authentication method accepted the credential.
    pub fn method(&self) -> &'static str {
        self.method
    }
}
