//! Answers that keep their seats while they are handed over, and for how long at most.
//!
//! Making a long answer is work like any other, so it keeps its seat until its last piece is taken. A client
//! that reads slowly would keep it for as long as it likes; so after [`LONGEST`] the seat is free, and the
//! answer goes on without one. A watch keeps its seat until the objects that exist have been told.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{Error, body::Body, response::Response};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::{task::AbortHandle, time::sleep};

use super::Seat;

/// The longest time for which an answer that is made keeps its seat.
const LONGEST: Duration = Duration::from_secs(5);
/// Answers of so many bytes are handed over in one piece.
const ONE_PIECE: u64 = 32 * 1024;

/// A body and its seat.
struct HeldBody {
    body: Body,
    /// None when it was let go here.
    seat: Option<Arc<Mutex<Option<Seat>>>>,
    /// Whether the seat is free as soon as the body has nothing to give.
    until_it_waits: bool,
    end: AbortHandle,
}

/// The same answer, which is made `now`, with its seat until it is handed over.
pub fn until_handed_over(response: Response, seat: Seat, now: Instant) -> Response {
    if response.body().size_hint().exact().is_some_and(|length| length <= ONE_PIECE) {
        seat.end(now);
        return response;
    }
    response.map(|body| held(body, seat, false))
}

/// The same watch, with its seat until the events that are known have been told.
pub fn until_initial_events(response: Response, seat: Seat) -> Response {
    response.map(|body| held(body, seat.of_watch(), true))
}

fn held(body: Body, seat: Seat, until_it_waits: bool) -> Body {
    let seat = Arc::new(Mutex::new(Some(seat)));
    let shared = Arc::downgrade(&seat);
    let end = tokio::spawn(async move {
        sleep(LONGEST).await;
        if let Some(seat) = shared.upgrade() {
            free(&seat);
        }
    });
    Body::new(HeldBody { body, seat: Some(seat), until_it_waits, end: end.abort_handle() })
}

fn free(seat: &Mutex<Option<Seat>>) {
    drop(seat.lock().unwrap_or_else(PoisonError::into_inner).take());
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let is_over = match &frame {
            Poll::Pending => self.until_it_waits,
            Poll::Ready(None | Some(Err(_))) => true,
            Poll::Ready(Some(Ok(_))) => false,
        };
        if is_over && let Some(seat) = self.seat.take() {
            free(&seat);
            self.end.abort();
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

impl Drop for HeldBody {
    fn drop(&mut self) {
        self.end.abort();
    }
}
