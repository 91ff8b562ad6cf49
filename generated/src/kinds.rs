//! Hand-written methods of kinds, one file per group or kind.

mod flowcontrol;
pub mod rbac;
mod secret;
