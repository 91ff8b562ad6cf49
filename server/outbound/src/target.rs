//! Who is called: an address, whom to trust, and what to show.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderValue, Uri, uri::Scheme};
use rustls::{ClientConfig, RootCertStore, client::WebPkiServerVerifier};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};

use crate::error::OutboundError;

/// Where systems keep the authorities that they trust: the first of these that exists.
const SYSTEM_BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How long a token that was read from a file is used before the file is read again.
const TOKEN_PERIOD: Duration = Duration::from_mins(1);

/// A server that is called.
pub struct Target {
    /// Its address, and the path and query that calls begin with.
    pub(crate) url: Uri,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Absent for `http`.
    pub(crate) tls: Option<Tls>,
    pub(crate) credential: Credential,
}

/// How a connection is secured.
pub(crate) struct Tls {
    pub(crate) config: Arc<ClientConfig>,
    /// The name that the server's certificate must have.
    pub(crate) name: ServerName<'static>,
}

/// Whom to trust, and what to show in the handshake.
#[derive(Default)]
pub struct TlsOptions {
    /// PEM text of the authorities; those of the system, if there is none.
    pub authorities: Option<Vec<u8>>,
    /// PEM texts of a certificate, with those that vouch for it, and of its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name in the server's certificate, where it is not that of the address.
    pub server_name: Option<String>,
}

/// What is sent with each request.
#[derive(Default)]
pub enum Credential {
    /// Nothing.
    #[default]
    None,
    /// The header `Authorization`.
    Header(HeaderValue),
    /// A bearer token from a file that may change.
    TokenFile(TokenFile),
}

/// A file with a bearer token.
pub struct TokenFile {
    path: PathBuf,
    /// The header of the token, and when it was read.
    read: Mutex<(Instant, HeaderValue)>,
}

impl Target {
    /// A server at an address with the scheme `https` or `http`.
    pub fn new(url: &str, options: TlsOptions, credential: Credential) -> Result<Self, OutboundError> {
        let wrong = |problem: &str| OutboundError::Target(format!("{url:?} {problem}"));
        let uri: Uri = url.parse().map_err(|_| wrong("is no address"))?;
        let is_https = uri.scheme() == Some(&Scheme::HTTPS);
        if !is_https && uri.scheme() != Some(&Scheme::HTTP) {
            return Err(wrong("does not begin with https:// or http://"));
        }
        let authority = uri.authority().ok_or_else(|| wrong("has no host"))?;
        if authority.as_str().contains('@') {
            return Err(OutboundError::Target("an address must not hold a user or password".to_owned()));
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let port = authority.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let tls = if is_https { Some(Tls::new(&host, options)?) } else { None };
        Ok(Target { url: uri, host, port, tls, credential })
    }

    /// Whether calls are encrypted.
    pub fn is_https(&self) -> bool {
        self.tls.is_some()
    }
}

impl Tls {
    fn new(host: &str, options: TlsOptions) -> Result<Self, OutboundError> {
        let authorities = match options.authorities {
            Some(pem) => pem,
            None => system_authorities()?,
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&authorities) {
            let added = certificate.map(|certificate| roots.add(certificate));
            if !matches!(added, Ok(Ok(()))) {
                return Err(problem("an authority's certificate is not valid"));
            }
        }
        if roots.is_empty() {
            return Err(problem("there is no certificate of an authority"));
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let verifier = verifier.build().map_err(|error| problem(&error.to_string()))?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| problem(&error.to_string()))?
            .with_webpki_verifier(verifier);
        let mut config = match options.identity {
            Some((certificates, key)) => {
                let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificates).collect();
                let chain = chain.map_err(|_| problem("the client certificate is not valid"))?;
                let key = PrivateKeyDer::from_pem_slice(&key);
                let key = key.map_err(|_| problem("the key of the client certificate is not valid"))?;
                let config = builder.with_client_auth_cert(chain, key);
                config.map_err(|_| problem("the client certificate and its key do not fit"))?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let name = options.server_name.as_deref().unwrap_or(host).to_owned();
        let name = ServerName::try_from(name).map_err(|_| problem("the name of the server is not valid"))?;
        Ok(Tls { config: Arc::new(config), name })
    }
}

fn problem(text: &str) -> OutboundError {
    OutboundError::Target(text.to_owned())
}

fn system_authorities() -> Result<Vec<u8>, OutboundError> {
    let file = SYSTEM_BUNDLES.iter().map(Path::new).find(|path| path.exists());
    let file = file.ok_or_else(|| problem("no authority is given, and the system has none"))?;
    orch_settings::read(file).map_err(|source| OutboundError::Read { path: file.to_owned(), source })
}

impl Credential {
    /// A bearer token.
    pub fn token(token: &str) -> Result<Self, OutboundError> {
        bearer(token).map(Credential::Header)
    }

    /// A bearer token that is read from a file, each minute anew. It must be there now.
    pub fn token_file(path: PathBuf) -> Result<Self, OutboundError> {
        let read = Mutex::new((Instant::now(), token_in(&path)?));
        Ok(Credential::TokenFile(TokenFile { path, read }))
    }

    /// A user and a password.
    pub fn basic(user: &str, password: &str) -> Result<Self, OutboundError> {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        secret(&format!("Basic {pair}")).map(Credential::Header)
    }

    /// The header `Authorization`, if there is one.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        match self {
            Credential::None => None,
            Credential::Header(header) => Some(header.clone()),
            Credential::TokenFile(file) => Some(file.locked().1.clone()),
        }
    }

    /// Whether [`Self::read_again`] may change it.
    pub(crate) fn is_followed(&self) -> bool {
        matches!(self, Credential::TokenFile(_))
    }

    /// Reads the file of a token again, where that is due.
    pub(crate) fn read_again(&self, now: Instant) {
        if let Credential::TokenFile(file) = self {
            file.read_again(now);
        }
    }
}

impl TokenFile {
    /// Where the file is gone, the token stays as it was.
    fn read_again(&self, now: Instant) {
        let is_due = now.duration_since(self.locked().0) >= TOKEN_PERIOD;
        if is_due && let Ok(header) = token_in(&self.path) {
            *self.locked() = (now, header);
        }
    }

    fn locked(&self) -> MutexGuard<'_, (Instant, HeaderValue)> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The header of the token in a file.
fn token_in(path: &Path) -> Result<HeaderValue, OutboundError> {
    let text = orch_settings::read_text(path).and_then(|text| match text.trim() {
        "" => Err(io::Error::new(io::ErrorKind::InvalidData, "there is no token in it")),
        token => Ok(token.to_owned()),
    });
    bearer(&text.map_err(|source| OutboundError::Read { path: path.to_owned(), source })?)
}

fn bearer(token: &str) -> Result<HeaderValue, OutboundError> {
    secret(&format!("Bearer {token}"))
}

/// A header that is never shown.
fn secret(text: &str) -> Result<HeaderValue, OutboundError> {
    let header = HeaderValue::from_str(text);
    let mut header = header.map_err(|_| problem("a credential has characters that no header may have"))?;
    header.set_sensitive(true);
    Ok(header)
}
