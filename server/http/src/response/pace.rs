//! Sends long answers: in time slices beside other requests, and only to clients that read fast enough.
//!
//! A list on its way holds the version that it shows. Clients that read slowly would keep old versions in
//! memory for as long as they like. So each long answer is looked after: when its reader had the grace of
//! [`Pace`] and has taken less than its rate since, what the answer holds is let go. The client's connection
//! (HTTP/1) or stream (HTTP/2) ends with an error when it next asks for more. Watches are exempt: they hold a
//! position in the history and a few events, not a version.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker, ready},
    time::Duration,
};

use axum::{Error, body::Body};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use orch_config::Pace;
use tokio::{
    task::AbortHandle,
    time::{Instant, sleep},
};

use super::chunks;

/// An answer is not looked after before so many bytes of it are taken.
const SHORT: u64 = 128 * 1024;
/// How often an answer is looked after.
const PERIOD: Duration = Duration::from_secs(5);
/// How long pieces are made before other requests have their turn.
const SLICE: Duration = Duration::from_millis(2);

/// An answer that is made while it is sent.
struct PacedBody {
    held: Arc<SharedBody>,
    pace: Pace,
    overseer: Option<AbortHandle>,
    /// How long pieces were made since other requests had their turn.
    busy: Duration,
}

/// The body of an answer, which its reader takes from and its overseer may drop.
struct SharedBody {
    /// `None` after it was dropped.
    body: Mutex<Option<Body>>,
    taken: AtomicU64,
    making: Mutex<Making>,
}

/// How long the reader waited for pieces: that is the server's fault.
#[derive(Default)]
struct Making {
    so_far: Duration,
    /// Since when it waits for the next one; `None` when one is ready, because a reader that does not take it
    /// is slow.
    since: Option<Instant>,
    /// A piece became ready after the last poll of the reader.
    is_ready: bool,
}

/// Wakes the reader, and notes that a piece is ready.
struct Noted {
    held: Weak<SharedBody>,
    reader: Waker,
}

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        if let Some(held) = self.held.upgrade() {
            held.making().ends();
        }
        self.reader.wake_by_ref();
    }
}

impl Making {
    fn ends(&mut self) {
        self.is_ready = true;
        if let Some(since) = self.since.take() {
            self.so_far += since.elapsed();
        }
    }
}

/// The reader of an answer has taken too little of it.
#[derive(Debug, thiserror::Error)]
#[error("the client reads too slowly")]
struct TooSlow;

/// The same answer, which is cut off if its reader is too slow.
pub fn paced(body: Body, pace: Pace) -> Body {
    let held =
        SharedBody { body: Mutex::new(Some(body)), taken: AtomicU64::new(0), making: Mutex::default() };
    Body::new(PacedBody { held: Arc::new(held), pace, overseer: None, busy: Duration::ZERO })
}

