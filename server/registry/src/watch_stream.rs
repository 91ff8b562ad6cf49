//! A running watch: the events of a collection, from a version on.
//!
//! A watch is a cursor into the store's history of its resource. Selectors are applied to each event's old
//! and new state, so that an object that moves into a selection is ADDED and one that moves out is DELETED.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use bytes::Bytes;
use orch_runtime::{resource_def::ResourceDef, vocabulary::Vocabulary};
use orch_storage::{Event, EventKind, Object, Revision, Snapshot, StoreError, Watch};
use tokio::{
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use crate::{
    catalog::ServedResource,
    core::Core,
    error::{ApiError, Result},
    read::selection::Selection,
    request::WatchRequest,
    stored,
};

/// How often a client that asks for bookmarks gets one.
const BOOKMARK_PERIOD: Duration = Duration::from_mins(1);
/// The last bookmark comes this long before the end of a stream.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// One event for a watcher.
#[derive(Debug)]
pub enum WatchEvent {
    /// An object that exists at the start.
    Exists(Arc<Object>),
    /// An object changed.
    Changed {
        /// How, as the watcher's selection sees it.
        change: ChangeType,
        /// What happened in the store.
        event: Arc<Event>,
    },
    /// Everything up to this version has been sent.
    Bookmark {
        /// The version.
        revision: Revision,
        /// Whether it ends the initial events.
        ends_initial_events: bool,
    },
    /// The stream ends with an error.
    Error(Box<ApiError>),
}

/// How an object changed, as a watcher's selection sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeType {
    /// It came into being or into the selection.
    Added,
    /// It changed within the selection.
    Modified,
    /// It vanished or left the selection.
    Deleted,
}

impl ChangeType {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeType::Added => "ADDED",
            ChangeType::Modified => "MODIFIED",
            ChangeType::Deleted => "DELETED",
        }
    }
}

/// A running watch.
pub struct WatchStream {
    /// The kind that is watched.
    pub resource: Arc<ServedResource>,
    /// The product words in force.
    pub vocabulary: &'static Vocabulary,
    selection: Selection,
    /// Or why the store gives none: that is reported as an event of the stream, after its 200.
    events: Result<Watch, StoreError>,
    initial: Option<Initial>,
    /// Events from the store that were not looked at yet.
    changes: std::vec::IntoIter<Arc<Event>>,
    bookmarks: bool,
    deadline: Instant,
    /// Fires at the next bookmark or at the end, whichever comes first. It and the signal below live as long
    /// as the watch: making them for each event would cost more than the event.
    timer: Pin<Box<Sleep>>,
    stop: Stop,
    ended: bool,
    has_lagged: bool,
}

/// Whether the server stops.
struct Stop {
    signal: watch::Receiver<bool>,
    /// Resolves when the server stops.
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// What is woken when the server stops.
    waker: Option<Waker>,
}

/// The objects that exist at the start and were not sent yet, and the version for the bookmark after them.
pub struct Initial {
    objects: std::vec::IntoIter<Arc<Object>>,
    end_mark: Option<Revision>,
}

impl Initial {
    /// The objects of a snapshot that a request selects. A bookmark follows them where the request asks for
    /// bookmarks.
    ///
    /// # Errors
    /// 500 for a damaged object among them.
    pub async fn of(request: &WatchRequest<'_>, snapshot: &Snapshot) -> Result<Self> {
        let WatchRequest { target, selection, bookmarks, .. } = request;
        let scope = selection.scope(target.resource, &target.namespace);
        let selected = selection.select(target.resource, snapshot, &scope, None, usize::MAX).await?;
        let objects = selected.objects;
        Ok(Initial { objects: objects.into_iter(), end_mark: bookmarks.then_some(snapshot.revision()) })
    }
}

impl WatchStream {
    /// Starts a watch: first come the objects of `initial`, then the events after the revision `after`. It
    /// ends after `timeout`. A version that is gone is reported in the stream.
    pub fn start(
        core: &Core,
        request: WatchRequest<'_>,
        initial: Option<Initial>,
        after: Revision,
        timeout: Duration,
    ) -> Self {
        let WatchRequest { target, selection, bookmarks, .. } = request;
        let resource = target.resource;
        let scope = selection.scope(resource, &target.namespace);
        let term = selection.term(resource);
        let events = core.storage().watch_term(&resource.storage_name, scope, term, after);
        let now = Instant::now();
        let mut stream = WatchStream {
            resource: Arc::clone(resource),
            vocabulary: core.vocabulary(),
            selection,
            events,
            initial,
            changes: Vec::new().into_iter(),
            bookmarks,
            deadline: now + timeout,
            timer: Box::pin(sleep_until(now + timeout)),
            stop: Stop::new(core.stopping()),
            ended: false,
            has_lagged: false,
        };
        stream.plan_bookmark(now);
        stream
    }

