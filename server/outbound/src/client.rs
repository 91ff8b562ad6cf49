//! Calls to one target.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderValue, Method, Request, Response,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT},
};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use orch_trace::{
    context::{TRACEPARENT, TRACESTATE},
    request::Call,
};

use crate::{
    backoff::Backoff,
    circuit::Circuit,
    connection::{self, Sender},
    error::OutboundError,
    source::Source,
    target::Target,
};

/// Connections that are kept while nobody uses them.
const MAX_IDLE: usize = 16;

/// The longest pause that a target may ask for; longer ones end the call.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(10);

/// How a target is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// For one attempt: connecting, sending and the whole answer.
    pub timeout: Duration,
    /// Bytes of an answer.
    pub max_answer: usize,
    /// Further attempts.
    pub backoff: Backoff,
    /// Whether a target that does not answer in time counts as one that is not there. Only where callers do
    /// not choose the questions: whoever does must not decide whether those of others are put.
    pub silence_is_absence: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            timeout: Duration::from_secs(30),
            max_answer: 1024 * 1024,
            backoff: Backoff::default(),
            silence_is_absence: false,
        }
    }
}

/// Calls one target. Calls at the same time use connections of their own.
pub struct Client {
    source: Source,
    settings: Settings,
    /// Connections that nobody uses, to the target with which they were opened.
    idle: Mutex<Vec<(Arc<Target>, Sender)>>,
    circuit: Mutex<Circuit>,
}

impl Client {
    /// A client without connections.
    pub fn new(target: Target, settings: Settings) -> Self {
        Client::from_source(Source::fixed(target), settings)
    }

    /// A client for the target that a kubeconfig file names. The file, and the certificates and keys that it
    /// names, are read again when they change; where they are wrong then, the target stays.
    ///
    /// # Errors
    /// Where the file or one that it names cannot be read, or is wrong.
    pub fn of_kubeconfig(path: &Path, settings: Settings) -> Result<Self, OutboundError> {
        Ok(Client::from_source(Source::followed(path)?, settings))
    }

    fn from_source(source: Source, settings: Settings) -> Self {
        Client { source, settings, idle: Mutex::default(), circuit: Mutex::default() }
    }

    /// Whether the target was not there several times in a row, and has not been there since. A call tries
    /// now and then; the others fail at once.
    pub fn is_left_alone(&self) -> bool {
        locked(&self.circuit).has_opened()
    }

    /// Posts JSON to the address of the target. The result is the body of an answer with a status of 2xx.
    ///
    /// # Errors
    /// Where there is no such answer, after all attempts.
    pub async fn post_json(&self, body: Bytes) -> Result<Bytes, OutboundError> {
        self.call(&Method::POST, &body).await
    }

    /// Gets what is at the address of the target. The result is the body of an answer with a status of 2xx.
    ///
    /// # Errors
    /// Where there is no such answer, after all attempts.
    pub async fn get(&self) -> Result<Bytes, OutboundError> {
        self.call(&Method::GET, &Bytes::new()).await
    }

