//! Server-side apply: merges what a manager wants into the object as it is.
//!
//! The applied configuration is a partial object. Its fields become the manager's, those that it applied before and
//! no longer lists go unless somebody else owns them, and changing what somebody else owns is a conflict unless the
//! apply is forced. Everything is a function from the live object to a new one; nothing is changed in place.

mod check;
mod conflict;
mod fields;
mod merge;
mod migrate;
mod prune;
mod tracked;

pub use self::{
    conflict::{Conflict, Conflicts},
    tracked::{Application, apply},
};

/// Why a configuration cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The configuration does not fit the type: which field and why.
    #[error("{0}")]
    Schema(String),
    /// Others own what it changes.
    #[error("{0}")]
    Conflicts(Conflicts),
}

#[cfg(test)]
mod tests;
