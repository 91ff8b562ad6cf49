//! Errors at the start of the server: about the policy file and about where events go.

use std::path::PathBuf;

/// Every error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The log file cannot be written.
    #[error("cannot write {}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The policy file is not right.
    #[error("{}:{line}:{column}: {problem}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// Counted from 1.
        column: u64,
        /// What is wrong.
        problem: String,
    },
    /// The webhook cannot be called.
    #[error(transparent)]
    Webhook(#[from] orch_outbound::error::OutboundError),
}
