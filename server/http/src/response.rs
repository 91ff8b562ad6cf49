//! Turns the registry's answers into HTTP: representations, success codes and headers.

mod apart;
mod cbor_body;
mod chunks;
mod list_body;
mod object_text;
mod pace;
mod protobuf_body;
mod representation;
mod respelled;
pub mod status;
mod typed;
pub(crate) mod warning;
mod watch_body;
mod watch_frame;
mod yaml_text;

use std::sync::Arc;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use orch_machinery::{
    json::pretty::pretty,
    media_type::{MediaTypes, NamedMediaType, Syntax},
    table::IncludeObject,
};
use orch_meta::meta::v1::Status;
use orch_registry::{
    answer::{Answer, List, Outcome},
    core::Core,
    error::Result,
    request::Target,
    stored,
};
use orch_runtime::type_def::TypeDef;
use orch_storage::Object;

use chunks::Chunks;
pub(crate) use chunks::{COMPRESS_ABOVE, compressed};
use orch_config::Pace;
use pace::paced;
pub(crate) use representation::{Form, Representation, accepts_gzip, all_values, wants_pretty};
pub(crate) use respelled::respelled;
use tokio::task::yield_now;

use crate::{
    large_work::LargeWork,
    metrics::OpenWatch,
    request::{query::Query, websocket_handshake::Handshake, weight::LARGE},
    websocket::Messages,
};

/// How an answer is written.
#[derive(Clone, Copy)]
pub struct Style<'a> {
    /// As the client asked for it.
    pub representation: &'a Representation,
    /// How fast the client must read a long one.
    pub pace: Pace,
    /// The headers that it begins with.
    pub headers: Option<&'a HeaderMap>,
    /// Where what takes long is written.
    pub large_work: &'a LargeWork,
    /// What the events of a watch are sent over, where that is not the body of the answer.
    pub websocket: Option<&'a Handshake>,
}

/// Writes an answer. `open` counts a watch while it is open.
///
/// # Errors
/// 500 where a stored object is damaged.
pub fn respond(
    core: &Arc<Core>,
    target: &Target<'_>,
    style: Style<'_>,
    answer: Answer,
    open: impl FnOnce() -> OpenWatch,
) -> Result<Response> {
    let (resource, representation) = (target.resource, style.representation);
    let object = |code, stored: &Bytes| object_response(core, target, style, code, stored);
    Ok(match answer {
        Answer::Object(stored) => object(StatusCode::OK, stored::bytes_of(resource, &stored)?)?,
        Answer::Created(stored) => object(StatusCode::CREATED, stored::bytes_of(resource, &stored)?)?,
        Answer::Accepted(stored) => object(StatusCode::ACCEPTED, stored::bytes_of(resource, &stored)?)?,
        Answer::Transient { json, outcome } => {
            let status = match outcome {
                Outcome::Done => StatusCode::OK,
                Outcome::Created => StatusCode::CREATED,
                Outcome::Accepted => StatusCode::ACCEPTED,
            };
            object(status, &json)?
        }
        Answer::Status(status) => status::respond(&status),
        Answer::List(list) => {
            let (form, now) = (representation.form.clone(), core.now());
            let long = SlowList::of(representation, &list);
            let (chunks, length) = match representation.media_type.syntax() {
                Syntax::Json if long.is_some() => (list_body::chunks(form, list, now), None),
                Syntax::Json => list_body::measured(form, list, now),
                Syntax::Yaml => (yaml_text::list(form, list, now)?, None),
                Syntax::Protobuf => protobuf_body::list(form, list, long.is_some())?,
                Syntax::Cbor => (cbor_body::list(form, list)?, None),
            };
            match long {
                Some(long) => streamed_apart(style, chunks, &long),
                None => streamed(style, chunks, length),
            }
        }
        Answer::Watch(stream) => {
            let work = style.large_work.clone();
            let in_messages = style.websocket.is_some();
            let body = watch_body::body(*stream, representation, in_messages, Arc::clone(core), work, open());
            match style.websocket {
                None => stream_of(style, body),
                Some(handshake) => switching(style, handshake, body),
            }
        }
    })
}

