//! Calls by gRPC whose answers say nothing but whether they succeeded: over HTTP/2, without TLS, which is how
//! collectors of traces are called (<https://grpc.github.io/grpc/core/md_doc__p_r_o_t_o_c_o_l-_h_t_t_p2.html>).

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::{backoff::Backoff, error::OutboundError};

type Sender = SendRequest<Full<Bytes>>;

/// How large an answer may be, in bytes. It is read for the status behind it.
const MAX_ANSWER: usize = 64 * 1024;

/// The status of a call that succeeded, and those of calls that may be tried again, as the protocol of
/// OpenTelemetry says: cancelled, too late, aborted, out of range, unavailable, data lost.
const OK: u16 = 0;
const PASSING: [u16; 6] = [1, 4, 10, 11, 14, 15];

/// Calls one server, over a connection that is kept.
pub struct Grpc {
    host: String,
    port: u16,
    authority: String,
    timeout: Duration,
    backoff: Backoff,
    kept: Mutex<Option<Sender>>,
}

impl Grpc {
    /// A caller without a connection. `endpoint` is `host:port`; `timeout` is that of one attempt.
    ///
    /// # Errors
    /// Where the endpoint is something else.
    pub fn new(endpoint: &str, timeout: Duration, backoff: Backoff) -> Result<Self, OutboundError> {
        let wrong = || OutboundError::Target(format!("{endpoint:?} is not of the form host:port"));
        let uri: Uri = endpoint.parse().map_err(|_| wrong())?;
        let authority = uri.authority().filter(|_| uri.scheme().is_none()).ok_or_else(wrong)?;
        if authority.as_str() != endpoint || endpoint.contains('@') || authority.host().is_empty() {
            return Err(wrong());
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let port = authority.port_u16().ok_or_else(wrong)?;
        Ok(Grpc { host, port, authority: endpoint.to_owned(), timeout, backoff, kept: Mutex::default() })
    }

    /// Calls a method, `/package.Service/Method`, with a message.
    ///
    /// # Errors
    /// Where the call does not succeed, after all attempts.
    pub async fn call(&self, method: &str, message: &[u8]) -> Result<(), OutboundError> {
        let mut attempt = 1;
        loop {
            let called = tokio::time::timeout(self.timeout, self.attempt(method, message)).await;
            let error = match called.unwrap_or(Err(OutboundError::Timeout(self.timeout))) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            // A connection that is of no use is not kept.
            *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let pause = self.backoff.pause(attempt, rand::random()).filter(|_| error.is_passing());
            let Some(pause) = pause else { return Err(error) };
            tracing::debug!(%error, attempt, "another server is called again");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    async fn attempt(&self, method: &str, message: &[u8]) -> Result<(), OutboundError> {
        let mut sender = self.connected().await?;
        let request = Request::post(format!("http://{}{method}", self.authority))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("grpc-timeout", format!("{}m", self.timeout.as_millis()))
            .body(framed(message)?)
            .map_err(|error| OutboundError::Target(error.to_string()))?;
        let broken = |error: &dyn std::fmt::Display| OutboundError::Broken(error.to_string());
        sender.ready().await.map_err(|error| broken(&error))?;
        let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            return Err(OutboundError::Status { status: head.status.as_u16(), retry_after: None });
        }
        let answer = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| broken(&error))?;
        // A call that fails at once has its status in the headers; others have it behind the answer.
        let status = status(&head.headers).or_else(|| answer.trailers().and_then(status));
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        match status {
            Some(OK) => Ok(()),
            Some(status) => Err(OutboundError::Grpc { status, is_passing: PASSING.contains(&status) }),
            None => Err(OutboundError::Broken("the answer has no status".to_owned())),
        }
    }

    /// The connection that is kept, or a new one. It is served by a task that ends with it.
    async fn connected(&self) -> Result<Sender, OutboundError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(kept) = kept.filter(|kept| !kept.is_closed()) {
            return Ok(kept);
        }
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
        let stream = stream.map_err(OutboundError::Connect)?;
        stream.set_nodelay(true).map_err(OutboundError::Connect)?;
        let opened = handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (sender, connection) = opened.map_err(|error| OutboundError::Broken(error.to_string()))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to another server ended");
            }
        });
        Ok(sender)
    }
}

/// A message behind its prefix: that it is not compressed, and its length.
fn framed(message: &[u8]) -> Result<Full<Bytes>, OutboundError> {
    let length = u32::try_from(message.len());
    let length = length.map_err(|_| OutboundError::TooLarge(u32::MAX as usize))?.to_be_bytes();
    Ok(Full::new([&[0], &length[..], message].concat().into()))
}

fn status(headers: &HeaderMap) -> Option<u16> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Grpc;
    use crate::backoff::Backoff;

    #[test]
    fn an_endpoint_is_a_host_and_a_port() {
        let new = |endpoint| Grpc::new(endpoint, Duration::from_secs(1), Backoff::ONCE);
        for endpoint in ["localhost:4317", "10.0.0.1:1", "[::1]:4317", "collector.a.example:65535"] {
            assert!(new(endpoint).is_ok(), "{endpoint}");
        }
        for endpoint in ["", "localhost", ":4317", "localhost:", "localhost:70000", "a b:1", "u@a:1", "a:1/b"]
        {
            assert!(new(endpoint).is_err(), "{endpoint}");
        }
    }
}
