//! A semaphore that is fair to users, however much each of them has sent.
//!
//! In one queue for all, one user with many large bodies, all within the limits for users, would make
//! everybody else wait for a minute. So each user has a queue, and a permit that is returned goes to the next
//! queue. Administrators come first: they are the ones who can stop such a user.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::oneshot;

/// Whose queue work waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Before all others.
    First,
    /// That of the user with this digest.
    User(u64),
}

/// A number of permits, and the queues of those who wait for one.
pub struct FairSemaphore(Mutex<State>);

struct State {
    /// Free permits. While one is free, only users at their own limit wait.
    free: usize,
    /// How many permits one user may have at a time.
    per_user: usize,
    /// Permits in use by user; users without one have no entry.
    held: HashMap<u64, usize>,
    first: VecDeque<oneshot::Sender<Permit>>,
    /// The queues of users who wait, none of which is empty. The one in front is next.
    users: VecDeque<(u64, VecDeque<oneshot::Sender<Permit>>)>,
}

/// A permit. It goes to the next waiter when it is dropped.
pub struct Permit {
    flow: Flow,
    /// `None` where it is counted as free.
    semaphore: Option<Arc<FairSemaphore>>,
}

impl FairSemaphore {
    /// This many at a time, of which one user may have `per_user`.
    pub fn new(count: usize, per_user: usize) -> Arc<Self> {
        let (held, first, users) = (HashMap::new(), VecDeque::new(), VecDeque::new());
        Arc::new(FairSemaphore(Mutex::new(State { free: count, per_user, held, first, users })))
    }

    /// Waits for a permit. A waiter that is dropped is skipped.
    pub async fn acquire(self: &Arc<Self>, flow: Flow) -> Permit {
        let called = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if state.free > 0 && state.may_have_more(flow) {
                state.free -= 1;
                state.count(flow);
                return Permit { flow, semaphore: Some(Arc::clone(self)) };
            }
            let (call, called) = oneshot::channel();
            enqueue(state.queue(flow), call);
            called
        };
        called.await.expect("a queue lasts as long as somebody waits in it")
    }

    /// Gives a permit of `ended` to the next one who still waits.
    fn pass_on(self: Arc<Self>, ended: Flow) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.discount(ended);
        let mut permit = Permit { flow: ended, semaphore: Some(Arc::clone(&self)) };
        while let Some((flow, call)) = state.next() {
            permit.flow = flow;
            match call.send(permit) {
                Ok(()) => return state.count(flow),
                Err(unused) => permit = unused,
            }
        }
        state.free += 1;
        // It has been counted, and must not be passed on again.
        permit.semaphore = None;
    }
}

impl State {
    fn queue(&mut self, flow: Flow) -> &mut VecDeque<oneshot::Sender<Permit>> {
        let Flow::User(user) = flow else { return &mut self.first };
        let at = self.users.iter().position(|(waiting, _)| *waiting == user).unwrap_or_else(|| {
            self.users.push_back((user, VecDeque::new()));
            self.users.len() - 1
        });
        &mut self.users[at].1
    }

    fn next(&mut self) -> Option<(Flow, oneshot::Sender<Permit>)> {
        if let Some(call) = self.first.pop_front() {
            return Some((Flow::First, call));
        }
        let at = self.users.iter().position(|(user, _)| self.may_have_more(Flow::User(*user)))?;
        let (user, mut queue) = self.users.remove(at)?;
        let call = queue.pop_front()?;
        if !queue.is_empty() {
            self.users.push_back((user, queue));
        }
        Some((Flow::User(user), call))
    }

    fn may_have_more(&self, flow: Flow) -> bool {
        match flow {
            Flow::First => true,
            Flow::User(user) => self.held.get(&user).is_none_or(|held| *held < self.per_user),
        }
    }

    fn count(&mut self, flow: Flow) {
        if let Flow::User(user) = flow {
            *self.held.entry(user).or_default() += 1;
        }
    }

    fn discount(&mut self, flow: Flow) {
        if let Flow::User(user) = flow
            && let Some(held) = self.held.get_mut(&user)
        {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&user);
            }
        }
    }
}

