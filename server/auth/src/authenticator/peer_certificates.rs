//! The client certificates of a connection, with the result of verifying them.

use std::sync::{Arc, RwLock};

use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};

use super::authenticated::Authenticated;

/// The certificates that a client presented on one connection, and the identity that they proved.
///
/// The chain is verified once per connection, and again when one of the certificates has expired or the
/// authorities were loaded again: an authority that was removed vouches for nobody from then on.
#[derive(Debug, Default)]
pub struct PeerCertificates {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) verified: RwLock<Option<Verified>>,
    /// Whether they are those of a proxy that authenticates users.
    pub(super) proxy: RwLock<Option<TrustedProxy>>,
}

/// A proxy that was verified, and for how long that holds.
#[derive(Debug)]
pub(super) struct TrustedProxy {
    pub(super) until: UnixTime,
    /// The authorities that were trusted.
    pub(super) by: Arc<[TrustAnchor<'static>]>,
}

/// A verified identity, and for how long it holds.
#[derive(Debug)]
pub(super) struct Verified {
    pub(super) identity: Authenticated,
    pub(super) until: UnixTime,
    /// The authorities that were trusted.
    pub(super) by: Arc<[TrustAnchor<'static>]>,
}

impl PeerCertificates {
    /// The client's own certificate comes first, then the intermediate ones.
    pub fn new(chain: Vec<CertificateDer<'static>>) -> Self {
        Self { chain, ..Self::default() }
    }

    /// The client's own, in DER.
    pub fn own(&self) -> Option<&[u8]> {
        self.chain.first().map(|certificate| &**certificate)
    }

    /// Whether the client presented none.
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }
}
