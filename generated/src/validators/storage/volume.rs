//! Persistent volumes: one source, the capacity, and what an update can change.

use orch_runtime::{
    Tree, TreeMap,
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
    rule,
};

use super::capacity::{basic_quantity, quantity_positive};
use crate::core::v1::{
    PERSISTENT_VOLUME_SPEC_TYPE, PersistentVolume, PersistentVolumeReclaimPolicy, PersistentVolumeSpec,
};
use crate::validators::node_label;

/// The only resource in the capacity of a volume.
pub(super) const STORAGE: &str = "storage";
const INLINE: &str = "may not be specified in the context of inline volumes";

/// A volume that is an object: access modes, a capacity, one source, and rules that depend on the source.
pub fn persistent_volume_spec(value: &PersistentVolumeSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    capacity(value, &path.field("capacity"), cx);
    one_source(value, path, cx);
    let recycles = value.persistent_volume_reclaim_policy == Some(PersistentVolumeReclaimPolicy::Recycle);
    if recycles && value.host_path.as_ref().is_some_and(|source| is_root(&source.path)) {
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        cx.push(FieldError::forbidden(&path.field(RECYCLED_ROOT), detail));
    }
    cx.arrange(path, ORDER);
    cx.relocate(&path.field(LOCAL_AFFINITY), &path.field("nodeAffinity"));
    cx.relocate(&path.field(RECYCLED_ROOT), &path.field("persistentVolumeReclaimPolicy"));
    warn_of_volume(value, path, cx);
}

/// Places of errors that depend on the source: they come after it, and are told at other fields.
const LOCAL_AFFINITY: &str = "affinity of local";
const RECYCLED_ROOT: &str = "recycled root";

/// The order in which errors of a volume are reported; `*` is the source.
const ORDER: &[Order] = &[
    Order::of("accessModes"),
    Order::of("capacity"),
    Order::of("persistentVolumeReclaimPolicy"),
    Order::of("nodeAffinity"),
    Order::of("*"),
    Order::of(""),
    Order::of(RECYCLED_ROOT),
    Order::of("storageClassName"),
    Order::of("volumeMode"),
    Order::of("volumeAttributesClassName"),
];

/// Warns of deprecated policies, labels and sources.
fn warn_of_volume(value: &PersistentVolumeSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.persistent_volume_reclaim_policy == Some(PersistentVolumeReclaimPolicy::Recycle) {
        let text = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use \
                    dynamic provisioning.";
        cx.warn(&path.field("persistentVolumeReclaimPolicy"), text);
    }
    let affinity = path.field("nodeAffinity");
    let required = affinity.field("required");
    let terms = required.field("nodeSelectorTerms");
    let given = value.node_affinity.iter().filter_map(|affinity| affinity.required.as_ref());
    for (index, term) in given.flat_map(|selector| &selector.node_selector_terms).enumerate() {
        node_label::warn_of_term(term, &terms.index(index), cx);
    }
    if value.storageos.is_some() {
        // The path of this warning is `storageOS`, though the field is `storageos`.
        cx.warn(&path.field("storageOS"), "deprecated in v1.22, non-functional in v1.25+");
    }
}

/// An inline volume, which an attachment copies from a pod: it has a CSI source, and no field that only
/// volume objects have.
pub fn inline_volume_spec(value: &PersistentVolumeSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (field, is_given) in [
        ("claimRef", value.claim_ref.is_some()),
        ("capacity", !value.capacity.is_empty()),
        ("nodeAffinity", value.node_affinity.is_some()),
        ("storageClassName", !value.storage_class_name.is_empty()),
        ("volumeAttributesClassName", value.volume_attributes_class_name.is_some()),
    ] {
        if is_given {
            cx.retract(&path.field(field));
            cx.push(FieldError::forbidden(&path.field(field), INLINE));
        }
    }
    let policy = value.persistent_volume_reclaim_policy.as_ref();
    if policy.is_some_and(|policy| *policy != PersistentVolumeReclaimPolicy::Retain) {
        let detail = "may only be Retain in the context of inline volumes";
        cx.push(FieldError::forbidden(&path.field("persistentVolumeReclaimPolicy"), detail));
    }
    if value.csi.is_none() {
        let detail = "has to be specified in the context of inline volumes";
        cx.push(FieldError::required(&path.field("csi"), detail));
    }
    one_source(value, path, cx);
    if value.volume_mode.as_ref().is_some_and(|mode| *mode != "Filesystem") {
        let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
        cx.retract(&path.field("volumeMode"));
        cx.push(FieldError::forbidden(&path.field("volumeMode"), detail));
    }
    cx.arrange(path, INLINE_ORDER);
    cx.relocate(&path.field(LOCAL_AFFINITY), &path.field("nodeAffinity"));
}

