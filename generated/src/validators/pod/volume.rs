//! Volumes of pods: one source each.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::Volume;

/// There is exactly one source.
pub fn volume(value: &Volume, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut given = sources(value).into_iter().filter(|(_, given)| *given);
    if given.next().is_none() {
        cx.push(FieldError::required(path, "must specify a volume type"));
    }
    for (source, _) in given {
        let detail = "may not specify more than 1 volume type";
        cx.retract(&path.field(source));
        // Two sources have another spelling in this error.
        let known = match source {
            "cephfs" => "cephFS",
            "downwardAPI" => "downwarAPI",
            other => other,
        };
        cx.push(FieldError::forbidden(&path.field(known), detail));
    }
    relocate_renamed(value, path, cx);
}

/// All sources and whether they are given, in the order of the check: each one after the first is an error.
fn sources(value: &Volume) -> [(&'static str, bool); 30] {
    [
        ("emptyDir", value.empty_dir.is_some()),
        ("hostPath", value.host_path.is_some()),
        ("gitRepo", value.git_repo.is_some()),
        ("gcePersistentDisk", value.gce_persistent_disk.is_some()),
        ("awsElasticBlockStore", value.aws_elastic_block_store.is_some()),
        ("secret", value.secret.is_some()),
        ("nfs", value.nfs.is_some()),
        ("iscsi", value.iscsi.is_some()),
        ("glusterfs", value.glusterfs.is_some()),
        ("flocker", value.flocker.is_some()),
        ("persistentVolumeClaim", value.persistent_volume_claim.is_some()),
        ("rbd", value.rbd.is_some()),
        ("cinder", value.cinder.is_some()),
        ("cephfs", value.cephfs.is_some()),
        ("quobyte", value.quobyte.is_some()),
        ("downwardAPI", value.downward_api.is_some()),
        ("fc", value.fc.is_some()),
        ("flexVolume", value.flex_volume.is_some()),
        ("configMap", value.config_map.is_some()),
        ("azureFile", value.azure_file.is_some()),
        ("vsphereVolume", value.vsphere_volume.is_some()),
        ("photonPersistentDisk", value.photon_persistent_disk.is_some()),
        ("portworxVolume", value.portworx_volume.is_some()),
        ("azureDisk", value.azure_disk.is_some()),
        ("storageos", value.storageos.is_some()),
        ("scaleIO", value.scale_io.is_some()),
        ("projected", value.projected.is_some()),
        ("csi", value.csi.is_some()),
        ("ephemeral", value.ephemeral.is_some()),
        ("image", value.image.is_some()),
    ]
}

/// Errors about these fields have another path than the field.
fn relocate_renamed(value: &Volume, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.gce_persistent_disk.is_some() {
        let disk = path.field("gcePersistentDisk");
        for field in ["pdName", "partition"] {
            cx.relocate(&disk.field(field), &path.field("persistentDisk").field(field));
        }
    }
    if value.iscsi.is_some() {
        let iscsi = path.field("iscsi");
        cx.relocate(&iscsi.field("initiatorName"), &iscsi.field("initiatorname"));
    }
}
