//! The limit of requests: handlers behind the same TLS settings that do next to nothing. One has the answer's
//! bytes; the other stores what it is given in a table, durably, and gives it back.

use std::{net::SocketAddr, path::Path, process::Stdio, sync::Arc};

use axum::{
    Router,
    body::Body,
    routing::{get, post},
};
use bytes::Bytes;
use http::{Response, StatusCode, header};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use orch_tests::TestServer;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
    sync::{mpsc, oneshot},
};

use super::{
    COLLECTION, WRITERS,
    inserts::{Inserts, Waiting},
};

/// A process of its own, as the server is.
pub struct BareServer {
    address: SocketAddr,
    _process: Child,
    _directory: TempDir,
}

impl BareServer {
    /// Starts one that answers at these paths as `server` does now, with its certificate.
    pub async fn start(server: &TestServer, paths: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        for name in ["serving.crt", "serving.key"] {
            std::fs::copy(server.data_dir().join("pki").join(name), directory.path().join(name))
                .expect("the server has a certificate");
        }
        for (index, path) in paths.iter().enumerate() {
            let body = server.admin().get(path).await.body;
            std::fs::write(directory.path().join(format!("{index}.path")), path)
                .expect("a file can be written");
            std::fs::write(directory.path().join(format!("{index}.body")), body)
                .expect("a file can be written");
        }
        let mut process = Command::new(std::env::current_exe().expect("the benchmark knows its path"))
            .arg(format!("bare={}", directory.path().display()))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the benchmark can be started again");
        let mut lines = BufReader::new(process.stdout.take().expect("the output is a pipe")).lines();
        let line = lines.next_line().await.expect("it can be read").expect("it says where it listens");
        let address = line.parse().expect("it says where it listens");
        BareServer { address, _process: process, _directory: directory }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Serves what a directory holds, for ever.
pub async fn serve(directory: &Path) {
    let mut router = Router::new();
    for index in 0.. {
        let Ok(path) = std::fs::read_to_string(directory.join(format!("{index}.path"))) else { break };
        let body =
            Bytes::from(std::fs::read(directory.join(format!("{index}.body"))).expect("it has a body"));
        router = router.route(&path, get(move || std::future::ready(answer(StatusCode::OK, body.clone()))));
    }
    let (queue, waiting) = mpsc::channel(WRITERS);
    tokio::spawn(Inserts::open(directory, WRITERS).await.serve(waiting));
    router = router.route(COLLECTION, post(move |body| store(queue.clone(), body)));
    let acceptor = tokio_rustls::TlsAcceptor::from(tls_config(directory));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    println!("{}", listener.local_addr().expect("it is bound"));
    loop {
        let (stream, _) = listener.accept().await.expect("connections can be accepted");
        stream.set_nodelay(true).expect("the option exists");
        let (acceptor, service) = (acceptor.clone(), TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let builder = auto::Builder::new(TokioExecutor::new());
            // An error is a client that left.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn store(queue: mpsc::Sender<Waiting>, value: Bytes) -> Response<Body> {
    let (stored, answered) = oneshot::channel();
    queue.send((value.clone(), stored)).await.expect("the table is open");
    answered.await.expect("the value is stored");
    answer(StatusCode::CREATED, value)
}

fn answer(status: StatusCode, body: Bytes) -> Response<Body> {
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body));
    response.expect("the answer is well-formed")
}

fn tls_config(directory: &Path) -> Arc<rustls::ServerConfig> {
    let chain = CertificateDer::pem_file_iter(directory.join("serving.crt"))
        .and_then(Iterator::collect)
        .expect("the certificate is PEM");
    let key = PrivateKeyDer::from_pem_file(directory.join("serving.key")).expect("the key is PEM");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider knows the default versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("certificate and key belong together");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}
