//! Connections to a target.

use std::io;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::{Instant, timeout_at},
};
use tokio_rustls::TlsConnector;

use crate::{error::OutboundError, target::Target};

/// Sends requests over one connection, one at a time.
pub(crate) type Sender = SendRequest<Full<Bytes>>;

/// Opens a connection in time. It is served by a task that ends with it.
pub(crate) async fn open(target: &Target, deadline: Instant) -> Result<Sender, OutboundError> {
    let late = |_| OutboundError::Connect(io::ErrorKind::TimedOut.into());
    timeout_at(deadline, connect(target)).await.unwrap_or_else(|elapsed| Err(late(elapsed)))
}

async fn connect(target: &Target) -> Result<Sender, OutboundError> {
    let stream = TcpStream::connect((target.host.as_str(), target.port)).await;
    let stream = stream.map_err(OutboundError::Connect)?;
    stream.set_nodelay(true).map_err(OutboundError::Connect)?;
    let Some(tls) = &target.tls else { return serve(stream).await };
    let connector = TlsConnector::from(tls.config.clone());
    let stream = connector.connect(tls.name.clone(), stream).await.map_err(|error| {
        // A server that is not the right one stays that; one that breaks off may be starting.
        if error.kind() == io::ErrorKind::InvalidData {
            OutboundError::Target(format!("the server is not trusted: {error}"))
        } else {
            OutboundError::Connect(error)
        }
    })?;
    serve(stream).await
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<Sender, OutboundError> {
    let opened = handshake(TokioIo::new(stream)).await;
    let (sender, connection) = opened.map_err(|error| OutboundError::Broken(error.to_string()))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to another server ended");
        }
    });
    Ok(sender)
}
