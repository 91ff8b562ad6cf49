//! Injected failures: tests decide at which step of the writer something goes wrong.

use std::fmt;
use std::sync::Arc;

use orch_storage::StoreError;

/// A step of the writer at which a failure can be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// Before a batch goes to the database. A failure leaves nothing behind.
    BeforeCommit,
    /// After a batch is durable, before it is acknowledged. A failure here is what a failed sync looks like:
    /// it is reported, although the data may be on the disk.
    AfterCommit,
    /// Before superseded rows are deleted.
    BeforeCompaction,
    /// After superseded rows were deleted.
    AfterCompaction,
}

/// What happens at each step: nothing, unless a test says otherwise.
#[derive(Clone, Default)]
pub struct Faults(Option<Arc<Inject>>);

type Inject = dyn Fn(FaultPoint) -> Result<(), StoreError> + Send + Sync;

impl Faults {
    /// Calls `inject` at every step; the step fails with the error that it returns.
    pub fn new(inject: impl Fn(FaultPoint) -> Result<(), StoreError> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(inject)))
    }

    pub(crate) fn at(&self, point: FaultPoint) -> Result<(), StoreError> {
        self.0.as_ref().map_or(Ok(()), |inject| inject(point))
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Faults(injected)" } else { "Faults(none)" })
    }
}
