//! The watches that are open: what is kept of their requests, and how one is ended.
//!
//! Who ends them is [`watch_review`](crate::watch_review). An event of a watch costs one look at a flag, and
//! no lock.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use axum::body::Body;
use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http::{HeaderName, HeaderValue, header, request::Parts};
use hyper::body::{Body as HttpBody, Frame};
use orch_listener::Connection;

use crate::{
    limits::{Peer, Shares},
    request::identity_headers::IdentityHeaders,
};

/// All open watches.
#[derive(Default)]
pub struct OpenWatches {
    /// By address in memory.
    watches: Mutex<HashMap<usize, Arc<OpenWatch>>>,
}

/// One watch. There is no `Debug`: it holds a credential.
pub struct OpenWatch {
    /// What its request came on.
    pub connection: Arc<Connection<Peer>>,
    /// Path and query of the request.
    target: Box<str>,
    /// The value of its `Authorization` header.
    pub authorization: Option<Box<[u8]>>,
    /// Its other headers that say who the caller is.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The last review that looked at it; 0: none yet.
    pub judged_in: AtomicU64,
    is_over: AtomicBool,
    /// The task that sends the events.
    sender: AtomicWaker,
}

/// The events of a watch, until it is over.
struct GuardedBody {
    events: Body,
    watch: Arc<OpenWatch>,
    open: Arc<OpenWatches>,
    /// The task that `watch` knows.
    sender: Option<Waker>,
    _shares: Shares,
}

impl OpenWatches {
    /// The events of a watch that was allowed, until it is over. Its shares are in use as long.
    pub fn guard(
        self: &Arc<Self>,
        connection: &Arc<Connection<Peer>>,
        parts: &Parts,
        identity_headers: &IdentityHeaders,
        events: Body,
        shares: Shares,
    ) -> Body {
        let target = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        // Copies, because the values of a head share its memory, which would be kept whole.
        let watch = Arc::new(OpenWatch {
            connection: Arc::clone(connection),
            target: target.into(),
            authorization: parts.headers.get(header::AUTHORIZATION).map(|value| value.as_bytes().into()),
            headers: identity_headers.copy(&parts.headers),
            judged_in: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            sender: AtomicWaker::new(),
        });
        self.all().insert(Arc::as_ptr(&watch).addr(), Arc::clone(&watch));
        Body::new(GuardedBody { events, watch, open: Arc::clone(self), sender: None, _shares: shares })
    }

    /// Those that are open now.
    pub fn now(&self) -> Vec<Arc<OpenWatch>> {
        self.all().values().cloned().collect()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<usize, Arc<OpenWatch>>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenWatch {
    /// The path and the query of its request.
    pub fn path_and_query(&self) -> (&str, Option<&str>) {
        match self.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (&self.target, None),
        }
    }

    /// Ends it, as if its time were over.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.sender.wake();
    }
}

impl GuardedBody {
    fn is_over(&mut self, context: &Context<'_>) -> bool {
        if !self.sender.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            self.watch.sender.register(context.waker());
            self.sender = Some(context.waker().clone());
        }
        self.watch.is_over.load(Ordering::Acquire)
    }
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.is_over(context) {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.events).poll_frame(context)
    }
}

impl Drop for GuardedBody {
    fn drop(&mut self) {
        self.open.all().remove(&Arc::as_ptr(&self.watch).addr());
    }
}
