//! The three ways in which a client describes a change: [`json`] (RFC 6902, a list of operations), [`merge`]
//! (RFC 7386, a partial document) and [`strategic`] (a partial document that knows about the lists of the type).
//!
//! Each is a function from the current object and the patch to a new object; nothing is changed in place, so that
//! a patch takes effect as a whole or not at all. The result is not checked against the type: that is done by
//! [`decode_tree`](crate::json::decode::decode_tree), as for a body that was sent whole.

pub mod json;
pub mod merge;
pub mod shown;
pub mod strategic;

/// Why a patch cannot be applied. Each variant is one class of answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch document is malformed: 400.
    #[error("{0}")]
    Malformed(String),
    /// The patch is well-formed, but does not fit the object (or asks for what is not supported): 422.
    #[error("{0}")]
    NotApplicable(String),
    /// More operations than allowed: 413. The text follows `Request entity too large: `.
    #[error("The allowed maximum operations in a JSON patch is {max}, got {got}")]
    TooManyOperations {
        /// How many there may be.
        max: usize,
        /// How many there are.
        got: usize,
    },
    /// Applying the patch would copy or move too much: 413.
    #[error("{0}")]
    TooLarge(String),
    /// A patch that contradicts the type's list rules. The reference reports these as errors of its own: 500.
    #[error("{0}")]
    Contradiction(String),
}