/// The JSON text of an answer in a form, without indentation, for its record. `None` for a list, a watch and
/// a Status, and where a stored object is damaged.
pub fn json_text(core: &Core, target: &Target<'_>, form: &Form, answer: &Answer) -> Option<Vec<u8>> {
    let resource = target.resource;
    let stored = match answer {
        Answer::Object(stored) | Answer::Created(stored) | Answer::Accepted(stored) => {
            stored::bytes_of(resource, stored).ok()?
        }
        Answer::Transient { json, .. } => json,
        Answer::List(_) | Answer::Status(_) | Answer::Watch(_) => return None,
    };
    let mut text = Vec::new();
    object_text::write(form, resource, stored, true, core.now(), &mut text).ok()?;
    Some(text)
}

/// The same of a list. One that is longer than `max` bytes ends somewhere beyond that. Others have turns in
/// between, as when the answer is written.
pub async fn list_text(
    core: &Core,
    form: &Form,
    list: List,
    large_work: &LargeWork,
    max: usize,
) -> Option<Vec<u8>> {
    let is_slow = list.objects.iter().any(|object| object.size() > LARGE);
    let mut chunks = list_body::chunks(form.clone(), list, core.now());
    let mut text = Vec::new();
    while text.len() <= max {
        let chunk;
        (chunk, chunks) = if is_slow {
            large_work.run(move || async move { (chunks.next(), chunks) }).await
        } else {
            yield_now().await;
            (chunks.next(), chunks)
        };
        let Some(chunk) = chunk else { break };
        text.extend_from_slice(&chunk.ok()?);
    }
    Some(text)
}

fn object_response(
    core: &Core,
    target: &Target<'_>,
    style: Style<'_>,
    status: StatusCode,
    stored: &Bytes,
) -> Result<Response> {
    let Style { representation, headers, .. } = style;
    let (resource, media_type) = (target.resource, representation.media_type);
    let form = &representation.form;
    let json = || -> Result<Bytes> {
        if *form == Form::Plain {
            return Ok(stored.clone());
        }
        let mut text = Vec::new();
        object_text::write(form, resource, stored, true, core.now(), &mut text)?;
        text.push(b'\n');
        Ok(text.into())
    };
    let def = target.body_type();
    let text = match media_type.syntax() {
        Syntax::Json if representation.pretty => pretty(&json()?).into(),
        Syntax::Json => json()?,
        Syntax::Yaml => yaml_text::of_json(&json()?)?,
        Syntax::Protobuf => protobuf_body::document(form, resource, def, stored)?.into(),
        Syntax::Cbor => cbor_body::document(form, resource, def, stored)?.into(),
    };
    let mut response = if representation.gzip && text.len() > COMPRESS_ABOVE {
        let compressed = Representation { pretty: false, ..representation.clone() };
        streamed(Style { representation: &compressed, ..style }, chunks::of(text), None)
    } else {
        whole(headers, media_type, Body::from(text))
    };
    *response.status_mut() = status;
    Ok(response)
}

/// A body that is made while it is sent. `length` is the length of the pieces before indentation and
/// compression.
fn streamed(style: Style<'_>, chunks: Chunks, length: Option<u64>) -> Response {
    let Style { representation, pace, headers, .. } = style;
    let media_type = representation.media_type;
    let (chunks, length) =
        if is_indented(representation) { (chunks::pretty(chunks), None) } else { (chunks, length) };
    if !representation.gzip {
        return whole(headers, media_type, paced(chunks::body(chunks, length), pace));
    }
    match chunks::gzip(chunks) {
        Ok(compressed) => {
            compressed_answer(whole(headers, media_type, paced(chunks::body(compressed, None), pace)))
        }
        Err(chunks) => whole(headers, media_type, paced(chunks::body(chunks, length), pace)),
    }
}

fn is_indented(representation: &Representation) -> bool {
    representation.pretty && representation.media_type.syntax() == Syntax::Json
}

fn compressed_answer(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    response
}

/// A list that takes long to write: some of its objects are large, and are not sent as they are stored.
struct SlowList {
    /// About how many bytes its text has.
    length: usize,
}

