//! Storage: drivers, classes, volumes and claims.

mod access;
mod attachment;
mod capacity;
mod claim;
mod class;
mod driver;
mod node;
mod source;
mod volume;

pub(super) use self::claim::warn_of_claim_spec;
pub use self::{
    attachment::{attachment_metadata, node_name, volume_attachment_source},
    capacity::{class_name, quantity_not_negative},
    claim::{
        persistent_volume_claim, persistent_volume_claim_spec, persistent_volume_claim_status,
        persistent_volume_claim_update,
    },
    class::{storage_class, storage_class_provisioner, storage_class_update},
    driver::{csi_driver, csi_driver_spec, csi_driver_spec_update, csi_driver_token_requests},
    node::{csi_node_spec, csi_node_spec_update},
    source::{
        azure_disk_source, azure_file_persistent_source, cinder_persistent_source, csi_persistent_source,
        fc_source, flex_persistent_source, flocker_source, glusterfs_persistent_source, host_path_source,
        iscsi_persistent_source, nfs_source, quobyte_source, storageos_persistent_source,
    },
    volume::{
        inline_volume_spec, persistent_volume, persistent_volume_spec, persistent_volume_update,
        volume_attributes_class_name, volume_node_affinity,
    },
};
