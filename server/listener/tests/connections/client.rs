//! Clients over real sockets.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{
    ClientConfig, RootCertStore, client::ResolvesClientCert, crypto::aws_lc_rs, pki_types::ServerName,
    sign::CertifiedKey,
};
use tokio::{net::TcpStream, task::JoinHandle};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::server::TestServer;

pub const HTTP1: Client = Client { http2: false, certificate: None };
pub const HTTP2: Client = Client { http2: true, certificate: None };

/// How a test client connects.
#[derive(Clone)]
pub struct Client {
    pub http2: bool,
    pub certificate: Option<Arc<CertifiedKey>>,
}

/// Presents this certificate whatever the server asks for.
#[derive(Debug)]
struct Presents(Arc<CertifiedKey>);

impl ResolvesClientCert for Presents {
    fn resolve(&self, _hints: &[&[u8]], _schemes: &[rustls::SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl TestServer {
    pub async fn connect(&self, client: Client) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match client.certificate {
            Some(certificate) => config.with_client_cert_resolver(Arc::new(Presents(certificate))),
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![if client.http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        let stream = TcpStream::connect(self.address).await?;
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
    }

    pub async fn open(&self, client: Client) -> Requests {
        let http2 = client.http2;
        let io = TokioIo::new(self.connect(client).await.unwrap());
        if http2 {
            let (sender, driver) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
            Requests { sender: Sender::Http2(sender), closed: tokio::spawn(async { drop(driver.await) }) }
        } else {
            let (sender, driver) = http1::handshake(io).await.unwrap();
            Requests { sender: Sender::Http1(sender), closed: tokio::spawn(async { drop(driver.await) }) }
        }
    }
}

pub enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// The client's end of a connection.
pub struct Requests {
    pub sender: Sender,
    pub closed: JoinHandle<()>,
}

impl Requests {
    pub async fn send(&mut self, request: Request<Empty<Bytes>>) -> hyper::Result<(StatusCode, String)> {
        let response = match &mut self.sender {
            Sender::Http1(sender) => sender.send_request(request).await?,
            Sender::Http2(sender) => sender.send_request(request).await?,
        };
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    pub async fn get(&mut self) -> hyper::Result<String> {
        let request = Request::get("https://localhost/").body(Empty::new()).unwrap();
        self.send(request).await.map(|(_, body)| body)
    }
}
