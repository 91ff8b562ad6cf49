//! Answers that took time, such as those of other servers, kept for a bounded time and in a bounded number.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use aws_lc_rs::digest::{SHA256, digest};

/// How many are kept.
const MAX_ANSWERS: usize = 8192;

/// A digest of what was asked: memory holds no question, which may have a token.
pub(crate) type Key = [u8; 32];

/// The digest of a question.
pub(crate) fn key(question: &[u8]) -> Key {
    digest(&SHA256, question).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The kept answers.
pub(crate) struct KeptAnswers<T> {
    answers: Mutex<Answers<T>>,
}

struct Answers<T> {
    kept: HashMap<Key, (Instant, T)>,
    /// From the oldest; an entry that was replaced stands here twice.
    order: VecDeque<(Key, Instant)>,
}

impl<T> Default for KeptAnswers<T> {
    fn default() -> Self {
        KeptAnswers { answers: Mutex::new(Answers { kept: HashMap::new(), order: VecDeque::new() }) }
    }
}

impl<T> KeptAnswers<T> {
    /// A panic elsewhere leaves the answers as they are.
    fn locked(&self) -> MutexGuard<'_, Answers<T>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> KeptAnswers<T> {
    /// The answer, if it is still good.
    pub(crate) fn get(&self, key: &Key, now: Instant) -> Option<T> {
        let answers = self.locked();
        answers.kept.get(key).filter(|(until, _)| now < *until).map(|(_, answer)| answer.clone())
    }

    /// Keeps an answer; the oldest ones make room.
    pub(crate) fn keep(&self, key: Key, answer: T, now: Instant, ttl: Duration) {
        let Some(until) = now.checked_add(ttl) else { return };
        let Answers { kept, order, .. } = &mut *self.locked();
        kept.insert(key, (until, answer));
        order.push_back((key, until));
        while order.len() > MAX_ANSWERS {
            let Some((oldest, until)) = order.pop_front() else { break };
            if kept.get(&oldest).is_some_and(|(kept_until, _)| *kept_until == until) {
                kept.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{KeptAnswers, MAX_ANSWERS};

    const TTL: Duration = Duration::from_secs(10);

    #[test]
    fn answers_end() {
        let (answers, now) = (KeptAnswers::default(), Instant::now());
        answers.keep([1; 32], "a", now, TTL);
        assert_eq!(answers.get(&[1; 32], now), Some("a"));
        assert_eq!(answers.get(&[2; 32], now), None);
        assert_eq!(answers.get(&[1; 32], now + TTL), None);
        answers.keep([1; 32], "b", now + TTL, TTL);
        assert_eq!(answers.get(&[1; 32], now + TTL), Some("b"));
    }

    #[test]
    fn the_oldest_make_room() {
        let (answers, now) = (KeptAnswers::default(), Instant::now());
        let key = |number: usize| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            key
        };
        for number in 0..3 * MAX_ANSWERS {
            answers.keep(key(number), (), now, TTL);
        }
        let locked = answers.locked();
        assert_eq!((locked.kept.len(), locked.order.len()), (MAX_ANSWERS, MAX_ANSWERS));
        drop(locked);
        assert!(answers.get(&key(3 * MAX_ANSWERS - 1), now).is_some());
        assert!(answers.get(&key(0), now).is_none());
    }
}
