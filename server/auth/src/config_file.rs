//! Configuration files: read as [`orch_settings`] says, with errors that name the file.

use std::{io, path::Path};

use orch_settings::Fault;

use crate::error::AuthError;

/// Reads a file with a function of its text, now or again.
///
/// # Errors
/// Where it cannot be read, or the function finds a fault.
pub fn read<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Fault>) -> Result<T, AuthError> {
    parsed(path, orch_settings::read_text(path), parse)
}

/// As [`read`], of a file that is not read again.
///
/// # Errors
/// Those of [`read`].
pub fn read_once<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Fault>) -> Result<T, AuthError> {
    parsed(path, orch_settings::read_text_once(path), parse)
}

fn parsed<T>(
    path: &Path,
    text: io::Result<String>,
    parse: impl FnOnce(&str) -> Result<T, Fault>,
) -> Result<T, AuthError> {
    let text = text.map_err(|source| AuthError::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|((line, column), problem)| AuthError::ConfigFile {
        path: path.to_owned(),
        line,
        column,
        problem,
    })
}

/// An error and what caused it.
pub fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
