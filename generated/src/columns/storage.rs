//! Storage: volumes, claims, classes and drivers.

use orch_runtime::{Tree, resource_def::CellContext};

use super::{items, text};

/// The short form of each access mode, in the order of display.
const ACCESS_MODES: &[(&str, &str)] = &[
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
];

/// The phase of a volume or claim; `Terminating` while it is being deleted.
pub fn phase_or_terminating(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let is_deleted = !text(tree, "/metadata/deletionTimestamp").is_empty();
    if is_deleted { "Terminating".into() } else { text(tree, "/status/phase").into() }
}

/// The class of a volume or claim: the old annotation if there is one, otherwise the field.
pub fn storage_class_of(tree: &Tree, context: &CellContext<'_>) -> Tree {
    let key = format!("volume.beta.{}/storage-class", context.vocabulary.label_domain);
    let annotation = tree.pointer("/metadata/annotations").and_then(|annotations| annotations.get(&key));
    match annotation.and_then(Tree::as_str) {
        Some(class) => class.into(),
        None => text(tree, "/spec/storageClassName").into(),
    }
}

/// The capacity of a volume.
pub fn volume_capacity(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    amount(tree, "/spec/capacity/storage").into()
}

/// The access modes of a volume: `RWO,ROX`.
pub fn volume_access_modes(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    access_modes(tree, "/spec/accessModes").into()
}

/// The claim that the volume is bound to: `namespace/name`.
pub fn volume_claim(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    match tree.pointer("/spec/claimRef") {
        Some(claim) => format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")).into(),
        None => "".into(),
    }
}

/// The capacity of a claim; empty before it has a volume.
pub fn claim_capacity(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    if has_volume(tree) { amount(tree, "/status/capacity/storage").into() } else { "".into() }
}

/// The access modes of a claim; empty before it has a volume.
pub fn claim_access_modes(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    if has_volume(tree) { access_modes(tree, "/status/accessModes").into() } else { "".into() }
}

fn has_volume(claim: &Tree) -> bool {
    !text(claim, "/spec/volumeName").is_empty()
}

fn amount<'t>(tree: &'t Tree, pointer: &str) -> &'t str {
    match text(tree, pointer) {
        "" => "0",
        amount => amount,
    }
}

fn access_modes(tree: &Tree, pointer: &str) -> String {
    let given: Vec<&str> = items(tree, pointer).filter_map(Tree::as_str).collect();
    let known = ACCESS_MODES.iter().filter(|(mode, _)| given.contains(mode));
    known.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

/// The audiences of the tokens that the driver requests: `a,b`.
pub fn csi_driver_token_requests(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let audiences: Vec<&str> =
        items(tree, "/spec/tokenRequests").map(|request| text(request, "/audience")).collect();
    audiences.join(",").into()
}

/// The name of the class, marked if it is the default for claims that name no class: `fast (default)`.
pub fn storage_class_name(tree: &Tree, context: &CellContext<'_>) -> Tree {
    let name = text(tree, "/metadata/name");
    let annotations = tree.pointer("/metadata/annotations").and_then(Tree::as_object);
    let is_default = ["", "beta."].into_iter().any(|stage| {
        let key = format!("storageclass.{stage}{}/is-default-class", context.vocabulary.label_domain);
        annotations.and_then(|annotations| annotations.get(&key)).and_then(Tree::as_str) == Some("true")
    });
    if is_default { format!("{name} (default)").into() } else { name.into() }
}

/// Whether volumes of the class can be expanded.
pub fn storage_class_expansion(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    tree.get("allowVolumeExpansion").and_then(Tree::as_bool).unwrap_or_default().into()
}
