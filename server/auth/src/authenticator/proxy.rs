//! A proxy in front of the server that authenticates users itself, and names them in headers.
//!
//! Headers count only on a connection whose client certificate is from an authority for proxies, which is
//! none of the authorities for users, or has an allowed common name. On all others they mean nothing. A
//! request of the proxy without a user is judged by its other credentials.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, PoisonError},
};

use percent_encoding::percent_decode_str;
use rustls_pki_types::{TrustAnchor, UnixTime};

use super::{
    Authenticated, Authenticator, Credentials, Headers,
    certificate::{common_name, earliest_end, parse, read_anchors},
    peer_certificates::{PeerCertificates, TrustedProxy},
};
use crate::{answer::Answer, error::AuthError, user::UserInfo};

/// Which proxies there are, and which headers they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyConfig {
    /// PEM file of the authorities that issue the certificates of proxies.
    pub ca_file: PathBuf,
    /// The common names of proxies; empty for any.
    pub allowed_names: Vec<String>,
    /// The headers that name the user.
    pub headers: ProxyHeaders,
}

/// Names of headers, all in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyHeaders {
    /// Of the name: the first of them that is there and not empty.
    pub user: Vec<String>,
    /// Of the uid, in the same way.
    pub uid: Vec<String>,
    /// Of groups: all of them.
    pub group: Vec<String>,
    /// What headers of extra attributes begin with; the rest is the key, percent-encoded.
    pub extra_prefixes: Vec<String>,
}

/// Accepts users that a proxy names.
pub struct ProxyAuthenticator {
    anchors: Arc<[TrustAnchor<'static>]>,
    allowed_names: Vec<String>,
    headers: ProxyHeaders,
}

impl ProxyAuthenticator {
    /// Reads the file of authorities. Where it has one of those for users, proxies need names: else each user
    /// could say to be anybody.
    pub fn new(config: &ProxyConfig, authorities_for_users: &[PathBuf]) -> Result<Self, AuthError> {
        let ProxyConfig { ca_file, allowed_names, headers } = config.clone();
        let anchors = read_anchors(std::slice::from_ref(&ca_file))?;
        if allowed_names.is_empty() {
            let users = read_anchors(authorities_for_users)?;
            let key =
                |anchor: &TrustAnchor<'_>| [anchor.subject.to_vec(), anchor.subject_public_key_info.to_vec()];
            if anchors.iter().any(|proxy| users.iter().any(|user| key(user) == key(proxy))) {
                let problem = "one of its authorities is for users too, who could say to be anybody: use another \
                               one, or name the proxies with --requestheader-allowed-names";
                return Err(AuthError::TrustBundle { path: ca_file, problem: problem.to_owned() });
            }
        }
        Ok(Self { anchors, allowed_names, headers })
    }

    fn accept(&self, credentials: &Credentials<'_>) -> Result<Option<Authenticated>, AuthError> {
        let (peer, Some(headers)) = (credentials.peer_certificates(), credentials.headers()) else {
            return Ok(None);
        };
        if peer.is_empty() {
            return Ok(None);
        }
        let Some(name) = first(headers, &self.headers.user)? else { return Ok(None) };
        self.check(peer, credentials.now())?;
        let groups = self.headers.group.iter().flat_map(|header| headers.values(header));
        let groups = groups.filter(|group| !group.is_empty()).map(text);
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for prefix in &self.headers.extra_prefixes {
            for (key, value) in headers.with_prefix(prefix) {
                let key = percent_decode_str(key).decode_utf8().map_err(|_| not_text())?;
                extra.entry(key.into_owned()).or_default().push(text(value)?);
            }
        }
        let user = UserInfo {
            name,
            uid: first(headers, &self.headers.uid)?.unwrap_or_default(),
            groups: groups.collect::<Result<_, _>>()?,
            extra,
        };
        Ok(Some(Authenticated::new(user, "proxy")))
    }

    /// Whether the client is a proxy. That is found out once for each connection, and again when one of its
    /// certificates has expired or the authorities were loaded again.
    fn check(&self, peer: &PeerCertificates, now: UnixTime) -> Result<(), AuthError> {
        let known = peer.proxy.read().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_some_and(|known| now <= known.until && Arc::ptr_eq(&known.by, &self.anchors)) {
            return Ok(());
        }
        drop(known);
        let Some(leaf) = peer.chain.first() else {
            return Err(refused("the client has no certificate"));
        };
        peer.verify(&self.anchors, now)
            .map_err(|_| refused("the client's certificate is not that of a proxy"))?;
        let certificate = parse(leaf)?;
        let name = common_name(&certificate)?;
        if !self.allowed_names.is_empty() && !self.allowed_names.iter().any(|allowed| allowed == name) {
            return Err(refused("the common name of the proxy is not an allowed one"));
        }
        let trusted = TrustedProxy { until: earliest_end(&peer.chain)?, by: Arc::clone(&self.anchors) };
        *peer.proxy.write().unwrap_or_else(PoisonError::into_inner) = Some(trusted);
        Ok(())
    }
}

impl Authenticator for ProxyAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        Answer::Ready(self.accept(credentials))
    }
}

/// The value of the first header that has one. Several values of one header are refused: a proxy that adds
/// its header to one of the client would let the client choose.
fn first(headers: &dyn Headers, names: &[String]) -> Result<Option<String>, AuthError> {
    for name in names {
        let mut values = headers.values(name).filter(|value| !value.is_empty());
        if let Some(value) = values.next() {
            if values.next().is_some() {
                return Err(refused("a header that has one value has several"));
            }
            return text(value).map(Some);
        }
    }
    Ok(None)
}

fn text(value: &[u8]) -> Result<String, AuthError> {
    std::str::from_utf8(value).map(str::to_owned).map_err(|_| not_text())
}

fn not_text() -> AuthError {
    refused("a header is not valid UTF-8")
}

fn refused(problem: &str) -> AuthError {
    AuthError::Proxy { problem: problem.to_owned() }
}

#[cfg(test)]
mod tests;