    /// The next event; `None` at the end of the stream.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        if let Some(event) = self.next_known() {
            return Poll::Ready(Some(event));
        }
        if self.ended || self.stop.is_set(context) {
            return Poll::Ready(None);
        }
        let events = match &mut self.events {
            Ok(events) => events,
            Err(error) => {
                let error = error.clone();
                return Poll::Ready(self.end(&error));
            }
        };
        // A watch that has more to tell than its client takes ends in time, and gets its bookmarks, too.
        if Instant::now() < self.timer.deadline() {
            match events.poll_next(context) {
                Poll::Ready(Ok(changes)) => {
                    self.changes = changes.into_iter();
                    let event = self.next_known();
                    if event.is_some() {
                        return Poll::Ready(event);
                    }
                    // Events that this watch does not select must not block the thread for others.
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(Err(error)) => {
                    self.has_lagged = matches!(error, StoreError::Expired { .. });
                    return Poll::Ready(self.end(&error));
                }
                Poll::Pending => {}
            }
        }
        ready!(self.timer.as_mut().poll(context));
        let now = Instant::now();
        if now >= self.deadline {
            return Poll::Ready(None);
        }
        let revision = events.progress();
        self.plan_bookmark(now);
        Poll::Ready(Some(WatchEvent::Bookmark { revision, ends_initial_events: false }))
    }

    /// The next event, if there is one without asking the store again.
    pub fn next_known(&mut self) -> Option<WatchEvent> {
        if let Some(initial) = &mut self.initial {
            if let Some(object) = initial.objects.next() {
                return Some(WatchEvent::Exists(object));
            }
            let mark = |revision| WatchEvent::Bookmark { revision, ends_initial_events: true };
            let end = initial.end_mark.map(mark);
            self.initial = None;
            if end.is_some() {
                return end;
            }
        }
        let mut change = None;
        while let Some(event) = self.changes.next() {
            match seen(&self.resource, &self.selection, &event) {
                Ok(None) => continue,
                Ok(Some(seen)) => change = Some(WatchEvent::Changed { change: seen, event }),
                Err(error) => {
                    self.ended = true;
                    self.changes = Vec::new().into_iter();
                    change = Some(WatchEvent::Error(Box::new(error)));
                }
            }
            break;
        }
        if self.changes.as_slice().is_empty() {
            // A watch that waits keeps no memory for events that were sent.
            self.changes = Vec::new().into_iter();
        }
        change
    }

    /// Whether it ended because its client was slower than history is long.
    pub fn has_lagged(&self) -> bool {
        self.has_lagged
    }

    /// Sets the timer to the next bookmark, or to the end.
    fn plan_bookmark(&mut self, now: Instant) {
        let last = self.deadline - LAST_BOOKMARK.min(self.deadline - now);
        let next =
            if self.bookmarks && now < last { (now + BOOKMARK_PERIOD).min(last) } else { self.deadline };
        self.timer.as_mut().reset(next);
    }

    fn end(&mut self, error: &StoreError) -> Option<WatchEvent> {
        self.ended = true;
        let StoreError::Expired { asked, oldest } = error else {
            return None;
        };
        let error = ApiError::Expired(format!("too old resource version: {asked} ({oldest})"));
        Some(WatchEvent::Error(Box::new(error)))
    }
}

/// How a selection sees an event.
///
/// # Errors
/// 500 for an event whose object is damaged. The stream then ends: a client that misses an event would go on
/// with what is no longer true.
fn seen(resource: &ServedResource, selection: &Selection, event: &Event) -> Result<Option<ChangeType>> {
    let matches = |object: &Arc<Object>| selection.matches(resource, object);
    let is_gone = event.kind() == EventKind::Remove;
    // A watcher that saw an object before it was damaged must be told that it is gone.
    let before = event.previous().is_some_and(|previous| matches(previous).unwrap_or(is_gone));
    let after = !is_gone && matches(event.object())?;
    Ok(match (before, after) {
        (false, false) => None,
        (false, true) => Some(ChangeType::Added),
        (true, true) => Some(ChangeType::Modified),
        (true, false) => stored::bytes_of(resource, event.object()).map(|_| Some(ChangeType::Deleted))?,
    })
}

/// The state that an event shows to those who see it as `change`.
///
/// # Errors
/// 500 where the stored object is damaged.
pub fn state(resource: &ServedResource, change: ChangeType, event: &Event) -> Result<Bytes> {
    match event.previous() {
        Some(previous) if change == ChangeType::Deleted && event.kind() == EventKind::Put => {
            let mut known = event.memo(|_| OnceLock::<Box<Departed>>::new());
            loop {
                let departed = known.get_or_init(|| Box::new(Departed::of(resource, previous, event)));
                if std::ptr::eq(departed.def, resource.def) {
                    return departed.state.clone();
                }
                known = &departed.others;
            }
        }
        _ => stored::bytes_of(resource, event.object()).cloned(),
    }
}

/// The last state before an update, under the version of the update, in one form; and in others. It is made
/// once for all watchers of a form.
struct Departed {
    def: &'static ResourceDef,
    state: Result<Bytes>,
    others: OnceLock<Box<Departed>>,
}

impl Departed {
    fn of(resource: &ServedResource, previous: &Object, event: &Event) -> Self {
        let state = stored::at_revision(resource, previous, event.revision());
        event.memo_grows(state.as_ref().map_or(0, Bytes::len));
        Departed { def: resource.def, state, others: OnceLock::new() }
    }
}

impl Stop {
    fn new(signal: watch::Receiver<bool>) -> Self {
        let stopped = Box::pin(stopped(signal.clone()));
        Stop { signal, stopped, waker: None }
    }

    /// Whether the server stops. Every event of every watch asks this, so the signal that all watches share
    /// is polled only where its value or the waker may have changed.
    fn is_set(&mut self, context: &mut Context<'_>) -> bool {
        let waits = self.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker()));
        if waits && matches!(self.signal.has_changed(), Ok(false)) {
            return false;
        }
        self.waker = Some(context.waker().clone());
        self.stopped.as_mut().poll(context).is_ready()
    }
}

async fn stopped(mut stopping: watch::Receiver<bool>) {
    // An error means that the sender is gone, and the server with it.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
