//! Files with keys of tokens, in PEM.

use std::path::{Path, PathBuf};

use rustls_pki_types::{
    PrivateKeyDer,
    pem::{PemObject, SectionKind},
};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use super::{PublicKey, SigningKey};
use crate::error::AuthError;

/// The key in a file that signs tokens: the first private key.
///
/// # Errors
/// If the file cannot be read, or has none that can be used.
pub fn signing_key(file: &Path) -> Result<SigningKey, AuthError> {
    let pem = read(file)?;
    let der = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| {
        unusable(file, "holds no private key in PEM, in the form of PKCS #1, PKCS #8 or SEC 1")
    })?;
    SigningKey::from_der(&der)
        .map_err(|problem| unusable(file, format!("the private key cannot be used: {problem}")))
}

/// The keys in files that verify tokens: public keys, and those of private keys and of certificates. A file
/// can have several.
///
/// # Errors
/// If a file cannot be read, has none, or has one that cannot be used.
pub fn public_keys(files: &[PathBuf]) -> Result<Vec<PublicKey>, AuthError> {
    let mut keys = Vec::new();
    for file in files {
        let pem = read(file)?;
        let before = keys.len();
        for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(&pem) {
            let (kind, der) =
                section.map_err(|error| unusable(file, format!("is not valid PEM: {error}")))?;
            let key = public_key(kind, der);
            let position = keys.len() - before + 1;
            keys.extend(
                key.transpose()
                    .map_err(|problem| unusable(file, format!("key {position} cannot be used: {problem}")))?,
            );
        }
        if keys.len() == before {
            return Err(unusable(file, "holds no public key, private key or certificate in PEM"));
        }
    }
    Ok(keys)
}

/// The public key of a section; `None` for one of another kind.
fn public_key(kind: SectionKind, der: Vec<u8>) -> Option<Result<PublicKey, &'static str>> {
    let private = |der: PrivateKeyDer<'_>| SigningKey::from_der(&der).map(|key| key.public().clone());
    match kind {
        SectionKind::PublicKey => Some(PublicKey::from_der(&der)),
        SectionKind::RsaPrivateKey => Some(private(PrivateKeyDer::Pkcs1(der.into()))),
        SectionKind::EcPrivateKey => Some(private(PrivateKeyDer::Sec1(der.into()))),
        SectionKind::PrivateKey => Some(private(PrivateKeyDer::Pkcs8(der.into()))),
        SectionKind::Certificate => Some(match X509Certificate::from_der(&der) {
            Ok((_, certificate)) => PublicKey::from_der(certificate.public_key().raw),
            Err(_) => Err("it is no certificate"),
        }),
        _ => None,
    }
}

fn read(file: &Path) -> Result<Vec<u8>, AuthError> {
    orch_settings::read(file).map_err(|source| AuthError::Read { path: file.to_owned(), source })
}

fn unusable(file: &Path, problem: impl Into<String>) -> AuthError {
    AuthError::KeyFile { path: file.to_owned(), problem: problem.into() }
}

#[cfg(test)]
mod tests;
