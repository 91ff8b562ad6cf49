//! When no writes are taken any more, where they would not last, and when all of them fail.

use std::path::Path;

use orch_storage::StoreError;

use crate::identity::Identity;
use crate::patrol::Findings;

/// Whether writes are taken.
pub(crate) struct Stop {
    identity: Identity,
    /// Of the write-ahead log, once there is one.
    log: Option<Identity>,
    findings: Findings,
    /// SQLite has called the database damaged. Only a repair and another start mend that.
    damage: Option<StoreError>,
    /// The disk failed at the last write. Each one is tried, and the first that is made ends this.
    failing: Option<StoreError>,
    told: State,
}

/// What the log and the probes were told.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Fine,
    Failing,
    Stopped,
}

impl Stop {
    /// Of an opened database. Probes read the reason from `findings`.
    pub(crate) fn new(identity: Identity, findings: Findings) -> Self {
        Self { identity, log: None, findings, damage: None, failing: None, told: State::Fine }
    }

    /// To be asked before each transaction.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], where a file was removed or replaced, or where the database is damaged.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        let checked = self.check_database().and_then(|()| self.check_log());
        self.tell(checked.as_ref().err());
        checked
    }

    fn check_database(&self) -> Result<(), StoreError> {
        self.damage.clone().map_or_else(|| self.identity.check(), Err)
    }

    fn check_log(&self) -> Result<(), StoreError> {
        self.log.as_ref().map_or(Ok(()), Identity::check)
    }

    /// Whether only the write-ahead log is not under its name any more. What it holds can be saved.
    pub(super) fn has_lost_the_log(&self) -> bool {
        self.check_database().is_ok() && self.check_log().is_err()
    }

    /// Whether writes are taken.
    pub(super) fn is_open(&mut self) -> bool {
        self.check().is_ok()
    }

    /// Whether the disk failed at the last write.
    pub(super) fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    /// Records an error of the database. If SQLite calls the database damaged, no more writes are taken.
    pub(super) fn at(&mut self, error: &StoreError) {
        match error {
            StoreError::ReadOnly { .. } => {
                self.damage.get_or_insert_with(|| error.clone());
                self.tell(Some(error));
            }
            StoreError::DiskFails { .. } => {
                self.failing.get_or_insert_with(|| error.clone());
                self.tell(None);
            }
            _ => {}
        }
    }

    /// A write was made, by way of the write-ahead log of this name.
    pub(super) fn written(&mut self, log: &Path) {
        if self.log.is_none() {
            self.log = Identity::of(log).ok();
        }
        if self.failing.take().is_some() {
            self.tell(None);
        }
    }

    /// Reports a change once: in the log, and to probes.
    fn tell(&mut self, stopped: Option<&StoreError>) {
        let state = match (stopped, &self.failing) {
            (Some(_), _) => State::Stopped,
            (None, Some(_)) => State::Failing,
            (None, None) => State::Fine,
        };
        if state == self.told {
            return;
        }
        self.told = state;
        let reason = stopped.or(self.failing.as_ref());
        match (state, reason) {
            (State::Stopped, Some(error)) => {
                tracing::error!(%error, "no writes are taken until an operator has mended this");
            }
            (_, Some(error)) => tracing::error!(%error, "writes fail; each is tried all the same"),
            (_, None) => tracing::warn!("the database can be written again: writes are taken"),
        }
        self.findings.set_stopped(reason.map(|error| error.to_string().into()));
    }
}
