//! Seats and turns of one level: who gets them, and when they are given back.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use orch_flow::{
    config::{Level, LevelKind, Queuing},
    queue_set::Totals,
    shares::Seats,
};
use tokio::time::sleep;

use super::{gate::Turn, *};

/// A level with one seat and a queue of two places.
fn level() -> Arc<Gate> {
    let queuing = Some(Queuing { queues: 1, hand_size: 1, length_limit: 2 });
    let kind = LevelKind::Limited { borrowing_percent: None, queuing };
    let level = Level { name: "l".to_owned(), shares: 1, lendable_percent: 0, kind };
    let gate = Gate::new(&level, Seats { nominal: 1, lowest: 1, highest: 1 }, Clock(Instant::now()));
    assert_eq!(gate.tally("s"), 0);
    gate
}

fn arrive(gate: &Arc<Gate>) -> Entry {
    gate.arrive(Clock(Instant::now()).now(), 0, 0, Width::ONE, About::default)
}

fn seat(entry: Entry) -> Seat {
    match entry {
        Entry::Runs(seat) => seat,
        _ => panic!("it runs at once"),
    }
}

fn turn(entry: Entry) -> Turn {
    match entry {
        Entry::Waits(turn) => turn,
        _ => panic!("it waits"),
    }
}

fn totals(gate: &Gate) -> Totals {
    gate.view().totals
}

const LONG: Duration = Duration::from_secs(100);

#[tokio::test(start_paused = true)]
async fn who_waits_is_next_and_who_leaves_is_not() {
    let gate = level();
    let first = seat(arrive(&gate));
    let (left, second) = (turn(arrive(&gate)), turn(arrive(&gate)));
    assert!(matches!(arrive(&gate), Entry::Refused(Refused { retry_after: 1 })));
    drop(left);
    drop(first);
    let Ok(second) = second.wait(LONG).await else { panic!("its turn has come") };
    let late = turn(arrive(&gate)).wait(Duration::from_secs(3)).await;
    assert!(late.is_err(), "its time is over");
    // One that leaves in the moment of its turn gives its seat back.
    let left = turn(arrive(&gate));
    drop(second);
    assert_eq!((totals(&gate).running, totals(&gate).waiting), (1, 0));
    drop(left);
    assert_eq!(totals(&gate), Totals::default());
    let tally = &gate.view().tallies[0];
    assert_eq!((tally.dispatched, tally.refused, tally.now), (2, [1, 0, 1, 2], [0, 0, 0]));
}

#[tokio::test(start_paused = true)]
async fn a_level_that_gets_seats_lets_requests_run() {
    let gate = level();
    let _first = seat(arrive(&gate));
    let second = turn(arrive(&gate));
    gate.configure(
        LevelKind::Limited { borrowing_percent: None, queuing: None },
        Seats { nominal: 2, lowest: 2, highest: 2 },
    );
    assert!(second.wait(LONG).await.is_ok());
}

/// A body that has no end and gives one piece each time that it is asked, or none.
struct Endless {
    gives: bool,
}

impl HttpBody for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.gives { Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x"))))) } else { Poll::Pending }
    }
}

fn endless(gives: bool) -> Response {
    Response::new(Body::new(Endless { gives }))
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_has_a_seat_for_a_while_and_then_none() {
    let gate = level();
    let mut answer = until_handed_over(endless(true), seat(arrive(&gate)), Instant::now());
    answer.body_mut().frame().await.unwrap().unwrap();
    sleep(Duration::from_secs(4)).await;
    assert_eq!(totals(&gate).running, 1);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(totals(&gate).running, 0);
    answer.body_mut().frame().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_handed_over_has_no_seat() {
    let gate = level();
    let short = until_handed_over(Response::new(Body::from("short")), seat(arrive(&gate)), Instant::now());
    assert_eq!(totals(&gate).running, 0);
    drop(short);
    let long = Body::from(vec![b'x'; 100_000]);
    let mut long = until_handed_over(Response::new(long), seat(arrive(&gate)), Instant::now());
    assert_eq!(totals(&gate).running, 1);
    assert_eq!(long.body().size_hint().exact(), Some(100_000));
    while let Some(frame) = long.body_mut().frame().await {
        frame.unwrap();
    }
    assert_eq!(totals(&gate).running, 0);
    // One that is not read to its end.
    drop(until_handed_over(endless(true), seat(arrive(&gate)), Instant::now()));
    assert_eq!(totals(&gate).running, 0);
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_a_seat_until_it_waits_for_events() {
    let gate = level();
    let mut watch = until_initial_events(endless(true), seat(arrive(&gate)));
    watch.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(totals(&gate).running, 1);
    drop(watch);
    let mut watch = until_initial_events(endless(false), seat(arrive(&gate)));
    let waits = tokio::time::timeout(Duration::from_millis(1), watch.body_mut().frame()).await;
    assert!(waits.is_err());
    assert_eq!(totals(&gate).running, 0);
    let ran = &gate.view().tallies[0].ran;
    assert_eq!(ran[1].counts.iter().sum::<u64>(), 2, "watches are counted apart");
}
