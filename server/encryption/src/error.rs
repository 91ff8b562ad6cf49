//! Errors at the start of the server, and when its file of keys changes.
//!
//! No message contains a key.

use std::path::PathBuf;

/// Every error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum EncryptionError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is not right.
    #[error("{}:{line}:{column}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// Counted from 1.
        column: u64,
        /// What is wrong.
        problem: String,
    },
}
