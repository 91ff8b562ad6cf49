//! Bodies whose pieces take long to make: each piece is made on a thread of its own.
//!
//! A list is made while it is sent, on the thread of its connection. An item of a megabyte takes a while to
//! be read and written in another form, and the thread would answer nobody meanwhile. So where a list has
//! large objects, its body asks [`LargeWork`] for the next piece and waits for it as for anything else.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame};

use super::chunks::{Chunks, CutOff};
use crate::large_work::LargeWork;

/// A body of these pieces, which other threads make.
pub fn body(chunks: Chunks, work: &LargeWork) -> Body {
    Body::new(BodyApart { work: work.clone(), state: State::Waits(chunks) })
}

struct BodyApart {
    work: LargeWork,
    state: State,
}

/// The next piece, if there is one, and what makes those after it.
type Made = (Option<Result<Bytes, CutOff>>, Chunks);

enum State {
    /// Nobody has asked for the next piece.
    Waits(Chunks),
    /// It is being made.
    Makes(Pin<Box<dyn Future<Output = Made> + Send>>),
    Ended,
}

impl HttpBody for BodyApart {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Waits(mut chunks) => {
                    let work = self.work.clone();
                    self.state = State::Makes(Box::pin(async move {
                        work.run(move || async move {
                            // A panic here would end the connection with all of its other answers.
                            let made = catch_unwind(AssertUnwindSafe(|| chunks.next()));
                            (made.unwrap_or(Some(Err(CutOff))), chunks)
                        })
                        .await
                    }));
                }
                State::Makes(mut making) => {
                    let Poll::Ready((chunk, chunks)) = making.as_mut().poll(context) else {
                        self.state = State::Makes(making);
                        return Poll::Pending;
                    };
                    match chunk {
                        // There is more to do before the next one.
                        Some(Ok(chunk)) if chunk.is_empty() => self.state = State::Waits(chunks),
                        Some(Ok(chunk)) => {
                            self.state = State::Waits(chunks);
                            return Poll::Ready(Some(Ok(Frame::data(chunk))));
                        }
                        last => return Poll::Ready(last.map(|chunk| chunk.map(Frame::data))),
                    }
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Ended)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use http_body_util::BodyExt;
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn a_panic_cuts_the_answer_off() {
        let pieces = (0..2).map(|number| match number {
            0 => Ok(Bytes::from("one")),
            _ => panic!("not to be made"),
        });
        let mut body = body(Box::new(pieces), &LargeWork::on_this_machine());
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "one");
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn other_tasks_go_on_while_a_piece_is_made() {
        let (goes_on, waiting) = mpsc::channel();
        let pieces = (0..4).map(move |number| match number {
            1 => Ok(Bytes::new()),
            3 => Err(CutOff),
            _ => Ok(waiting.recv().unwrap()),
        });
        let mut body = body(Box::new(pieces), &LargeWork::on_this_machine());
        let read = async {
            for expected in ["one", "two"] {
                assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), expected);
            }
            assert!(body.frame().await.unwrap().is_err());
            assert!(body.frame().await.is_none());
        };
        let other = async {
            for piece in ["one", "two"] {
                yield_now().await;
                goes_on.send(Bytes::from(piece)).unwrap();
            }
        };
        tokio::join!(read, other);
    }
}
