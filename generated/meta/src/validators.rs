//! Rules about metadata that no schema can state; schema files call these functions by name
//! (`x-orch-validator: object_meta`).
//!
//! A function checks one value and reports each fault at its field. Functions whose names end in `_update`
//! compare a new value with the old one.

mod condition;
mod metadata;

pub use self::{
    condition::{condition_reason, observed_generation},
    metadata::{finalizer_name, labels_and_annotations, object_meta, object_meta_update},
};
