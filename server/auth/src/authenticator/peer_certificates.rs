//! The client certificates of a connection, with the result of verifying them.

use std::sync::OnceLock;

use rustls_pki_types::{CertificateDer, UnixTime};

use super::authenticated::Authenticated;

/// The certificates that a client presented on one connection, and the identity that they proved.
///
/// The chain is verified once per connection, and again when one of the certificates has expired. Authorities
/// that are loaded later count for new connections.
#[derive(Debug, Default)]
pub struct PeerCertificates {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) verified: OnceLock<Verified>,
}

/// A verified identity, and the time until which it holds.
#[derive(Debug)]
pub(super) struct Verified {
    pub(super) identity: Authenticated,
    pub(super) until: UnixTime,
}

impl PeerCertificates {
    /// The client's own certificate comes first, then the intermediate ones.
    pub fn new(chain: Vec<CertificateDer<'static>>) -> Self {
        Self { chain, verified: OnceLock::new() }
    }

    /// Whether the client presented none.
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }
}
