//! Calls of etcd: gRPC, as <https://grpc.io/docs/what-is-grpc/core-concepts> and its description of HTTP/2
//! frames say, over connections that are kept. One member is spoken to at a time; when it does not answer,
//! the next one is.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use orch_storage::StoreError;
use percent_encoding::percent_decode_str;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

use crate::connection::{Endpoint, Messages, Sender};
use crate::connections::{CONNECT_TIMEOUT, Connected, Connections};
use crate::failure::Failure;
use crate::message::{Decode, Encode};
use crate::tls::{Tls, TlsFiles};
use crate::versions::Versions;

pub(crate) const RANGE: &str = "/etcdserverpb.KV/Range";
pub(crate) const TXN: &str = "/etcdserverpb.KV/Txn";
pub(crate) const COMPACT: &str = "/etcdserverpb.KV/Compact";
pub(crate) const WATCH: &str = "/etcdserverpb.Watch/Watch";
pub(crate) const ALARM: &str = "/etcdserverpb.Maintenance/Alarm";

/// How long a member may be silent, where a call has no more time, without being left.
const SILENCE: Duration = Duration::from_secs(1);

/// Before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Longer answers are not read: etcd sends none.
const MAX_MESSAGE: usize = 256 << 20;

/// A member that has lost the others says so at once.
const HAS_LEADER: HeaderName = HeaderName::from_static("hasleader");
const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// Calls the members of one cluster.
pub(crate) struct Client {
    connections: Arc<Connections>,
    /// What messages call the revisions of etcd.
    pub(crate) versions: Versions,
}

/// An answer of many messages, and the way to send more. It ends when this is dropped.
pub(crate) struct Stream {
    body: Incoming,
    buffer: BytesMut,
    newest: watch::Receiver<u64>,
    /// The number of the connection that was used for calls when this began.
    number: u64,
    versions: Versions,
    _requests: mpsc::Sender<Bytes>,
}

impl Client {
    /// Connects to nobody yet.
    pub(crate) fn new(urls: &[String], files: &TlsFiles) -> Result<Self, StoreError> {
        let is_secured = urls.iter().any(|url| url.starts_with("https:"));
        let tls = if is_secured { Some(Arc::new(Tls::new(files)?)) } else { None };
        let endpoints: Vec<_> =
            urls.iter().map(|url| Endpoint::parse(url, tls.as_ref())).collect::<Result<_, _>>()?;
        if endpoints.is_empty() {
            return Err(StoreError::Unavailable { detail: "there is no address of etcd".into() });
        }
        Ok(Self { connections: Arc::new(Connections::new(endpoints)), versions: Versions::default() })
    }

    /// One call: a message, and a message in answer, within this time, in which a connection is made where
    /// there is none. It must be awaited to its end, also by who does not need the answer any more: ending it
    /// resets a stream, and HTTP/2 ends a connection with many of these, and all calls on it.
    pub(crate) fn call<T: Decode, M: Encode>(
        &self,
        method: &'static str,
        message: &M,
        time: Duration,
    ) -> impl Future<Output = Result<T, Failure>> + Send + use<T, M> {
        let message = framed(message, self.versions);
        let (connections, versions) = (Arc::clone(&self.connections), self.versions);
        let deadline = Instant::now() + time;
        async move {
            let connected = connections.connected(deadline).await?;
            let (number, asked) = (connected.number, Instant::now());
            match timeout_at(deadline, unary(connected, method, message, deadline)).await {
                Ok(Ok(answer)) => Ok(T::decode(&answer, versions)?),
                Ok(Err(failure)) => {
                    if failure.is_about_the_member() {
                        connections.leave(number);
                    }
                    Err(failure)
                }
                Err(_) => {
                    if asked.elapsed() >= SILENCE {
                        connections.leave(number);
                    }
                    Err(Failure::NoAnswer(format!("not within {time:?}")))
                }
            }
        }
    }

    /// Opens a stream with its first message, on a connection of its own: a long answer does not keep others
    /// from theirs.
    pub(crate) async fn stream(&self, method: &'static str, first: &impl Encode) -> Result<Stream, Failure> {
        let first = framed(first, self.versions);
        let deadline = Instant::now() + 2 * CONNECT_TIMEOUT;
        let Connected { number, endpoint, .. } = self.connections.connected(deadline).await?;
        let opened = async {
            let sender = endpoint.connect().await.map_err(Failure::Unreachable)?;
            let (requests, messages) = mpsc::channel(4);
            // The channel is new and has room.
            let _ = requests.try_send(first);
            let response = send(sender, &endpoint, method, Messages::Stream(messages), None).await?;
            status(response.headers())?;
            let (body, newest) = (response.into_body(), self.connections.newest());
            let (buffer, versions) = (BytesMut::new(), self.versions);
            Ok(Stream { body, buffer, newest, number, versions, _requests: requests })
        };
        let opened = timeout_at(deadline, opened).await;
        let opened = opened.unwrap_or_else(|_| Err(Failure::NoAnswer("the stream did not begin".to_owned())));
        if opened.is_err() {
            self.connections.leave(number);
        }
        opened
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.connections.close();
    }
}

