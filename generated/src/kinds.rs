//! Methods of kinds that no schema can describe, one file per kind.

mod flowcontrol;
mod label_selector;
pub mod rbac;
mod secret;
