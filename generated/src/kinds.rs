//! Methods of kinds that no schema can describe, one file per kind.

mod flowcontrol;
pub mod rbac;
mod secret;
