//! Volumes and claims: the first phase, and defaults that templates and inline volumes do not get.

use crate::core::v1::{
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimPhase, PersistentVolumePhase,
    PersistentVolumeReclaimPolicy,
};

/// By default a volume is retained when its claim is deleted, holds a file system, and begins as `Pending`.
pub fn persistent_volume(value: &mut PersistentVolume) {
    value.spec.persistent_volume_reclaim_policy.get_or_insert(PersistentVolumeReclaimPolicy::Retain);
    value.spec.volume_mode.get_or_insert_with(|| "Filesystem".to_owned());
    value.status.phase.get_or_insert(PersistentVolumePhase::Pending);
}

/// A claim begins as `Pending`.
pub fn persistent_volume_claim(value: &mut PersistentVolumeClaim) {
    value.status.phase.get_or_insert(PersistentVolumeClaimPhase::Pending);
}
