//! What requests are answered with: the core, access control, operations and the documents.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use axum::Router;
use orch_audit::auditor::Auditor;
use orch_config::{BrowserConfig, Pace};
use orch_machinery::media_type::MediaTypes;
use orch_registry::{core::Core, operation::Operations};

use crate::{
    access::AccessControl,
    fairness::Sharing,
    large_work::LargeWork,
    limits::{Limits, MemoryLimit},
    metrics::Metrics,
    open_watches::OpenWatches,
    request::identity_headers::IdentityHeaders,
    traces::Tracer,
};

/// One value that all requests share.
pub struct App {
    /// What the verbs work on.
    pub core: Arc<Core>,
    /// Authentication and authorization.
    pub access: AccessControl,
    /// The audit of requests; `None` if it is off.
    pub audit: Option<Auditor>,
    /// Traces of requests; `None` if they are off.
    pub tracer: Option<Tracer>,
    /// Operations of sub-resources (such as an eviction), and kinds that are reviews.
    pub operations: Operations,
    /// All paths that are not resources: probes, metrics, documents, and a program's own routes.
    pub documents: Router,
    /// Headers that `documents` does not get.
    pub identity_headers: IdentityHeaders,
    /// The media types that are read and written.
    pub media_types: Arc<MediaTypes>,
    /// The groups of metadata-only forms and tables, in the spelling of each vocabulary.
    pub meta_groups: Vec<String>,
    /// Counts requests.
    pub metrics: Metrics,
    /// Where requests run that compute for long.
    pub large_work: LargeWork,
    /// Watches that have begun.
    pub open_watches: Arc<OpenWatches>,
    /// How much clients may use at a time.
    pub limits: Limits,
    /// How the server is shared out among requests.
    pub sharing: Sharing,
    /// How much memory there may be before writes are refused.
    pub memory: MemoryLimit,
    /// How fast clients must read long answers.
    pub pace: Pace,
    /// Whether large answers are compressed for clients that accept that.
    pub compresses: bool,
    /// Whether HTTP/2 connections of clients that are not authenticated are closed.
    pub closes_unauthenticated: bool,
    /// Whether new requests are refused because the server stops.
    pub draining: AtomicBool,
    /// How long a request other than a watch may take.
    pub request_timeout: Duration,
    /// At how many of [`CHANCES`](orch_config::CHANCES) requests over HTTP/2 the client is told to open
    /// another connection.
    pub goaway_chance: u32,
    /// The headers for browsers: CORS and HSTS.
    pub browsers: BrowserConfig,
}