impl HttpBody for PacedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.busy >= SLICE {
            self.busy = Duration::ZERO;
            return chunks::rest(context);
        }
        let began = std::time::Instant::now();
        let noted = Noted { held: Arc::downgrade(&self.held), reader: context.waker().clone() };
        let noted = Waker::from(Arc::new(noted));
        let frame = {
            let mut body = self.held.lock();
            let Some(body) = &mut *body else { return Poll::Ready(Some(Err(Error::new(TooSlow)))) };
            self.held.making().is_ready = false;
            let frame = Pin::new(body).poll_frame(&mut Context::from_waker(&noted));
            self.held.count_waiting(frame.is_pending());
            ready!(frame)
        };
        self.busy += began.elapsed();
        if let Some(Ok(frame)) = &frame {
            let length = frame.data_ref().map_or(0, |data| data.len() as u64);
            let taken = self.held.taken.fetch_add(length, Relaxed) + length;
            if taken > SHORT && self.pace.min_rate > 0 && self.overseer.is_none() {
                let overseer = look_after(Arc::downgrade(&self.held), self.pace, Instant::now());
                let overseer = tokio::spawn(overseer);
                self.overseer = Some(overseer.abort_handle());
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.held.lock().as_ref().is_some_and(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.held.lock().as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for PacedBody {
    fn drop(&mut self) {
        if let Some(overseer) = &self.overseer {
            overseer.abort();
        }
    }
}

impl SharedBody {
    fn lock(&self) -> MutexGuard<'_, Option<Body>> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_waiting(&self, waits: bool) {
        let mut making = self.making();
        if !waits {
            making.ends();
        } else if !making.is_ready {
            making.since.get_or_insert_with(Instant::now);
        }
    }

    fn making(&self) -> MutexGuard<'_, Making> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the reader has waited for pieces.
    fn waited(&self) -> Duration {
        let making = self.making();
        making.so_far + making.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

async fn look_after(held: Weak<SharedBody>, pace: Pace, began: Instant) {
    loop {
        sleep(PERIOD).await;
        let Some(held) = held.upgrade() else { return };
        let (taken, elapsed) = (held.taken.load(Relaxed), began.elapsed().saturating_sub(held.waited()));
        if taken < expected(pace, elapsed) {
            tracing::info!(taken, ?elapsed, "a client reads too slowly; its answer is cut off");
            let body = held.lock().take();
            // What it holds may be much: nobody waits for the lock meanwhile.
            drop(body);
            return;
        }
    }
}

/// How much a reader must have taken after this time.
fn expected(pace: Pace, elapsed: Duration) -> u64 {
    elapsed.saturating_sub(pace.grace).as_secs().saturating_mul(pace.min_rate)
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use http_body_util::BodyExt;

    use super::*;
    use crate::response::chunks::{self, CHUNK};

    const LENGTH: usize = 200 * CHUNK;
    const GRACE: Duration = Duration::from_secs(30);
    const PACE: Pace = Pace { min_rate: 32 * 1024, grace: GRACE };

    /// The text of an answer, which shows whether somebody holds it.
    struct Version {
        text: Vec<u8>,
        _shown: Arc<()>,
    }

    impl AsRef<[u8]> for Version {
        fn as_ref(&self) -> &[u8] {
            &self.text
        }
    }

    fn answer(pace: Pace) -> (Body, Weak<()>) {
        let shown = Arc::new(());
        let watched = Arc::downgrade(&shown);
        let text = Bytes::from_owner(Version { text: vec![b'x'; LENGTH], _shown: shown });
        (paced(chunks::body(chunks::of(text), None), pace), watched)
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_lets_the_version_go() {
        let (mut body, version) = answer(PACE);
        for _ in 0..10 {
            body.frame().await.unwrap().unwrap();
        }
        sleep(GRACE).await;
        assert_eq!(version.strong_count(), 1);
        sleep(GRACE).await;
        assert_eq!(version.strong_count(), 0);
        let error = body.frame().await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the client reads too slowly");
    }

    #[tokio::test(start_paused = true)]
    async fn where_any_pace_will_do_a_slow_reader_keeps_the_version() {
        let (mut body, version) = answer(Pace { min_rate: 0, ..PACE });
        for _ in 0..10 {
            body.frame().await.unwrap().unwrap();
        }
        sleep(GRACE * 10).await;
        assert_eq!(version.strong_count(), 1);
        body.frame().await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_keeps_up_gets_everything() {
        let (mut body, _) = answer(PACE);
        let mut taken = 0;
        while let Some(frame) = body.frame().await {
            taken += frame.unwrap().into_data().unwrap().len();
            sleep(Duration::from_millis(900)).await;
        }
        assert_eq!(taken, LENGTH);
    }

    /// A client can keep a piece that is made from being asked for: by a window that it closes.
    #[tokio::test(start_paused = true)]
    async fn a_reader_who_leaves_what_is_made_is_slow() {
        let (sender, pieces) = tokio::sync::mpsc::unbounded_channel();
        let piece = |length: u64| Ok::<_, Error>(Bytes::from(vec![b'x'; length as usize]));
        let pieces =
            futures_util::stream::unfold(pieces, async |mut pieces| Some((pieces.recv().await?, pieces)));
        let mut body = paced(Body::from_stream(Box::pin(pieces)), PACE);
        sender.send(piece(2 * SHORT)).unwrap();
        body.frame().await.unwrap().unwrap();
        let waits = tokio::time::timeout(Duration::from_millis(1), body.frame()).await;
        assert!(waits.is_err(), "it was polled once");
        sender.send(piece(1)).unwrap();
        sleep(100 * GRACE).await;
        assert!(body.frame().await.unwrap().is_err());
    }

    /// Other requests may keep the server from making pieces.
    #[tokio::test(start_paused = true)]
    async fn a_reader_who_waits_for_pieces_is_not_slow() {
        let pieces = (0..6 * GRACE.as_secs()).map(|_| Ok::<_, Error>(Bytes::from(vec![b'x'; 2 * 1024])));
        let slow = futures_util::stream::iter(pieces).then(async |piece| {
            sleep(Duration::from_secs(1)).await;
            piece
        });
        let first = futures_util::stream::iter([Ok(Bytes::from(vec![b'x'; 2 * SHORT as usize]))]);
        let mut body = paced(Body::from_stream(first.chain(slow)), PACE);
        while let Some(frame) = body.frame().await {
            frame.unwrap();
        }
    }

    #[tokio::test]
    async fn pieces_that_take_long_give_way() {
        let text = chunks::body(chunks::of(Bytes::from(vec![b'x'; 5 * CHUNK])), None);
        let slow = text.map_frame(|frame| {
            let began = std::time::Instant::now();
            while began.elapsed() < SLICE {
                std::hint::spin_loop();
            }
            frame
        });
        let mut body = paced(Body::new(slow), PACE);
        let mut context = Context::from_waker(Waker::noop());
        let polls = (0..9).map(|_| Pin::new(&mut body).poll_frame(&mut context).is_pending());
        assert_eq!(polls.collect::<Vec<_>>(), [false, true, false, true, false, true, false, true, false]);
    }
}
