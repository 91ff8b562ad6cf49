//! The events that watches have received, and how late each was.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How long to wait for the next event before the missing ones count as lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// The events of all watches.
#[derive(Default)]
pub struct Heard {
    events: AtomicU64,
    /// Milliseconds from before the write to the delivery.
    latencies: Mutex<Vec<f64>>,
}

impl Heard {
    /// Adds latencies that a listener has measured, and empties the list.
    pub fn tell(&self, latencies: &mut Vec<f64>) {
        if !latencies.is_empty() {
            self.events.fetch_add(latencies.len() as u64, Ordering::Relaxed);
            self.latencies.lock().expect("no listener panics").append(latencies);
        }
    }

    /// Waits until this many events are there, or nothing comes any more.
    pub async fn wait(&self, events: u64) -> bool {
        let mut last = (0, Instant::now());
        while self.events.load(Ordering::Relaxed) < events {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let now = self.events.load(Ordering::Relaxed);
            if now > last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > PATIENCE {
                return false;
            }
        }
        true
    }

    /// Takes the latencies that were told since the last call.
    pub fn take_latencies(&self) -> Vec<f64> {
        std::mem::take(&mut *self.latencies.lock().expect("no listener panics"))
    }
}
