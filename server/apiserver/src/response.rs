//! From what the registry answers to what is sent: representations, success codes and headers.

mod chunks;
mod list_body;
mod object_text;
mod representation;
mod watch_body;
mod watch_frame;

use std::sync::Arc;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use orch_machinery::json::pretty::pretty;
use orch_runtime::resource_def::Verb;

use chunks::Chunks;
pub use representation::{Form, Representation};

use crate::{
    error::Result,
    metrics::RequestLabels,
    registry::{Answer, Call, Reply, current},
    status, warning,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

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
            let (chunks, length) = list_body::chunks(representation.form.clone(), list, call.app.now());
            streamed(representation, chunks, length)
        }
        Answer::Watch(stream) => {
            let target = call.target;
            let labels =
                RequestLabels::resource(resource.def, None, Verb::Watch, &target.namespace, &target.name);
            let open = call.app.metrics.long_running(&labels);
            json_response(
                StatusCode::OK,
                watch_body::body(*stream, representation.form.clone(), Arc::clone(call.app), open),
            )
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
        Form::Plain => stored.clone(),
        form => {
            let mut text = Vec::new();
            object_text::write(form, call.target.resource, stored, true, call.app.now(), &mut text)?;
            text.push(b'\n');
            text.into()
        }
    };
    let text = if representation.pretty { pretty(&text).into() } else { text };
    let mut response = if representation.gzip && text.len() > chunks::COMPRESS_ABOVE {
        let compressed = Representation { pretty: false, ..representation.clone() };
        streamed(&compressed, chunks::of(text), None)
    } else {
        json_response(StatusCode::OK, Body::from(text))
    };
    *response.status_mut() = code;
    Ok(response)
}

/// A body that is made while it is sent; `length` is that of the pieces as they are.
fn streamed(representation: &Representation, chunks: Chunks, length: Option<u64>) -> Response {
    let (chunks, length) =
        if representation.pretty { (chunks::pretty(chunks), None) } else { (chunks, length) };
    if !representation.gzip {
        return json_response(StatusCode::OK, chunks::body(chunks, length));
    }
    match chunks::gzip(chunks) {
        Ok(compressed) => {
            let mut response = json_response(StatusCode::OK, chunks::body(compressed, None));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            response
        }
        Err(chunks) => json_response(StatusCode::OK, chunks::body(chunks, length)),
    }
}

fn json_response(code: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}
