//! One TLS connection: its settings, its handshake, and sending on it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};
use tokio::net::TcpStream;

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, agreed on in the handshake.
    Http2,
}

/// A client certificate and its key, in PEM.
#[derive(Clone, Copy)]
pub struct Identity<'p> {
    /// The certificate.
    pub certificate: &'p [u8],
    /// Its key.
    pub key: &'p [u8],
}

/// Why there is no answer.
#[derive(Debug)]
pub enum ClientError {
    /// No server listens, or the handshake failed.
    Connect(std::io::Error),
    /// The connection broke between request and answer.
    Http(hyper::Error),
    /// The answer took longer than the test waits.
    Late(Duration),
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ClientError::Connect(error) => write!(f, "connect: {error}"),
            ClientError::Http(error) => write!(f, "exchange: {error:?}"),
            ClientError::Late(patience) => write!(f, "no answer within {patience:?}"),
        }
    }
}

impl std::error::Error for ClientError {}

/// TLS settings that trust one authority (PEM) and may show a client certificate.
pub fn tls_config(authority: &[u8], identity: Option<Identity<'_>>, protocol: Protocol) -> Arc<ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority) {
        roots.add(certificate.expect("the authority is PEM")).expect("the authority is a certificate");
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider knows the default versions")
        .with_root_certificates(roots);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(identity) => {
            let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(identity.certificate)
                .collect::<Result<_, _>>()
                .expect("the certificate is PEM");
            let key = PrivateKeyDer::from_pem_slice(identity.key).expect("the key is PEM");
            config.with_client_auth_cert(chain, key).expect("certificate and key belong together")
        }
    };
    config.alpn_protocols = match protocol {
        Protocol::Http1 => vec![b"http/1.1".to_vec()],
        Protocol::Http2 => vec![b"h2".to_vec()],
    };
    Arc::new(config)
}

/// An open connection.
pub struct Connection {
    sender: Sender,
    host: HeaderValue,
    /// The server.
    pub(super) address: SocketAddr,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// Opens a connection; the exchange runs on the runtime of the caller.
pub async fn connect(
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    protocol: Protocol,
) -> Result<Connection, ClientError> {
    let stream = TcpStream::connect(address).await.map_err(ClientError::Connect)?;
    stream.set_nodelay(true).map_err(ClientError::Connect)?;
    let name = ServerName::IpAddress(address.ip().into());
    let stream =
        tokio_rustls::TlsConnector::from(tls).connect(name, stream).await.map_err(ClientError::Connect)?;
    let io = TokioIo::new(stream);
    let sender = match protocol {
        Protocol::Http1 => {
            let (sender, driver) = http1::handshake(io).await.map_err(ClientError::Http)?;
            tokio::spawn(driver);
            Sender::Http1(sender)
        }
        Protocol::Http2 => {
            let (sender, driver) =
                http2::handshake(TokioExecutor::new(), io).await.map_err(ClientError::Http)?;
            tokio::spawn(driver);
            Sender::Http2(sender)
        }
    };
    let host = HeaderValue::from_str(&address.to_string()).expect("an address is printable");
    Ok(Connection { sender, host, address })
}

impl Connection {
    /// Whether another request can be sent.
    pub async fn is_usable(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Sends a request and waits for the head of its answer.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        mut headers: HeaderMap,
        body: Full<Bytes>,
    ) -> Result<Response<Incoming>, ClientError> {
        let uri = match &self.sender {
            Sender::Http1(_) => {
                headers.entry(header::HOST).or_insert_with(|| self.host.clone());
                path.to_owned()
            }
            Sender::Http2(_) => {
                let host = self.host.to_str().expect("an address is printable");
                format!("https://{host}{path}")
            }
        };
        let uri: Uri = uri.parse().unwrap_or_else(|error| panic!("{path:?} is no path: {error}"));
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        match &mut self.sender {
            Sender::Http1(sender) => sender.send_request(request).await,
            Sender::Http2(sender) => sender.send_request(request).await,
        }
        .map_err(ClientError::Http)
    }
}
