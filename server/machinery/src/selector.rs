//! Selectors of lists and watches: [`label`] selects by labels, [`field`] by a few fields.

pub mod field;
pub mod label;

/// A selector that cannot be read. The text is meant for the client, with status 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub(crate) String);
