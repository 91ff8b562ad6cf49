//! The buffer before a backend.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::{mpsc, oneshot};

use crate::counters::{Counters, Plugin};

/// The most that events in a buffer may take, in bytes, however few they are.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What a worker takes out of a buffer.
#[derive(Debug)]
pub(super) enum Entry {
    /// An event, and who waits for it.
    Event(Buffered),
    /// Somebody waits until everything before this is delivered.
    Flush(oneshot::Sender<()>),
}

/// The text of an event in a buffer. Its bytes count until it is dropped.
#[derive(Debug)]
pub(super) struct Buffered {
    pub(super) text: Vec<u8>,
    /// Is told whether the event was recorded.
    pub(super) told: Option<oneshot::Sender<bool>>,
    bytes: Arc<AtomicUsize>,
}

/// The end at which events go in.
#[derive(Debug)]
pub(super) struct Queue {
    sender: mpsc::Sender<Entry>,
    bytes: Arc<AtomicUsize>,
    counters: Arc<Counters>,
}

impl Queue {
    /// A buffer for so many events, and the end at which they come out.
    pub(super) fn new(events: usize, counters: &Arc<Counters>) -> (Self, mpsc::Receiver<Entry>) {
        let (sender, receiver) = mpsc::channel(events.max(1));
        (Queue { sender, bytes: Arc::default(), counters: Arc::clone(counters) }, receiver)
    }

    /// Puts an event in. One that does not fit is lost and counted.
    pub(super) fn push(&self, text: Vec<u8>, told: Option<oneshot::Sender<bool>>) -> bool {
        let size = text.capacity();
        // An event that is larger than the buffer fits into an empty one.
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        let buffered = Buffered { text, told, bytes: Arc::clone(&self.bytes) };
        let fits = before == 0 || before + size <= MAX_BYTES;
        let is_in = fits && self.sender.try_send(Entry::Event(buffered)).is_ok();
        if !is_in {
            self.counters.lost(Plugin::Buffered, 1);
        }
        is_in
    }

    /// Waits until everything that is in the buffer now is delivered.
    pub(super) async fn flush(&self) {
        let (told, flushed) = oneshot::channel();
        if self.sender.send(Entry::Flush(told)).await.is_ok() {
            // A worker that is gone has nothing left to deliver.
            let _ = flushed.await;
        }
    }
}

impl Buffered {
    /// Tells who waits for the event.
    pub(super) fn tell(mut self, is_recorded: bool) {
        if let Some(told) = self.told.take() {
            // The request may have ended meanwhile.
            let _ = told.send(is_recorded);
        }
    }
}

impl Drop for Buffered {
    fn drop(&mut self) {
        self.bytes.fetch_sub(self.text.capacity(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_bounded_in_events_and_in_bytes() {
        let counters = Arc::new(Counters::default());
        let (queue, mut receiver) = Queue::new(2, &counters);
        let small = || b"{}".to_vec();
        assert!(queue.push(small(), None) && queue.push(small(), None));
        assert!(!queue.push(small(), None));
        assert_eq!(counters.errors(Plugin::Buffered), 1);
        while receiver.try_recv().is_ok() {}
        assert_eq!(queue.bytes.load(Ordering::Relaxed), 0);

        assert!(queue.push(vec![b' '; MAX_BYTES + 1], None), "into an empty buffer");
        assert!(!queue.push(small(), None));
        drop(receiver.try_recv().unwrap());
        assert!(queue.push(small(), None));
        assert_eq!(counters.errors(Plugin::Buffered), 2);
    }
}
