//! Calls of etcd: gRPC, as <https://grpc.io/docs/what-is-grpc/core-concepts> and its description of HTTP/2
//! frames say, over connections that are kept. One member is spoken to at a time; when it does not answer,
//! the next one is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use orch_storage::StoreError;
use percent_encoding::percent_decode_str;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::connection::{Endpoint, Messages, Sender};
use crate::failure::Failure;
use crate::message::{Decode, Encode};
use crate::tls::{self, TlsFiles};
use crate::versions::Versions;

pub(crate) const RANGE: &str = "/etcdserverpb.KV/Range";
pub(crate) const TXN: &str = "/etcdserverpb.KV/Txn";
pub(crate) const COMPACT: &str = "/etcdserverpb.KV/Compact";
pub(crate) const WATCH: &str = "/etcdserverpb.Watch/Watch";
pub(crate) const ALARM: &str = "/etcdserverpb.Maintenance/Alarm";

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Longer answers are not read: etcd sends none.
const MAX_MESSAGE: usize = 256 << 20;

/// Calls the members of one cluster.
pub(crate) struct Client {
    endpoints: Vec<Endpoint>,
    current: Mutex<Current>,
    /// The number of the newest connection.
    newest: watch::Sender<u64>,
    /// Held by whoever connects, so that one does.
    connecting: tokio::sync::Mutex<()>,
    /// What messages call the revisions of etcd.
    pub(crate) versions: Versions,
}

/// The connection that is used now.
struct Current {
    sender: Option<(u64, Sender)>,
    /// Tells one connection from the next.
    number: u64,
    /// The endpoint to try next.
    next: usize,
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
        let tls = if is_secured { Some(tls::config(files)?) } else { None };
        let endpoints: Vec<_> =
            urls.iter().map(|url| Endpoint::parse(url, tls.as_ref())).collect::<Result<_, _>>()?;
        if endpoints.is_empty() {
            return Err(StoreError::Unavailable { detail: "there is no address of etcd".into() });
        }
        let current = Mutex::new(Current { sender: None, number: 0, next: 0 });
        let newest = watch::Sender::new(0);
        let (connecting, versions) = (tokio::sync::Mutex::default(), Versions::default());
        Ok(Self { endpoints, current, newest, connecting, versions })
    }

    /// One call: a message, and a message in answer. Where nobody waits for the answer any more, because the
    /// watch was faster, the call goes on: ending it resets a stream, and HTTP/2 ends a connection with many
    /// of these, and all calls on it.
    pub(crate) async fn call<T: Decode>(
        &self,
        method: &'static str,
        message: &impl Encode,
        deadline: Duration,
    ) -> Result<T, Failure> {
        let message = message.encode(self.versions);
        let (number, sender, origin) = self.connected().await?;
        let asking = tokio::spawn(async move {
            let answer = timeout(deadline, unary(sender, &origin, method, &message, deadline)).await;
            answer.unwrap_or_else(|_| Err(Failure::NoAnswer(format!("not within {deadline:?}"))))
        });
        let answer = asking.await.unwrap_or_else(|ended| Err(Failure::NoAnswer(ended.to_string())));
        match answer {
            Ok(answer) => Ok(T::decode(&answer, self.versions)?),
            Err(failure) => {
                if failure.is_about_the_member() {
                    self.leave(number);
                }
                Err(failure)
            }
        }
    }

    /// Opens a stream with its first message, on a connection of its own: a long answer does not keep others
    /// from theirs.
    pub(crate) async fn stream(&self, method: &str, first: &impl Encode) -> Result<Stream, Failure> {
        let first = first.encode(self.versions);
        let (number, _, origin) = self.connected().await?;
        let at = self.endpoints.iter().find(|endpoint| endpoint.origin == origin);
        let endpoint = at.unwrap_or(&self.endpoints[0]);
        let opened = async {
            let sender = endpoint.connect().await.map_err(Failure::Unreachable)?;
            let (requests, messages) = mpsc::channel(4);
            // The channel is new and has room.
            let _ = requests.try_send(framed(&first));
            let response = send(sender, &origin, method, Messages::Stream(messages), None).await?;
            status(response.headers())?;
            let (body, newest) = (response.into_body(), self.newest.subscribe());
            let (buffer, versions) = (BytesMut::new(), self.versions);
            Ok(Stream { body, buffer, newest, number, versions, _requests: requests })
        };
        let opened = timeout(2 * CONNECT_TIMEOUT, opened).await;
        let opened = opened.unwrap_or_else(|_| Err(Failure::NoAnswer("the stream did not begin".to_owned())));
        if opened.is_err() {
            self.leave(number);
        }
        opened
    }

    /// The connection that is used now, or a new one: its number, it, and where it leads.
    async fn connected(&self) -> Result<(u64, Sender, String), Failure> {
        if let Some(connected) = self.open_connection() {
            return Ok(connected);
        }
        let _connecting = self.connecting.lock().await;
        if let Some(connected) = self.open_connection() {
            return Ok(connected);
        }
        let mut failures = Vec::new();
        for _ in &self.endpoints {
            let at = self.locked().next;
            let endpoint = &self.endpoints[at];
            let connected = timeout(CONNECT_TIMEOUT, endpoint.connect()).await;
            let mut current = self.locked();
            match connected.unwrap_or_else(|_| Err("no connection in time".to_owned())) {
                Ok(sender) => {
                    current.number += 1;
                    current.sender = Some((current.number, sender.clone()));
                    self.newest.send_replace(current.number);
                    return Ok((current.number, sender, endpoint.origin.clone()));
                }
                Err(error) => {
                    failures.push(format!("{}: {error}", endpoint.origin));
                    current.next = (at + 1) % self.endpoints.len();
                }
            }
        }
        Err(Failure::Unreachable(failures.join("; ")))
    }

    fn open_connection(&self) -> Option<(u64, Sender, String)> {
        let current = self.locked();
        let (number, sender) = current.sender.as_ref().filter(|(_, sender)| !sender.is_closed())?;
        Some((*number, sender.clone(), self.endpoints[current.next].origin.clone()))
    }

    /// Goes on with the next member, unless that has happened already.
    pub(crate) fn leave(&self, number: u64) {
        let mut current = self.locked();
        if current.sender.as_ref().is_some_and(|(now, _)| *now == number) {
            current.sender = None;
            current.next = (current.next + 1) % self.endpoints.len();
        }
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.locked().sender = None;
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
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

    async fn read<T: Decode>(&mut self) -> Result<T, Failure> {
        loop {
            if let Some(message) = unframed(&mut self.buffer)? {
                return Ok(T::decode(&message, self.versions)?);
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
    sender: Sender,
    origin: &str,
    method: &str,
    message: &[u8],
    deadline: Duration,
) -> Result<Bytes, Failure> {
    let body = Messages::One(Some(framed(message)));
    let response = send(sender, origin, method, body, Some(deadline)).await?;
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
    origin: &str,
    method: &str,
    body: Messages,
    deadline: Option<Duration>,
) -> Result<Response<Incoming>, Failure> {
    let mut request = Request::post(format!("{origin}{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        // A member that has lost the others says so at once.
        .header("hasleader", "true");
    if let Some(deadline) = deadline {
        request = request.header("grpc-timeout", format!("{}m", deadline.as_millis()));
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

fn framed(message: &[u8]) -> Bytes {
    let length = (message.len() as u32).to_be_bytes();
    [&[0], &length[..], message].concat().into()
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
