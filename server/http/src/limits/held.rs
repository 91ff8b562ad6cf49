//! Answers that count for their client until they are handed over.
//!
//! A long answer is made while it is sent, and keeps its objects in memory. If requests counted only until
//! the head of their answer, a client that starts many and reads none would stay below its limit. How slowly
//! a client may read, and so how long it keeps its share, is decided by the pace of answers.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{Error, body::Body, response::Response};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::Shares;

/// Answers of so many bytes are handed over at once: they fit into the buffers of their connection.
const ONE_PIECE: u64 = 32 * 1024;

/// A body and its shares, which are free when it has ended.
struct CountedBody {
    body: Body,
    shares: Option<Shares>,
}

/// The same answer, which keeps its shares until it is handed over or given up.
pub fn until_handed_over(response: Response, shares: Shares) -> Response {
    if response.body().size_hint().exact().is_some_and(|length| length <= ONE_PIECE) {
        return response;
    }
    response.map(|body| Body::new(CountedBody { body, shares: Some(shares) }))
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
            self.shares = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