impl SlowList {
    fn of(representation: &Representation, list: &List) -> Option<Self> {
        /// About how many bytes a row of a table, or partial metadata, has at least.
        const PART: usize = 1024;
        let is_copied =
            representation.is_as_stored() && !representation.gzip && list.resource.stored_as.is_none();
        if is_copied || !list.objects.iter().any(|object| object.size() > LARGE) {
            return None;
        }
        let length = |object: &Arc<Object>| match representation.form {
            Form::Plain | Form::Table(_, IncludeObject::Object) => object.size(),
            Form::Metadata(_) | Form::Table(..) => PART,
        };
        Some(SlowList { length: list.objects.iter().map(length).sum() })
    }
}

/// The same as [`streamed`] for a list that takes long to write.
fn streamed_apart(style: Style<'_>, chunks: Chunks, long: &SlowList) -> Response {
    let Style { representation, pace, headers, large_work, .. } = style;
    let chunks = if is_indented(representation) { chunks::pretty(chunks) } else { chunks };
    let is_compressed = representation.gzip && long.length > COMPRESS_ABOVE;
    let chunks = if is_compressed { chunks::compress(chunks) } else { chunks };
    let response = whole(headers, representation.media_type, paced(apart::body(chunks, large_work), pace));
    if is_compressed { compressed_answer(response) } else { response }
}

/// An answer that begins with these headers.
fn whole(begun: Option<&HeaderMap>, media_type: NamedMediaType, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    if let Some(begun) = begun {
        *headers = begun.clone();
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type.name));
    response
}

/// The body of a watch. Some media types have a parameter that says that it is a stream of events.
fn stream_of(style: Style<'_>, body: Body) -> Response {
    let media_type = style.representation.media_type;
    let mut response = whole(style.headers, media_type, body);
    if let Ok(content_type) = HeaderValue::try_from(&*media_type.stream_content_type()) {
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    }
    response
}

/// Whether an answer with this code to a request for a watch is one: events follow.
pub fn is_watch(code: StatusCode) -> bool {
    matches!(code, StatusCode::OK | StatusCode::SWITCHING_PROTOCOLS)
}

/// The answer to a handshake, with the messages that follow it.
fn switching(style: Style<'_>, handshake: &Handshake, messages: Body) -> Response {
    let kind = match style.representation.media_type.syntax() {
        Syntax::Json | Syntax::Yaml => Messages::Text,
        Syntax::Protobuf | Syntax::Cbor => Messages::Binary,
    };
    let mut response = stream_of(style, messages);
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    handshake.write(response.headers_mut());
    response.extensions_mut().insert(kind);
    response
}

/// A JSON document of type `def` in the media type that the client accepts; JSON indented where it is to be
/// `pretty`.
///
/// # Errors
/// 500 where it is not a JSON document of that type.
pub fn document(
    media_type: NamedMediaType,
    is_pretty: bool,
    json: Bytes,
    def: &'static TypeDef,
) -> Result<Response> {
    let text = match media_type.syntax() {
        Syntax::Json if is_pretty => pretty(&json).into(),
        Syntax::Json => json,
        Syntax::Yaml => yaml_text::of_json(&json)?,
        Syntax::Cbor => cbor_body::of_json(&json)?.into(),
        Syntax::Protobuf => protobuf_body::of_json(&json, def)?.into(),
    };
    Ok(whole(None, media_type, Body::from(text)))
}

/// Rewrites an answer that is a Status in the media type that the client accepts. Other answers stay as they
/// are.
pub fn rewrite_status(response: &mut Response, media_types: &MediaTypes, asked: &HeaderMap, query: &Query) {
    let Some(status) = response.extensions_mut().remove::<Status>() else { return };
    let (media_type, is_pretty) = representation::negotiate_status(media_types, asked, query);
    if media_type.syntax() == Syntax::Json && !is_pretty {
        return;
    }
    let json = status::json(&status);
    let text = match media_type.syntax() {
        Syntax::Json => Ok(pretty(&json).into()),
        Syntax::Yaml => yaml_text::of_json(&json),
        Syntax::Protobuf => protobuf_body::status(&json).map(Bytes::from),
        Syntax::Cbor => cbor_body::status(&json).map(Bytes::from),
    };
    // A Status that cannot be rewritten stays in JSON.
    if let Ok(text) = text {
        *response.body_mut() = Body::from(text);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type.name));
        // The router of the documents has told the length of the text before.
        headers.remove(header::CONTENT_LENGTH);
    }
}
