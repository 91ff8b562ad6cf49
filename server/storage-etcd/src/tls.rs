//! Whom to trust when etcd is spoken to, and what to show it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

/// What connections are made with. Connections are few and long, so each reads the files for itself: renewed
/// certificates count from the next one on, without a restart.
pub(crate) struct Tls {
    files: TlsFiles,
    /// What the files said when they had no mistake.
    good: Mutex<Arc<ClientConfig>>,
}

impl Tls {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// Where they have a mistake.
    pub(crate) fn new(files: &TlsFiles) -> Result<Self, StoreError> {
        Ok(Self { files: files.clone(), good: Mutex::new(config(files)?) })
    }

    /// What the files say now. Where they have a mistake, as when a certificate has been renewed and its key
    /// has not yet, it is what they said before.
    pub(crate) fn current(&self) -> Arc<ClientConfig> {
        let mut good = self.good.lock().unwrap_or_else(PoisonError::into_inner);
        match config(&self.files) {
            Ok(read) => *good = read,
            Err(error) => {
                tracing::warn!(%error, "the files for etcd have a mistake, those of before are used");
            }
        }
        Arc::clone(&good)
    }
}

/// What the files say, for connections that speak HTTP/2.
fn config(files: &TlsFiles) -> Result<Arc<ClientConfig>, StoreError> {
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
    orch_settings::read(path).map_err(|error| wrong(path, &error.to_string()))
}

fn wrong(path: &Path, problem: &str) -> StoreError {
    StoreError::Unavailable { detail: format!("{}: {problem}", path.display()).into() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    use super::*;

    /// A certificate that signs itself, and its key.
    fn pair(name: &str) -> (String, String) {
        let key = KeyPair::generate().expect("a key can be made");
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("it is a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.self_signed(&key).expect("it can be signed").pem(), key.serialize_pem())
    }

    #[test]
    fn renewed_files_count_and_those_with_mistakes_do_not() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = |name: &str| directory.path().join(name);
        let write = |name: &str, text: &str| fs::write(path(name), text).expect("it can be written");
        let identity = Some((path("client.crt"), path("client.key")));
        let files = TlsFiles { authorities: Some(path("ca.crt")), identity };
        let (first, second) = (pair("first"), pair("second"));
        write("ca.crt", &first.0);
        write("client.crt", &first.0);
        write("client.key", &first.1);
        let tls = Tls::new(&files).expect("the files are good");
        let shown = |config: &ClientConfig| {
            let resolver = Arc::clone(&config.client_auth_cert_resolver);
            let shown = resolver.resolve(&[], &[rustls::SignatureScheme::ECDSA_NISTP256_SHA256]);
            shown.expect("a certificate is shown").cert[0].clone()
        };
        let der = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).expect("it is a certificate");
        assert_eq!(shown(&tls.current()), der(&first.0));
        write("client.crt", &second.0);
        assert_eq!(shown(&tls.current()), der(&first.0), "the key is still that of the first");
        write("client.key", &second.1);
        assert_eq!(shown(&tls.current()), der(&second.0));
        fs::remove_file(path("ca.crt")).expect("it is there");
        assert_eq!(shown(&tls.current()), der(&second.0));
    }
}
