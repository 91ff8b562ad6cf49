//! Errors in schema files: where, what, and how to mend it.
//!
//! Every stage adds to one [`Diagnostics`]; nothing stops at the first mistake. Rendered, each shows file, line,
//! column, the offending line and a remedy, the same from a build script as from the command line.

use std::{path::PathBuf, sync::Arc};

/// A place in a schema file. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The file, as it was opened.
    pub file: Arc<PathBuf>,
    /// First line.
    pub line: usize,
    /// First column.
    pub column: usize,
    /// Number of characters to underline, at least 1.
    pub length: usize,
}
