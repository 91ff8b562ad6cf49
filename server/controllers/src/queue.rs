//! The keys that a controller still has to look at.
//!
//! A key is here at most once: waiting for a worker, waiting for its time, or being worked on. One that is
//! added while it is being worked on waits again afterwards, so no two workers ever have the same key, and no
//! change goes unseen. The queue is plain data; the time is a parameter.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    time::Duration,
};

use orch_storage::Key;
use rand::RngExt;
use tokio::time::Instant;

/// How long a key waits after it failed once; twice as long after each further time.
const SHORTEST_DELAY: Duration = Duration::from_millis(5);
/// It never waits longer than this.
const LONGEST_DELAY: Duration = Duration::from_mins(1);
/// It never waits longer than this after a lost race.
const LONGEST_DELAY_AFTER_RACE: Duration = Duration::from_millis(100);
/// Who loses so many races in a row does not lose races: what is missing stays missing.
const MOST_RACES: u32 = 32;
/// An empty queue keeps room for so many keys.
const KEPT_ROOM: usize = 1024;

/// Keys by what they wait for.
#[derive(Default)]
pub(crate) struct Queue {
    keys: HashMap<Key, Entry>,
    /// Those that wait for a worker, in order.
    ready: VecDeque<Key>,
    /// Those that wait for their time.
    later: BTreeSet<(Instant, Key)>,
    failing: usize,
}

struct Entry {
    state: State,
    /// How often it has failed in a row. Lost races in between do not count, and end no row.
    failures: u32,
    /// How many races it has lost in a row.
    races: u32,
}

#[derive(Clone, Copy)]
enum State {
    Ready { since: Instant },
    Later { due: Instant },
    Working { is_changed: bool },
}

/// How the work at a key ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Again(Duration),
    /// Somebody else changed or removed an object first: the same work on what is there now may succeed.
    LostRace,
    Failed,
}

impl Queue {
    /// Something about the key has changed: it is to be worked on as soon as possible, and once.
    pub(crate) fn add(&mut self, key: Key, now: Instant) {
        let Some(entry) = self.keys.get_mut(&key) else {
            self.keys
                .insert(key.clone(), Entry { state: State::Ready { since: now }, failures: 0, races: 0 });
            self.ready.push_back(key);
            return;
        };
        match entry.state {
            State::Ready { .. } => {}
            State::Working { .. } => entry.state = State::Working { is_changed: true },
            State::Later { due } => {
                entry.state = State::Ready { since: now };
                self.later.remove(&(due, key.clone()));
                self.ready.push_back(key);
            }
        }
    }

    /// Makes the keys ready whose time has come.
    pub(crate) fn wake(&mut self, now: Instant) {
        while self.next_due().is_some_and(|due| due <= now)
            && let Some((_, key)) = self.later.pop_first()
        {
            self.entry(&key).state = State::Ready { since: now };
            self.ready.push_back(key);
        }
    }

    /// The next key for a worker, and how long it has waited for one. The worker calls
    /// [`finish`](Queue::finish).
    pub(crate) fn take(&mut self, now: Instant) -> Option<(Key, Duration)> {
        let key = self.ready.pop_front()?;
        let entry = self.entry(&key);
        let State::Ready { since } = entry.state else {
            unreachable!("a key in the list of ready keys is ready")
        };
        entry.state = State::Working { is_changed: false };
        Some((key, now - since))
    }

