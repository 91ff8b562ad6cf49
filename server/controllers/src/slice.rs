//! Long loops of controllers run in slices: others have their turn in between, requests among them. How long
//! one round of a loop takes may be up to clients, who make large objects.

use std::time::{Duration, Instant};

use tokio::task::yield_now;

/// After so long others have their turn.
const LENGTH: Duration = Duration::from_millis(1);

/// The time since others had their turn.
pub(crate) struct Slice {
    begun: Instant,
}

impl Slice {
    /// Begins now.
    pub(crate) fn begin() -> Self {
        Slice { begun: Instant::now() }
    }

    /// Lets others have their turn, if it is time. To be called in each round of a loop.
    pub(crate) async fn next(&mut self) {
        if self.begun.elapsed() >= LENGTH {
            yield_now().await;
            self.begun = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        hint::spin_loop,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use super::*;

    #[tokio::test]
    async fn others_run_between_slices() {
        let turns = AtomicUsize::new(0);
        let work = async {
            let mut slice = Slice::begin();
            for _ in 0..10 {
                let begun = Instant::now();
                while begun.elapsed() < LENGTH {
                    spin_loop();
                }
                slice.next().await;
            }
        };
        let others = async {
            loop {
                turns.fetch_add(1, Relaxed);
                yield_now().await;
            }
        };
        tokio::select! { biased; () = work => {}, () = others => {} }
        assert_eq!(turns.load(Relaxed), 10);
    }
}
