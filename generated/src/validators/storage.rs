//! Storage: classes and drivers.

mod class;
mod node;

pub use self::{class::storage_class, node::csi_node_spec_update};
