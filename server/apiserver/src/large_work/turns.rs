//! Whose turn it is: callers who wait take turns, whatever each of them has sent.
//!
//! In one queue for all, one user with many large bodies, all within the limits for users, would make
//! everybody else wait for a minute. So each user has a queue, and a turn that ends goes to the next queue.
//! Those who may do everything come first: they are the ones who can stop such a user.

use std::{
    collections::VecDeque,
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

/// A number of turns, and those who wait for one.
pub struct Turns(Mutex<State>);

struct State {
    /// Turns that nobody has. While there is one, nobody waits.
    free: usize,
    first: VecDeque<oneshot::Sender<Turn>>,
    /// The queues of users who wait, none of which is empty. The one in front is next.
    users: VecDeque<(u64, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A turn. It goes to the next one when it is dropped.
pub struct Turn(Option<Arc<Turns>>);

impl Turns {
    /// This many at a time.
    pub fn new(count: usize) -> Arc<Self> {
        Arc::new(Turns(Mutex::new(State { free: count, first: VecDeque::new(), users: VecDeque::new() })))
    }

    /// Waits for a turn. Whoever stops waiting has left the queue.
    pub async fn next(self: &Arc<Self>, flow: Flow) -> Turn {
        let called = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if state.free > 0 {
                state.free -= 1;
                return Turn(Some(Arc::clone(self)));
            }
            let (call, called) = oneshot::channel();
            state.queue(flow).push_back(call);
            called
        };
        called.await.expect("a queue lasts as long as somebody waits in it")
    }

    /// Gives a turn that has ended to the next one who still waits for it.
    fn pass_on(self: Arc<Self>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turn = Turn(Some(Arc::clone(&self)));
        while let Some(call) = state.next() {
            match call.send(turn) {
                Ok(()) => return,
                Err(unused) => turn = unused,
            }
        }
        state.free += 1;
        // It has been counted, and must not be passed on again.
        turn.0 = None;
    }
}

impl State {
    fn queue(&mut self, flow: Flow) -> &mut VecDeque<oneshot::Sender<Turn>> {
        let Flow::User(user) = flow else { return &mut self.first };
        let at = self.users.iter().position(|(waiting, _)| *waiting == user).unwrap_or_else(|| {
            self.users.push_back((user, VecDeque::new()));
            self.users.len() - 1
        });
        &mut self.users[at].1
    }

    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        if let Some(call) = self.first.pop_front() {
            return Some(call);
        }
        let (user, mut queue) = self.users.pop_front()?;
        let call = queue.pop_front();
        if !queue.is_empty() {
            self.users.push_back((user, queue));
        }
        call
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = self.0.take() {
            turns.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn users_take_turns_and_some_come_first() {
        let turns = Turns::new(1);
        let mut running = turns.next(Flow::User(1)).await;
        let mut waiting = Vec::new();
        for flow in [1, 1, 1, 2, 3, 2].map(Flow::User).into_iter().chain([Flow::First]) {
            let turns = Arc::clone(&turns);
            let mut next = Box::pin(async move { turns.next(flow).await });
            assert!((&mut next).now_or_never().is_none());
            waiting.push((flow, next));
        }
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(running);
            let mut called = None;
            for (at, (_, next)) in waiting.iter_mut().enumerate() {
                if let Some(turn) = next.now_or_never() {
                    assert!(called.replace((at, turn)).is_none(), "there is one turn");
                }
            }
            let (at, turn) = called.expect("somebody is next");
            running = turn;
            order.push(waiting.remove(at).0);
        }
        let users = [1, 2, 3, 1, 2, 1].map(Flow::User);
        assert_eq!(order, [&[Flow::First][..], &users].concat());
    }

    #[tokio::test]
    async fn a_turn_goes_past_those_who_have_left() {
        let turns = Turns::new(1);
        let running = turns.next(Flow::User(1)).await;
        let mut stays = pin!(turns.next(Flow::User(3)));
        {
            let mut left = pin!(turns.next(Flow::User(2)));
            assert!((&mut left).now_or_never().is_none());
            assert!((&mut stays).now_or_never().is_none());
        }
        drop(running);
        let turn = stays.await;
        // One who leaves when it has been called passes the turn on.
        {
            let mut left = pin!(turns.next(Flow::User(2)));
            assert!((&mut left).now_or_never().is_none());
            drop(turn);
        }
        drop(turns.next(Flow::User(1)).await);
        assert_eq!(turns.0.lock().unwrap().free, 1);
    }
}
