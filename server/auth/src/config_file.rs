//! Configuration files in YAML: read strictly, with the place of each fault.
//!
//! A file is right as a whole or refused: an error names a line and a column, and what is wrong there.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;
use serde_saphyr::Spanned;

use crate::error::AuthError;

/// The line and the column, counted from 1, and what is wrong.
pub type Fault = (u64, u64, String);

/// Reads a file with a function of its text.
///
/// # Errors
/// Where it cannot be read, or the function finds a fault.
pub fn read<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Fault>) -> Result<T, AuthError> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|source| AuthError::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|(line, column, problem)| AuthError::ConfigFile {
        path: path.to_owned(),
        line,
        column,
        problem,
    })
}

/// Reads a text, with the first fault of it; unknown fields are for the type to refuse.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
        (line, column, one_line(&error.without_snippet().to_string()))
    })
}

/// Checks what a file calls itself: one of these versions of a kind.
pub fn check_kind(
    api_version: &Spanned<String>,
    versions: &[String],
    kind: &Spanned<String>,
    wanted: &str,
) -> Result<(), Fault> {
    if !versions.contains(&api_version.value) {
        let versions: Vec<String> = versions.iter().map(|version| format!("{version:?}")).collect();
        return Err(fault(api_version, format!("apiVersion must be {}", versions.join(" or "))));
    }
    if kind.value != wanted {
        return Err(fault(kind, format!("kind must be {wanted:?}")));
    }
    Ok(())
}

/// A fault of a field.
pub fn fault<T>(at: &Spanned<T>, problem: impl Into<String>) -> Fault {
    (at.referenced.line(), at.referenced.column(), problem.into())
}

/// An error and what caused it.
pub fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
