//! Seats and queues, step by step.

use super::*;
use crate::dealing::deal;

const MILLI: Nanos = SECOND / 1000;

fn limited(queuing: Option<Queuing>) -> LevelKind {
    LevelKind::Limited { borrowing_percent: None, queuing }
}

/// Four queues of two places; a flow has one of them, by its number.
fn queues(limit: u32) -> QueueSet<&'static str> {
    QueueSet::new(limited(Some(Queuing { queues: 4, hand_size: 1, length_limit: 2 })), limit, 0)
}

fn hand(flow: u64) -> Hand {
    deal(flow, 4, 1)
}

fn wide(first: u32) -> Width {
    Width { first, ..Width::ONE }
}

fn running(arrival: Arrival) -> Running {
    match arrival {
        Arrival::Runs(running) => running,
        other => panic!("{other:?}"),
    }
}

fn ticket(arrival: &Arrival) -> Ticket {
    match arrival {
        Arrival::Waits(ticket) => *ticket,
        other => panic!("{other:?}"),
    }
}

/// Everybody who runs now, in order.
fn started(set: &mut QueueSet<&'static str>, now: Nanos) -> Vec<(&'static str, Running)> {
    std::iter::from_fn(|| set.next(now)).collect()
}

fn names(started: &[(&'static str, Running)]) -> Vec<&'static str> {
    started.iter().map(|(name, _)| *name).collect()
}

#[test]
fn an_exempt_level_runs_everything_and_counts_it() {
    let mut set = QueueSet::new(LevelKind::Exempt, 0, 0);
    let all: Vec<Running> = (0..50).map(|flow| running(set.arrive(0, &hand(flow), wide(3), || ()))).collect();
    assert_eq!(set.totals(), Totals { running: 50, seats_in_use: 150, ..Totals::default() });
    for one in all {
        assert_eq!(set.finish(SECOND, one), None);
    }
    assert_eq!(set.totals(), Totals::default());
    let observed = set.take_demand(2 * SECOND);
    assert_eq!((observed.highest, observed.spread), (150, Some((75.0, 75.0))));
}

#[test]
fn without_queues_what_does_not_fit_is_refused() {
    let mut set = QueueSet::new(limited(None), 3, 0);
    let first = running(set.arrive(0, &hand(0), wide(2), || ()));
    assert!(matches!(set.arrive(0, &hand(0), wide(2), || ()), Arrival::Refused(Refusal::ConcurrencyLimit)));
    let second = running(set.arrive(0, &hand(0), Width::ONE, || ()));
    set.finish(0, first);
    set.finish(0, second);
    // What is wider than the level runs alone.
    let third = running(set.arrive(0, &hand(0), wide(9), || ()));
    assert!(matches!(
        set.arrive(0, &hand(0), Width::ONE, || ()),
        Arrival::Refused(Refusal::ConcurrencyLimit)
    ));
    set.finish(0, third);
    let _fourth = running(set.arrive(0, &hand(0), Width::ONE, || ()));
    assert!(matches!(set.arrive(0, &hand(0), wide(9), || ()), Arrival::Refused(Refusal::ConcurrencyLimit)));
}

#[test]
fn nothing_runs_in_a_jail() {
    let mut refusing = QueueSet::new(limited(None), 0, 0);
    assert!(matches!(refusing.arrive(0, &hand(0), Width::ONE, || ()), Arrival::Refused(_)));
    let mut set = queues(0);
    for name in ["a", "b"] {
        ticket(&set.arrive(0, &hand(0), Width::ONE, || name));
    }
    assert!(matches!(set.arrive(0, &hand(0), Width::ONE, || "c"), Arrival::Refused(Refusal::QueueFull)));
    assert!(started(&mut set, SECOND).is_empty());
    set.set_limit(SECOND, 1);
    assert_eq!(names(&started(&mut set, SECOND)), ["a"]);
}

#[test]
fn queues_are_served_in_turn_and_a_full_one_refuses() {
    let mut set = queues(1);
    let first = running(set.arrive(0, &hand(0), Width::ONE, || "first"));
    for (flow, name) in [(1, "a1"), (1, "a2"), (2, "b1"), (3, "c1"), (2, "b2")] {
        ticket(&set.arrive(0, &hand(flow), Width::ONE, || name));
    }
    assert!(matches!(set.arrive(0, &hand(1), Width::ONE, || "a3"), Arrival::Refused(Refusal::QueueFull)));
    assert_eq!(set.totals(), Totals { running: 1, waiting: 5, seats_in_use: 1, seats_wanted: 5 });
    let (mut now, mut order, mut current) = (0, Vec::new(), first);
    loop {
        now += 3 * MILLI;
        set.finish(now, current);
        let mut next = started(&mut set, now);
        assert!(next.len() <= 1);
        let Some((name, running)) = next.pop() else { break };
        order.push(name);
        current = running;
    }
    assert_eq!(order, ["a1", "b1", "c1", "a2", "b2"]);
    assert_eq!((set.totals(), set.active_queues()), (Totals::default(), 0));
}

#[test]
fn a_queue_whose_requests_take_long_waits_for_the_others() {
    let mut set = queues(2);
    let long = running(set.arrive(0, &hand(1), Width::ONE, || "long"));
    let short = running(set.arrive(0, &hand(2), Width::ONE, || "short"));
    for (flow, name) in [(1, "long 2"), (2, "short 2"), (1, "long 3"), (2, "short 3")] {
        ticket(&set.arrive(0, &hand(flow), Width::ONE, || name));
    }
    set.finish(3 * MILLI, short);
    assert_eq!(names(&started(&mut set, 3 * MILLI)), ["long 2"], "until it ends it is taken for a short one");
    set.finish(100 * MILLI, long);
    assert_eq!(names(&started(&mut set, 100 * MILLI)), ["short 2"]);
}

#[test]
fn a_wide_request_waits_until_it_fits_and_nobody_overtakes_it() {
    let mut set = queues(3);
    let first = running(set.arrive(0, &hand(0), wide(2), || "first"));
    ticket(&set.arrive(0, &hand(1), wide(2), || "wide"));
    assert!(started(&mut set, 0).is_empty());
    // Wider than all seats, it runs alone.
    ticket(&set.arrive(0, &hand(2), wide(7), || "widest"));
    assert!(started(&mut set, 0).is_empty());
    set.finish(MILLI, first);
    let mut now = started(&mut set, MILLI);
    assert_eq!(names(&now), ["wide"]);
    set.finish(2 * MILLI, now.remove(0).1);
    assert_eq!(names(&started(&mut set, 2 * MILLI)), ["widest"]);
}

#[test]
fn who_leaves_does_not_run() {
    let mut set = queues(1);
    let first = running(set.arrive(0, &hand(0), Width::ONE, || "first"));
    let [a, b] = ["a", "b"].map(|name| ticket(&set.arrive(0, &hand(1), Width::ONE, || name)));
    assert_eq!(set.leave(MILLI, a), Some("a"));
    assert_eq!(set.leave(MILLI, a), None);
    set.finish(MILLI, first);
    assert_eq!(names(&started(&mut set, MILLI)), ["b"]);
    assert_eq!(set.leave(MILLI, b), None);
}

#[test]
fn seats_of_a_change_are_free_when_it_is_told() {
    let mut set = queues(2);
    let change = Width::of_change(20, 10);
    let first = running(set.arrive(0, &hand(0), change, || "first"));
    ticket(&set.arrive(0, &hand(1), Width::ONE, || "second"));
    assert_eq!(set.finish(MILLI, first), Some(6 * MILLI));
    assert!(started(&mut set, 5 * MILLI).is_empty());
    assert_eq!(names(&started(&mut set, 6 * MILLI)), ["second"]);
    assert_eq!(set.totals(), Totals { running: 1, seats_in_use: 1, ..Totals::default() });
}

#[test]
fn a_flow_takes_the_shortest_queue_of_its_hand() {
    let queuing = Queuing { queues: 64, hand_size: 6, length_limit: 50 };
    let kind = limited(Some(queuing));
    let mut set = QueueSet::new(kind, 1, 0);
    let _first = running(set.arrive(0, &Hand::at(kind, 0), Width::ONE, || ()));
    for _ in 0..12 {
        ticket(&set.arrive(0, &Hand::at(kind, 12345), Width::ONE, || ()));
    }
    let mut lengths: Vec<usize> =
        set.queues().filter(|queue| queue.waiting > 0).map(|queue| queue.waiting).collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [2; 6]);
    assert_eq!(set.waiting().count(), 12);
}

/// Where queues have high numbers, what is held and looked through is that of requests.
#[test]
fn memory_is_that_of_requests_not_of_queues() {
    let queuing = Queuing { queues: 10_000_000, hand_size: 2, length_limit: 50 };
    let kind = limited(Some(queuing));
    let mut set = QueueSet::new(kind, 1, 0);
    let mut running = running(set.arrive(0, &Hand::at(kind, 0), Width::ONE, || 0));
    for flow in 1..1000 {
        ticket(&set.arrive(0, &Hand::at(kind, flow * 7_777_777), Width::ONE, || flow));
    }
    assert!(set.active_queues() <= 1000);
    for now in 1..1000 {
        set.finish(now * MILLI, running);
        running = set.next(now * MILLI).expect("somebody waits").1;
    }
    set.finish(SECOND, running);
    assert_eq!((set.active_queues(), set.totals()), (0, Totals::default()));
}
