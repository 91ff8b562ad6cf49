//! Server-side apply: merges the configuration of a manager into the live object.
//!
//! The configuration is a partial object. The manager becomes owner of its fields. Fields that the manager
//! applied before and no longer lists are removed, unless another manager owns them. A change of a field that
//! another manager owns is a conflict, unless the apply is forced. Apply is a function from the live object
//! to a new one; nothing is changed in place.

mod check;
mod conflict;
mod fields;
mod merge;
mod migrate;
mod prune;
mod tracked;
mod unknown;

pub use self::{
    conflict::{Conflict, Conflicts},
    tracked::{Application, apply},
    unknown::drop_unknown,
};

/// Why a configuration cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The configuration does not fit the type: which field and why.
    #[error("{0}")]
    Schema(String),
    /// Other managers own fields that the configuration changes.
    #[error("{0}")]
    Conflicts(Conflicts),
}

#[cfg(test)]
mod tests;
