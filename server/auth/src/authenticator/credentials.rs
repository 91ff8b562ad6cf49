//! The credentials that a request brings.

use std::time::SystemTime;

use rustls_pki_types::UnixTime;

use super::{
    bearer::{Bearer, MISPLACED_SPACE_WARNING, Token},
    peer_certificates::PeerCertificates,
};

/// The credentials of a request.
///
/// There is no `Debug`, because it holds secrets.
pub struct Credentials<'a> {
    peer_certificates: &'a PeerCertificates,
    bearer: Bearer<'a>,
    now: UnixTime,
    audiences: &'a [String],
    path: &'a str,
    headers: Option<&'a dyn Headers>,
}

/// The headers of a request.
pub trait Headers: Sync {
    /// The values of a header; the name is in lower case.
    fn values<'a>(&'a self, name: &'a str) -> Box<dyn Iterator<Item = &'a [u8]> + 'a>;

    /// The headers that begin so, each with the rest of its name. All names are in lower case.
    fn with_prefix<'a>(&'a self, prefix: &'a str) -> Box<dyn Iterator<Item = (&'a str, &'a [u8])> + 'a>;
}

impl<'a> Credentials<'a> {
    /// `authorization` is the value of the first `Authorization` header. `now` is the time of the request;
    /// expiry is checked against it.
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
            path: "",
            headers: None,
        }
    }

    /// The same credentials, with the headers in which a proxy may name the user.
    #[must_use]
    pub fn with_headers(self, headers: &'a dyn Headers) -> Self {
        Self { headers: Some(headers), ..self }
    }

    /// The headers of the request, if it has any.
    pub fn headers(&self) -> Option<&'a dyn Headers> {
        self.headers
    }

    /// The same credentials, presented to one of these audiences instead of this server.
    #[must_use]
    pub fn for_audiences(self, audiences: &'a [String]) -> Self {
        Self { audiences, ..self }
    }

    /// The same credentials, of a request with this path.
    #[must_use]
    pub fn at(self, path: &'a str) -> Self {
        Self { path, ..self }
    }

    /// The path of the request; empty where there is none. It counts where there are no credentials.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// The audiences that the credentials are presented to; empty means this server.
    pub fn audiences(&self) -> &'a [String] {
        self.audiences
    }

    /// The certificates of the client from the TLS handshake; empty if it presented none.
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

    /// The text of a `Warning` header for the client, whatever the result of the request.
    pub fn warning(&self) -> Option<&'static str> {
        matches!(self.bearer, Bearer::MisplacedSpace).then_some(MISPLACED_SPACE_WARNING)
    }

    /// When the request arrived.
    pub fn now(&self) -> UnixTime {
        self.now
    }
}
