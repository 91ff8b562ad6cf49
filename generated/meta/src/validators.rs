//! Rules about metadata that no schema can state; schema files call them by name (`x-orch-validator:
//! object_meta`).
//!
//! A function checks one value and reports each fault at its field. Rules about a change have names that end
//! in `_update`.

mod condition;
mod metadata;

pub use self::{
    condition::{condition_reason, observed_generation},
    metadata::{finalizer_name, object_meta, object_meta_update},
};
