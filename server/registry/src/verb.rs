//! The verbs: small functions, each over the same reads and the same stages of a write.

pub mod create;
pub mod delete;
pub mod delete_collection;
pub mod get;
pub mod list;
pub mod operate;
pub mod patch;
pub mod review;
mod unsafe_delete;
pub mod update;
pub mod watch;
