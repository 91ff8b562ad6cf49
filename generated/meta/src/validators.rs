//! Rules about metadata that no schema can state; schema files call these functions by name
//! (`fn: annotations_size`).

mod metadata;

pub use self::metadata::{annotations_size, finalizers_of_deleted, one_controller};
