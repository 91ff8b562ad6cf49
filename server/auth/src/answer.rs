//! An answer that is mostly there at once.
//!
//! Nearly every question of this crate is answered from memory; a few methods ask another system. Returning an
//! [`Answer`] keeps the first kind free of allocation and the traits free of two versions of each method.

use std::{ops::ControlFlow, pin::Pin};

/// Either the value, or the future that brings it.
#[must_use = "an answer is looked at, not dropped"]
pub enum Answer<'a, T> {
    /// Known at once.
    Ready(T),
    /// Another system has to be asked.
    Later(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
}

impl<T> Answer<'_, T> {
    /// Waits for the value; a ready one is returned without waiting.
    pub async fn resolve(self) -> T {
        match self {
            Self::Ready(value) => value,
            Self::Later(future) => future.await,
        }
    }
}

/// Looks at answers in order until `step` breaks off with the result; when none does, `conclude` makes it of the
/// state. Answers are only asked for when it is their turn, and only from the first later one on is the result
/// itself later.
pub(crate) fn in_order<'a, T, S, R>(
    mut answers: impl Iterator<Item = Answer<'a, T>> + Send + 'a,
    mut state: S,
    step: fn(&mut S, T) -> ControlFlow<R>,
    conclude: impl FnOnce(S) -> R + Send + 'a,
) -> Answer<'a, R>
where
    T: Send + 'a,
    S: Send + 'a,
    R: Send + 'a,
{
    while let Some(answer) = answers.next() {
        match answer {
            Answer::Ready(value) => {
                if let ControlFlow::Break(result) = step(&mut state, value) {
                    return Answer::Ready(result);
                }
            }
            Answer::Later(first) => {
                return Answer::Later(Box::pin(async move {
                    let mut value = first.await;
                    loop {
                        if let ControlFlow::Break(result) = step(&mut state, value) {
                            return result;
                        }
                        match answers.next() {
                            Some(answer) => value = answer.resolve().await,
                            None => return conclude(state),
                        }
                    }
                }));
            }
        }
    }
    Answer::Ready(conclude(state))
}
