//! Answers to clients that name the product's groups as another vocabulary spells them.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::header;
use hyper::body::{Body as HttpBody, Frame};
use orch_machinery::media_type::JSON;
use orch_registry::spelling::{Piecewise, Spelling};

/// A body whose groups are spelled differently on the way.
struct Respelled {
    body: Body,
    spelling: Arc<Spelling>,
    state: Piecewise,
    ended: bool,
}

/// Spells the groups in a JSON answer as the client does. Other media types are not offered to such clients,
/// and their answers stay as they are.
pub fn respelled(response: Response, spelling: &Arc<Spelling>) -> Response {
    let headers = response.headers();
    let media_type = headers.get(header::CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    if !media_type.starts_with(JSON.as_bytes()) || headers.contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let spelling = Arc::clone(spelling);
    response.map(|body| Body::new(Respelled { body, spelling, state: Piecewise::default(), ended: false }))
}

impl HttpBody for Respelled {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        while !this.ended {
            let piece = match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                None => {
                    this.ended = true;
                    this.state.rest()
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) => this.spelling.write_json(&piece, &mut this.state),
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
            };
            if !piece.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(piece.into()))));
            }
        }
        Poll::Ready(None)
    }
}
