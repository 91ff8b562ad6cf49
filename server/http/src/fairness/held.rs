//! Answers that keep their seats while they are handed over, and for how long at most.
//!
//! Making a long answer is work like any other, so it keeps its seat until its last piece is taken. A client
//! that reads slowly would keep it for as long as it likes; so after [`LONGEST`] the seat is free, and the
//! answer goes on without one. A watch keeps its seat until its initial events are sent, or for [`LONGEST`].
//! Without priority and fairness, the same holds for the place of a request among those that are in flight.

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

use super::{InFlight, Seat};

/// The longest time for which an answer that is made keeps its seat.
const LONGEST: Duration = Duration::from_secs(5);
/// Answers of so many bytes are handed over in one piece.
const ONE_PIECE: u64 = 32 * 1024;

/// What a request occupies while it is answered, until this is dropped.
pub enum SeatOrPlace {
    /// A seat.
    Seat(Seat),
    /// A place among those that are in flight.
    Place(InFlight),
}

/// A body and what it keeps.
struct SeatedBody {
    body: Body,
    /// `None` after it was given back here.
    held: Option<Arc<Mutex<Option<SeatOrPlace>>>>,
    /// Whether the seat is given back when the body is first pending: a watch after its initial events.
    until_it_waits: bool,
    end: AbortHandle,
}

impl SeatOrPlace {
    /// Gives it back at a time that is known.
    fn end(self, now: Instant) {
        match self {
            SeatOrPlace::Seat(seat) => seat.end(now),
            SeatOrPlace::Place(place) => drop(place),
        }
    }

    /// The seat of a watch, which is counted apart.
    fn of_watch(self) -> Self {
        match self {
            SeatOrPlace::Seat(seat) => SeatOrPlace::Seat(seat.of_watch()),
            SeatOrPlace::Place(_) => self,
        }
    }
}

/// The same answer, which is made `now`, with what its request has until it is handed over.
pub fn until_handed_over(response: Response, held: SeatOrPlace, now: Instant) -> Response {
    if response.body().size_hint().exact().is_some_and(|length| length <= ONE_PIECE) {
        held.end(now);
        return response;
    }
    response.map(|body| holding(body, held, false))
}

/// The same watch, with what its request has until its initial events are sent, or for [`LONGEST`].
pub fn until_initial_events(response: Response, held: SeatOrPlace) -> Response {
    response.map(|body| holding(body, held.of_watch(), true))
}

fn holding(body: Body, held: SeatOrPlace, until_it_waits: bool) -> Body {
    let held = Arc::new(Mutex::new(Some(held)));
    let shared = Arc::downgrade(&held);
    let end = tokio::spawn(async move {
        sleep(LONGEST).await;
        if let Some(held) = shared.upgrade() {
            free(&held);
        }
    });
    Body::new(SeatedBody { body, held: Some(held), until_it_waits, end: end.abort_handle() })
}

fn free(held: &Mutex<Option<SeatOrPlace>>) {
    drop(held.lock().unwrap_or_else(PoisonError::into_inner).take());
}

impl HttpBody for SeatedBody {
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
        if is_over && let Some(held) = self.held.take() {
            free(&held);
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

impl Drop for SeatedBody {
    fn drop(&mut self) {
        self.end.abort();
    }
}
