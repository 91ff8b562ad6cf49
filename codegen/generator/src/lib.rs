//! Schema files in, Rust out.

pub mod diagnostic;
pub mod model;
