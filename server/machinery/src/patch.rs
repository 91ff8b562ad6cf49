//! The three kinds of patches that describe a change: [`json`] (RFC 6902, a list of operations), [`merge`]
//! (RFC 7386, a partial document) and [`strategic`] (a partial document, merged by the list rules of the
//! type).
//!
//! Each is a function from the current object and the patch to a new object. Nothing is changed in place: a
//! patch takes effect as a whole or not at all. The result is not checked against the type;
//! [`decode_tree`](crate::json::decode::decode_tree) does that, as for an object that was sent whole.

pub mod json;
pub mod merge;
mod outcome;
pub mod shown;
pub mod strategic;

pub use outcome::outcome;

/// Why a patch cannot be applied. Each variant has its own status code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch document is malformed: 400.
    #[error("{0}")]
    Malformed(String),
    /// The patch is well-formed, but does not fit the object, or asks for something that is not supported:
    /// 422.
    #[error("{0}")]
    NotApplicable(String),
    /// More operations than allowed: 413. The message follows `Request entity too large: `.
    #[error("The allowed maximum operations in a JSON patch is {max}, got {got}")]
    TooManyOperations {
        /// The allowed number.
        max: usize,
        /// The number in the patch.
        got: usize,
    },
    /// The patch would copy or move too much: 413.
    #[error("{0}")]
    TooLarge(String),
    /// The patch contradicts the list rules of the type: 500, as from the reference server.
    #[error("{0}")]
    Contradiction(String),
}
