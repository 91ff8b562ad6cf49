//! Client certificates: the common name is the user, every organisation is a group, and an attribute of its
//! own is the uid.
//!
//! The TLS listener asks for a certificate, and checks only that the client has its private key. Whether the
//! certificate is trusted is decided here, so that a bad one leads to a 401 answer and not to a broken
//! connection. If a certificate has extended key usages, `clientAuth` must be one of them.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
    time::Duration,
};

use aws_lc_rs::digest;
use orch_runtime::vocabulary::Vocabulary;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime, pem::PemObject};
use x509_parser::{
    asn1_rs::{Oid, oid},
    certificate::X509Certificate,
    prelude::FromDer,
    x509::AttributeTypeAndValue,
};

pub use super::peer_certificates::PeerCertificates;
use super::peer_certificates::Verified;
use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials},
    error::AuthError,
    user::{UserInfo, credential_id_key},
};

/// The attribute of a subject that is the user's uid. Certificates of other authorities have it too, so it is
/// the same under every vocabulary.
const UID: Oid<'_> = oid!(1.3.6.1.4.1.57683.2);

/// Accepts client certificates that chain to one of its trust anchors.
#[derive(Debug)]
pub struct CertificateAuthenticator {
    anchors: Arc<[TrustAnchor<'static>]>,
    credential_id_key: String,
}

impl CertificateAuthenticator {
    /// Trusts every certificate in the PEM files. `vocabulary` names the extra attribute that identifies the
    /// certificate.
    pub fn from_files(files: &[PathBuf], vocabulary: &Vocabulary) -> Result<Self, AuthError> {
        Ok(Self { anchors: read_anchors(files)?, credential_id_key: credential_id_key(vocabulary) })
    }

    fn identify(&self, peer: &PeerCertificates, now: UnixTime) -> Result<Option<Authenticated>, AuthError> {
        let Some(leaf) = peer.chain.first() else { return Ok(None) };
        let known = peer.verified.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(verified) = &*known
            && now <= verified.until
            && Arc::ptr_eq(&verified.by, &self.anchors)
        {
            return Ok(Some(verified.identity.clone()));
        }
        drop(known);
        peer.verify(&self.anchors, now).map_err(invalid)?;
        let identity = Authenticated::new(self.user(leaf)?, "certificate");
        let until = earliest_end(&peer.chain)?;
        let verified = Verified { identity: identity.clone(), until, by: Arc::clone(&self.anchors) };
        // If two requests race, both have verified the same chain, so either result is right.
        *peer.verified.write().unwrap_or_else(PoisonError::into_inner) = Some(verified);
        Ok(Some(identity))
    }

    fn user(&self, leaf: &CertificateDer<'_>) -> Result<UserInfo, AuthError> {
        let certificate = parse(leaf)?;
        let name = common_name(&certificate)?;
        if name.is_empty() {
            return Err(invalid("its subject has no common name"));
        }
        let groups = certificate.subject().iter_organization().map(|group| text(group).map(str::to_owned));
        let fingerprint = digest::digest(&digest::SHA256, leaf);
        Ok(UserInfo {
            name: name.to_owned(),
            uid: uid(&certificate)?,
            groups: groups.collect::<Result<_, _>>()?,
            extra: BTreeMap::from([(
                self.credential_id_key.clone(),
                vec![format!("X509SHA256={}", hex(fingerprint.as_ref()))],
            )]),
        })
    }
}

impl Authenticator for CertificateAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        Answer::Ready(self.identify(credentials.peer_certificates(), credentials.now()))
    }
}

/// Every certificate in the PEM files, as an authority.
pub(super) fn read_anchors(files: &[PathBuf]) -> Result<Arc<[TrustAnchor<'static>]>, AuthError> {
    let mut anchors = Vec::new();
    for file in files {
        anchors.extend(anchors_in(file)?);
    }
    Ok(anchors.into())
}

fn anchors_in(file: &Path) -> Result<Vec<TrustAnchor<'static>>, AuthError> {
    let problem = |problem: String| AuthError::TrustBundle { path: file.to_owned(), problem };
    let pem = orch_settings::read(file);
    let pem = pem.map_err(|source| AuthError::Read { path: file.to_owned(), source })?;
    let mut anchors = Vec::new();
    for (position, certificate) in CertificateDer::pem_slice_iter(&pem).enumerate() {
        let certificate = certificate.map_err(|error| problem(format!("not valid PEM: {error}")))?;
        let anchor = webpki::anchor_from_trusted_cert(&certificate)
            .map_err(|error| problem(format!("certificate {} cannot be used: {error}", position + 1)))?;
        anchors.push(anchor.to_owned());
    }
    if anchors.is_empty() {
        return Err(problem("holds no certificate".to_owned()));
    }
    Ok(anchors)
}

/// When the first of the certificates ends.
pub(super) fn earliest_end(chain: &[CertificateDer<'_>]) -> Result<UnixTime, AuthError> {
    let mut earliest = u64::MAX;
    for certificate in chain {
        // A time before 1970 counts as 1970: both are in the past.
        let end = u64::try_from(parse(certificate)?.validity().not_after.timestamp()).unwrap_or(0);
        earliest = earliest.min(end);
    }
    Ok(UnixTime::since_unix_epoch(Duration::from_secs(earliest)))
}

pub(super) fn parse<'c>(certificate: &'c CertificateDer<'_>) -> Result<X509Certificate<'c>, AuthError> {
    match X509Certificate::from_der(certificate) {
        Ok((_, parsed)) => Ok(parsed),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// The common name of the subject; empty if it has none.
pub(super) fn common_name<'c>(certificate: &'c X509Certificate<'_>) -> Result<&'c str, AuthError> {
    certificate.subject().iter_common_name().last().map_or(Ok(""), text)
}

/// The uid that the subject states; empty if it states none.
fn uid(certificate: &X509Certificate<'_>) -> Result<String, AuthError> {
    let mut stated = certificate.subject().iter_by_oid(&UID);
    match (stated.next(), stated.next()) {
        (None, _) => Ok(String::new()),
        (Some(_), Some(_)) => Err(invalid("its subject has more than one uid")),
        (Some(uid), None) => match text(uid)? {
            "" => Err(invalid("its subject has an empty uid")),
            uid => Ok(uid.to_owned()),
        },
    }
}

/// A name that cannot be read is an error and not left out, because access rules may depend on it.
fn text<'c>(attribute: &AttributeTypeAndValue<'c>) -> Result<&'c str, AuthError> {
    attribute.as_str().map_err(|_| invalid("its subject holds a name in an unknown encoding"))
}

pub(super) fn invalid(problem: impl Into<Cow<'static, str>>) -> AuthError {
    AuthError::Certificate { problem: problem.into().into_owned() }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;

    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

#[cfg(test)]
mod tests;
