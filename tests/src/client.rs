//! An HTTP client for tests: plain requests over real TLS sockets, nothing hidden.
//!
//! No redirects, no retries, no header that a test did not ask for. Connections are kept and used again.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_body_util::{BodyExt, Full};
use places::Places;
use serde_json::Value;

mod connection;
mod places;
mod watch;

pub use connection::{ClientError, Connection, Identity, Protocol, connect, tls_config};
pub use places::Turns;
pub use watch::{Next, Watch};

/// How long an answer may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// One user's client of one server, or of several that are one to their clients.
#[derive(Clone)]
pub struct Client {
    places: Arc<Places>,
    authorization: Option<HeaderValue>,
}

impl Client {
    /// A client with the given TLS settings. A client certificate in them is its only credential.
    pub fn new(address: SocketAddr, tls: Arc<rustls::ClientConfig>, protocol: Protocol) -> Self {
        Self::in_turn(vec![address], &Turns::default(), tls, protocol)
    }

    /// A client that sends each request to the next one of these servers.
    pub fn in_turn(
        addresses: Vec<SocketAddr>,
        turns: &Turns,
        tls: Arc<rustls::ClientConfig>,
        protocol: Protocol,
    ) -> Self {
        Client { places: Arc::new(Places::new(addresses, turns, tls, protocol)), authorization: None }
    }

    /// The same, with a bearer token.
    pub fn with_token(mut self, token: &str) -> Self {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).expect("test tokens are printable");
        self.authorization = Some(value);
        self
    }

    /// Begins a request.
    pub fn request(&self, method: Method, path: &str) -> Request<'_> {
        let mut headers = HeaderMap::new();
        if let Some(value) = &self.authorization {
            headers.insert(header::AUTHORIZATION, value.clone());
        }
        Request {
            client: self,
            method,
            path: path.to_owned(),
            headers,
            body: Bytes::new(),
            patience: PATIENCE,
        }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path).send().await
    }

    /// POST of an object.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::POST, path).json(body).send().await
    }

    /// PUT of an object.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::PUT, path).json(body).send().await
    }

    /// PATCH with an RFC 7386 merge patch.
    pub async fn merge(&self, path: &str, change: &Value) -> Answer {
        let body = change.to_string().into_bytes();
        self.request(Method::PATCH, path).body("application/merge-patch+json", body).send().await
    }

    /// DELETE without options.
    pub async fn delete(&self, path: &str) -> Answer {
        self.request(Method::DELETE, path).send().await
    }

    /// Opens a watch; panics where the answer is not one.
    pub async fn watch(&self, path: &str) -> Watch {
        self.request(Method::GET, path).watch().await.unwrap_or_else(|answer| panic!("no watch: {answer:?}"))
    }
}

/// A request that is being put together.
pub struct Request<'c> {
    client: &'c Client,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
    patience: Duration,
}

impl Request<'_> {
    /// Sets a header; an empty value removes it.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("test headers are well-formed");
        if value.is_empty() {
            self.headers.remove(name);
        } else {
            let value = HeaderValue::from_str(value).expect("test headers are well-formed");
            self.headers.insert(name, value);
        }
        self
    }

    /// Adds a header beside those of the same name.
    pub fn add_header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("test headers are well-formed");
        self.headers.append(name, HeaderValue::from_str(value).expect("test headers are well-formed"));
        self
    }

    /// Sends these bytes as this media type.
    pub fn body(mut self, media_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.header(header::CONTENT_TYPE.as_str(), media_type)
    }

    /// Sends an object.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// How long the answer may take.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends, and reads the whole answer.
    pub async fn send(self) -> Answer {
        let what = format!("{} {}", self.method, self.path);
        self.try_send().await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// Sends, and reads the whole answer; for tests in which the server may be gone.
    pub async fn try_send(self) -> Result<Answer, ClientError> {
        let patience = self.patience;
        tokio::time::timeout(patience, self.exchange()).await.map_err(|_| ClientError::Late(patience))?
    }

    /// Sends, and reads the answer as a stream of events where it is one with status 200.
    pub async fn watch(self) -> Result<Watch, Box<Answer>> {
        let what = format!("{} {}", self.method, self.path);
        self.try_watch().await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// The same, for tests in which the server may be gone.
    pub async fn try_watch(self) -> Result<Result<Watch, Box<Answer>>, ClientError> {
        let patience = self.patience;
        let opened = async {
            let (connection, response) = self.start().await?;
            let (parts, body) = response.into_parts();
            if parts.status == http::StatusCode::OK {
                return Ok(Ok(Watch::new(connection, parts.headers, body)));
            }
            let body = body.collect().await.map_err(ClientError::Http)?.to_bytes();
            Ok(Err(Box::new(Answer { status: parts.status.as_u16(), headers: parts.headers, body })))
        };
        tokio::time::timeout(patience, opened).await.map_err(|_| ClientError::Late(patience))?
    }

    async fn exchange(self) -> Result<Answer, ClientError> {
        let client = self.client;
        let (connection, response) = self.start().await?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(ClientError::Http)?.to_bytes();
        client.places.keep(connection);
        Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
    }

    async fn start(self) -> Result<(Connection, http::Response<hyper::body::Incoming>), ClientError> {
        let mut connection = self.client.places.connection().await?;
        let response = connection.send(self.method, &self.path, self.headers, Full::new(self.body)).await?;
        Ok((connection, response))
    }
}

/// A whole answer.
#[derive(Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's value, `""` where it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("headers are printable"))
    }

    /// Panics where the status is another; the body otherwise, as JSON.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }

    /// Panics where the answer is not a Status object of this code and reason; its message otherwise.
    #[track_caller]
    pub fn refused(&self, code: u16, reason: &str) -> String {
        let status = self.expect(code);
        assert_eq!(status["kind"], "Status", "{self:?}");
        assert_eq!(status["apiVersion"], "v1", "{self:?}");
        assert_eq!(status["status"], "Failure", "{self:?}");
        assert_eq!(status["code"], code, "{self:?}");
        assert_eq!(status["reason"].as_str().unwrap_or_default(), reason, "{self:?}");
        status["message"].as_str().unwrap_or_default().to_owned()
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.text();
        let shown: String = text.chars().take(2000).collect();
        write!(f, "{} {shown}", self.status)
    }
}
