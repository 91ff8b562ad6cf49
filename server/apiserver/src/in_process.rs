//! A server without a socket, for tests of controllers and of whatever else is a client: the whole stack,
//! with its controllers, and data in memory.
//!
//! ```no_run
//! # async fn example(tables: &[&'static orch_runtime::resource_def::GroupVersionDef]) {
//! # use orch_apiserver::{Server, config::Config};
//! # let vocabularies = &[&orch_runtime::vocabulary::EXAMPLE];
//! let config = Config::from_flags(["--vocabulary=example"], vocabularies).unwrap();
//! let plane = Server::builder(config).resources(tables.iter().copied()).in_process().await.unwrap();
//! let service = plane.service();
//! # }
//! ```
//!
//! The service is one of `tower`. The client library `kube` takes it as it is:
//! `kube::Client::new(plane.service(), "default")`. Each request has an HTTP/1.1 connection of its own, over
//! a pipe in memory, so that a client that leaves is noticed as it is over a network.

mod validate;

use std::{
    net::SocketAddr,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Request, Response,
    header::{HOST, UPGRADE},
};
use hyper::{
    body::{Body, Incoming},
    client::conn::http1 as client,
};
use hyper_util::rt::TokioIo;
use orch_config::start_error::StartError;
use orch_http::{app::App, connections, limits::Peer};
use orch_registry::core::Core;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tempfile::TempDir;
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
};
use tower_service::Service;

use crate::server::{Entrance, Server};

pub use self::validate::{Refusal, Verdict};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How much of a request or an answer may be on its way, in bytes.
const PIPE: usize = 64 * 1024;

/// Where clients seem to be, and what they call the server.
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
const NAME: HeaderValue = HeaderValue::from_static("localhost");

const IMPERSONATED_USER: HeaderName = HeaderName::from_static("impersonate-user");
const IMPERSONATED_GROUP: HeaderName = HeaderName::from_static("impersonate-group");

/// A server that runs in this process. It ends when this value is dropped.
pub struct InProcess {
    app: Arc<App>,
    administrator: CertificateDer<'static>,
    stop: watch::Sender<bool>,
    running: Option<JoinHandle<Result<(), StartError>>>,
    /// Keys and certificates.
    directory: TempDir,
}

/// Answers requests as one user of a server in this process.
#[derive(Clone)]
pub struct InProcessService {
    app: Arc<App>,
    administrator: CertificateDer<'static>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Server {
    /// Starts the server in this process. Its data is in memory, and no address, file or port of the
    /// configuration is used. It is ready when this returns: its controllers watch.
    ///
    /// # Errors
    /// What keeps the server from starting.
    pub async fn in_process(mut self) -> Result<InProcess, StartError> {
        let fault = |what: &str, why: &dyn std::fmt::Display| StartError::Runtime(format!("{what}: {why}"));
        let directory =
            TempDir::with_prefix("orch-").map_err(|error| fault("cannot make a directory", &error))?;
        self.store_in(directory.path());
        let (stop, told) = watch::channel(false);
        let (parts, ..) = Box::pin(self.assemble(told, Entrance::Process)).await?;
        let administrator = CertificateDer::from_pem_slice(parts.site.administrator().as_bytes())
            .map_err(|error| fault("the administrator's certificate is wrong", &error))?;
        let app = Arc::clone(&parts.app);
        let (ready, is_ready) = oneshot::channel();
        let running = tokio::spawn(parts.run(async |_, mut stopping| {
            // Who started it may be gone already.
            let _ = ready.send(());
            // A sender that is gone means the same.
            let _ = stopping.wait_for(|stopping| *stopping).await;
        }));
        let server = InProcess { app, administrator, stop, running: Some(running), directory };
        is_ready.await.map_err(|error| fault("the server ended while it started", &error))?;
        Ok(server)
    }
}

impl InProcess {
    /// The server as its administrator, who may do everything.
    pub fn service(&self) -> InProcessService {
        InProcessService {
            app: Arc::clone(&self.app),
            administrator: self.administrator.clone(),
            headers: Vec::new(),
        }
    }

    /// The server as another user, in these groups, with their rights: by impersonation.
    ///
    /// # Errors
    /// Where a name has characters that a header cannot have.
    pub fn service_as(
        &self,
        user: &str,
        groups: &[&str],
    ) -> Result<InProcessService, http::header::InvalidHeaderValue> {
        let mut service = self.service();
        service.headers.push((IMPERSONATED_USER, HeaderValue::from_str(user)?));
        for group in groups {
            service.headers.push((IMPERSONATED_GROUP, HeaderValue::from_str(group)?));
        }
        Ok(service)
    }

    /// What it reads and writes.
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.app.core
    }

    /// Where its keys and certificates are, until it ends.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Ends the server and waits for its end. Watches end, and requests that have begun are answered.
    ///
    /// # Errors
    /// Where it did not end as it should.
    pub async fn stop(mut self) -> Result<(), StartError> {
        self.stop.send_replace(true);
        let Some(running) = self.running.take() else { return Ok(()) };
        running.await.map_err(|error| StartError::Runtime(format!("the server has a bug: {error}")))?
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl<B> Service<Request<B>> for InProcessService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Incoming>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let app = Arc::clone(&self.app);
        let peer = Peer::new(vec![self.administrator.clone()]);
        let headers = request.headers_mut();
        headers.entry(HOST).or_insert(NAME);
        // Nobody hands a pipe over: a watch has a body here.
        headers.remove(UPGRADE);
        for (name, value) in &self.headers {
            headers.append(name.clone(), value.clone());
        }
        Box::pin(async move {
            let sender = connect(app, peer).await;
            Ok(sender?.send_request(request).await?)
        })
    }
}

/// A new connection to the server.
async fn connect<B>(app: Arc<App>, peer: Peer) -> hyper::Result<client::SendRequest<B>>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (near, far) = tokio::io::duplex(PIPE);
    // Both ends notice when the other one is gone; how they end is told by the request.
    tokio::spawn(connections::answer_one(app, far, peer, CLIENT));
    let (sender, connection) = client::handshake(TokioIo::new(near)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

#[cfg(test)]
mod tests;