impl Stream {
    /// The next message. An error where the stream ends, and where calls go to another member by now: this
    /// one may be silent.
    pub(crate) async fn next<T: Decode>(&mut self) -> Result<T, Failure> {
        let (mut newest, number) = (self.newest.clone(), self.number);
        tokio::select! {
            message = self.read() => message,
            _ = newest.wait_for(|newest| *newest != number) => {
                Err(Failure::NoAnswer("another member is used now".to_owned()))
            }
        }
    }

    /// The next message, if it has come already.
    pub(crate) fn waiting<T: Decode>(&mut self) -> Result<Option<T>, Failure> {
        let message = unframed(&mut self.buffer)?;
        Ok(message.map(|message| T::decode(&message, self.versions)).transpose()?)
    }

    async fn read<T: Decode>(&mut self) -> Result<T, Failure> {
        loop {
            if let Some(message) = self.waiting()? {
                return Ok(message);
            }
            match self.body.frame().await {
                None => return Err(Failure::NoAnswer("the stream ended".to_owned())),
                Some(Err(error)) => return Err(Failure::NoAnswer(error.to_string())),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.buffer.extend_from_slice(&data),
                    Err(frame) => {
                        status(&frame.into_trailers().unwrap_or_default())?;
                        return Err(Failure::NoAnswer("the stream ended".to_owned()));
                    }
                },
            }
        }
    }
}

async fn unary(
    connected: Connected,
    method: &'static str,
    message: Bytes,
    deadline: Instant,
) -> Result<Bytes, Failure> {
    let Connected { sender, endpoint, .. } = connected;
    let response = send(sender, &endpoint, method, Messages::One(Some(message)), Some(deadline)).await?;
    // A failure has its status in the headers, where it has no body.
    status(response.headers())?;
    let collected = response.into_body().collect().await;
    let collected = collected.map_err(|error| Failure::NoAnswer(error.to_string()))?;
    if let Some(trailers) = collected.trailers() {
        status(trailers)?;
    }
    let mut buffer = BytesMut::from(collected.to_bytes());
    unframed(&mut buffer)?.ok_or_else(|| Failure::NoAnswer("the answer is empty".to_owned()))
}

async fn send(
    mut sender: Sender,
    endpoint: &Endpoint,
    method: &'static str,
    body: Messages,
    deadline: Option<Instant>,
) -> Result<Response<Incoming>, Failure> {
    let mut request = Request::post(endpoint.uri(method))
        .header(CONTENT_TYPE, HeaderValue::from_static("application/grpc"))
        .header(TE, HeaderValue::from_static("trailers"))
        .header(HAS_LEADER, HeaderValue::from_static("true"));
    if let Some(deadline) = deadline {
        let left = deadline.saturating_duration_since(Instant::now()).as_millis().max(1);
        request = request.header(GRPC_TIMEOUT, format!("{left}m"));
    }
    let request = request.body(body).map_err(|error| Failure::Unreachable(error.to_string()))?;
    if let Err(error) = sender.ready().await {
        return Err(Failure::Unreachable(error.to_string()));
    }
    let response = sender.try_send_request(request).await.map_err(|mut error| {
        if error.take_message().is_some() {
            Failure::Unreachable(error.into_error().to_string())
        } else {
            Failure::NoAnswer(error.into_error().to_string())
        }
    })?;
    if response.status().is_success() {
        Ok(response)
    } else {
        Err(Failure::NoAnswer(format!("the answer has the HTTP status {}", response.status())))
    }
}

/// The status of a call, where the headers or trailers have one.
fn status(headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(code) = text("grpc-status") else { return Ok(()) };
    match code.parse::<u32>() {
        Ok(0) => Ok(()),
        Ok(code) => {
            let message = percent_decode_str(text("grpc-message").unwrap_or_default());
            Err(Failure::Status { code: code.into(), message: message.decode_utf8_lossy().into_owned() })
        }
        Err(_) => Err(Failure::NoAnswer("the status of the answer is no number".to_owned())),
    }
}

/// A message behind its prefix.
fn framed(message: &impl Encode, versions: Versions) -> Bytes {
    let mut framed = message.encode(versions, PREFIX);
    let length = (framed.len() - PREFIX) as u32;
    framed[1..PREFIX].copy_from_slice(&length.to_be_bytes());
    framed.into()
}

/// The first whole message of the buffer.
fn unframed(buffer: &mut BytesMut) -> Result<Option<Bytes>, Failure> {
    let Some((prefix, rest)) = buffer.split_at_checked(PREFIX) else { return Ok(None) };
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
    if prefix[0] != 0 || length > MAX_MESSAGE {
        return Err(Failure::NoAnswer("the answer is compressed or too long".to_owned()));
    }
    if rest.len() < length {
        return Ok(None);
    }
    buffer.advance(PREFIX);
    Ok(Some(buffer.split_to(length).freeze()))
}
