//! Methods of kinds that no schema can describe, one file per kind.

pub mod rbac;
mod secret;
