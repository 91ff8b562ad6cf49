//! Answers that are kept, for a bounded time and in a bounded number.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use aws_lc_rs::digest::{SHA256, digest};

use super::review::Status;

/// How many are kept.
const MAX_ANSWERS: usize = 8192;

/// A digest of what was asked.
pub(super) type Key = [u8; 32];

/// The digest of a question.
pub(super) fn key(spec: &serde_json::Value) -> Key {
    let digest = digest(&SHA256, spec.to_string().as_bytes());
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The kept answers.
#[derive(Default)]
pub(super) struct Answers {
    kept: HashMap<Key, (Instant, Status)>,
    /// From the oldest; an entry that was replaced stands here twice.
    order: VecDeque<(Key, Instant)>,
}

impl Answers {
    /// The answer, if it is still good.
    pub(super) fn get(&self, key: &Key, now: Instant) -> Option<Status> {
        self.kept.get(key).filter(|(until, _)| now < *until).map(|(_, status)| status.clone())
    }

    /// Keeps an answer; the oldest ones make room.
    pub(super) fn keep(&mut self, key: Key, status: Status, now: Instant, ttl: Duration) {
        let Some(until) = now.checked_add(ttl) else { return };
        self.kept.insert(key, (until, status));
        self.order.push_back((key, until));
        while self.order.len() > MAX_ANSWERS {
            let Some((oldest, until)) = self.order.pop_front() else { break };
            if self.kept.get(&oldest).is_some_and(|(kept_until, _)| *kept_until == until) {
                self.kept.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Answers, MAX_ANSWERS, Status};

    const TTL: Duration = Duration::from_secs(10);

    fn status(reason: &str) -> Status {
        Status { allowed: true, denied: false, reason: reason.to_owned() }
    }

    #[test]
    fn answers_end() {
        let (mut answers, now) = (Answers::default(), Instant::now());
        answers.keep([1; 32], status("a"), now, TTL);
        assert_eq!(answers.get(&[1; 32], now), Some(status("a")));
        assert_eq!(answers.get(&[2; 32], now), None);
        assert_eq!(answers.get(&[1; 32], now + TTL), None);
        answers.keep([1; 32], status("b"), now + TTL, TTL);
        assert_eq!(answers.get(&[1; 32], now + TTL), Some(status("b")));
    }

    #[test]
    fn the_oldest_make_room() {
        let (mut answers, now) = (Answers::default(), Instant::now());
        let key = |number: usize| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            key
        };
        for number in 0..3 * MAX_ANSWERS {
            answers.keep(key(number), status(""), now, TTL);
        }
        assert_eq!((answers.kept.len(), answers.order.len()), (MAX_ANSWERS, MAX_ANSWERS));
        assert!(answers.get(&key(3 * MAX_ANSWERS - 1), now).is_some());
        assert!(answers.get(&key(0), now).is_none());
    }
}