    /// The work at a key that was taken has ended; returns how often it has failed in a row. A key that was
    /// added meanwhile is ready at once.
    pub(crate) fn finish(&mut self, key: Key, outcome: Outcome, now: Instant) -> u32 {
        let entry = self.entry(&key);
        let State::Working { is_changed } = entry.state else {
            unreachable!("only a key that was taken is finished")
        };
        let failed_before = entry.failures > 0;
        let outcome = match outcome {
            Outcome::LostRace if entry.races >= MOST_RACES => Outcome::Failed,
            outcome => outcome,
        };
        match outcome {
            Outcome::Done | Outcome::Again(_) => (entry.failures, entry.races) = (0, 0),
            Outcome::LostRace => entry.races += 1,
            Outcome::Failed => entry.failures = entry.failures.saturating_add(1),
        }
        let failures = entry.failures;
        let delay = match outcome {
            _ if is_changed => Some(Duration::ZERO),
            Outcome::Done => None,
            Outcome::Again(delay) => Some(delay),
            Outcome::LostRace => Some(spread(delay_after(entry.races).min(LONGEST_DELAY_AFTER_RACE))),
            Outcome::Failed => Some(spread(delay_after(failures))),
        };
        match delay {
            None => drop(self.keys.remove(&key)),
            Some(Duration::ZERO) => {
                entry.state = State::Ready { since: now };
                self.ready.push_back(key);
            }
            Some(delay) => {
                entry.state = State::Later { due: now + delay };
                self.later.insert((now + delay, key));
            }
        }
        self.failing = self.failing + usize::from(failures > 0) - usize::from(failed_before);
        if self.keys.is_empty() {
            self.keys.shrink_to(KEPT_ROOM);
            self.ready.shrink_to(KEPT_ROOM);
        }
        failures
    }

    /// When [`wake`](Queue::wake) has something to do next.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.later.first().map(|(due, _)| *due)
    }

    /// How many keys wait for a worker.
    pub(crate) fn depth(&self) -> usize {
        self.ready.len()
    }

    /// Since when the first of them waits.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        match self.keys.get(self.ready.front()?)?.state {
            State::Ready { since } => Some(since),
            State::Later { .. } | State::Working { .. } => None,
        }
    }

    /// How many keys failed the last time that they were worked on.
    pub(crate) fn failing(&self) -> usize {
        self.failing
    }

    fn entry(&mut self, key: &Key) -> &mut Entry {
        self.keys.get_mut(key).expect("a key that waits or is worked on has an entry")
    }
}

/// The longest time that a key waits after so many failures, or lost races, in a row.
fn delay_after(times: u32) -> Duration {
    let doublings = times.saturating_sub(1).min(16);
    (SHORTEST_DELAY * (1 << doublings)).min(LONGEST_DELAY)
}

