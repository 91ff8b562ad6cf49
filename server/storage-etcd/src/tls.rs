//! Whom to trust when etcd is spoken to, and what to show it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orch_storage::StoreError;
use rustls::client::WebPkiServerVerifier;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// The files of a secured connection, all PEM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of the authorities that vouch for etcd.
    pub authorities: Option<PathBuf>,
    /// The certificate that etcd is shown, with those that vouch for it, and its key. etcd may take its
    /// common name as the name of a user.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// What the files say, for connections that speak HTTP/2.
pub(crate) fn config(files: &TlsFiles) -> Result<Arc<ClientConfig>, StoreError> {
    let authorities = files.authorities.as_deref();
    let path = authorities.ok_or_else(|| wrong(Path::new("https"), "needs a file of authorities"))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| wrong(path, &error.to_string()))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let verifier = verifier.build().map_err(|error| wrong(path, &error.to_string()))?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(path, &error.to_string()))?
        .with_webpki_verifier(verifier);
    let mut config = match &files.identity {
        Some((chain, key_file)) => {
            let key = PrivateKeyDer::from_pem_slice(&read(key_file)?);
            let key = key.map_err(|_| wrong(key_file, "holds no private key"))?;
            let config = builder.with_client_auth_cert(certificates(chain)?, key);
            config.map_err(|_| wrong(chain, "does not fit its key"))?
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let text = read(path)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(wrong(path, "holds no certificate")),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|error| wrong(path, &error.to_string()))
}

fn wrong(path: &Path, problem: &str) -> StoreError {
    StoreError::Unavailable { detail: format!("{}: {problem}", path.display()).into() }
}
