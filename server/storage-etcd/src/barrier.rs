//! Consistent reads: one question to etcd for all who ask while the one before is on its way.

use std::sync::Arc;

use orch_storage::{Revision, StoreError};
use tokio::sync::{mpsc, oneshot};

use crate::shared::Shared;

type Answer = Result<Revision, StoreError>;

/// How many questions are put together at most.
const TOGETHER: usize = 4096;

/// Asks for the newest revision.
pub(crate) struct Barrier(mpsc::UnboundedSender<oneshot::Sender<Answer>>);

impl Barrier {
    /// A barrier, and the task that asks.
    pub(crate) fn start(shared: Arc<Shared>) -> (Self, tokio::task::JoinHandle<()>) {
        let (ask, questions) = mpsc::unbounded_channel();
        (Self(ask), tokio::spawn(answer(shared, questions)))
    }

    /// The newest write that anybody had made when this was called. It may not be visible here yet.
    pub(crate) async fn newest(&self) -> Answer {
        let (reply, answer) = oneshot::channel();
        self.0.send(reply).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

async fn answer(shared: Arc<Shared>, mut questions: mpsc::UnboundedReceiver<oneshot::Sender<Answer>>) {
    let mut asking = Vec::new();
    while questions.recv_many(&mut asking, TOGETHER).await > 0 {
        let newest = shared.reader().newest().await;
        let newest = newest.map(|newest| Revision::new(newest.write)).map_err(|failure| failure.of_read());
        for reply in asking.drain(..) {
            // Whoever asked may have gone.
            let _ = reply.send(newest.clone());
        }
    }
}
