//! When no writes are taken any more: where they would not last.

use orch_storage::StoreError;

use crate::identity::Identity;
use crate::patrol::Findings;

/// Whether writes are taken.
pub(crate) struct Stop {
    identity: Identity,
    findings: Findings,
    /// SQLite has called the database damaged. Only a repair and another start mend that.
    damage: Option<StoreError>,
    /// The log and the probes have the reason.
    is_told: bool,
}

impl Stop {
    /// Of an opened database. Probes read the reason from `findings`.
    pub(crate) fn new(identity: Identity, findings: Findings) -> Self {
        Self { identity, findings, damage: None, is_told: false }
    }

    /// To be asked before each transaction.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], where the file was removed or replaced, or where the database is damaged.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        let checked = self.damage.clone().map_or_else(|| self.identity.check(), Err);
        self.tell(checked.as_ref().err());
        checked
    }

    /// Whether writes are taken.
    pub(super) fn is_open(&mut self) -> bool {
        self.check().is_ok()
    }

    /// Records an error of the database. If SQLite calls the database damaged, no more writes are taken.
    pub(super) fn at(&mut self, error: &StoreError) {
        if let StoreError::ReadOnly { .. } = error {
            self.damage.get_or_insert_with(|| error.clone());
            self.tell(Some(error));
        }
    }

    /// Reports a change once: in the log, and to probes.
    fn tell(&mut self, stopped: Option<&StoreError>) {
        if self.is_told == stopped.is_some() {
            return;
        }
        self.is_told = stopped.is_some();
        if let Some(error) = stopped {
            tracing::error!(%error, "no writes are taken until an operator has mended this");
        } else {
            tracing::warn!("the database is in its place again: writes are taken");
        }
        self.findings.set_stopped(stopped.map(|error| error.to_string().into()));
    }
}
