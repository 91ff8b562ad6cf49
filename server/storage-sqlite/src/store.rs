//! The callers' side of the writer: the contract, as requests to the task that writes.

use std::sync::Arc;

use orch_storage::engine::Memory;
use orch_storage::store::{BoxFuture, Store, Visitor};
use orch_storage::{Committed, Object, Patrolled, Revision, Sealing, StoreError, Write};
use tokio::sync::{mpsc, oneshot, watch};

use crate::identity::Identity;
use crate::log::LogReader;
use crate::patrol::Findings;
use crate::request::{Control, Request};
use crate::row;

/// Sends requests to the writer, and reads beside it.
pub(crate) struct Sqlite {
    /// The database file.
    pub(crate) identity: Identity,
    pub(crate) cluster_uid: Arc<str>,
    pub(crate) memory: Memory,
    pub(crate) sealing: Option<Arc<dyn Sealing>>,
    pub(crate) requests: mpsc::Sender<Request>,
    pub(crate) control: mpsc::Sender<Control>,
    /// What was found in the database since the start.
    pub(crate) findings: Findings,
    /// Closed when the writer has ended.
    pub(crate) finished: watch::Receiver<()>,
}

impl Sqlite {
    async fn ask(
        &self,
        control: impl FnOnce(oneshot::Sender<Result<(), StoreError>>) -> Control + Send,
    ) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.control.send(control(reply)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

impl Store for Sqlite {
    fn commit(&self, write: Write) -> BoxFuture<'_, Result<Committed, StoreError>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.requests.send(Request { write, reply }).await.map_err(|_| StoreError::Closed)?;
            answer.await.map_err(|_| StoreError::Closed)?
        })
    }

    fn records<'a>(&'a self, visit: &'a mut Visitor<'_>) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(async move {
            let mut open = |record| visit(row::opened(record, self.sealing.as_deref()).0);
            self.identity.check()?;
            let path = self.identity.path();
            let (_, newest) = LogReader::open(path).await?.read(path, &mut open).await?;
            Ok(newest)
        })
    }

    fn barrier(&self) -> BoxFuture<'_, Result<Revision, StoreError>> {
        // This process is the only one that commits, and it publishes before it acknowledges.
        let revision =
            if self.requests.is_closed() { Err(StoreError::Closed) } else { Ok(self.memory.revision()) };
        Box::pin(async move { revision })
    }

    fn compact(&self, before: Revision) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.ask(move |reply| Control::Compact { before: Some(before), reply }))
    }

    fn expire(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.ask(|reply| Control::Compact { before: None, reply }))
    }

    fn integrity(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async move {
            self.identity.check()?;
            let path = self.identity.path();
            LogReader::open(path).await?.integrity(path).await
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            // Both fail only if the writer has ended already, or just then.
            let _ = self.control.send(Control::Shutdown).await;
            let _ = self.finished.clone().changed().await;
            Ok(())
        })
    }

    fn is_stale(&self, object: &Object) -> bool {
        let sealing = self.sealing.as_ref();
        sealing.is_some_and(|sealing| sealing.is_stale(&object.key().resource, object.seal()))
    }

    fn patrolled(&self) -> Patrolled {
        self.findings.get()
    }

    fn cluster_uid(&self) -> Arc<str> {
        Arc::clone(&self.cluster_uid)
    }
}