/// As [`ORDER`], but fields that inline volumes cannot have come first.
const INLINE_ORDER: &[Order] = &[
    Order::of("claimRef"),
    Order::of("capacity"),
    Order::of("csi"),
    Order::of("accessModes"),
    Order::of("persistentVolumeReclaimPolicy"),
    Order::of("nodeAffinity"),
    Order::of("*"),
    Order::of("storageClassName"),
    Order::of("volumeMode"),
];

/// The source and the mode do not change, nor does the node affinity once it is set. Only the secret for
/// expansion can be added later. The paths of these errors leave out `spec`, or name no field.
pub fn persistent_volume_update(
    new: &PersistentVolume,
    old: &PersistentVolume,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let (new, old) = (&new.spec, &old.spec);
    let mut new_source = sources(new);
    let had_secret = old.csi.as_ref().is_none_or(|csi| csi.controller_expand_secret_ref.is_some());
    if !had_secret && let Some(csi) = new_source.get_mut("csi").and_then(Tree::as_object_mut) {
        csi.remove("controllerExpandSecretRef");
    }
    if new_source != sources(old) {
        let detail = "spec.persistentvolumesource is immutable after creation";
        cx.push(FieldError::forbidden(&path.field("spec").field("persistentvolumesource"), detail));
    }
    rule::immutable(&new.volume_mode, &old.volume_mode, &path.field("volumeMode"), cx);
    if old.node_affinity.is_some() {
        let changed = new.node_affinity != old.node_affinity;
        rule::immutable_shown(changed, || json(&new.node_affinity), &path.field("nodeAffinity"), cx);
    }
}

fn capacity(value: &PersistentVolumeSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.capacity.is_empty() {
        cx.push(FieldError::required(path, ""));
    }
    if value.capacity.len() != 1 || !value.capacity.contains_key(STORAGE) {
        let shown = Rendered(json(&value.capacity));
        cx.push(FieldError::not_supported(path, &shown, &[STORAGE]));
    }
    for (resource, amount) in &value.capacity {
        basic_quantity(amount, &path.key(resource), cx);
        quantity_positive(amount, &path.key(resource), cx);
    }
}

/// Exactly one source is given; each one after the first is an error at its field.
fn one_source(value: &PersistentVolumeSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let given = sources(value);
    let mut given = SOURCES.iter().filter(|field| given.contains_key(**field));
    match given.next() {
        None => cx.push(FieldError::required(path, "must specify a volume type")),
        Some(first) if *first == "local" && value.node_affinity.is_none() => {
            cx.push(FieldError::required(&path.field(LOCAL_AFFINITY), "Local volume requires node affinity"));
        }
        Some(_) => {}
    }
    for field in given.filter(|field| **field != "flexVolume") {
        cx.retract(&path.field(field));
        // The error spells this source `cephFS`.
        let known = if *field == "cephfs" { "cephFS" } else { field };
        cx.push(FieldError::forbidden(&path.field(known), "may not specify more than 1 volume type"));
    }
    let disk = path.field("gcePersistentDisk");
    for field in ["pdName", "partition"] {
        cx.relocate(&disk.field(field), &path.field("persistentDisk").field(field));
    }
}

/// All sources, in the order of the check: each one after the first is an error, except `flexVolume`.
const SOURCES: &[&str] = &[
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

/// The names of all sources: the fields that protobuf nests in a message of their own.
fn source_fields() -> impl Iterator<Item = &'static str> {
    PERSISTENT_VOLUME_SPEC_TYPE
        .fields
        .iter()
        .filter(|field| field.inline_tag.is_some())
        .map(|field| field.name)
}

/// The given sources, as trees.
fn sources(value: &PersistentVolumeSpec) -> TreeMap {
    let mut fields = match serde_json::to_value(value) {
        Ok(Tree::Object(fields)) => fields,
        _ => TreeMap::new(),
    };
    fields.retain(|name, _| source_fields().any(|field| field == name));
    fields
}

/// Whether a path is equivalent to `/`.
fn is_root(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        depth = if part == ".." { depth.saturating_sub(1) } else { depth + 1 };
    }
    path.starts_with('/') && depth == 0
}
