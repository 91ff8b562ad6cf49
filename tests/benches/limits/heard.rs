//! What watches hear, told by the threads that read them.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How long nothing may come before what is missing is given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// What all watches heard.
#[derive(Default)]
pub struct Heard {
    events: AtomicU64,
    /// Milliseconds from before the write to the delivery.
    latencies: Mutex<Vec<f64>>,
}

impl Heard {
    /// Takes over what somebody heard.
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