/// Between half of the time and all of it, by chance: what failed together is not tried again together.
fn spread(delay: Duration) -> Duration {
    delay.mul_f64(1.0 - rand::rng().random::<f64>() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn key(name: &str) -> Key {
        Key::new("things".into(), "n", name)
    }

    fn take(queue: &mut Queue, now: Instant) -> Option<Key> {
        queue.wake(now);
        queue.take(now).map(|(key, _)| key)
    }

    #[test]
    fn a_key_waits_once_and_in_order() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for name in ["a", "b", "a", "b", "a"] {
            queue.add(key(name), now);
        }
        assert_eq!((queue.depth(), queue.oldest()), (2, Some(now)));
        assert_eq!(queue.take(now + SECOND), Some((key("a"), SECOND)));
        assert_eq!(queue.take(now), Some((key("b"), Duration::ZERO)));
        assert_eq!((queue.take(now), queue.oldest()), (None, None));
    }

    #[test]
    fn a_key_that_changes_while_it_is_worked_on_waits_again() {
        for outcome in [Outcome::Done, Outcome::Again(SECOND), Outcome::LostRace, Outcome::Failed] {
            let (mut queue, now) = (Queue::default(), Instant::now());
            queue.add(key("a"), now);
            assert_eq!(take(&mut queue, now), Some(key("a")));
            queue.add(key("a"), now);
            queue.add(key("a"), now);
            assert_eq!(take(&mut queue, now), None, "nobody else gets it");
            queue.finish(key("a"), outcome, now);
            assert_eq!(take(&mut queue, now), Some(key("a")), "{outcome:?}");
            queue.finish(key("a"), Outcome::Done, now);
            assert_eq!((take(&mut queue, now), queue.next_due()), (None, None));
        }
    }

    #[test]
    fn a_key_comes_again_when_its_time_has_come_or_earlier_when_it_changes() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for name in ["a", "b"] {
            queue.add(key(name), now);
            queue.take(now);
            queue.finish(key(name), Outcome::Again(SECOND), now);
        }
        assert_eq!(queue.next_due(), Some(now + SECOND));
        assert_eq!(take(&mut queue, now + SECOND / 2), None);
        queue.add(key("b"), now);
        assert_eq!(take(&mut queue, now), Some(key("b")));
        queue.finish(key("b"), Outcome::Done, now);
        assert_eq!(take(&mut queue, now + SECOND), Some(key("a")));
        assert_eq!(take(&mut queue, now + SECOND), None, "its time was forgotten");
        assert_eq!(queue.next_due(), None);
    }

    #[test]
    fn delays_grow_up_to_a_limit_and_are_forgotten_after_a_success() {
        assert_eq!(delay_after(1), SHORTEST_DELAY);
        assert_eq!(delay_after(4), SHORTEST_DELAY * 8);
        assert_eq!(delay_after(u32::MAX), LONGEST_DELAY);
        let (mut queue, mut now) = (Queue::default(), Instant::now());
        queue.add(key("a"), now);
        for failures in 1..=20 {
            assert_eq!(take(&mut queue, now), Some(key("a")));
            assert_eq!(queue.finish(key("a"), Outcome::Failed, now), failures);
            assert_eq!(queue.failing(), 1);
            let due = queue.next_due().expect("it is tried again");
            let longest = delay_after(failures);
            assert!((longest / 2..=longest).contains(&(due - now)), "{failures}");
            now = due;
        }
        assert_eq!(take(&mut queue, now), Some(key("a")));
        assert_eq!(queue.finish(key("a"), Outcome::Done, now), 0);
        assert_eq!((queue.failing(), queue.next_due()), (0, None));
        queue.add(key("a"), now);
        assert_eq!(take(&mut queue, now), Some(key("a")));
        assert_eq!(queue.finish(key("a"), Outcome::Failed, now), 1);
    }

    /// Works at the key until it has ended like this; returns how long it waits then.
    fn work(queue: &mut Queue, now: &mut Instant, outcome: Outcome) -> Duration {
        assert_eq!(take(queue, *now), Some(key("a")));
        queue.finish(key("a"), outcome, *now);
        let due = queue.next_due().expect("it is tried again");
        due - std::mem::replace(now, due)
    }

    #[test]
    fn lost_races_are_tried_again_soon_and_are_no_failures() {
        let (mut queue, mut now) = (Queue::default(), Instant::now());
        queue.add(key("a"), now);
        for _ in 0..6 {
            work(&mut queue, &mut now, Outcome::Failed);
        }
        for races in 1..=MOST_RACES {
            let delay = work(&mut queue, &mut now, Outcome::LostRace);
            let longest = delay_after(races).min(LONGEST_DELAY_AFTER_RACE);
            assert!((longest / 2..=longest).contains(&delay), "{races}: {delay:?}");
        }
        let delay = work(&mut queue, &mut now, Outcome::Failed);
        assert!(delay >= delay_after(7) / 2, "the failures before are not forgotten: {delay:?}");
        let delay = work(&mut queue, &mut now, Outcome::LostRace);
        assert!(delay >= delay_after(8) / 2, "races without an end are failures: {delay:?}");
        work(&mut queue, &mut now, Outcome::Again(SECOND));
        assert_eq!(queue.failing(), 0);
        let delay = work(&mut queue, &mut now, Outcome::LostRace);
        assert!(delay <= SHORTEST_DELAY, "a success makes an end: {delay:?}");
        assert_eq!(queue.failing(), 0);
    }
}
