//! A server over TLS that answers as a test says.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// What a request is answered with.
#[derive(Clone)]
pub enum Reply {
    /// A status, further lines of the head, a body; the connection is closed after it, or not.
    Answer(u16, String, String, bool),
    /// The connection is closed at once.
    Close,
    /// A body without an end.
    Endless,
    /// No answer, ever.
    Nothing,
}

impl Reply {
    pub fn json(body: &str) -> Reply {
        Reply::Answer(200, String::new(), body.to_owned(), false)
    }

    pub fn status(status: u16) -> Reply {
        Reply::Answer(status, String::new(), "secret detail".to_owned(), false)
    }

    pub fn with(self, line: &str) -> Reply {
        match self {
            Reply::Answer(status, head, body, close) => {
                Reply::Answer(status, format!("{head}{line}\r\n"), body, close)
            }
            other => other,
        }
    }

    /// Closes the connection without saying so before.
    pub fn then_close(self) -> Reply {
        match self {
            Reply::Answer(status, head, body, _) => Reply::Answer(status, head, body, true),
            other => other,
        }
    }
}

/// A running server.
pub struct Server {
    pub port: u16,
    /// PEM of the authority of its certificate.
    pub authority: String,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// `reply` is told how many requests came before.
    pub async fn start(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Server {
        let (authority, config) = certificate();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, connections) = (Arc::default(), Arc::default());
        let server = Server {
            port,
            authority,
            requests: Arc::clone(&requests),
            connections: Arc::clone(&connections),
        };
        let (acceptor, reply) = (TlsAcceptor::from(Arc::new(config)), Arc::new(reply));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, reply) = (acceptor.clone(), Arc::clone(&reply));
                let (requests, connections) = (Arc::clone(&requests), Arc::clone(&connections));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    connections.fetch_add(1, Ordering::SeqCst);
                    serve(stream, &*reply, &requests).await;
                });
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Heads and bodies.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn serve(
    mut stream: TlsStream<TcpStream>,
    reply: &(dyn Fn(usize) -> Reply + Send + Sync),
    requests: &Mutex<Vec<String>>,
) {
    while let Some(request) = read_request(&mut stream).await {
        let count = {
            let mut requests = requests.lock().unwrap();
            requests.push(request);
            requests.len() - 1
        };
        match reply(count) {
            Reply::Answer(status, head, body, close) => {
                let length = body.len();
                let answer = format!("HTTP/1.1 {status} X\r\n{head}Content-Length: {length}\r\n\r\n{body}");
                if stream.write_all(answer.as_bytes()).await.is_err() || close {
                    return;
                }
            }
            Reply::Close => return,
            Reply::Endless => {
                let head = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n";
                let mut result = stream.write_all(head.as_bytes()).await;
                while result.is_ok() {
                    result = stream.write_all(b"a\r\n0123456789\r\n").await;
                }
                return;
            }
            Reply::Nothing => std::future::pending().await,
        }
    }
}

/// A head and the body that it announces.
async fn read_request(stream: &mut TlsStream<TcpStream>) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(count) if count > 0 => read.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}

/// A new authority, and a server with a certificate of it for `localhost`.
fn certificate() -> (String, ServerConfig) {
    let (mut params, key) = (CertificateParams::default(), KeyPair::generate().unwrap());
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (authority.pem(), config)
}
