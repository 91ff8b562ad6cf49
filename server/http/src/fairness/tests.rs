//! Seats and turns of one level: who gets them, and when they are given back.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use orch_flow::{
    config::{
        Configuration, Configured, Distinguisher, Level, LevelKind, Queuing, SchemaConfig, Subject,
        SubjectRules,
    },
    dealing::{Hand, flow_hash},
    matching::Target,
    queue_set::Totals,
    shares::Seats,
};
use tokio::time::sleep;

use super::{gate::Waiting, *};

/// One queue of two places.
fn queues() -> LevelKind {
    let queuing = Some(Queuing { queues: 1, hand_size: 1, length_limit: 2 });
    LevelKind::Limited { borrowing_percent: None, queuing }
}

/// A level with one seat and a queue of two places.
fn level() -> Arc<Gate> {
    let level = Level { name: "l".to_owned(), shares: 1, lendable_percent: 0, kind: queues() };
    let gate = Gate::new(&level, Seats { nominal: 1, lowest: 1, highest: 1 }, Clock(Instant::now()));
    assert_eq!(gate.tally("s"), 0);
    gate
}

fn arrive(gate: &Arc<Gate>) -> Entry {
    let hand = Hand::at(queues(), 0);
    gate.arrive(Clock(Instant::now()).now(), 0, &hand, Width::ONE, About::default)
}

fn seat(entry: Entry) -> Seat {
    match entry {
        Entry::Runs(seat) => seat,
        _ => panic!("it runs at once"),
    }
}

fn held(entry: Entry) -> SeatOrPlace {
    SeatOrPlace::Seat(seat(entry))
}

