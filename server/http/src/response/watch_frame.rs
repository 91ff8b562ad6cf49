//! What is sent for one event of a watch: `{"type":...,"object":...}` and a newline, a message with its
//! length, or a document in CBOR.
//!
//! The frame of a change is made once for each form and kept with the event; all watches send the same bytes.
//! So its cost does not depend on the number of watches. The store counts the bytes of frames as memory of
//! its history, and drops those of old events where it lacks room; then they are made again.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use orch_machinery::{
    json::encode::encode,
    media_type::{Framing, NamedMediaType, Syntax},
    meta,
};
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
    stored::{bytes_of, document},
    watch_stream::{self, ChangeType, WatchEvent},
};
use orch_runtime::{scalar::Time, vocabulary::Vocabulary};
use orch_storage::{Event, EventKind, Revision};
use serde_json::json;

use crate::request::weight::LARGE;

use super::{
    cbor_body, object_text, protobuf_body,
    representation::{Form, METADATA_LIST, Representation},
    status,
};

/// The annotation, in the domain of a vocabulary, that holds an empty list of the kind. client-go reads it
/// since release 1.32.
const BLUEPRINT: &str = "initial-events-list-blueprint";

/// How many frames of representations other than the plain one are kept with an event.
const KEPT: usize = 8;
/// About how much memory a frame takes beside its bytes.
const KEY_BYTES: usize = 128;

/// Makes the frames of one watch.
pub struct Framer {
    form: Form,
    media_type: NamedMediaType,
    resource: Arc<ServedResource>,
    vocabulary: &'static Vocabulary,
    /// Only the first event of a table has the columns.
    columns_sent: bool,
}

/// The frames of one event.
#[derive(Default)]
struct Frames {
    /// By change; an object can move in, change and move out for different selectors.
    plain: [OnceLock<Bytes>; 3],
    others: Mutex<Vec<(FrameKey, Bytes)>>,
}

/// What frames of representations other than the plain one depend on.
#[derive(Clone, PartialEq)]
struct FrameKey {
    /// Group and version: several may read the same stored objects.
    version: (&'static str, &'static str),
    form: Form,
    media_type: NamedMediaType,
    change: ChangeType,
    with_columns: bool,
    /// Rows of tables show ages.
    at: Option<Time>,
}

impl Framer {
    /// The frames for a watch of this resource in this representation.
    pub fn new(
        representation: &Representation,
        resource: Arc<ServedResource>,
        vocabulary: &'static Vocabulary,
    ) -> Self {
        let Representation { form, media_type, .. } = representation.clone();
        Framer { form, media_type, resource, vocabulary, columns_sent: false }
    }

    /// The frame of an event. Rows of tables need the time. Errors become ERROR events, because the stream
    /// has begun.
    pub fn frame(&mut self, event: &WatchEvent, now: Time) -> Bytes {
        let made = match event {
            WatchEvent::Exists(object) => {
                let resource = Arc::clone(&self.resource);
                bytes_of(&resource, object).and_then(|stored| self.object("ADDED", stored, now))
            }
            WatchEvent::Changed { change, event } => self.change(*change, event, now),
            WatchEvent::Bookmark { revision, ends_initial_events } => {
                self.bookmark(*revision, *ends_initial_events, now)
            }
            WatchEvent::Error(error) => return self.failure(error),
        };
        made.unwrap_or_else(|error| self.failure(&error))
    }

    fn failure(&self, error: &ApiError) -> Bytes {
        // The log of the request was written when the stream began.
        if let ApiError::Internal { public, detail } = error {
            tracing::error!(public, detail, "a watch fails");
        }
        let json = status::json(&status::status_of(error));
        let frame = match self.framing() {
            Framing::Lines => None,
            Framing::Lengths => {
                protobuf_body::status(&json).ok().map(|status| protobuf_body::frame("ERROR", &status))
            }
            Framing::Documents => {
                cbor_body::status(&json).ok().map(|status| cbor_body::frame("ERROR", &status))
            }
        };
        frame.unwrap_or_else(|| framed("ERROR", &json))
    }

    /// How many bytes of objects are read to make the frame of an event; 0 where it is made already, or is
    /// no more than a copy.
    pub fn reads(&self, event: &WatchEvent, now: Time) -> usize {
        match event {
            WatchEvent::Exists(object) if !self.copies() => object.size(),
            WatchEvent::Changed { change, event } => {
                let departed = event
                    .previous()
                    .filter(|_| *change == ChangeType::Deleted && event.kind() == EventKind::Put);
                if self.copies() && departed.is_none() {
                    return 0;
                }
                let size = departed.unwrap_or(event.object()).size();
                // To look costs more than to count a small one twice.
                let is_kept = || self.kept(event.memo(|_| Frames::default()), *change, now).is_some();
                if size > LARGE && is_kept() { 0 } else { size }
            }
            WatchEvent::Exists(_) | WatchEvent::Bookmark { .. } | WatchEvent::Error(_) => 0,
        }
    }

    /// Whether frames hold objects as they are stored.
    fn copies(&self) -> bool {
        let is_json = self.form == Form::Plain && self.media_type.syntax() == Syntax::Json;
        is_json && self.resource.stored_as.is_none()
    }

    /// The frame that was made for another watch.
    fn kept(&self, frames: &Frames, change: ChangeType, now: Time) -> Option<Bytes> {
        if self.copies() {
            return frames.plain[change as usize].get().cloned();
        }
        frames.find(&self.key(change, now))
    }

