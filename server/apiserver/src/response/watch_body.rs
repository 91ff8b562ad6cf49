//! The text of a watch: one JSON document per event and line, sent as soon as it is known.

use std::{convert::Infallible, sync::Arc};

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream;
use orch_runtime::scalar::Time;

use super::representation::{Form, WatchForm};
use crate::{
    app::App,
    error::ApiError,
    metrics::Current,
    registry::watch::{WatchEvent, WatchStream},
    status,
};

/// A response body that ends with the watch. `open` counts the watch until then.
pub fn body(watch: WatchStream, form: Form, app: Arc<App>, open: Current) -> Body {
    let form = WatchForm::new(form);
    Body::from_stream(stream::unfold(
        (watch, form, app, open),
        |(mut watch, mut form, app, open)| async move {
            let events = watch.next().await?;
            let (now, mut text) = (app.now(), BytesMut::new());
            for event in &events {
                write(&watch, &mut form, event, now, &mut text);
            }
            Some((Ok::<Bytes, Infallible>(text.freeze()), (watch, form, app, open)))
        },
    ))
}

/// `{"type":...,"object":...}` and a newline.
fn write(watch: &WatchStream, form: &mut WatchForm, event: &WatchEvent, now: Time, text: &mut BytesMut) {
    let (word, object) = match event {
        WatchEvent::Object { change, json } => match form.object(&watch.resource, json, now) {
            Ok(object) => (change.as_str(), object),
            Err(error) => failure(&error),
        },
        WatchEvent::Bookmark { revision, ends_initial_events } => {
            let mark = ends_initial_events.then_some(watch.vocabulary.initial_events_end_annotation);
            match form.bookmark(&watch.resource, *revision, mark, now) {
                Ok(object) => ("BOOKMARK", object),
                Err(error) => failure(&error),
            }
        }
        WatchEvent::Error(status) => ("ERROR", status::json(status).into()),
    };
    text.put_slice(b"{\"type\":\"");
    text.put_slice(word.as_bytes());
    text.put_slice(b"\",\"object\":");
    text.put_slice(object.strip_suffix(b"\n").unwrap_or(&object));
    text.put_slice(b"}\n");
}

fn failure(error: &ApiError) -> (&'static str, Bytes) {
    ("ERROR", status::json(&status::status_of(error)).into())
}
