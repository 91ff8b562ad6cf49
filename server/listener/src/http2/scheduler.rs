//! Futures that take turns: in a turn each one that was woken is polled once.
//!
//! A future may wake itself while it is polled, and the streams of HTTP/2 do: data that is handed over tells its stream
//! that there is room for more. A set of futures that ends its turn when it sees that would give the connection the data of two
//! watches at a time. Here whoever is woken in a turn is polled in the next one, and the turn goes on with the others. A member
//! that has looked at everything since it was woken can say so ([`Awake::looks`]), and need not come back.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Wake, Waker},
};

use futures_util::task::AtomicWaker;

use crate::listener::pace::Pace;

/// What takes turns.
pub type Member = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Futures and their turns.
#[derive(Default)]
pub struct Turns {
    /// By seat; none where nobody sits.
    members: Vec<Option<(Member, Arc<Pace>, Waker)>>,
    free: Vec<usize>,
    woken: Arc<Woken>,
    /// The seats of the next turn, but for those that are woken.
    turn: Vec<usize>,
}

/// Whether a member was woken and has not looked since.
#[derive(Debug, Default)]
pub struct Awake(AtomicBool);

/// Seats whose members were woken since the last turn, and the task that takes the next one.
#[derive(Default)]
struct Woken {
    seats: Mutex<Vec<usize>>,
    task: AtomicWaker,
}

/// What wakes a member. It may outlive it; then it wakes nobody.
struct Seat {
    number: usize,
    pace: Arc<Pace>,
    woken: Arc<Woken>,
}

impl Turns {
    /// One more, which is polled in the next turn.
    pub fn push(&mut self, member: Member, pace: Arc<Pace>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.members.push(None);
            self.members.len() - 1
        });
        pace.awake.set();
        self.turn.push(number);
        let woken = Arc::clone(&self.woken);
        let waker = Waker::from(Arc::new(Seat { number, pace: Arc::clone(&pace), woken }));
        self.members[number] = Some((member, pace, waker));
    }

    /// Polls those that were woken since the last turn, and forgets those that end. Whether there were any. The task of
    /// `context` is woken for the next turn.
    pub fn take(&mut self, context: &Context<'_>) -> bool {
        self.woken.task.register(context.waker());
        self.turn.append(&mut self.woken.lock());
        let mut polled = false;
        for number in self.turn.drain(..) {
            let Some((member, pace, waker)) = &mut self.members[number] else { continue };
            if !pace.awake.looks() {
                continue;
            }
            polled = true;
            if member.as_mut().poll(&mut Context::from_waker(waker)).is_ready() {
                self.members[number] = None;
                self.free.push(number);
            }
        }
        polled
    }
}

impl Awake {
    /// The member looks now: what woke it before is not news any more. Whether something did.
    pub fn looks(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }

    /// The member is woken. Whether it was not before.
    fn set(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }
}

impl Woken {
    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Seat {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.pace.awake.set() {
            return;
        }
        let mut seats = self.woken.lock();
        seats.push(self.number);
        let is_first = seats.len() == 1;
        drop(seats);
        if is_first {
            self.woken.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, sync::atomic::AtomicUsize, task::Poll};

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

    /// A member that counts how often it is polled, and does this then.
    fn push(
        turns: &mut Turns,
        polls: &Arc<Count>,
        mut then: impl FnMut(usize, &Pace, &Context<'_>) -> Poll<()> + Send + 'static,
    ) {
        let (polls, pace) = (Arc::clone(polls), Arc::new(Pace::default()));
        let its_pace = Arc::clone(&pace);
        let member = poll_fn(move |context| {
            polls.add();
            then(polls.get(), &its_pace, context)
        });
        turns.push(Box::pin(member), pace);
    }

    #[test]
    fn all_that_are_woken_are_polled_once_though_they_wake_themselves() {
        let task = Arc::new(Count::default());
        let waker = Arc::clone(&task).into();
        let context = Context::from_waker(&waker);
        let polls: Vec<Arc<Count>> = (0..5).map(|_| Arc::default()).collect();
        let mut turns = Turns::default();
        for polls in &polls {
            push(&mut turns, polls, |polled, _, context| {
                if polled < 3 {
                    context.waker().wake_by_ref();
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            });
        }
        for turn in 1..=5 {
            let woken = task.get();
            assert_eq!(turns.take(&context), turn <= 3);
            assert!(polls.iter().all(|polls| polls.get() == turn.min(3)));
            assert_eq!(task.get() - woken, usize::from(turn < 3), "one wake-up is enough for a turn");
        }
    }

    #[test]
    fn who_has_looked_is_not_polled_again() {
        let waker = Waker::noop();
        let context = Context::from_waker(waker);
        let polls: Arc<Count> = Arc::default();
        let mut turns = Turns::default();
        push(&mut turns, &polls, |polled, pace, context| {
            context.waker().wake_by_ref();
            pace.awake.looks();
            if polled == 1 {
                // What comes after it has looked is not lost.
                context.waker().wake_by_ref();
            }
            Poll::Pending
        });
        for polled in [1, 2, 2] {
            turns.take(&context);
            assert_eq!(polls.get(), polled);
        }
    }

    #[test]
    fn the_task_is_woken_by_the_first_of_a_turn() {
        let task = Arc::new(Count::default());
        let waker = Arc::clone(&task).into();
        let context = Context::from_waker(&waker);
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let polls: Arc<Count> = Arc::default();
        let mut turns = Turns::default();
        for _ in 0..3 {
            let wakers = Arc::clone(&wakers);
            push(&mut turns, &polls, move |_, _, context| {
                wakers.lock().unwrap().push(context.waker().clone());
                Poll::Pending
            });
        }
        turns.take(&context);
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        assert_eq!((task.get(), polls.get()), (0, 3));
        for number in [2, 0, 2] {
            wakers[number].wake_by_ref();
        }
        assert_eq!(task.get(), 1);
        turns.take(&context);
        assert_eq!(polls.get(), 5);
        wakers[1].wake_by_ref();
        assert_eq!(task.get(), 2);
    }

    #[test]
    fn who_ends_is_forgotten_and_the_seat_given_away() {
        let context = Context::from_waker(Waker::noop());
        let old: Arc<Mutex<Option<Waker>>> = Arc::default();
        let (first, second): (Arc<Count>, Arc<Count>) = Default::default();
        let mut turns = Turns::default();
        let kept = Arc::clone(&old);
        push(&mut turns, &first, move |_, _, context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Ready(())
        });
        turns.take(&context);
        push(&mut turns, &second, |_, _, _| Poll::Pending);
        turns.take(&context);
        assert_eq!((first.get(), second.get(), turns.members.len()), (1, 1, 1));
        // The seat is another's now, who was not meant.
        old.lock().unwrap().take().expect("it was polled").wake();
        turns.take(&context);
        assert_eq!((first.get(), second.get()), (1, 1));
    }
}