fn waiting(entry: Entry) -> Waiting {
    match entry {
        Entry::Waits(waiting) => waiting,
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
    let (left, second) = (waiting(arrive(&gate)), waiting(arrive(&gate)));
    assert!(matches!(arrive(&gate), Entry::Refused(Refused { retry_after: 1 })));
    drop(left);
    drop(first);
    let Ok(second) = second.wait(LONG).await else { panic!("its turn has come") };
    let late = waiting(arrive(&gate)).wait(Duration::from_secs(3)).await;
    assert!(late.is_err(), "its time is over");
    // One that leaves in the moment of its turn gives its seat back.
    let left = waiting(arrive(&gate));
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
    let second = waiting(arrive(&gate));
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
    let mut answer = until_handed_over(endless(true), held(arrive(&gate)), Instant::now());
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
    let short = until_handed_over(Response::new(Body::from("short")), held(arrive(&gate)), Instant::now());
    assert_eq!(totals(&gate).running, 0);
    drop(short);
    let long = Body::from(vec![b'x'; 100_000]);
    let mut long = until_handed_over(Response::new(long), held(arrive(&gate)), Instant::now());
    assert_eq!(totals(&gate).running, 1);
    assert_eq!(long.body().size_hint().exact(), Some(100_000));
    while let Some(frame) = long.body_mut().frame().await {
        frame.unwrap();
    }
    assert_eq!(totals(&gate).running, 0);
    // One that is not read to its end.
    drop(until_handed_over(endless(true), held(arrive(&gate)), Instant::now()));
    assert_eq!(totals(&gate).running, 0);
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_a_seat_until_it_waits_for_events() {
    let gate = level();
    let mut watch = until_initial_events(endless(true), held(arrive(&gate)));
    watch.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(totals(&gate).running, 1);
    drop(watch);
    let mut watch = until_initial_events(endless(false), held(arrive(&gate)));
    let waits = tokio::time::timeout(Duration::from_millis(1), watch.body_mut().frame()).await;
    assert!(waits.is_err());
    assert_eq!(totals(&gate).running, 0);
    let ran = &gate.view().tallies[0].ran;
    assert_eq!(ran[1].counts.iter().sum::<u64>(), 2, "watches are counted apart");
}

#[tokio::test(start_paused = true)]
async fn a_place_in_flight_is_kept_like_a_seat() {
    let limits = MaxInFlight::new(1, 0);
    let place = || SeatOrPlace::Place(limits.enter(false).expect("there is a place"));
    let mut answer = until_handed_over(endless(true), place(), Instant::now());
    answer.body_mut().frame().await.unwrap().unwrap();
    assert!(limits.enter(false).is_none(), "the answer is not handed over");
    sleep(Duration::from_secs(6)).await;
    drop(until_handed_over(Response::new(Body::from("short")), place(), Instant::now()));
    drop(answer);
    assert!(limits.enter(false).is_some());
}

#[test]
fn counts_of_schemas_that_are_gone_make_room_for_others() {
    let gate = level();
    let schemas = || -> Vec<String> { gate.view().tallies.into_iter().map(|tally| tally.schema).collect() };
    for number in 0..1000 {
        let name = format!("s{number}");
        gate.keep_tallies(|schema| schema == "s");
        assert_eq!(gate.tally(&name), 1);
        assert_eq!(schemas(), ["s", name.as_str()]);
    }
    // One of which a request is left stays as long as that.
    let now = Clock(Instant::now()).now();
    let last = seat(gate.arrive(now, 1, &Hand::at(queues(), 0), Width::ONE, About::default));
    gate.keep_tallies(|schema| schema == "s");
    assert_eq!(gate.tally("new"), 2);
    assert_eq!(schemas(), ["s", "s999", "new"]);
    drop(last);
    assert_eq!(schemas(), ["s", "new"]);
    assert_eq!(gate.tally("s999"), 1, "it has come back");
}

/// A flow has some of many queues.
fn many_queues() -> LevelKind {
    let queuing = Some(Queuing { queues: 64, hand_size: 6, length_limit: 50 });
    LevelKind::Limited { borrowing_percent: None, queuing }
}

/// Users of the group `all`, at a schema with one flow for each namespace.
fn configuration(kind: LevelKind) -> Configuration {
    let level = Level { name: "l".to_owned(), shares: 1, lendable_percent: 0, kind };
    let rules = SubjectRules { subjects: vec![Subject::Group("all".to_owned())], ..SubjectRules::default() };
    let schema = SchemaConfig {
        name: "s".to_owned(),
        level: "l".to_owned(),
        precedence: 1,
        distinguisher: Distinguisher::Namespace,
        rules: vec![rules],
    };
    Configuration {
        levels: vec![Configured { object: level, uid: "1".to_owned() }],
        schemas: vec![Configured { object: schema, uid: "2".to_owned() }],
    }
}

fn plan_of(number: u64, gates: &mut HashMap<String, Arc<Gate>>, configuration: Configuration) -> Plan {
    let headers = Arc::from([["schema", "level"].map(HeaderName::from_static)]);
    plan::make(number, gates, configuration, 1, Clock(Instant::now()), &headers)
}

fn plan(number: u64) -> Arc<Plan> {
    Arc::new(plan_of(number, &mut HashMap::new(), configuration(many_queues())))
}

#[tokio::test(start_paused = true)]
async fn a_level_that_is_deleted_has_its_requests_until_they_end() {
    let mut gates = HashMap::new();
    let there = || configuration(queues());
    let gone = || Configuration { levels: Vec::new(), schemas: Vec::new() };
    plan_of(0, &mut gates, there());
    let gate = Arc::clone(&gates["l"]);
    let (runs, waits) = (seat(arrive(&gate)), waiting(arrive(&gate)));
    plan_of(1, &mut gates, gone());
    assert!(gates["l"].view().is_quiescing);
    assert_eq!(totals(&gates["l"]).running, 1);
    // It comes back with the same requests, not with new seats.
    plan_of(2, &mut gates, there());
    assert!(Arc::ptr_eq(&gates["l"], &gate) && !gate.view().is_quiescing);
    let third = waiting(arrive(&gates["l"]));
    plan_of(3, &mut gates, gone());
    drop((runs, third));
    let Ok(last) = waits.wait(LONG).await else { panic!("its turn has come") };
    assert!(gate.is_needed());
    drop(last);
    assert!(!gate.is_needed());
    plan_of(4, &mut gates, gone());
    assert!(gates.is_empty());
}

fn user(number: u32) -> Arc<UserInfo> {
    let name = format!("user {number}");
    Arc::new(UserInfo { name, groups: vec!["all".to_owned()], ..UserInfo::default() })
}

#[test]
fn a_connection_remembers_its_last_users() {
    let (users, first, second) = (RememberedUsers::default(), plan(1), plan(2));
    let remembered =
        |number: u32, plan: &Arc<Plan>| users.of(plan.number, &user(number), || Arc::clone(plan));
    let all: Vec<_> = (0..8).map(|number| remembered(number, &first)).collect();
    for _ in 0..2 {
        for (number, known) in (0..).zip(&all) {
            assert!(Arc::ptr_eq(known, &remembered(number, &first)));
        }
    }
    remembered(8, &first);
    assert!(Arc::ptr_eq(&all[1], &remembered(1, &first)));
    assert!(!Arc::ptr_eq(&all[0], &remembered(0, &first)), "it was the one that asked longest ago");
    // Another plan is matched anew.
    let newer = remembered(1, &second);
    assert!(!Arc::ptr_eq(&all[1], &newer));
    assert!(Arc::ptr_eq(&newer, &remembered(1, &second)));
}

#[test]
fn the_queues_of_a_flow_are_those_of_its_namespace() {
    let users = RememberedUsers::default();
    let (plan, user) = (plan(1), user(1));
    let hand = |namespace: &str| {
        let target = Target::Resource { group: "", resource: "pods", subresource: "", namespace };
        let what = What { verb: "get", target };
        let placed = users.of(1, &user, || Arc::clone(&plan)).place(what).expect("there is a schema");
        *placed.hand(what)
    };
    for namespace in ["a", "a", "b", "a", ""] {
        assert_eq!(hand(namespace), Hand::at(many_queues(), flow_hash("s", namespace)), "{namespace}");
    }
}

#[test]
fn answers_say_once_where_their_request_belonged() {
    let (users, plan, user) = (RememberedUsers::default(), plan(1), user(1));
    let what = What { verb: "get", target: Target::Path("/") };
    let placed = users.of(1, &user, || plan).place(what).expect("there is a schema");
    let mut begun = placed.headers().clone();
    begun.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/begun"));
    let mut other = HeaderMap::new();
    other.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    for (headers, content_type) in [(&mut begun, Some("text/begun")), (&mut other, None)] {
        placed.mark(headers);
        assert_eq!((&headers["schema"], &headers["level"]), (&"2".parse().unwrap(), &"1".parse().unwrap()));
        let found = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap());
        assert_eq!(found, content_type);
    }
    assert_eq!(other[header::RETRY_AFTER], "1");
}
