//! Runs many streams in one task: a round polls each stream that was woken, once.
//!
//! A future may wake itself while it is polled, and HTTP/2 streams do: handing over data tells a stream that
//! there is room for more. `FuturesUnordered` ends its round after two of those, to be fair to others, so the
//! connection would get the data of two watches at a time. Here a stream that is woken during a round is
//! polled in the next one, and the round goes on with the others. A stream that has looked for news since it
//! was woken ([`StreamState::take_wake`]) is not polled again.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Wake, Waker},
};

use futures_util::task::AtomicWaker;

use crate::http2::stream_state::StreamState;

/// A stream that runs until it is answered.
pub type StreamFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The streams of one task.
#[derive(Default)]
pub struct StreamScheduler {
    /// By slot; none where the slot is free.
    streams: Vec<Option<(StreamFuture, Arc<StreamState>, Waker)>>,
    free_slots: Vec<usize>,
    woken: Arc<WokenStreams>,
    /// The slots of the next round, without those in `woken`: between rounds, the new streams.
    round: Vec<usize>,
}

/// The slots of streams that were woken since the last round, and the task that runs the next one.
#[derive(Default)]
struct WokenStreams {
    slots: Mutex<Vec<usize>>,
    task: AtomicWaker,
}

/// Wakes the stream of a slot. It may outlive its stream. Then the slot may belong to another stream, which
/// is not polled, because its own state says that nothing woke it.
struct StreamWaker {
    slot: usize,
    state: Arc<StreamState>,
    woken: Arc<WokenStreams>,
}

impl StreamScheduler {
    /// Adds a stream, which is polled in the next round.
    pub fn push(&mut self, stream: StreamFuture, state: Arc<StreamState>) {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.streams.push(None);
            self.streams.len() - 1
        });
        state.wake();
        self.round.push(slot);
        let woken = Arc::clone(&self.woken);
        let waker = Waker::from(Arc::new(StreamWaker { slot, state: Arc::clone(&state), woken }));
        self.streams[slot] = Some((stream, state, waker));
    }

    /// Polls the streams that were woken since the last round, and drops those that end. Whether there were
    /// any. The task of `context` is woken for the next round.
    pub fn run_round(&mut self, context: &Context<'_>) -> bool {
        self.woken.task.register(context.waker());
        self.round.append(&mut self.woken.lock());
        let mut polled = false;
        for slot in self.round.drain(..) {
            let Some((stream, state, waker)) = &mut self.streams[slot] else { continue };
            if !state.take_wake() {
                continue;
            }
            polled = true;
            if stream.as_mut().poll(&mut Context::from_waker(waker)).is_ready() {
                self.streams[slot] = None;
                self.free_slots.push(slot);
            }
        }
        polled
    }
}

impl WokenStreams {
    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.state.wake() {
            return;
        }
        let mut slots = self.woken.lock();
        slots.push(self.slot);
        let is_first = slots.len() == 1;
        drop(slots);
        if is_first {
            self.woken.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        sync::atomic::{AtomicUsize, Ordering},
        task::Poll,
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Count {
        fn get(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }

        fn add(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.add();
        }
    }

    /// Adds a stream that counts how often it is polled, and then does as told.
    fn push(
        scheduler: &mut StreamScheduler,
        polls: &Arc<Count>,
        mut then: impl FnMut(usize, &StreamState, &Context<'_>) -> Poll<()> + Send + 'static,
    ) {
        let (polls, state) = (Arc::clone(polls), Arc::new(StreamState::default()));
        let its_state = Arc::clone(&state);
        let stream = poll_fn(move |context| {
            polls.add();
            then(polls.get(), &its_state, context)
        });
        scheduler.push(Box::pin(stream), state);
    }

    #[test]
    fn a_round_polls_each_woken_stream_once_though_streams_wake_themselves() {
        let task = Arc::new(Count::default());
        let waker = Arc::clone(&task).into();
        let context = Context::from_waker(&waker);
        let polls: Vec<Arc<Count>> = (0..5).map(|_| Arc::default()).collect();
        let mut scheduler = StreamScheduler::default();
        for polls in &polls {
            push(&mut scheduler, polls, |polled, _, context| {
                if polled < 3 {
                    context.waker().wake_by_ref();
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            });
        }
        for round in 1..=5 {
            let woken = task.get();
            assert_eq!(scheduler.run_round(&context), round <= 3);
            assert!(polls.iter().all(|polls| polls.get() == round.min(3)));
            assert_eq!(task.get() - woken, usize::from(round < 3), "one wake-up is enough for a round");
        }
    }

    #[test]
    fn a_stream_that_has_looked_for_news_is_not_polled_again() {
        let waker = Waker::noop();
        let context = Context::from_waker(waker);
        let polls: Arc<Count> = Arc::default();
        let mut scheduler = StreamScheduler::default();
        push(&mut scheduler, &polls, |polled, state, context| {
            context.waker().wake_by_ref();
            state.take_wake();
            if polled == 1 {
                // What comes after it has looked is not lost.
                context.waker().wake_by_ref();
            }
            Poll::Pending
        });
        for polled in [1, 2, 2] {
            scheduler.run_round(&context);
            assert_eq!(polls.get(), polled);
        }
    }

    #[test]
    fn the_first_woken_stream_of_a_round_wakes_the_task() {
        let task = Arc::new(Count::default());
        let waker = Arc::clone(&task).into();
        let context = Context::from_waker(&waker);
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let polls: Arc<Count> = Arc::default();
        let mut scheduler = StreamScheduler::default();
        for _ in 0..3 {
            let wakers = Arc::clone(&wakers);
            push(&mut scheduler, &polls, move |_, _, context| {
                wakers.lock().unwrap().push(context.waker().clone());
                Poll::Pending
            });
        }
        scheduler.run_round(&context);
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        assert_eq!((task.get(), polls.get()), (0, 3));
        for slot in [2, 0, 2] {
            wakers[slot].wake_by_ref();
        }
        assert_eq!(task.get(), 1);
        scheduler.run_round(&context);
        assert_eq!(polls.get(), 5);
        wakers[1].wake_by_ref();
        assert_eq!(task.get(), 2);
    }

    #[test]
    fn a_stream_that_ends_is_dropped_and_its_slot_is_used_again() {
        let context = Context::from_waker(Waker::noop());
        let old: Arc<Mutex<Option<Waker>>> = Arc::default();
        let (first, second): (Arc<Count>, Arc<Count>) = Default::default();
        let mut scheduler = StreamScheduler::default();
        let kept = Arc::clone(&old);
        push(&mut scheduler, &first, move |_, _, context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Ready(())
        });
        scheduler.run_round(&context);
        push(&mut scheduler, &second, |_, _, _| Poll::Pending);
        scheduler.run_round(&context);
        assert_eq!((first.get(), second.get(), scheduler.streams.len()), (1, 1, 1));
        // The waker of the first stream does not wake the second.
        old.lock().unwrap().take().expect("it was polled").wake();
        scheduler.run_round(&context);
        assert_eq!((first.get(), second.get()), (1, 1));
    }
}
