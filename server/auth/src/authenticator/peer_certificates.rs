//! The client certificates of a connection, with the result of verifying them.

use std::sync::{Arc, PoisonError, RwLock};

use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};

use super::{authenticated::Authenticated, chain};

/// The certificates that a client presented on one connection, and the identity that they proved.
///
/// The chain is verified once per connection, and again when one of the certificates has expired or the
/// authorities were loaded again: an authority that was removed vouches for nobody from then on. Where it is
/// refused, that holds for a second, because a clock that goes on can make a certificate valid.
#[derive(Debug, Default)]
pub struct PeerCertificates {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) verified: RwLock<Option<Verified>>,
    /// Whether they are those of a proxy that authenticates users.
    pub(super) proxy: RwLock<Option<TrustedProxy>>,
    /// By which authorities they were refused in this second.
    refused: RwLock<Vec<Refused>>,
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

/// The chain was refused.
#[derive(Debug)]
struct Refused {
    at: UnixTime,
    /// The authorities that were asked.
    by: Arc<[TrustAnchor<'static>]>,
    why: String,
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

    /// Whether one of the authorities vouches for the client.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn verify(&self, by: &Arc<[TrustAnchor<'static>]>, now: UnixTime) -> Result<(), String> {
        let known = self.refused.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(refused) = known.iter().find(|known| known.at == now && Arc::ptr_eq(&known.by, by)) {
            return Err(refused.why.clone());
        }
        drop(known);
        chain::verify(by, &self.chain, now).inspect_err(|why| {
            let refused = Refused { at: now, by: Arc::clone(by), why: why.clone() };
            let mut known = self.refused.write().unwrap_or_else(PoisonError::into_inner);
            known.retain(|known| known.at == now);
            known.push(refused);
        })
    }

    /// How many refusals are kept.
    #[cfg(test)]
    pub(super) fn refusals(&self) -> usize {
        self.refused.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether the client presented none.
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }
}
