//! GET of a collection with `watch`: the events of a collection, from a version on.
//!
//! A watch is a cursor into the store's history of its resource. Selectors are applied to each event's old and new state, so
//! that an object that moves into a selection is ADDED and one that moves out is DELETED.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use orch_api::meta::v1::Status;
use orch_machinery::{json::encode::encode, meta};
use orch_runtime::vocabulary::Vocabulary;
use orch_storage::{Event, EventKind, Object, Revision, Scope, StoreError, Watch};
use rand::RngExt;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    Answer, Call, Reply, current, list,
    selection::{self, Selection},
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
    /// An object changed.
    Object {
        /// How, as the watcher's selection sees it.
        change: ChangeType,
        /// The state to show, as it is stored or as it would be.
        json: Bytes,
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
    bookmarks: bool,
    next_bookmark: Instant,
    deadline: Instant,
    stopping: watch::Receiver<bool>,
    ended: bool,
}

/// The objects that exist at the start.
struct Initial {
    objects: Vec<Arc<Object>>,
    end_mark: Option<Revision>,
}

/// Starts a watch.
///
/// # Errors
/// 400 and 422 for wrong parameters, 504 where initial events are asked for at a version that is still to come. A
/// version that is gone is told in the stream.
pub async fn watch(call: Call<'_>) -> Result<Reply> {
    list::check_options(call, true)?;
    let query = call.query;
    let timeout = timeout(query.integer("timeoutSeconds")?);
    let selection = Selection::parse(call)?;
    let start = selection::watch_version(call)?;
    let bookmarks = query.flag("allowWatchBookmarks");
    let asked = query.optional_flag("sendInitialEvents");
    let initial_events = asked.unwrap_or(start.is_none());
    if let (true, Some(version)) = (initial_events, start) {
        call.app.wait_for(version).await?;
    }
    let resource = call.target.resource;
    let (initial, after) = if initial_events {
        let snapshot = call.app.storage.snapshot(&resource.storage_name);
        let revision = snapshot.revision();
        let end_mark = bookmarks.then_some(revision);
        (Some(Initial { objects: selection.select(call, &snapshot), end_mark }), revision)
    } else {
        // Without initial events and without a version, the stream starts now.
        (None, start.unwrap_or_else(|| call.app.storage.current_revision()))
    };
    let events = call.app.storage.watch(&resource.storage_name, scope(call, &selection), after);
    let now = Instant::now();
    let mut stream = WatchStream {
        resource: Arc::clone(resource),
        vocabulary: call.app.catalog.vocabulary,
        selection,
        events,
        initial,
        bookmarks,
        next_bookmark: now + BOOKMARK_PERIOD,
        deadline: now + timeout,
        stopping: call.app.stopping.clone(),
        ended: false,
    };
    stream.plan_bookmark(now);
    Ok(Answer::Watch(Box::new(stream)).into())
}

impl WatchStream {
    /// What happened since the last call; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Vec<WatchEvent>> {
        if self.ended {
            return None;
        }
        if let Some(initial) = self.initial.take() {
            let events = self.initial_events(&initial);
            if !events.is_empty() {
                return Some(events);
            }
        }
        let events = match &mut self.events {
            Ok(events) => events,
            Err(error) => {
                let error = error.clone();
                return self.end(&error);
            }
        };
        loop {
            let bookmark_at = if self.bookmarks { self.next_bookmark } else { self.deadline };
            tokio::select! {
                biased;
                () = stopped(&mut self.stopping) => return None,
                batch = events.next() => match batch {
                    Ok(batch) => {
                        let seen = |event: &Arc<Event>| seen(&self.resource, &self.selection, event);
                        let changes: Vec<WatchEvent> = batch.iter().filter_map(seen).collect();
                        if !changes.is_empty() {
                            return Some(changes);
                        }
                    }
                    Err(error) => return self.end(&error),
                },
                () = sleep_until(bookmark_at.min(self.deadline)) => {
                    let now = Instant::now();
                    if now >= self.deadline {
                        return None;
                    }
                    let revision = events.progress();
                    self.plan_bookmark(now);
                    return Some(vec![WatchEvent::Bookmark { revision, ends_initial_events: false }]);
                }
            }
        }
    }

    fn initial_events(&self, initial: &Initial) -> Vec<WatchEvent> {
        let mut events: Vec<WatchEvent> = initial
            .objects
            .iter()
            .filter_map(|object| current::bytes_of(&self.resource, object).ok())
            .map(|json| WatchEvent::Object { change: ChangeType::Added, json: json.clone() })
            .collect();
        events.extend(
            initial.end_mark.map(|revision| WatchEvent::Bookmark { revision, ends_initial_events: true }),
        );
        events
    }

    fn plan_bookmark(&mut self, now: Instant) {
        let last = self.deadline - LAST_BOOKMARK.min(self.deadline - now);
        self.next_bookmark = if now < last { (now + BOOKMARK_PERIOD).min(last) } else { self.deadline };
    }

    fn end(&mut self, error: &StoreError) -> Option<Vec<WatchEvent>> {
        self.ended = true;
        let StoreError::Expired { asked, oldest } = error else {
            return None;
        };
        let error = ApiError::Expired(format!("too old resource version: {asked} ({oldest})"));
        Some(vec![WatchEvent::Error(Box::new(status::status_of(&error)))])
    }
}

/// An event as a selection sees it.
fn seen(resource: &ServedResource, selection: &Selection, event: &Event) -> Option<WatchEvent> {
    let matches = |object: &Arc<Object>| selection.matches(resource, object).unwrap_or(false);
    let before = event.previous().filter(|previous| matches(previous));
    let after = (event.kind() == EventKind::Put && matches(event.object())).then(|| event.object());
    let (change, json) = match (before, after) {
        (None, None) => return None,
        (None, Some(now)) => (ChangeType::Added, now.value().ok()?.clone()),
        (Some(_), Some(now)) => (ChangeType::Modified, now.value().ok()?.clone()),
        (Some(_), None) if event.kind() == EventKind::Remove => {
            (ChangeType::Deleted, event.object().value().ok()?.clone())
        }
        (Some(previous), None) => (ChangeType::Deleted, at_revision(resource, previous, event.revision())?),
    };
    Some(WatchEvent::Object { change, json })
}

/// An older state under the version at which it left the selection.
fn at_revision(resource: &ServedResource, object: &Object, revision: Revision) -> Option<Bytes> {
    let mut tree = current::tree_of(resource, object).ok()?;
    meta::MetaMut::of(&mut tree).set_resource_version(&revision.to_string());
    let mut text = Vec::new();
    encode(&tree, resource.def.type_def, &mut text);
    text.push(b'\n');
    Some(text.into())
}

/// The store wakes a watch only for what is in its scope.
fn scope(call: Call<'_>, selection: &Selection) -> Scope {
    let target = call.target;
    let name = if target.name.is_empty() { selection.name() } else { Some(target.name.as_str()) };
    let cluster_scoped = target.resource.def.scope == orch_runtime::resource_def::Scope::Cluster;
    match name {
        Some(name) if cluster_scoped || !target.namespace.is_empty() => {
            Scope::Name(target.namespace.as_str().into(), name.into())
        }
        _ if target.namespace.is_empty() => Scope::All,
        _ => Scope::Namespace(target.namespace.as_str().into()),
    }
}

fn timeout(seconds: Option<i64>) -> Duration {
    match seconds.and_then(|seconds| u64::try_from(seconds).ok()) {
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds.min(DEFAULT_SECONDS.end * 24)),
        _ => Duration::from_secs(rand::rng().random_range(DEFAULT_SECONDS)),
    }
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, and the server with it.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
