//! Volumes and claims begin as pending; what their specs leave open is settled for objects of their own only.

use crate::core::v1::{
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimPhase, PersistentVolumePhase,
    PersistentVolumeReclaimPolicy,
};

/// A volume is kept when its claim is gone, holds a file system, and waits.
pub fn persistent_volume(value: &mut PersistentVolume) {
    value.spec.persistent_volume_reclaim_policy.get_or_insert(PersistentVolumeReclaimPolicy::Retain);
    value.spec.volume_mode.get_or_insert_with(|| "Filesystem".to_owned());
    value.status.phase.get_or_insert(PersistentVolumePhase::Pending);
}

/// A claim waits.
pub fn persistent_volume_claim(value: &mut PersistentVolumeClaim) {
    value.status.phase.get_or_insert(PersistentVolumeClaimPhase::Pending);
}
