//! Whether answers to many clients at once can be explained by one object that takes one request at a time:
//! linearizability, by the search of Wing and Gong with the memory of Lowe ("Testing for linearizability",
//! 2017). Objects are judged one by one, which is enough because each is linearizable for itself (Herlihy
//! and Wing, 1990).
//!
//! An object is a register that is created, replaced on the condition of its version, removed, and read.
//! Versions rise with each write. A write without an answer may have happened, at any time since, or never.

use std::collections::{HashMap, HashSet};

/// What was asked. A value belongs to one write only, so that a read tells which one it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Reads the newest state.
    Read,
    /// Creates the object, which must not be there.
    Create(u64),
    /// Gives the object of this version another value.
    Replace(u64, u64),
    /// Removes the object of this version.
    Remove(u64),
}

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The read found this version and value.
    Found(u64, u64),
    /// There is no such object: to a read, and to a write that needs one.
    Missing,
    /// The write is made, and has this version; that of a removal is not told.
    Made(Option<u64>),
    /// The object is there already, or has another version.
    Conflict,
    /// Nobody knows whether the write is made.
    Unknown,
}

/// One request and its answer. Times are in any unit; where the answer is unknown, the end means nothing.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The object.
    pub key: u64,
    /// The request.
    pub call: Call,
    /// The answer.
    pub answer: Answer,
    /// When it was sent.
    pub start: u64,
    /// When the answer had come.
    pub end: u64,
}

/// The state of one object between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The value, and the version where it is known.
    value: Option<(u64, Option<u64>)>,
    /// No version up to this one can come again.
    newest: u64,
}

/// The keys of the objects whose answers nothing explains, each with its operations in order.
pub fn violations(operations: &[Operation]) -> Vec<(u64, Vec<Operation>)> {
    let mut by_key: HashMap<u64, Vec<Operation>> = HashMap::new();
    for operation in operations {
        by_key.entry(operation.key).or_default().push(*operation);
    }
    let mut found: Vec<_> = by_key.into_iter().filter(|(_, operations)| !is_explained(operations)).collect();
    for (_, operations) in &mut found {
        operations.sort_by_key(|operation| operation.start);
    }
    found.sort_by_key(|(key, _)| *key);
    found
}

