//! From what the registry answers to what is sent: representations, success codes and headers.

mod chunks;
mod list_body;
mod object_text;
mod protobuf_body;
mod representation;
mod watch_body;
mod watch_frame;
mod yaml_text;

use std::sync::Arc;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use orch_api::meta::v1::Status;
use orch_machinery::json::pretty::pretty;
use orch_runtime::resource_def::Verb;

use chunks::Chunks;
pub use representation::{Form, Representation, Syntax, all_values};

use crate::{
    error::{ApiError, Result},
    metrics::RequestLabels,
    query::Query,
    registry::{Answer, Call, Reply, current},
    status, warning,
};

/// Puts an answer into the representation that the client asked for.
///
/// # Errors
/// 500 where a stored object is damaged.
pub fn respond(call: Call<'_>, representation: &Representation, reply: Reply) -> Result<Response> {
    let resource = call.target.resource;
    let mut response = match reply.answer {
        Answer::Object(object) => {
            object_response(call, representation, StatusCode::OK, current::bytes_of(resource, &object)?)?
        }
        Answer::Created(object) => {
            object_response(call, representation, StatusCode::CREATED, current::bytes_of(resource, &object)?)?
        }
        Answer::Accepted(object) => object_response(
            call,
            representation,
            StatusCode::ACCEPTED,
            current::bytes_of(resource, &object)?,
        )?,
        Answer::Transient { json, created } => {
            let code = if created { StatusCode::CREATED } else { StatusCode::OK };
            object_response(call, representation, code, &json)?
        }
        Answer::Status(status) => status::respond(&status),
        Answer::List(list) => {
            let (form, now) = (representation.form.clone(), call.app.now());
            let (chunks, length) = match representation.syntax {
                Syntax::Json => list_body::chunks(form, list, now),
                Syntax::Yaml => (yaml_text::list(form, list, now)?, None),
                Syntax::Protobuf(_) => {
                    let (chunks, length) = protobuf_body::list(form, list)?;
                    (chunks, Some(length))
                }
            };
            streamed(representation, chunks, length)
        }
        Answer::Watch(stream) => {
            let target = call.target;
            let labels =
                RequestLabels::resource(resource.def, None, Verb::Watch, &target.namespace, &target.name);
            let open = call.app.metrics.long_running(&labels);
            let body = watch_body::body(*stream, representation, Arc::clone(call.app), open);
            stream_of(representation.syntax, body)
        }
    };
    warning::warn(&mut response, &reply.warnings);
    Ok(response)
}

fn object_response(
    call: Call<'_>,
    representation: &Representation,
    code: StatusCode,
    stored: &Bytes,
) -> Result<Response> {
    let text = match &representation.form {
        form if matches!(representation.syntax, Syntax::Protobuf(_)) => {
            protobuf_body::document(form, call.target.resource, stored)?.into()
        }
        Form::Plain => stored.clone(),
        form => {
            let mut text = Vec::new();
            object_text::write(form, call.target.resource, stored, true, call.app.now(), &mut text)?;
            text.push(b'\n');
            text.into()
        }
    };
    let text = match representation.syntax {
        Syntax::Yaml => yaml_text::of_json(&text)?,
        Syntax::Json if representation.pretty => pretty(&text).into(),
        Syntax::Json | Syntax::Protobuf(_) => text,
    };
    let mut response = if representation.gzip && text.len() > chunks::COMPRESS_ABOVE {
        let compressed = Representation { pretty: false, ..representation.clone() };
        streamed(&compressed, chunks::of(text), None)
    } else {
        whole(representation.syntax, Body::from(text))
    };
    *response.status_mut() = code;
    Ok(response)
}

/// A body that is made while it is sent; `length` is that of the pieces as they are.
fn streamed(representation: &Representation, chunks: Chunks, length: Option<u64>) -> Response {
    let syntax = representation.syntax;
    let is_indented = representation.pretty && syntax == Syntax::Json;
    let (chunks, length) = if is_indented { (chunks::pretty(chunks), None) } else { (chunks, length) };
    if !representation.gzip {
        return whole(syntax, chunks::body(chunks, length));
    }
    match chunks::gzip(chunks) {
        Ok(compressed) => {
            let mut response = whole(syntax, chunks::body(compressed, None));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            response
        }
        Err(chunks) => whole(syntax, chunks::body(chunks, length)),
    }
}

fn whole(syntax: Syntax, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(syntax.media_type()));
    response
}

/// A body that goes on: clients of another syntax than JSON are told that it is cut into events.
fn stream_of(syntax: Syntax, body: Body) -> Response {
    let mut response = whole(syntax, body);
    if let Syntax::Protobuf(media_type) = syntax
        && let Ok(framed) = HeaderValue::try_from(format!("{media_type};stream=watch"))
    {
        response.headers_mut().insert(header::CONTENT_TYPE, framed);
    }
    response
}

/// A document that is there in JSON, in the syntax that the client wants.
///
/// # Errors
/// 500 where it is no JSON document, and for protobuf, of which no such document is offered.
pub fn document(syntax: Syntax, json: Bytes) -> Result<Response> {
    let text = match syntax {
        Syntax::Json => json,
        Syntax::Yaml => yaml_text::of_json(&json)?,
        Syntax::Protobuf(_) => {
            return Err(ApiError::internal("the document has no protobuf form", "offered"));
        }
    };
    Ok(whole(syntax, Body::from(text)))
}

/// Rewrites an answer that is a Status in the syntax that the client wants; others stay as they are.
pub fn rewrite_status(response: &mut Response, asked: &HeaderMap, query: &Query) {
    let Some(status) = response.extensions_mut().remove::<Status>() else { return };
    let (syntax, is_pretty) = representation::negotiate_status(asked, query);
    if syntax == Syntax::Json && !is_pretty {
        return;
    }
    let json = status::json(&status);
    let text = match syntax {
        Syntax::Json => Ok(pretty(&json).into()),
        Syntax::Yaml => yaml_text::of_json(&json),
        Syntax::Protobuf(_) => protobuf_body::status(&json).map(Bytes::from),
    };
    // A Status that cannot be rewritten stays in JSON.
    if let Ok(text) = text {
        *response.body_mut() = Body::from(text);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(syntax.media_type()));
    }
}