    fn key(&self, change: ChangeType, now: Time) -> FrameKey {
        let (def, is_table) = (self.resource.def, matches!(self.form, Form::Table(..)));
        FrameKey {
            version: (def.group, def.version),
            form: self.form.clone(),
            media_type: self.media_type,
            change,
            with_columns: is_table && !self.columns_sent,
            at: is_table.then_some(now),
        }
    }

    fn change(&mut self, change: ChangeType, event: &Arc<Event>, now: Time) -> Result<Bytes> {
        let frames = event.memo(|_| Frames::default());
        if let Some(frame) = self.kept(frames, change, now) {
            self.columns_sent = true;
            return Ok(frame);
        }
        let state = watch_stream::state(&self.resource, change, event)?;
        if self.copies() {
            let frame = framed(change.as_str(), &state);
            let kept = frames.plain[change as usize].get_or_init(|| {
                event.memo_grows(frame.len());
                frame
            });
            return Ok(kept.clone());
        }
        let key = self.key(change, now);
        let frame = self.object(change.as_str(), &state, now)?;
        frames.keep(event, key, &frame);
        Ok(frame)
    }

    /// How frames are separated. Only media types that have watches are negotiated for one.
    pub fn framing(&self) -> Framing {
        self.media_type.media_type.stream.map_or(Framing::Lines, |stream| stream.framing)
    }

    fn object(&mut self, word: &str, stored: &[u8], now: Time) -> Result<Bytes> {
        let (form, resource, def) = (&self.form, &self.resource, self.resource.def.type_def);
        match self.framing() {
            Framing::Lines => {}
            Framing::Lengths => {
                let document = protobuf_body::document(form, resource, def, stored)?;
                return Ok(protobuf_body::frame(word, &document));
            }
            Framing::Documents => {
                let document = cbor_body::document(form, resource, def, stored)?;
                return Ok(cbor_body::frame(word, &document));
            }
        }
        let mut text = Vec::with_capacity(stored.len() + 64);
        begin(word, &mut text);
        let with_columns = !std::mem::replace(&mut self.columns_sent, true);
        object_text::write(form, resource, stored, with_columns, now, &mut text)?;
        text.extend_from_slice(END);
        Ok(text.into())
    }

    /// An object of the kind that has nothing but a version, and the marks that end the initial events: the
    /// vocabulary's own, and the one that clients of the kubernetes vocabulary look for.
    fn bookmark(&mut self, revision: Revision, ends_initial_events: bool, now: Time) -> Result<Bytes> {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if ends_initial_events {
            let blueprint = BASE64.encode(self.empty_list()?);
            let marks = [self.vocabulary, &orch_meta::KUBERNETES].into_iter().flat_map(|words| {
                let end = words.initial_events_end_annotation.to_owned();
                [(end, json!("true")), (words.label(BLUEPRINT), json!(blueprint))]
            });
            metadata["annotations"] = marks.collect();
        }
        let resource = &self.resource;
        let empty =
            (resource.def.from_tree)(json!({"metadata": metadata})).and_then(|object| object.to_tree());
        let mut tree = empty.map_err(|error| ApiError::internal("a bookmark cannot be written", error))?;
        meta::set_type(&mut tree, resource.def.kind, &resource.api_version);
        let mut text = Vec::new();
        encode(&tree, resource.def.type_def, &mut text);
        self.object("BOOKMARK", &text, now)
    }
}

impl Framer {
    /// A list of the kind without objects, in the media type of the watch: clients make a whole list of it
    /// and the initial events.
    fn empty_list(&self) -> Result<Vec<u8>> {
        match self.framing() {
            Framing::Lines => {}
            Framing::Lengths => return protobuf_body::empty_list(&self.form, &self.resource),
            Framing::Documents => return Ok(cbor_body::empty_list(&self.form, &self.resource)),
        }
        let (kind, api_version) = match &self.form {
            Form::Metadata(api_version) => (METADATA_LIST, api_version),
            Form::Plain | Form::Table(..) => (self.resource.def.list_kind, &self.resource.api_version),
        };
        let list = json!({"kind": kind, "apiVersion": api_version, "metadata": {}, "items": null});
        Ok(format!("{list}\n").into_bytes())
    }
}

impl Frames {
    fn find(&self, key: &FrameKey) -> Option<Bytes> {
        let kept = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(other, _)| other == key).map(|(_, frame)| frame.clone())
    }

    fn keep(&self, event: &Event, key: FrameKey, frame: &Bytes) {
        let mut kept = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            let (_, oldest) = kept.remove(0);
            event.memo_shrinks(KEY_BYTES + oldest.len());
        }
        event.memo_grows(KEY_BYTES + frame.len());
        kept.push((key, frame.clone()));
    }
}

const END: &[u8] = b"}\n";

fn begin(word: &str, text: &mut Vec<u8>) {
    text.extend_from_slice(b"{\"type\":\"");
    text.extend_from_slice(word.as_bytes());
    text.extend_from_slice(b"\",\"object\":");
}

fn framed(word: &str, object: &[u8]) -> Bytes {
    let object = document(object);
    let mut text = Vec::with_capacity(object.len() + 40);
    begin(word, &mut text);
    text.extend_from_slice(object);
    text.extend_from_slice(END);
    text.into()
}
