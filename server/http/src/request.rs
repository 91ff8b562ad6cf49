//! Reads HTTP requests into the typed requests of the registry: paths, query parameters, headers, bodies.

pub(crate) mod body;
pub(crate) mod deletion;
pub(crate) mod framing;
pub mod identity_headers;
pub mod impersonation;
pub mod info;
pub mod listing;
pub mod query;
pub(crate) mod websocket_handshake;
pub(crate) mod websocket_token;
pub(crate) mod weight;
pub(crate) mod writing;

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, HeaderName, header, request::Parts};
use orch_audit::record::Record;

use self::{info::RequestInfo, query::Query};
use crate::timeline::Timeline;

/// The head of a request, read once.
#[derive(Clone, Copy)]
pub struct RequestHead<'a> {
    /// What it is about.
    pub info: &'a RequestInfo<'a>,
    /// Its query parameters.
    pub query: &'a Query,
    /// Method, URI and headers.
    pub parts: &'a Parts,
    /// When it reached which stage.
    pub timeline: &'a Timeline,
    /// What is recorded of the request, where audit wants a record; it begins when the caller is known.
    pub record: Option<&'a Arc<Record>>,
    /// The headers that the answer may begin with, where there are some; a body sets the content type.
    pub headers: Option<&'a HeaderMap>,
}

impl<'a> RequestHead<'a> {
    /// A header as text; empty where it is absent or no text.
    pub fn header(&self, name: HeaderName) -> &'a str {
        self.parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// What the client calls itself. That may be any text: what is no UTF-8 is replaced.
    pub fn user_agent(&self) -> Cow<'a, str> {
        let agent = self.parts.headers.get(header::USER_AGENT);
        agent.map_or(Cow::Borrowed(""), |value| String::from_utf8_lossy(value.as_bytes()))
    }
}
