//! What the writer is asked to do, and its answers.

use orch_storage::{Committed, Revision, StoreError, Write};
use tokio::sync::oneshot;

/// A write that waits for its turn.
pub(crate) struct Request {
    pub(crate) write: Write,
    pub(crate) reply: Reply<Committed>,
}

/// What else the writer does on request.
pub(crate) enum Control {
    /// Forget history up to a revision, or as configured, and return all the room that this frees.
    Compact { before: Option<Revision>, reply: Reply<()> },
    /// Copy the rest of the write-ahead log now.
    Checkpoint,
    /// The database was found to be damaged: take no more writes.
    Damaged(StoreError),
    /// Commit what is in the queue, and end.
    Shutdown,
}

/// Where the answer goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Tells the caller how its write ended.
pub(crate) fn answer(reply: Reply<Committed>, result: Result<Committed, StoreError>) {
    // A caller that no longer listens is no reason to undo anything.
    let _ = reply.send(result);
}
