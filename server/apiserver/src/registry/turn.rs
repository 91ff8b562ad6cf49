//! Turns at one object: writers that lost a race queue up instead of racing again.
//!
//! A write is computed from the object as it is and fails when another write comes between. With many writers at one
//! object each commit would make all others compute again. So whoever lost once waits for its turn, and whoever comes
//! while somebody has the turn waits from the beginning. Where nobody races nothing is waited for.

use std::{collections::hash_map::RandomState, hash::BuildHasher as _, sync::LazyLock};

use orch_storage::Key;
use tokio::sync::{Mutex, MutexGuard};

/// More lost races in a row than this mean that something is wrong; each costs one commit of somebody else.
pub const MAX_ATTEMPTS: usize = 256;

/// Objects share this many queues; two that share one only wait for each other.
const QUEUES: u64 = 1024;

static TURNS: LazyLock<(RandomState, Vec<Mutex<()>>)> =
    LazyLock::new(|| (RandomState::new(), (0..QUEUES).map(|_| Mutex::new(())).collect()));

/// The place of one writer in the queue of its object.
pub struct Turn {
    queue: &'static Mutex<()>,
    held: Option<MutexGuard<'static, ()>>,
    lost: bool,
}

impl Turn {
    /// A writer that has not tried yet.
    pub fn at(key: &Key) -> Self {
        let (hasher, queues) = &*TURNS;
        let index = usize::try_from(hasher.hash_one(key) % QUEUES).expect("below the number of queues");
        Turn { queue: &queues[index], held: None, lost: false }
    }

    /// Waits until it makes sense to try.
    pub async fn wait(&mut self) {
        if self.held.is_none() && (self.lost || self.queue.try_lock().is_err()) {
            self.held = Some(self.queue.lock().await);
        }
    }

    /// Somebody else's write came first.
    pub fn lost(&mut self) {
        self.lost = true;
    }

    /// Lets the others go on.
    pub fn leave(&mut self) {
        self.held = None;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn only_losers_and_those_who_meet_them_wait() {
        let key = Key::new(orch_storage::ResourceName::new("turns.test"), "", "a");
        let (mut first, mut second) = (Turn::at(&key), Turn::at(&key));
        assert!(first.wait().now_or_never().is_some() && second.wait().now_or_never().is_some());
        second.lost();
        assert!(second.wait().now_or_never().is_some());
        let mut third = Turn::at(&key);
        assert!(third.wait().now_or_never().is_none());
        drop(second);
        assert!(third.wait().now_or_never().is_some());
    }
}
