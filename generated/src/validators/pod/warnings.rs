//! Warnings for pods and pod templates that schema files cannot state: values that are accepted, but are most
//! likely mistakes.

mod files;
mod ports;
mod variables;

pub use self::{files::overlapping_files, ports::conflicting_ports, variables::hidden_variables};
