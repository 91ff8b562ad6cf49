//! From what the registry answers to what is sent: representations, success codes and headers.

mod list_body;
mod representation;
mod watch_body;

use std::sync::Arc;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use orch_runtime::resource_def::Verb;

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
        Answer::Transient { json, created } => {
            let code = if created { StatusCode::CREATED } else { StatusCode::OK };
            object_response(call, representation, code, &json)?
        }
        Answer::Status(status) => status::respond(&status),
        Answer::List(list) => match &representation.form {
            Form::Plain if !representation.pretty => {
                json_response(StatusCode::OK, list_body::ListBody::new(list).into())
            }
            form => {
                let text = representation::list(form, &list, call.app.now())?;
                json_response(StatusCode::OK, Body::from(representation.finish(text)))
            }
        },
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
    let body = match &representation.form {
        Form::Plain if !representation.pretty => Body::from(stored.clone()),
        form => Body::from(representation.finish(representation::object(
            form,
            call.target.resource,
            stored,
            call.app.now(),
        )?)),
    };
    Ok(json_response(code, body))
}

fn json_response(code: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}
