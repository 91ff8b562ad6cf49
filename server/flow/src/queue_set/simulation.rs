//! Whole levels under a virtual clock: an elephant, who asks for as much as it can, beside mice, who ask now
//! and then.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::dealing::{deal, flow_hash};

const MILLI: Nanos = SECOND / 1000;
/// As many seats as a level of a server with the default flags has.
const SEATS: u32 = 100;
const QUEUING: Queuing = Queuing { queues: 64, hand_size: 6, length_limit: 50 };

/// A client: a number of requests at a time, each again after a pause.
#[derive(Clone, Copy)]
struct Client {
    name: &'static str,
    at_a_time: u32,
    pause: Nanos,
    /// Requests take half as long to twice as long.
    takes: Nanos,
    width: Width,
}

enum Event {
    Comes { client: usize },
    Ends { client: usize, came: Nanos, running: Running },
}

/// What was seen of a client.
#[derive(Default)]
struct Seen {
    times: Vec<Nanos>,
    refused: u32,
}

impl Seen {
    fn percentile(&mut self, percent: usize) -> Nanos {
        self.times.sort_unstable();
        self.times[(self.times.len() - 1) * percent / 100]
    }
}

struct World {
    set: QueueSet<(usize, Nanos)>,
    clients: Vec<Client>,
    events: BinaryHeap<Reverse<(Nanos, u64)>>,
    pending: HashMap<u64, Event>,
    seen: Vec<Seen>,
    random: StdRng,
    number: u64,
}

impl World {
    fn at(&mut self, time: Nanos, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time, self.number)));
        self.pending.insert(self.number, event);
    }

    fn begins(&mut self, now: Nanos, client: usize, came: Nanos, running: Running) {
        let takes = self.clients[client].takes;
        let takes = self.random.random_range(takes / 2..=2 * takes);
        self.at(now + takes, Event::Ends { client, came, running });
    }

    fn happens(&mut self, now: Nanos, event: Event) {
        let again = match event {
            Event::Comes { client } => {
                let Client { name, width, .. } = self.clients[client];
                let hand = deal(flow_hash("s", name), QUEUING.queues, QUEUING.hand_size as usize);
                match self.set.arrive(now, &hand, width, || (client, now)) {
                    Arrival::Runs(running) => {
                        self.begins(now, client, now, running);
                        None
                    }
                    Arrival::Waits(_) => None,
                    Arrival::Refused(_) => {
                        self.seen[client].refused += 1;
                        Some((client, SECOND))
                    }
                }
            }
            Event::Ends { client, came, running } => {
                self.seen[client].times.push(now - came);
                assert_eq!(self.set.finish(now, running), None);
                let pause = self.clients[client].pause;
                Some((client, if pause == 0 { 0 } else { self.random.random_range(pause / 2..=2 * pause) }))
            }
        };
        if let Some((client, pause)) = again {
            self.at(now + pause, Event::Comes { client });
        }
        while let Some(((client, came), running)) = self.set.next(now) {
            self.begins(now, client, came, running);
        }
        let Totals { seats_in_use, waiting, .. } = self.set.totals();
        assert!(seats_in_use <= SEATS);
        assert!(
            seats_in_use == SEATS || waiting == 0 || self.clients.iter().any(|client| client.width.first > 1)
        );
    }
}

/// What clients see in a time.
fn simulate(clients: &[Client], time: Nanos, seed: u64) -> Vec<Seen> {
    let kind = LevelKind::Limited { borrowing_percent: None, queuing: Some(QUEUING) };
    let mut world = World {
        set: QueueSet::new(kind, SEATS, 0),
        clients: clients.to_vec(),
        events: BinaryHeap::new(),
        pending: HashMap::new(),
        seen: clients.iter().map(|_| Seen::default()).collect(),
        random: StdRng::seed_from_u64(seed),
        number: 0,
    };
    for (client, of) in clients.iter().enumerate() {
        for _ in 0..of.at_a_time {
            let begins = world.random.random_range(0..100 * MILLI);
            world.at(begins, Event::Comes { client });
        }
    }
    while let Some(Reverse((now, number))) = world.events.pop()
        && now < time
    {
        let event = world.pending.remove(&number).expect("each event is told once");
        world.happens(now, event);
    }
    world.seen
}

const ELEPHANT: Client =
    Client { name: "elephant", at_a_time: 400, pause: 0, takes: 20 * MILLI, width: Width::ONE };
const MOUSE: Client =
    Client { name: "mouse", at_a_time: 1, pause: 50 * MILLI, takes: 20 * MILLI, width: Width::ONE };

fn seeds() -> [u64; 4] {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    std::array::from_fn(|index| seed.wrapping_add(index as u64))
}

#[test]
fn an_elephant_does_not_keep_mice_waiting() {
    for seed in seeds() {
        let alone = simulate(&[MOUSE], 60 * SECOND, seed).remove(0).percentile(99);
        let mice = ["mouse 1", "mouse 2", "mouse 3"].map(|name| Client { name, ..MOUSE });
        let clients = [&[ELEPHANT][..], &mice].concat();
        let seen = simulate(&clients, 60 * SECOND, seed);
        // The elephant has what the mice leave.
        let answered = seen[0].times.len();
        assert!(answered > 60 * 100 * 1000 / 25 * 7 / 10, "{answered}");
        for mut mouse in seen.into_iter().skip(1) {
            let beside = mouse.percentile(99);
            assert!(mouse.refused == 0 && mouse.times.len() > 500, "{}", mouse.times.len());
            assert!(2 * beside <= 3 * alone, "{beside} ns beside an elephant, {alone} ns alone, seed {seed}");
        }
    }
}

/// Requests that take long, or many seats, do not buy more than a part of the level. Served one by one, in
/// the order in which they come, the three would have 1, 10 and 20 parts of it.
#[test]
fn elephants_share_by_work_not_by_requests() {
    for seed in seeds() {
        let clients = [
            Client { name: "quick", takes: 5 * MILLI, ..ELEPHANT },
            Client { name: "slow", takes: 50 * MILLI, ..ELEPHANT },
            Client { name: "wide", width: Width { first: 5, ..Width::ONE }, ..ELEPHANT },
        ];
        let seen = simulate(&clients, 60 * SECOND, seed);
        let work: Vec<f64> = clients
            .iter()
            .zip(&seen)
            .map(|(client, seen)| {
                seen.times.len() as f64 * client.takes as f64 * f64::from(client.width.first) / SECOND as f64
            })
            .collect();
        let (least, most) =
            (work.iter().copied().fold(f64::MAX, f64::min), work.iter().copied().fold(0.0, f64::max));
        assert!(most / least < 2.0, "{work:?}, seed {seed}");
    }
}