/// Appends a waiter. Before the queue has to grow, waiters that are dropped leave it: those of requests that
/// are reset, which may be any number before a permit is returned.
fn enqueue(queue: &mut VecDeque<oneshot::Sender<Permit>>, call: oneshot::Sender<Permit>) {
    if queue.len() == queue.capacity() {
        queue.retain(|waiting| !waiting.is_closed());
        // Twice the room, so that the next look at all waiters is as many calls away.
        queue.reserve(queue.len() + 1);
    }
    queue.push_back(call);
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(semaphore) = self.semaphore.take() {
            semaphore.pass_on(self.flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn users_take_turns_and_administrators_come_first() {
        let semaphore = FairSemaphore::new(1, 1);
        let mut running = semaphore.acquire(Flow::User(1)).await;
        let mut waiting = Vec::new();
        for flow in [1, 1, 1, 2, 3, 2].map(Flow::User).into_iter().chain([Flow::First]) {
            let semaphore = Arc::clone(&semaphore);
            let mut next = Box::pin(async move { semaphore.acquire(flow).await });
            assert!((&mut next).now_or_never().is_none());
            waiting.push((flow, next));
        }
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(running);
            let mut called = None;
            for (at, (_, next)) in waiting.iter_mut().enumerate() {
                if let Some(permit) = next.now_or_never() {
                    assert!(called.replace((at, permit)).is_none(), "there is one permit");
                }
            }
            let (at, permit) = called.expect("somebody is next");
            running = permit;
            order.push(waiting.remove(at).0);
        }
        let users = [1, 2, 3, 1, 2, 1].map(Flow::User);
        assert_eq!(order, [&[Flow::First][..], &users].concat());
    }

    #[tokio::test]
    async fn users_have_no_more_than_their_part() {
        let semaphore = FairSemaphore::new(3, 1);
        let user = |user| semaphore.acquire(Flow::User(user));
        let first = user(1).await;
        let mut again = pin!(user(1));
        assert!((&mut again).now_or_never().is_none(), "there are two more, but not for this user");
        let second = user(2).await;
        let _before_all = semaphore.acquire(Flow::First).await;
        let mut third = pin!(user(3));
        assert!((&mut third).now_or_never().is_none());
        drop(second);
        assert!((&mut again).now_or_never().is_none());
        let third = third.await;
        drop(first);
        let again = again.await;
        drop((third, again));
        let state = semaphore.0.lock().unwrap();
        assert!(state.free == 2 && state.held.is_empty());
    }

    #[tokio::test]
    async fn a_permit_goes_past_those_who_have_left() {
        let semaphore = FairSemaphore::new(1, 1);
        let running = semaphore.acquire(Flow::User(1)).await;
        let mut stays = pin!(semaphore.acquire(Flow::User(3)));
        {
            let mut left = pin!(semaphore.acquire(Flow::User(2)));
            assert!((&mut left).now_or_never().is_none());
            assert!((&mut stays).now_or_never().is_none());
        }
        drop(running);
        let permit = stays.await;
        // One who leaves when it has been called passes the permit on.
        {
            let mut left = pin!(semaphore.acquire(Flow::User(2)));
            assert!((&mut left).now_or_never().is_none());
            drop(permit);
        }
        drop(semaphore.acquire(Flow::User(1)).await);
        assert_eq!(semaphore.0.lock().unwrap().free, 1);
    }

    #[tokio::test]
    async fn those_who_have_left_do_not_make_a_queue_grow() {
        let semaphore = FairSemaphore::new(1, 1);
        let running = semaphore.acquire(Flow::User(1)).await;
        for flow in [Flow::First, Flow::User(2)] {
            let mut stays = pin!(semaphore.acquire(flow));
            assert!((&mut stays).now_or_never().is_none());
            for _ in 0..1000 {
                assert!(semaphore.acquire(flow).now_or_never().is_none());
            }
            let length = semaphore.0.lock().unwrap().queue(flow).len();
            assert!(length < 10, "{length} wait as {flow:?}");
        }
        drop(running);
        drop(semaphore.acquire(Flow::User(1)).await);
    }
}
