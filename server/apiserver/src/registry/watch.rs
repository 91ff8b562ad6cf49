//! GET of a collection with `watch`: the events of a collection, from a version on.
//!
//! A watch is a cursor into the store's history of its resource. Selectors are applied to each event's old and new state, so
//! that an object that moves into a selection is ADDED and one that moves out is DELETED.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use bytes::Bytes;
use orch_api::meta::v1::Status;
use orch_machinery::{json::encode::encode, meta};
use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    vocabulary::Vocabulary,
};
use orch_storage::{Event, EventKind, Object, Revision, StoreError, Watch};
use rand::RngExt;
use tokio::{
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use super::{
    Answer, Call, Reply, current,
    list::ReadOptions,
    read_version::{Named, Shown, VersionMatch},
    selection::Selection,
};
use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
    status,
};

/// A watch without `timeoutSeconds` ends after a random time from this span, so that clients do not all come back at
/// once.
const DEFAULT_SECONDS: std::ops::Range<u64> = 1800..3600;
/// How often a client that wants bookmarks hears where the stream stands.
const BOOKMARK_PERIOD: Duration = Duration::from_mins(1);
/// The last bookmark comes this long before the end of a stream.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// One thing to tell a watcher.
#[derive(Debug)]
pub enum WatchEvent {
    /// An object that exists at the start.
    Exists(Arc<Object>),
    /// An object changed.
    Change {
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
    Error(Box<Status>),
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
    /// Or why there are none: told in the stream, as clients expect.
    events: Result<Watch, StoreError>,
    initial: Option<Initial>,
    /// What has come from the store and was not looked at yet.
    changes: std::vec::IntoIter<Arc<Event>>,
    bookmarks: bool,
    deadline: Instant,
    /// For the next bookmark or the end, whichever comes first. It and the signal below live as long as the watch: to make them
    /// anew for each event would cost more than the event.
    timer: Pin<Box<Sleep>>,
    stop: Stop,
    ended: bool,
}

/// Tells that the server stops.
struct Stop {
    signal: watch::Receiver<bool>,
    /// Resolves then.
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Who is woken then.
    waker: Option<Waker>,
}

/// The objects that exist at the start and have not been told yet, and the version for the bookmark after them.
struct Initial {
    objects: std::vec::IntoIter<Arc<Object>>,
    end_mark: Option<Revision>,
}

/// Starts a watch.
///
/// # Errors
/// 400 and 422 for wrong parameters, 504 where initial events are asked for at a version that is still to come. A
/// version that is gone is told in the stream.
pub async fn watch(call: Call<'_>) -> Result<Reply> {
    let ReadOptions { selection, timeout_seconds, .. } = ReadOptions::parse(call, true)?;
    let (query, timeout) = (call.query, timeout(timeout_seconds));
    let named = start_version(call)?;
    let bookmarks = query.flag("allowWatchBookmarks");
    let starts_anywhere = !matches!(named, Named::At(_));
    let resource = call.target.resource;
    let scope = selection.scope(call);
    let (initial, after) = if query.optional_flag("sendInitialEvents").unwrap_or(starts_anywhere) {
        let snapshot = Shown::of(named, Some(VersionMatch::NotOlderThan), false).snapshot(call).await?;
        let revision = snapshot.revision();
        let objects: Vec<_> = selection.select(resource, &snapshot, &scope, None).cloned().collect();
        (Some(Initial { objects: objects.into_iter(), end_mark: bookmarks.then_some(revision) }), revision)
    } else {
        // Without initial events and without a version, the stream starts now.
        let after = match named {
            Named::At(version) => version,
            named => Shown::of(named, None, false).snapshot(call).await?.revision(),
        };
        (None, after)
    };
    let events = call.app.storage.watch(&resource.storage_name, scope, after);
    let now = Instant::now();
    let mut stream = WatchStream {
        resource: Arc::clone(resource),
        vocabulary: call.app.catalog.vocabulary,
        selection,
        events,
        initial,
        changes: Vec::new().into_iter(),
        bookmarks,
        deadline: now + timeout,
        timer: Box::pin(sleep_until(now + timeout)),
        stop: Stop::new(call.app.stopping.clone()),
        ended: false,
    };
    stream.plan_bookmark(now);
    Ok(Answer::Watch(Box::new(stream)).into())
}

impl WatchStream {
    /// What there is to tell next; `None` at the end of the stream.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        if let Some(event) = self.next_known() {
            return Poll::Ready(Some(event));
        }
        if self.ended || self.stop.is_there(context) {
            return Poll::Ready(None);
        }
        let events = match &mut self.events {
            Ok(events) => events,
            Err(error) => {
                let error = error.clone();
                return Poll::Ready(self.end(&error));
            }
        };
        match events.poll_next(context) {
            Poll::Ready(Ok(changes)) => {
                self.changes = changes.into_iter();
                let event = self.next_known();
                if event.is_some() {
                    return Poll::Ready(event);
                }
                // What is not for this watch must not keep the thread from others.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(Err(error)) => return Poll::Ready(self.end(&error)),
            Poll::Pending => {}
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

    /// What there is to tell next, as far as it is known without asking the store again.
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
        let seen = |event: Arc<Event>| {
            let change = seen(&self.resource, &self.selection, &event)?;
            Some(WatchEvent::Change { change, event })
        };
        let change = self.changes.find_map(seen);
        if self.changes.as_slice().is_empty() {
            // A watch that waits holds no memory for what it has told.
            self.changes = Vec::new().into_iter();
        }
        change
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
        Some(WatchEvent::Error(Box::new(status::status_of(&error))))
    }
}

/// How a selection sees an event.
fn seen(resource: &ServedResource, selection: &Selection, event: &Event) -> Option<ChangeType> {
    let matches = |object: &Arc<Object>| selection.matches(resource, object);
    let is_gone = event.kind() == EventKind::Remove;
    // Whoever saw an object before it was damaged must hear that it is gone.
    let before = event.previous().is_some_and(|previous| matches(previous).unwrap_or(is_gone));
    let after = !is_gone && matches(event.object()).unwrap_or(false);
    match (before, after) {
        (false, false) => None,
        (false, true) => Some(ChangeType::Added),
        (true, true) => Some(ChangeType::Modified),
        // What was removed without having been in order is nothing to anybody.
        (true, false) => event.object().value().is_ok().then_some(ChangeType::Deleted),
    }
}

/// The state that an event shows to those who see it as `change`.
///
/// # Errors
/// 500 where the stored object is damaged.
pub fn state(resource: &ServedResource, change: ChangeType, event: &Event) -> Result<Bytes> {
    /// The last state before an update, under the version of the update.
    struct Departed(Result<Bytes>);
    match event.previous() {
        Some(previous) if change == ChangeType::Deleted && event.kind() == EventKind::Put => {
            event.memo(|event| Departed(at_revision(resource, previous, event.revision()))).0.clone()
        }
        _ => current::bytes_of(resource, event.object()).cloned(),
    }
}

/// An older state under the version at which it left the selection.
fn at_revision(resource: &ServedResource, object: &Object, revision: Revision) -> Result<Bytes> {
    let mut tree = current::tree_of(resource, object)?;
    meta::MetaMut::of(&mut tree).set_resource_version(&revision.to_string());
    let mut text = Vec::new();
    encode(&tree, resource.def.type_def, &mut text);
    text.push(b'\n');
    Ok(text.into())
}

/// The version that a watch starts after.
///
/// # Errors
/// 422 where it is no number; watches differ from reads in that.
fn start_version(call: Call<'_>) -> Result<Named> {
    Named::parse(call.query).map_err(|_| {
        let mut cx = Validation::new(call.app.catalog.vocabulary);
        let path = Path::ROOT.field("resourceVersion");
        cx.push(FieldError::invalid(
            &path,
            call.query.text("resourceVersion"),
            "must be a version that the server gave",
        ));
        let resource = call.target.resource;
        ApiError::Invalid {
            group: resource.group.clone(),
            kind: resource.def.plural.to_owned(),
            name: String::new(),
            errors: cx.into_errors(),
        }
    })
}

fn timeout(seconds: Option<i64>) -> Duration {
    match seconds.and_then(|seconds| u64::try_from(seconds).ok()) {
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds.min(DEFAULT_SECONDS.end * 24)),
        _ => Duration::from_secs(rand::rng().random_range(DEFAULT_SECONDS)),
    }
}

impl Stop {
    fn new(signal: watch::Receiver<bool>) -> Self {
        let stopped = Box::pin(stopped(signal.clone()));
        Stop { signal, stopped, waker: None }
    }

    /// Whether the server stops. It is asked for every event of every watch, so it asks what all have in common only
    /// where the answer or who is to be told it may be another one.
    fn is_there(&mut self, context: &mut Context<'_>) -> bool {
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
