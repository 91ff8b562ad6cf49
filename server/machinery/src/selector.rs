//! Selectors: which objects a list or a watch is about. [`label`] looks at labels, [`field`] at a few fields.

pub mod field;
pub mod label;

/// A selector that cannot be understood; the text is for the client, as a 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub(crate) String);
