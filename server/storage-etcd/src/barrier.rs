//! Consistent reads: one question to etcd for all who ask while the one before is on its way.

use std::sync::Arc;

use orch_storage::{Revision, StoreError};
use tokio::sync::{mpsc, oneshot, watch};

use crate::shared::Shared;

type Answer = Result<Revision, StoreError>;

/// How many questions are put together at most.
const TOGETHER: usize = 4096;

/// Asks for the newest revision.
pub(crate) struct Barrier {
    ask: mpsc::UnboundedSender<oneshot::Sender<Answer>>,
    failure: watch::Receiver<Option<StoreError>>,
}

impl Barrier {
    /// A barrier, and the task that asks.
    pub(crate) fn start(shared: Arc<Shared>) -> (Self, tokio::task::JoinHandle<()>) {
        let (ask, questions) = mpsc::unbounded_channel();
        let (failed, failure) = watch::channel(None);
        (Self { ask, failure }, tokio::spawn(answer(shared, questions, failed)))
    }

    /// The newest write that anybody had made when this was called. It may not be visible here yet.
    pub(crate) async fn newest(&self) -> Answer {
        let (reply, answer) = oneshot::channel();
        self.ask.send(reply).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Why the last question has no answer.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.failure.borrow().clone()
    }
}

async fn answer(
    shared: Arc<Shared>,
    mut questions: mpsc::UnboundedReceiver<oneshot::Sender<Answer>>,
    failed: watch::Sender<Option<StoreError>>,
) {
    let mut asking = Vec::new();
    while questions.recv_many(&mut asking, TOGETHER).await > 0 {
        let told = shared.memory.revision();
        let newest = shared.reader().newest().await;
        if newest.as_ref().is_ok_and(|newest| newest.etcd < told.get()) {
            shared.mark.lose(told);
        }
        let newest = newest.map(|newest| Revision::new(newest.write)).map_err(|failure| failure.of_read());
        failed.send_replace(newest.as_ref().err().cloned());
        for reply in asking.drain(..) {
            // Whoever asked may have gone.
            let _ = reply.send(newest.clone());
        }
    }
}