    async fn call(&self, method: &Method, body: &Bytes) -> Result<Bytes, OutboundError> {
        let mut attempt = 1;
        loop {
            let error = match self.attempt(method, body).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = self.settings.backoff.pause(attempt, rand::random()).filter(|_| error.is_passing());
            let Some(mut pause) = pause else { return Err(error) };
            if let OutboundError::Status { retry_after: Some(wanted), .. } = &error {
                if *wanted > MAX_RETRY_AFTER {
                    return Err(error);
                }
                pause = pause.max(*wanted);
            }
            tracing::debug!(%error, attempt, "another server is asked again");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// One attempt, unless the target has not been there lately.
    async fn attempt(&self, method: &Method, body: &Bytes) -> Result<Bytes, OutboundError> {
        if !locked(&self.circuit).admits(Instant::now()) {
            return Err(OutboundError::CircuitOpen);
        }
        let (timeout, target) = (self.settings.timeout, self.source.target().await);
        let deadline = tokio::time::Instant::now() + timeout;
        let mut call = Call::begin(method.as_str(), &target.host, target.port);
        let exchange = self.exchange(&target, method, body, call.as_ref(), deadline);
        let answer = tokio::time::timeout_at(deadline, exchange).await;
        let answer = answer.unwrap_or(Err(OutboundError::Timeout(timeout)));
        if let (Err(error), Some(call)) = (&answer, &mut call) {
            call.failed(error.to_string());
        }
        match &answer {
            Err(error) if self.is_absence(error) => locked(&self.circuit).failed(Instant::now()),
            _ => locked(&self.circuit).succeeded(),
        }
        answer
    }

    fn is_absence(&self, error: &OutboundError) -> bool {
        let is_silence = matches!(error, OutboundError::Timeout(_));
        error.is_absence() || (is_silence && self.settings.silence_is_absence)
    }

    async fn exchange(
        &self,
        target: &Arc<Target>,
        method: &Method,
        body: &Bytes,
        call: Option<&Call>,
        deadline: tokio::time::Instant,
    ) -> Result<Bytes, OutboundError> {
        let (mut sender, response) = loop {
            let request = request(target, method, body, call)?;
            let kept = self.kept(target);
            let is_kept = kept.is_some();
            let mut sender = match kept {
                Some(sender) => sender,
                None => connection::open(target, deadline).await?,
            };
            if sender.ready().await.is_err() && is_kept {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => break (sender, response),
                // The target closed a kept connection before the request was sent: a new one may do.
                Err(mut error) => {
                    let was_sent = error.take_message().is_none();
                    if was_sent || !is_kept {
                        return Err(OutboundError::Broken(error.into_error().to_string()));
                    }
                }
            }
        };
        let status = response.status();
        if !status.is_success() {
            return Err(OutboundError::Status {
                status: status.as_u16(),
                retry_after: retry_after(&response),
            });
        }
        let answer = self.read(response).await?;
        if sender.ready().await.is_ok() {
            let mut idle = locked(&self.idle);
            if idle.len() < MAX_IDLE {
                idle.push((Arc::clone(target), sender));
            }
        }
        Ok(answer)
    }

    /// A connection that nobody uses. Those to a target as it was before are closed.
    fn kept(&self, target: &Arc<Target>) -> Option<Sender> {
        let mut idle = locked(&self.idle);
        idle.retain(|(opened, _)| Arc::ptr_eq(opened, target));
        idle.pop().map(|(_, sender)| sender)
    }

    /// The whole body, if it is not too large.
    async fn read(&self, response: Response<Incoming>) -> Result<Bytes, OutboundError> {
        let (mut body, mut answer) = (response.into_body(), BytesMut::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| OutboundError::Broken(error.to_string()))?;
            let Ok(data) = frame.into_data() else { continue };
            if answer.len() + data.len() > self.settings.max_answer {
                return Err(OutboundError::TooLarge(self.settings.max_answer));
            }
            answer.extend_from_slice(&data);
        }
        Ok(answer.freeze())
    }
}

/// A request to the address of the target.
fn request(
    target: &Target,
    method: &Method,
    body: &Bytes,
    call: Option<&Call>,
) -> Result<Request<Full<Bytes>>, OutboundError> {
    let url = &target.url;
    let path = url.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let host = url.authority().map_or("", http::uri::Authority::as_str);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, host)
        .header(ACCEPT, "application/json, */*")
        .header(USER_AGENT, concat!("orch-apiserver/", env!("CARGO_PKG_VERSION")));
    if method == Method::POST {
        request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(header) = target.credential.header() {
        request = request.header(AUTHORIZATION, header);
    }
    if let Some(call) = call {
        request = request.header(TRACEPARENT, call.traceparent());
        if let Some(state) = call.tracestate() {
            request = request.header(TRACESTATE, state);
        }
    }
    let request = request.body(Full::new(body.clone()));
    request.map_err(|_| OutboundError::Target("the address makes no valid request".to_owned()))
}

/// The seconds of the header `Retry-After`.
fn retry_after(response: &Response<Incoming>) -> Option<Duration> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    text.parse().ok().map(Duration::from_secs)
}

/// The content; a panic elsewhere leaves it usable.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
