//! Pods without what is behind gates that are off: of an image volume nothing is left, not even its mounts;
//! `/proc` is mounted as by default; and of a claim that is made for a volume all is kept, because the gates
//! of claims are asked when it is made. All as in the reference.

use std::collections::BTreeSet;

use orch_machinery::gated::GatedFields;
use orch_runtime::{Tree, type_def::TypeDef};

const IMAGE_VOLUME: &str = "ImageVolume";

/// Only a pod with users of its own may have another `/proc` than that of the default.
const USER_NAMESPACES: &str = "UserNamespacesSupport";
const PROC_MOUNT: &str = "/securityContext/procMount";
const DEFAULT_PROC_MOUNT: &str = "Default";

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Drops fields of an object that has the specification of a pod at the pointer `at`. What `old`, the stored
/// object, uses already stays.
pub(crate) fn drop_gated(
    at: &str,
    object: &mut Tree,
    old: Option<&Tree>,
    gated: &GatedFields,
    def: &'static TypeDef,
) {
    let mut claims = Vec::new();
    if let Some(spec) = object.pointer_mut(at) {
        drop_beyond_fields(spec, old.and_then(|old| old.pointer(at)), gated);
        claims.extend(claims_of(spec).map(Tree::take));
    }
    gated.drop_from(object, old, def);
    if let Some(spec) = object.pointer_mut(at) {
        claims_of(spec).zip(claims).for_each(|(place, claim)| *place = claim);
    }
}

/// What the claims ask for that are made for volumes.
fn claims_of(spec: &mut Tree) -> impl Iterator<Item = &mut Tree> {
    let volumes = spec.get_mut("volumes").and_then(Tree::as_array_mut).into_iter().flatten();
    volumes.filter_map(|volume| volume.pointer_mut("/ephemeral/volumeClaimTemplate/spec"))
}

fn drop_beyond_fields(spec: &mut Tree, old: Option<&Tree>, gated: &GatedFields) {
    if gated.has_off(IMAGE_VOLUME) && !old.is_some_and(|old| items(old, "volumes").any(is_of_image)) {
        drop_image_volumes(spec);
    }
    if gated.has_off(USER_NAMESPACES) && !old.is_some_and(has_own_proc) {
        for_each_container(spec, |container| {
            if let Some(mount) = container.pointer_mut(PROC_MOUNT).filter(|mount| mount.is_string()) {
                *mount = DEFAULT_PROC_MOUNT.into();
            }
        });
    }
}

/// A volume alone would become an empty directory, in which a program does not find what it needs.
fn drop_image_volumes(spec: &mut Tree) {
    let mut dropped = BTreeSet::new();
    if let Some(volumes) = spec.get_mut("volumes").and_then(Tree::as_array_mut) {
        volumes.retain(|volume| {
            let stays = !is_of_image(volume);
            if !stays {
                dropped.insert(name(volume).to_owned());
            }
            stays
        });
    }
    if dropped.is_empty() {
        return;
    }
    for_each_container(spec, |container| {
        if let Some(mounts) = container.get_mut("volumeMounts").and_then(Tree::as_array_mut) {
            mounts.retain(|mount| !dropped.contains(name(mount)));
        }
    });
}

fn is_of_image(volume: &Tree) -> bool {
    volume.get("image").is_some_and(|image| !image.is_null())
}

fn has_own_proc(spec: &Tree) -> bool {
    let is_own = |mount: &Tree| mount.as_str().is_some_and(|mount| mount != DEFAULT_PROC_MOUNT);
    let mut containers = CONTAINERS.iter().flat_map(|list| items(spec, list));
    containers.any(|container| container.pointer(PROC_MOUNT).is_some_and(is_own))
}

fn items<'t>(spec: &'t Tree, list: &str) -> impl Iterator<Item = &'t Tree> {
    spec.get(list).and_then(Tree::as_array).into_iter().flatten()
}

fn for_each_container(spec: &mut Tree, mut change: impl FnMut(&mut Tree)) {
    for list in CONTAINERS {
        spec.get_mut(list).and_then(Tree::as_array_mut).into_iter().flatten().for_each(&mut change);
    }
}

fn name(item: &Tree) -> &str {
    item.get("name").and_then(Tree::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use orch_api::core::v1::Pod;
    use orch_runtime::object::Kind as _;
    use serde_json::json;

    use super::*;

    fn spec() -> Tree {
        let container = |proc_mount: &str| {
            json!({
                "volumeMounts": [{"name": "i", "mountPath": "/i"}, {"name": "v", "mountPath": "/v"}],
                "securityContext": {"procMount": proc_mount},
            })
        };
        json!({
            "volumes": [
                {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {
                    "volumeAttributesClassName": "x", "dataSourceRef": {"namespace": "x"},
                }}}},
                {"name": "i", "image": {"reference": "x"}, "emptyDir": {}},
            ],
            "containers": [container("Unmasked")],
            "initContainers": [container("bogus"), {"securityContext": {}}],
            "ephemeralContainers": [container("")],
        })
    }

    fn dropped(old: Option<&Tree>, is_on: bool) -> Tree {
        let (mut pod, def) = (json!({"spec": spec()}), Pod::RESOURCE.type_def);
        let old = old.map(|old| json!({"spec": old}));
        drop_gated("/spec", &mut pod, old.as_ref(), &GatedFields::of(def, |_| is_on), def);
        pod["spec"].take()
    }

    #[test]
    fn nothing_is_left_of_image_volumes_and_of_an_own_proc_but_all_of_claims() {
        let container = json!({
            "volumeMounts": [{"name": "v", "mountPath": "/v"}], "securityContext": {"procMount": "Default"},
        });
        let expected = json!({
            "volumes": [spec()["volumes"][0]],
            "containers": [container],
            "initContainers": [container, {"securityContext": {}}],
            "ephemeralContainers": [container],
        });
        assert_eq!(dropped(None, false), expected);
        assert_eq!(dropped(Some(&expected), false), expected);
        assert_eq!(dropped(None, true), spec());
    }

    #[test]
    fn what_is_in_use_stays() {
        assert_eq!(dropped(Some(&spec()), false), spec());
        let with_image = json!({"volumes": [{"name": "o", "image": {}}]});
        let partly = dropped(Some(&with_image), false);
        assert_eq!(partly["volumes"], spec()["volumes"]);
        assert_eq!(partly["containers"][0]["securityContext"]["procMount"], "Default");
    }
}
