//! Sends the request of a step and records its answer.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use http::{HeaderMap, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{
    Step,
    names::{Names, Unsaved},
    short,
};
use crate::{
    Client,
    client::{ClientError, Next, Request},
};

/// What stays as it is in a query; a space becomes a plus.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The shortest time to wait for an answer: a server may wait for a version that does not exist yet.
const ANSWER: Duration = Duration::from_secs(5);

/// Headers that are compared.
const KEPT_HEADERS: &[&str] = &["allow", "content-type", "retry-after", "www-authenticate"];

/// A recorded answer.
#[derive(Clone, Debug, Default)]
pub struct Got {
    /// The status code.
    pub status: u16,
    /// The headers that are compared; `warning` as a list.
    pub headers: BTreeMap<String, Value>,
    /// The body where it is JSON.
    pub body: Option<Value>,
    /// The body where it is not.
    pub text: Option<String>,
    /// The events where it is a watch.
    pub events: Option<Vec<Value>>,
}

impl Got {
    /// For a message.
    pub fn shown(&self) -> String {
        match (&self.body, &self.text, &self.events) {
            (Some(body), ..) => short(body),
            (_, Some(text), _) => short(&Value::String(text.clone())),
            (.., Some(events)) => short(&Value::Array(events.clone())),
            _ => "nothing".to_owned(),
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum ExchangeError {
    /// An earlier step did not save this.
    Unsaved(String),
    /// The exchange failed.
    Client(ClientError),
}

impl From<Unsaved> for ExchangeError {
    fn from(Unsaved(name): Unsaved) -> Self {
        ExchangeError::Unsaved(name)
    }
}

impl std::fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExchangeError::Unsaved(name) => write!(f, "an earlier step did not save {name}"),
            ExchangeError::Client(error) => write!(f, "{error}"),
        }
    }
}

/// Performs one step. Its watch, if it is one, is read for no longer than `limit`.
pub async fn perform(
    client: &Client,
    step: &Step,
    names: &Names,
    limit: Duration,
) -> Result<Got, ExchangeError> {
    let request = request(client, step, names)?.patience(PATIENCE.min(limit.max(ANSWER)));
    let Some(watch) = &step.watch else {
        let answer = request.try_send().await.map_err(ExchangeError::Client)?;
        return Ok(take_down(answer.status, &answer.headers, &answer.body));
    };
    let mut stream = match request.try_watch().await.map_err(ExchangeError::Client)? {
        Ok(stream) => stream,
        Err(answer) => return Ok(take_down(answer.status, &answer.headers, &answer.body)),
    };
    let mut events = Vec::new();
    let end = Instant::now() + Duration::from_secs_f64(watch.seconds).min(limit);
    while events.len() < watch.events {
        match stream.next(end.saturating_duration_since(Instant::now())).await {
            Next::Event(event) => events.push(event),
            Next::End(_) | Next::Nothing => break,
        }
    }
    Ok(Got { status: 200, headers: kept(&stream.headers), events: Some(events), ..Got::default() })
}

fn request<'c>(client: &'c Client, step: &Step, names: &Names) -> Result<Request<'c>, ExchangeError> {
    let mut path = names.fill(&step.path)?;
    for (index, (key, value)) in names.fill_ordered(&step.query)?.texts().enumerate() {
        path.push(if index == 0 { '?' } else { '&' });
        path.push_str(&plus_encoded(key));
        path.push('=');
        path.push_str(&plus_encoded(value));
    }
    let method = Method::from_bytes(step.method.as_bytes()).expect("recorded methods are well-formed");
    let mut request =
        client.request(method, &path).header("User-Agent", "replay/1.0").header("Accept", "application/json");
    if let Some(raw) = &step.raw {
        request = request.body("application/json", names.fill(raw)?);
    } else if let Some(body) = &step.body {
        let body = serde_json::to_vec(&names.fill_ordered(body)?).expect("JSON can be written");
        request = request.body("application/json", body);
    }
    for (name, value) in names.fill_ordered(&step.headers)?.texts() {
        request = request.header(name, value);
    }
    Ok(request)
}

fn plus_encoded(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string().replace("%20", "+")
}

fn take_down(status: u16, headers: &HeaderMap, body: &[u8]) -> Got {
    let (body, text) = match serde_json::from_slice(body) {
        Ok(json) => (Some(json), None),
        Err(_) => (None, Some(String::from_utf8_lossy(body).into_owned())),
    };
    Got { status, headers: kept(headers), body, text, events: None }
}

fn kept(headers: &HeaderMap) -> BTreeMap<String, Value> {
    let text =
        |value: &http::HeaderValue| Value::String(String::from_utf8_lossy(value.as_bytes()).into_owned());
    let mut kept = BTreeMap::new();
    for name in KEPT_HEADERS {
        if let Some(value) = headers.get_all(*name).iter().next_back() {
            kept.insert((*name).to_owned(), text(value));
        }
    }
    let warnings: Vec<Value> = headers.get_all("warning").iter().map(text).collect();
    if !warnings.is_empty() {
        kept.insert("warning".to_owned(), Value::Array(warnings));
    }
    kept
}
