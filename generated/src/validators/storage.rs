//! Storage: drivers, classes, volumes and claims.

mod capacity;
mod claim;
mod class;
mod node;
mod volume;

pub(super) use self::claim::warn_of_claim_spec;
pub use self::{
    claim::{persistent_volume_claim, persistent_volume_claim_status, persistent_volume_claim_update},
    class::storage_class,
    node::csi_node_spec_update,
    volume::{inline_volume_spec, persistent_volume_spec, persistent_volume_update},
};
