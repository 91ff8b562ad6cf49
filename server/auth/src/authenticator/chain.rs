//! Whether an authority vouches for the certificates that a client presents.
//!
//! Anybody may present anything, and the search for a way from the client's certificate to an authority tries
//! what fits by name in every order. So a chain is searched only if it is short and few names are the same.

use std::collections::HashMap;

use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

/// The most certificates beside the client's own. Chains of private authorities have one or two.
const MAX_INTERMEDIATES: usize = 8;

/// The most of one subject: an authority that has a new key, or is vouched for by two others.
const MAX_OF_ONE_SUBJECT: usize = 2;

/// Whether one of the authorities vouches for a chain, in which the client's own certificate is the first.
///
/// # Errors
/// Why not, for the client.
pub(super) fn verify(
    anchors: &[TrustAnchor<'_>],
    chain: &[CertificateDer<'_>],
    now: UnixTime,
) -> Result<(), String> {
    let Some((leaf, intermediates)) = chain.split_first() else { return Err("there is none".to_owned()) };
    bounded(intermediates)?;
    let verified = EndEntityCert::try_from(leaf).and_then(|leaf| {
        let usage = KeyUsage::client_auth();
        leaf.verify_for_usage(ALL_VERIFICATION_ALGS, anchors, intermediates, now, usage, None, None).map(drop)
    });
    verified.map_err(|error| error.to_string())
}

/// Refuses what would take long to search.
fn bounded(intermediates: &[CertificateDer<'_>]) -> Result<(), String> {
    if intermediates.len() > MAX_INTERMEDIATES {
        return Err(format!("more than {MAX_INTERMEDIATES} certificates of authorities come with it"));
    }
    let mut subjects: HashMap<Vec<u8>, usize> = HashMap::new();
    for certificate in intermediates {
        let (_, parsed) = X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
        let count = subjects.entry(parsed.subject().as_raw().to_vec()).or_default();
        *count += 1;
        if *count > MAX_OF_ONE_SUBJECT {
            return Err(format!("more than {MAX_OF_ONE_SUBJECT} certificates of one authority come with it"));
        }
    }
    Ok(())
}
