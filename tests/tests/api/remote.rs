//! Other servers that tests start, over TLS: webhooks and issuers of tokens, right ones and wrong ones.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::LOCATION};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::{RootCertStore, ServerConfig, server::WebPkiClientVerifier};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

/// What a request is answered with.
pub enum Reply {
    /// A status and a body.
    Answer(u16, String),
    /// Sends the caller to this address.
    Redirect(String),
    /// No answer, ever.
    Nothing,
}

/// A request that has come: its path, the headers `Authorization` and `traceparent`, its body, and the
/// certificate of the caller; empty where there is none.
#[derive(Clone, Debug)]
pub struct Seen {
    pub path: String,
    pub authorization: String,
    pub traceparent: String,
    pub body: String,
    pub certificate: Vec<u8>,
}

/// What a server answers to a request.
type Handler = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

/// The authority of a server's certificate, and a place that it may listen at.
pub struct Site {
    /// PEM of the authority.
    pub authority: String,
    issuer: Issuer<'static, KeyPair>,
    config: Arc<ServerConfig>,
    port: u16,
}

/// A server that listens until it is dropped.
pub struct Remote {
    seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Site {
    /// A place where nothing listens yet.
    pub async fn new() -> Site {
        let (authority, issuer) = authority();
        let config = Arc::new(config(&authority, &issuer));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Site { authority: authority.pem(), issuer, config, port: listener.local_addr().unwrap().port() }
    }

    /// `https://localhost:<port>`.
    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Listens there.
    pub async fn start(&self, handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Remote {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], self.port))).await.unwrap();
        let (seen, handler): (Arc<Mutex<Vec<Seen>>>, Handler) = (Arc::default(), Arc::new(handler));
        let (acceptor, all) = (TlsAcceptor::from(Arc::clone(&self.config)), Arc::clone(&seen));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, all, handler) = (acceptor.clone(), Arc::clone(&all), Arc::clone(&handler));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
                    let certificate = chain.first().map(|leaf| leaf.to_vec()).unwrap_or_default();
                    serve(stream, certificate, all, handler).await;
                });
            }
        });
        Remote { seen, task }
    }

    /// Listens without TLS, at `http://localhost:<port>`.
    pub async fn start_plain(&self, handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Remote {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], self.port))).await.unwrap();
        let (seen, handler): (Arc<Mutex<Vec<Seen>>>, Handler) = (Arc::default(), Arc::new(handler));
        let all = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Vec::new(), Arc::clone(&all), Arc::clone(&handler)));
            }
        });
        Remote { seen, task }
    }

    /// Writes a certificate of a caller and its key to files of a folder, `caller.pem` and `caller.key`. The
    /// result is the certificate, DER.
    pub fn issue(&self, folder: &Path) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        for (name, text) in [("caller.key", key.serialize_pem()), ("caller.pem", certificate.pem())] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        certificate.der().clone()
    }

    /// Writes a kubeconfig file into a folder that names a path there; `user` is what the caller shows, as
    /// the fields of a user.
    pub fn kubeconfig(&self, folder: &Path, path: &str, user: &str) -> PathBuf {
        let (file, authority) = (folder.join("remote.kubeconfig"), self.authority_file(folder));
        let text = format!(
            "contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{}{path}', certificate-authority: '{}'}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\n",
            self.url(),
            authority.display()
        );
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Writes the authority to a file of a folder.
    pub fn authority_file(&self, folder: &Path) -> PathBuf {
        let file = folder.join("remote-ca.pem");
        std::fs::write(&file, &self.authority).unwrap();
        file
    }
}

impl Remote {
    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    certificate: Vec<u8>,
    all: Arc<Mutex<Vec<Seen>>>,
    handler: Handler,
) {
    let service = service_fn(|request| answer(request, &certificate, &all, &handler));
    // The server under test may leave whenever it likes.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: Request<Incoming>,
    certificate: &[u8],
    all: &Mutex<Vec<Seen>>,
    handler: &Handler,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let header =
        |name| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let body = body.collect().await?.to_bytes();
    let seen = Seen {
        path: head.uri.path().to_owned(),
        authorization: header("authorization"),
        traceparent: header("traceparent"),
        body: String::from_utf8(body.to_vec()).unwrap(),
        certificate: certificate.to_vec(),
    };
    all.lock().unwrap().push(seen.clone());
    match handler(&seen) {
        Reply::Answer(status, body) => {
            let mut response = Response::new(Full::new(Bytes::from(body)));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            Ok(response)
        }
        Reply::Redirect(to) => {
            let mut response = Response::new(Full::new(Bytes::from("secret detail")));
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            response.headers_mut().insert(LOCATION, to.parse().unwrap());
            Ok(response)
        }
        Reply::Nothing => std::future::pending().await,
    }
}

fn authority() -> (Certificate, Issuer<'static, KeyPair>) {
    let (mut params, key) = (CertificateParams::default(), KeyPair::generate().unwrap());
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap();
    (authority, Issuer::new(params, key))
}

/// A server with a certificate of the authority for `localhost`. Callers may show one of it too.
fn config(authority: &Certificate, issuer: &Issuer<'static, KeyPair>) -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.allow_unauthenticated().build().unwrap())
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}
