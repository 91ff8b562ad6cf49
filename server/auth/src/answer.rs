//! An answer that is usually ready at once.
//!
//! Most questions of this crate are answered from memory; a few need another system. With an [`Answer`] the
//! first need no allocation, and a trait needs only one version of each method.

use std::{ops::ControlFlow, pin::Pin};

/// Either a value, or a future of it.
#[must_use = "an answer is looked at, not dropped"]
pub enum Answer<'a, T> {
    /// The value is known.
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

/// Combines answers in order. `step` takes each value and may end with a result; otherwise `conclude` makes
/// the result from the state. An answer is requested only when it is its turn. The result is a future only if
/// an answer that was requested is one.
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
