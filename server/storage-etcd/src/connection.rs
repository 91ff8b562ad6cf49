//! One connection to one member: HTTP/2 over TCP, with TLS or without.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use hyper::body::{Body, Frame};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use orch_storage::StoreError;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;

use crate::tls::Tls;

/// How often a silent connection is asked whether it lives. etcd closes one that asks more often than every
/// 5 seconds.
const PING_PERIOD: Duration = Duration::from_secs(10);

/// How long the answer may take.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// How much may be on the way to us: answers of a load at start are large.
const WINDOW: u32 = 4 << 20;

/// Where a member is.
pub(crate) struct Endpoint {
    /// Scheme and authority.
    pub(crate) origin: String,
    scheme: Scheme,
    authority: Authority,
    host: String,
    port: u16,
    tls: Option<(Arc<Tls>, ServerName<'static>)>,
}

/// Sends requests over one connection, any number at a time.
pub(crate) type Sender = SendRequest<Messages>;

/// The body of a request: one message, or those that come over a channel.
pub(crate) enum Messages {
    One(Option<Bytes>),
    Stream(mpsc::Receiver<Bytes>),
}

impl Endpoint {
    /// `http://host:port` or `https://host:port`.
    pub(crate) fn parse(url: &str, tls: Option<&Arc<Tls>>) -> Result<Self, StoreError> {
        let wrong = |problem| StoreError::Unavailable { detail: format!("{url:?} {problem}").into() };
        let uri: Uri = url.parse().map_err(|_| wrong("is no address"))?;
        let authority = uri.authority().ok_or_else(|| wrong("has no host"))?;
        if authority.as_str().contains('@') || !matches!(uri.path(), "" | "/") {
            return Err(wrong("has more than a scheme, a host and a port"));
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let scheme = uri.scheme_str().unwrap_or_default();
        let tls = match (scheme, tls) {
            ("http", _) => None,
            ("https", Some(tls)) => {
                let name = ServerName::try_from(host.clone());
                Some((Arc::clone(tls), name.map_err(|_| wrong("has a host that no certificate names"))?))
            }
            ("https", None) => return Err(wrong("needs the authorities that vouch for etcd")),
            _ => return Err(wrong("does not begin with http:// or https://")),
        };
        let origin = format!("{scheme}://{authority}");
        let scheme = if tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
        let (port, authority) = (authority.port_u16().unwrap_or(2379), authority.clone());
        Ok(Self { origin, scheme, authority, host, port, tls })
    }

    /// The address of a method of the API.
    pub(crate) fn uri(&self, method: &'static str) -> Uri {
        let mut parts = Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(PathAndQuery::from_static(method));
        // All three are there, which is all that is asked of them.
        Uri::from_parts(parts).unwrap_or_default()
    }

    /// Opens a connection. It is served by a task that ends with it.
    pub(crate) async fn connect(&self) -> Result<Sender, String> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(said)?;
        stream.set_nodelay(true).map_err(said)?;
        let Some((tls, name)) = &self.tls else { return handshake(stream).await };
        let tls = Arc::clone(tls);
        // A file system may hang.
        let tls = tokio::task::spawn_blocking(move || tls.current()).await.map_err(said)?;
        let connector = TlsConnector::from(tls);
        handshake(connector.connect(name.clone(), stream).await.map_err(said)?).await
    }
}

async fn handshake(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Sender, String> {
    let (sender, connection) = Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_PERIOD)
        .keep_alive_timeout(PING_TIMEOUT)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(2 * WINDOW)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(said)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to etcd ended");
        }
    });
    Ok(sender)
}

fn said(error: impl std::error::Error) -> String {
    use std::fmt::Write;
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

impl Body for Messages {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = match self.get_mut() {
            Self::One(message) => Poll::Ready(message.take()),
            Self::Stream(messages) => messages.poll_recv(context),
        };
        next.map(|message| message.map(|message| Ok(Frame::data(message))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::One(None))
    }
}
