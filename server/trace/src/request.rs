//! The trace of one request, while it is answered.

use std::{
    borrow::Cow,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::{
    context::TraceContext,
    span::{Role, Span, Value},
};

/// The most calls of a request that become spans.
const MAX_CALLS: usize = 64;

tokio::task_local! {
    static CURRENT: Arc<RequestTrace>;
}

/// See the module.
#[derive(Debug)]
pub struct RequestTrace {
    context: TraceContext,
    /// The span of whoever sent the request.
    parent: Option<u64>,
    state: Option<String>,
    /// The same time by both clocks.
    started: (Instant, Duration),
    calls: Mutex<Vec<Span>>,
}

/// A call of another server for a request. It becomes a span when it is dropped.
#[derive(Debug)]
pub struct Call {
    trace: Arc<RequestTrace>,
    id: u64,
    began: Instant,
    attributes: Vec<(&'static str, Value)>,
    failure: Option<String>,
}

impl RequestTrace {
    /// Of a request that came at `started` and belongs to the trace of `parent`. `state` is its header
    /// `tracestate`.
    pub fn of_parent(parent: TraceContext, state: Option<String>, started: Instant) -> Arc<Self> {
        RequestTrace::new(parent.trace, Some(parent.span), state, parent.is_sampled, started)
    }

    /// Of a request that begins a trace, which is delivered.
    pub fn of_new(trace: u128, started: Instant) -> Arc<Self> {
        RequestTrace::new(trace, None, None, true, started)
    }

    fn new(
        trace: u128,
        parent: Option<u64>,
        state: Option<String>,
        is_sampled: bool,
        started: Instant,
    ) -> Arc<Self> {
        let context = TraceContext { trace, span: new_id(), is_sampled };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started = (started, now.saturating_sub(started.elapsed()));
        Arc::new(RequestTrace { context, parent, state, started, calls: Mutex::default() })
    }

    /// The span of the request.
    pub fn context(&self) -> TraceContext {
        self.context
    }

    /// The header `tracestate` of the request.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The spans of the request, which took so long: itself, its stages one after the other, and its calls.
    pub fn finish(
        &self,
        name: String,
        attributes: Vec<(&'static str, Value)>,
        failure: Option<String>,
        took: Duration,
        stages: impl IntoIterator<Item = (&'static str, Duration)>,
    ) -> Vec<Span> {
        let began = self.started.1;
        let mut spans = vec![Span {
            id: self.context.span,
            parent: self.parent,
            name: Cow::Owned(name),
            role: Role::Server,
            began,
            took,
            attributes,
            failure,
        }];
        let mut reached = began;
        for (stage, took) in stages {
            spans.push(Span {
                id: new_id(),
                parent: Some(self.context.span),
                name: Cow::Borrowed(stage),
                role: Role::Internal,
                began: reached,
                took,
                attributes: Vec::new(),
                failure: None,
            });
            reached += took;
        }
        spans.append(&mut mem::take(&mut self.calls()));
        spans
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Span>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something for a request.
pub async fn within<T>(trace: Arc<RequestTrace>, work: impl Future<Output = T>) -> T {
    CURRENT.scope(trace, work).await
}

/// Does something for a request in another task than its own, where it may have no trace.
pub async fn continued<T>(trace: Option<Arc<RequestTrace>>, work: impl Future<Output = T>) -> T {
    match trace {
        Some(trace) => within(trace, work).await,
        None => work.await,
    }
}

/// The trace of the request that is being answered, where it has one.
pub fn current() -> Option<Arc<RequestTrace>> {
    CURRENT.try_with(Arc::clone).ok()
}

impl Call {
    /// Begins a call for the current request, if that has a trace.
    pub fn begin(method: &str, host: &str, port: u16) -> Option<Call> {
        let trace = current()?;
        let attributes = vec![
            ("http.request.method", Value::text(method)),
            ("server.address", Value::text(host)),
            ("server.port", Value::Number(port.into())),
        ];
        Some(Call { trace, id: new_id(), began: Instant::now(), attributes, failure: None })
    }

    /// The header `traceparent` of the call.
    pub fn traceparent(&self) -> String {
        TraceContext { span: self.id, ..self.trace.context }.header()
    }

    /// The header `tracestate` of the call, where the request had one.
    pub fn tracestate(&self) -> Option<&str> {
        self.trace.state()
    }

    /// It has failed.
    pub fn failed(&mut self, why: String) {
        self.failure = Some(why);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let RequestTrace { context, started: (started, since), .. } = &*self.trace;
        let mut calls = self.trace.calls();
        if !context.is_sampled || calls.len() >= MAX_CALLS {
            return;
        }
        calls.push(Span {
            id: self.id,
            parent: Some(context.span),
            name: Cow::Borrowed("call"),
            role: Role::Client,
            began: *since + self.began.saturating_duration_since(*started),
            took: self.began.elapsed(),
            attributes: mem::take(&mut self.attributes),
            failure: self.failure.take(),
        });
    }
}

/// An id that is not 0.
fn new_id() -> u64 {
    rand::random::<u64>().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: TraceContext = TraceContext { trace: 5, span: 6, is_sampled: true };

    #[tokio::test]
    async fn calls_are_spans_of_their_request() {
        let trace = RequestTrace::of_parent(PARENT, Some("a=b".to_owned()), Instant::now());
        let header = within(Arc::clone(&trace), async {
            let mut call = Call::begin("POST", "localhost", 443).unwrap();
            call.failed("no answer".to_owned());
            assert_eq!(call.tracestate(), Some("a=b"));
            call.traceparent()
        });
        let header = header.await;
        let stages = [("first", Duration::from_millis(2)), ("second", Duration::from_millis(3))];
        let took = Duration::from_millis(5);
        let spans = trace.finish("GET /".to_owned(), Vec::new(), None, took, stages);
        let [request, first, second, call] = &spans[..] else { panic!("{spans:?}") };
        assert_eq!((request.parent, request.role), (Some(6), Role::Server));
        for part in [first, second, call] {
            assert_eq!(part.parent, Some(request.id));
        }
        assert_eq!(second.began, first.began + first.took);
        assert_eq!(TraceContext::parse(header.as_bytes()), Some(TraceContext { span: call.id, ..PARENT }));
        assert_eq!(call.failure.as_deref(), Some("no answer"));
    }

    #[tokio::test]
    async fn without_a_trace_calls_are_nothing() {
        assert!(Call::begin("GET", "localhost", 80).is_none());
        let unsampled = TraceContext { is_sampled: false, ..PARENT };
        let trace = RequestTrace::of_parent(unsampled, None, Instant::now());
        // The context goes on, but there is nothing to deliver.
        within(Arc::clone(&trace), async {
            let header = Call::begin("GET", "localhost", 80).unwrap().traceparent();
            assert!(header.ends_with("-00"), "{header}");
        })
        .await;
        assert!(trace.calls().is_empty());
    }

    #[tokio::test]
    async fn calls_of_a_request_are_bounded() {
        let trace = RequestTrace::of_new(7, Instant::now());
        within(Arc::clone(&trace), async {
            for _ in 0..2 * MAX_CALLS {
                drop(Call::begin("GET", "localhost", 80));
            }
        })
        .await;
        assert_eq!(trace.calls().len(), MAX_CALLS);
    }
}
