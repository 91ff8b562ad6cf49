//! Storage: drivers, classes, volumes and claims.

mod access;
mod attachment;
mod capacity;
mod claim;
mod class;
mod driver;
mod node;
mod volume;

pub(super) use self::claim::warn_of_claim_spec;
pub use self::{
    attachment::{attachment_metadata, volume_attachment_source},
    capacity::class_name,
    claim::{
        persistent_volume_claim, persistent_volume_claim_spec, persistent_volume_claim_status,
        persistent_volume_claim_update,
    },
    class::storage_class,
    driver::{csi_driver, csi_driver_token_requests},
    node::{csi_node_spec, csi_node_spec_update},
    volume::{inline_volume_spec, persistent_volume, persistent_volume_spec, persistent_volume_update},
};
