//! A server to connect to.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use orch_listener::{Config, Listener, tls};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::{sync::watch, task::JoinHandle};

pub type Answer = Response<Full<Bytes>>;

/// Handlers see the client's certificates as they came.
pub type Connection = orch_listener::Connection<Vec<CertificateDer<'static>>>;

/// Longer than any limit.
pub const LONG: Duration = Duration::from_hours(1);

/// A server that runs until it is told to stop.
pub struct TestServer {
    pub address: SocketAddr,
    pub certificate: CertificateDer<'static>,
    pub stop: watch::Sender<bool>,
    pub done: JoinHandle<()>,
}

impl TestServer {
    /// Tells the server to stop and waits until it has.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.done.await.unwrap();
    }
}

/// The limits of a server, unless a test sets others.
pub fn config(address: SocketAddr) -> Config {
    Config::new(address, 20_000, Duration::from_secs(20))
}

pub fn self_signed() -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    (certificate.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).unwrap())
}

pub async fn serve<H, F, B>(change: impl FnOnce(&mut Config), handler: H) -> TestServer
where
    H: Fn(Request<Incoming>, Arc<Connection>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
{
    let (certificate, key) = self_signed();
    let tls = Arc::new(ArcSwap::new(tls::server_config(vec![certificate.clone()], key).unwrap()));
    let mut config = config(SocketAddr::from(([127, 0, 0, 1], 0)));
    change(&mut config);
    let listener = Listener::bind(config).await.unwrap();
    let address = listener.local_address();
    let (stop, stopping) = watch::channel(false);
    let done = tokio::spawn(listener.serve(tls, |certificates| certificates, handler, stopping));
    TestServer { address, certificate, stop, done }
}

/// Answers with the version of HTTP and whether there is a client certificate.
pub async fn describe(request: Request<Incoming>, connection: Arc<Connection>) -> Answer {
    let certificate = if connection.peer().is_empty() { "none" } else { "some" };
    text(&format!("{:?} {certificate}", request.version()))
}

pub fn text(text: &str) -> Answer {
    Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())))
}
