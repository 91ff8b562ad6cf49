//! Reading: which version of the store a read shows, and which objects it selects.

pub mod controlled;
pub mod index;
mod label_digest;
mod labels;
mod selectable_field;
pub mod selection;
pub mod version;
