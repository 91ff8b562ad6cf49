//! The volume in which containers find a token of their account, the authority of the server, and their
//! namespace.

use orch_api::core::v1::{
    ConfigMapProjection, DownwardAPIProjection, DownwardAPIVolumeFile, KeyToPath, ObjectFieldSelector,
    PodSpec, ProjectedVolumeSource, ServiceAccountTokenProjection, Volume, VolumeMount, VolumeProjection,
};
use orch_registry::write::generated_name;
use orch_runtime::vocabulary::Vocabulary;

/// An hour, and seven seconds by which the server knows these tokens.
const LIFETIME_SECONDS: i64 = 3607;
/// Everybody in the container may read it.
const MODE: i32 = 0o644;
const AUTHORITY: &str = "ca.crt";

/// Mounts the volume in every container that has nothing at its place. A volume of such a name that the pod
/// already has is taken.
pub(super) fn mount(spec: &mut PodSpec, vocabulary: &Vocabulary) {
    let prefix = format!("{}-", vocabulary.api_access_volume);
    let own = spec.volumes.iter().find(|volume| volume.name.starts_with(&prefix));
    let is_new = own.is_none();
    let name = own.map_or_else(|| generated_name(&prefix), |volume| volume.name.clone());
    let place = format!("/var/run/secrets/{}/serviceaccount", vocabulary.label_domain);
    let mut is_used = false;
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        if container.volume_mounts.iter().all(|mount| mount.mount_path != place) {
            container.volume_mounts.push(VolumeMount {
                name: name.clone(),
                read_only: true,
                mount_path: place.clone(),
                ..VolumeMount::default()
            });
            is_used = true;
        }
    }
    if is_new && is_used {
        let projected = Some(content(vocabulary));
        spec.volumes.push(Volume { name, projected, ..Volume::default() });
    }
}

/// What is in the volume, with all defaults: those of the schema were set before.
fn content(vocabulary: &Vocabulary) -> ProjectedVolumeSource {
    let token = ServiceAccountTokenProjection {
        expiration_seconds: Some(LIFETIME_SECONDS),
        path: "token".to_owned(),
        ..ServiceAccountTokenProjection::default()
    };
    let authority = KeyToPath { key: AUTHORITY.to_owned(), path: AUTHORITY.to_owned(), mode: None };
    let authorities = ConfigMapProjection {
        name: vocabulary.root_ca_config_map.to_owned(),
        items: vec![authority],
        ..ConfigMapProjection::default()
    };
    let namespace =
        ObjectFieldSelector { api_version: "v1".to_owned(), field_path: "metadata.namespace".to_owned() };
    let namespace = DownwardAPIVolumeFile {
        path: "namespace".to_owned(),
        field_ref: Some(namespace),
        ..DownwardAPIVolumeFile::default()
    };
    let sources = vec![
        VolumeProjection { service_account_token: Some(token), ..VolumeProjection::default() },
        VolumeProjection { config_map: Some(authorities), ..VolumeProjection::default() },
        VolumeProjection {
            downward_api: Some(DownwardAPIProjection { items: vec![namespace] }),
            ..VolumeProjection::default()
        },
    ];
    ProjectedVolumeSource { sources: Some(sources), default_mode: Some(MODE) }
}