/// The state after a request, if the answer fits the state before.
fn step(state: State, call: Call, answer: Answer) -> Option<State> {
    let written = |value: Option<u64>, version: Option<u64>| {
        let rises = version.is_none_or(|version| version > state.newest);
        let newest = version.unwrap_or(state.newest);
        rises.then_some(State { value: value.map(|value| (value, version)), newest })
    };
    match (call, answer, state.value) {
        (_, Answer::Missing, found) => (found.is_none() && !matches!(call, Call::Create(_))).then_some(state),
        (Call::Read, Answer::Found(version, value), Some((now, known))) => {
            let fits = now == value && known.map_or(version > state.newest, |known| known == version);
            fits.then(|| State { value: Some((value, Some(version))), newest: state.newest.max(version) })
        }
        (Call::Create(value), Answer::Made(version), None) => written(Some(value), version),
        (Call::Create(value), Answer::Unknown, None) => written(Some(value), None),
        (Call::Create(_), Answer::Conflict, Some(_)) => Some(state),
        (Call::Replace(expected, _) | Call::Remove(expected), answer, Some((now, known))) => {
            // Somebody who names a version has read it. The state may have had it without an answer.
            let may_fit = known.map_or(expected > state.newest, |known| known == expected);
            let before = State { value: Some((now, Some(expected))), newest: state.newest.max(expected) };
            let value = if let Call::Replace(_, value) = call { Some(value) } else { None };
            match answer {
                Answer::Conflict => (known != Some(expected)).then_some(state),
                Answer::Made(version) if may_fit => {
                    let rises = version.is_none_or(|version| version > before.newest);
                    let newest = version.unwrap_or(before.newest);
                    rises.then_some(State { value: value.map(|value| (value, version)), newest })
                }
                Answer::Unknown if may_fit => {
                    Some(State { value: value.map(|value| (value, None)), newest: before.newest })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// A request that begins, or its answer that has come.
#[derive(Clone, Copy)]
struct Event {
    operation: usize,
    is_answer: bool,
}

/// Timeline in the order of time, as a list from which operations are taken out and put in again.
struct Timeline {
    events: Vec<Event>,
    next: Vec<usize>,
    before: Vec<usize>,
    /// Where the answer of each operation is; none where it is unknown.
    answers: Vec<Option<usize>>,
}

impl Timeline {
    fn of(operations: &[Operation]) -> Self {
        let mut timed = Vec::new();
        for (operation, Operation { start, end, answer, .. }) in operations.iter().enumerate() {
            timed.push((*start, false, operation));
            if *answer != Answer::Unknown {
                timed.push((*end, true, operation));
            }
        }
        // What happens at one instant may be at once: requests come first.
        timed.sort_unstable();
        let mut events = vec![Event { operation: usize::MAX, is_answer: false }];
        let mut answers = vec![None; operations.len()];
        for (_, is_answer, operation) in timed {
            if is_answer {
                answers[operation] = Some(events.len());
            }
            events.push(Event { operation, is_answer });
        }
        // The first is no event; it is also what comes after the last one.
        let count = events.len();
        let next = (0..count).map(|at| (at + 1) % count).collect();
        let before = (0..count).map(|at| (at + count - 1) % count).collect();
        Self { events, next, before, answers }
    }

    fn take_out(&mut self, at: usize) {
        for at in [Some(at), self.answers[self.events[at].operation]].into_iter().flatten() {
            let (before, next) = (self.before[at], self.next[at]);
            (self.next[before], self.before[next]) = (next, before);
        }
    }

    /// Undoes the last [`Self::take_out`] that is not undone.
    fn put_in(&mut self, at: usize) {
        for at in [self.answers[self.events[at].operation], Some(at)].into_iter().flatten() {
            let (before, next) = (self.before[at], self.next[at]);
            (self.next[before], self.before[next]) = (at, at);
        }
    }
}

/// Whether some order of the operations of one object explains all answers.
fn is_explained(operations: &[Operation]) -> bool {
    let mut events = Timeline::of(operations);
    let mut open = operations.iter().filter(|operation| operation.answer != Answer::Unknown).count();
    let mut state = State { value: None, newest: 0 };
    let mut done = vec![0_u64; operations.len().div_ceil(64)];
    let mut seen = HashSet::from([(done.clone(), state)]);
    let mut taken: Vec<(usize, State)> = Vec::new();
    let mut at = events.next[0];
    while open > 0 {
        let Event { operation, is_answer } = events.events[at];
        if !is_answer {
            let Operation { call, answer, .. } = operations[operation];
            let bit = 1 << (operation % 64);
            if let Some(after) = step(state, call, answer) {
                done[operation / 64] |= bit;
                if seen.insert((done.clone(), after)) {
                    taken.push((at, state));
                    state = after;
                    open -= usize::from(answer != Answer::Unknown);
                    events.take_out(at);
                    at = events.next[0];
                    continue;
                }
                done[operation / 64] &= !bit;
            }
            at = events.next[at];
            continue;
        }
        // This answer has come, and its request is nowhere before it.
        let Some((last, before)) = taken.pop() else { return false };
        let operation = events.events[last].operation;
        (state, done[operation / 64]) = (before, done[operation / 64] & !(1 << (operation % 64)));
        open += usize::from(operations[operation].answer != Answer::Unknown);
        events.put_in(last);
        at = events.next[last];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Answer::*, Call::*, *};
    use crate::seed;
    use rand::RngExt;

    fn history(steps: &[(Call, Answer, u64, u64)]) -> Vec<Operation> {
        let operation = |(call, answer, start, end): &_| Operation {
            key: 1,
            call: *call,
            answer: *answer,
            start: *start,
            end: *end,
        };
        steps.iter().map(operation).collect()
    }

    #[test]
    fn what_one_object_can_answer_is_explained() {
        for (what, steps) in [
            ("in turn", vec![(Create(7), Made(Some(3)), 0, 1), (Read, Found(3, 7), 2, 3)]),
            (
                "at once",
                vec![(Create(7), Made(Some(3)), 0, 9), (Read, Missing, 1, 2), (Read, Found(3, 7), 3, 4)],
            ),
            ("one of two", vec![(Create(7), Made(Some(3)), 0, 9), (Create(8), Conflict, 0, 9)]),
            (
                "unknown and made",
                vec![(Create(7), Unknown, 0, 1), (Read, Missing, 2, 3), (Read, Found(5, 7), 4, 5)],
            ),
            ("unknown and never made", vec![(Create(7), Unknown, 0, 1), (Read, Missing, 2, 3)]),
            (
                "replaced after an unknown write",
                vec![
                    (Create(7), Unknown, 0, 1),
                    (Read, Found(5, 7), 2, 3),
                    (Replace(5, 8), Made(Some(6)), 4, 5),
                    (Replace(5, 9), Conflict, 6, 7),
                    (Remove(6), Made(None), 8, 9),
                    (Read, Missing, 10, 11),
                    (Remove(6), Missing, 12, 13),
                ],
            ),
        ] {
            assert!(violations(&history(&steps)).is_empty(), "{what}");
        }
    }

    #[test]
    fn what_it_cannot_answer_is_found() {
        for (what, steps) in [
            ("lost", vec![(Create(7), Made(Some(3)), 0, 1), (Read, Missing, 2, 3)]),
            (
                "stale",
                vec![
                    (Create(7), Made(Some(3)), 0, 1),
                    (Replace(3, 8), Made(Some(4)), 2, 3),
                    (Read, Found(3, 7), 4, 5),
                ],
            ),
            (
                "back in time",
                vec![(Create(7), Made(Some(3)), 0, 9), (Read, Found(3, 7), 1, 2), (Read, Missing, 3, 4)],
            ),
            (
                "two winners",
                vec![
                    (Create(7), Made(Some(3)), 0, 1),
                    (Replace(3, 8), Made(Some(4)), 2, 9),
                    (Replace(3, 9), Made(Some(5)), 2, 9),
                ],
            ),
            ("a version twice", vec![(Create(7), Made(Some(3)), 0, 1), (Replace(3, 8), Made(Some(3)), 2, 3)]),
            (
                "a version that falls",
                vec![
                    (Create(7), Made(Some(3)), 0, 1),
                    (Remove(3), Made(None), 2, 3),
                    (Create(8), Made(Some(2)), 4, 5),
                ],
            ),
            (
                "made twice",
                vec![
                    (Create(7), Unknown, 0, 1),
                    (Read, Found(5, 7), 2, 3),
                    (Remove(5), Made(None), 4, 5),
                    (Read, Found(8, 7), 6, 7),
                ],
            ),
            ("refused without a reason", vec![(Create(7), Conflict, 0, 1)]),
            ("out of nothing", vec![(Create(7), Unknown, 5, 6), (Read, Found(3, 7), 1, 2)]),
        ] {
            assert_eq!(violations(&history(&steps)).len(), 1, "{what}");
        }
    }

    /// Answers of an object that takes one request at a time, at a random instant of each; some are lost.
    fn played(random: &mut impl RngExt, count: u64) -> Vec<Operation> {
        let (mut object, mut versions): (Option<(u64, u64)>, u64) = (None, 0);
        let mut operations = Vec::new();
        for index in 0..count {
            let at = 10 * index + 40;
            let expected =
                object.map_or(versions, |(version, _)| version) - random.random_range(0..2).min(versions);
            let call = match random.random_range(0..4) {
                0 => Read,
                1 => Create(index),
                2 => Replace(expected, index),
                _ => Remove(expected),
            };
            let (fits, value) = match (call, object) {
                (Create(value), None) => (true, Some(value)),
                (Replace(expected, value), Some((version, _))) => (expected == version, Some(value)),
                (Remove(expected), Some((version, _))) => (expected == version, None),
                _ => (false, None),
            };
            let mut answer = match (call, object) {
                (Read, Some((version, value))) => Found(version, value),
                _ if fits => {
                    versions += 1;
                    object = value.map(|value| (versions, value));
                    Made(value.map(|_| versions))
                }
                (Create(_), _) | (_, Some(_)) => Conflict,
                (_, None) => Missing,
            };
            let (start, end) = (at - random.random_range(0..40), at + random.random_range(0..40));
            if matches!(answer, Made(_)) && random.random_range(0..20) == 0 {
                answer = Unknown;
            }
            operations.push(Operation { key: 1, call, answer, start, end });
        }
        operations
    }

    /// A violation that is planted into a long history is found, and the history without it is not blamed.
    #[test]
    fn planted_violations_are_found_in_long_histories() {
        let mut random = seed::generator("planted violations");
        for _ in 0..20 {
            let mut operations = played(&mut random, 300);
            assert!(violations(&operations).is_empty(), "{operations:?}");
            // Of a write whose version is not known, a read may tell any.
            let known = |value: u64| matches!(operations[value as usize].answer, Made(Some(_)));
            let of_known = |answer| matches!(answer, Found(_, value) if known(value));
            let reads: Vec<usize> =
                (0..operations.len()).filter(|index| of_known(operations[*index].answer)).collect();
            let read = &mut operations[reads[random.random_range(0..reads.len())]];
            let Found(version, value) = read.answer else { unreachable!("it was looked for") };
            read.answer = match random.random_range(0..3) {
                0 => Found(version, value + 1000),
                1 => Found(version + 1000, value),
                _ => Found(version - 1, value),
            };
            assert_eq!(violations(&operations).len(), 1, "{operations:?}");
        }
    }
}
