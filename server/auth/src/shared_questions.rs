//! Questions that many ask at the same time, and that are asked once: all of them get the one answer.
//!
//! Whoever comes first asks. If that one goes before the answer is there, another one asks again. Nothing is
//! kept after the answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OnceCell;

use crate::kept_answers::Key;

/// The questions that are being asked, by their digest.
pub(crate) struct SharedQuestions<T> {
    asked: Mutex<HashMap<Key, Arc<OnceCell<T>>>>,
}

/// One who waits for an answer.
struct Waiting<'q, T> {
    questions: &'q SharedQuestions<T>,
    key: Key,
    answer: Arc<OnceCell<T>>,
}

impl<T> Default for SharedQuestions<T> {
    fn default() -> Self {
        SharedQuestions { asked: Mutex::default() }
    }
}

impl<T: Clone> SharedQuestions<T> {
    /// The answer to a question. `ask` is run unless the same question is being asked.
    pub(crate) async fn ask(&self, key: Key, ask: impl Future<Output = T>) -> T {
        let answer = Arc::clone(self.locked().entry(key).or_default());
        let waiting = Waiting { questions: self, key, answer };
        waiting.answer.get_or_init(|| ask).await.clone()
    }
}

impl<T> SharedQuestions<T> {
    fn locked(&self) -> MutexGuard<'_, HashMap<Key, Arc<OnceCell<T>>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        let mut asked = self.questions.locked();
        // The map's and this one's: nobody else waits, and nobody can come while the map is locked. An answer
        // goes with the first who has it, so that whoever comes later asks anew.
        let is_last = Arc::strong_count(&self.answer) == 2 || self.answer.initialized();
        if is_last && asked.get(&self.key).is_some_and(|answer| Arc::ptr_eq(answer, &self.answer)) {
            asked.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::atomic::{AtomicU32, Ordering},
        time::Duration,
    };

    use tokio::time::{sleep, timeout};

    use super::SharedQuestions;

    #[tokio::test]
    async fn those_who_ask_together_get_one_answer() {
        let (questions, asked) = (SharedQuestions::default(), AtomicU32::new(0));
        let ask = |key| {
            questions.ask([key; 32], async {
                sleep(Duration::from_millis(20)).await;
                asked.fetch_add(1, Ordering::Relaxed)
            })
        };
        assert_eq!(tokio::join!(ask(1), ask(1), ask(1)), (0, 0, 0));
        let (one, other) = tokio::join!(ask(1), ask(2));
        assert_ne!(one, other);
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert!(questions.locked().is_empty());
    }

    #[tokio::test]
    async fn another_one_asks_where_the_first_has_gone() {
        let questions = SharedQuestions::default();
        let first = async {
            let asked = questions.ask([1; 32], pending());
            assert!(timeout(Duration::from_millis(20), asked).await.is_err());
        };
        let second = async {
            sleep(Duration::from_millis(1)).await;
            questions.ask([1; 32], async { 7 }).await
        };
        assert_eq!(tokio::join!(first, second).1, 7);
        assert!(questions.locked().is_empty());
        let alone = questions.ask([2; 32], pending());
        assert!(timeout(Duration::from_millis(5), alone).await.is_err());
        assert!(questions.locked().is_empty());
    }
}
