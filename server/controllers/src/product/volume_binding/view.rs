//! The parts of a volume that decide whose it is. They are read once for each state of it and kept with it.

use std::{collections::BTreeMap, sync::Arc};

use orch_api::core::v1::{ObjectReference, PersistentVolumePhase};
use orch_registry::stored;
use orch_runtime::{Tree, scalar::Quantity, tree_reader, vocabulary::Vocabulary};
use orch_storage::Object;
use serde::de::DeserializeOwned;

const STORAGE: &str = "storage";
const FILESYSTEM: &str = "Filesystem";

/// A volume.
#[derive(Clone, Debug, Default)]
pub(super) struct VolumeView {
    pub(super) name: Arc<str>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) class: String,
    pub(super) capacity: Quantity,
    pub(super) access_modes: Vec<String>,
    pub(super) mode: String,
    pub(super) claim: Option<ObjectReference>,
    /// Whether it holds no data of a claim.
    pub(super) is_free: bool,
    pub(super) is_terminating: bool,
}

/// A volume as it is stored; `None` where it cannot be read.
pub(super) fn volume_of<'o>(object: &'o Object, vocabulary: &Vocabulary) -> Option<&'o VolumeView> {
    struct Remembered(Option<VolumeView>);
    object.memo(|object| Remembered(read_volume(object, vocabulary))).0.as_ref()
}

/// The annotation of older versions that names the class of a volume or a claim, before the field does.
pub(super) fn class_annotation(vocabulary: &Vocabulary) -> String {
    format!("volume.beta.{}", vocabulary.label("storage-class"))
}

/// The mode of a volume or a claim.
pub(super) fn mode(mode: Option<&str>) -> &str {
    mode.filter(|mode| !mode.is_empty()).unwrap_or(FILESYSTEM)
}

/// The amount of storage in a list of resources.
pub(super) fn storage(resources: &BTreeMap<String, Quantity>) -> Quantity {
    resources.get(STORAGE).cloned().unwrap_or_default()
}

fn read_volume(object: &Object, vocabulary: &Vocabulary) -> Option<VolumeView> {
    let paths: &[&[&str]] = &[
        &["metadata", "labels"],
        &["metadata", "annotations"],
        &["metadata", "deletionTimestamp"],
        &["spec", "storageClassName"],
        &["spec", "capacity"],
        &["spec", "accessModes"],
        &["spec", "volumeMode"],
        &["spec", "claimRef"],
        &["status", "phase"],
    ];
    let values: [Option<Tree>; 9] = stored::values_at(object.value().ok()?, paths).ok()?.try_into().ok()?;
    let [labels, annotations, deleted, class, capacity, access_modes, volume_mode, claim, phase] = values;
    let annotations: BTreeMap<String, String> = read(annotations);
    let phase = phase.as_ref().and_then(Tree::as_str).unwrap_or_default();
    Some(VolumeView {
        name: Arc::clone(&object.key().name),
        labels: read(labels),
        class: annotations.get(&class_annotation(vocabulary)).cloned().unwrap_or_else(|| read(class)),
        capacity: storage(&read(capacity)),
        access_modes: read(access_modes),
        mode: mode(volume_mode.as_ref().and_then(Tree::as_str)).to_owned(),
        claim: read(claim),
        // Released and failed ones still hold somebody's data.
        is_free: is_free(phase),
        is_terminating: deleted.is_some(),
    })
}

fn is_free(phase: &str) -> bool {
    let free = [PersistentVolumePhase::Available, PersistentVolumePhase::Pending];
    phase.is_empty() || free.contains(&phase.to_owned().into())
}

/// What is absent or of another type counts as empty.
fn read<T: Default + DeserializeOwned>(value: Option<Tree>) -> T {
    value.and_then(|value| tree_reader::read(value).ok()).unwrap_or_default()
}
