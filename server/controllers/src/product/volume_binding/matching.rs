//! Which volume suits a claim.

use orch_api::core::v1::{ObjectReference, PersistentVolumeClaim};
use orch_runtime::vocabulary::Vocabulary;

use super::view::{VolumeView, class_annotation, mode, storage};

/// For whom a volume is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    /// For nobody.
    No,
    /// For this claim.
    ForIt,
    /// For another one, perhaps an earlier one of the same name.
    ForAnother,
}

/// Compares the reference of a volume with a claim. One without a uid is of people, who know the name only.
pub(super) fn reserved(reference: Option<&ObjectReference>, claim: &PersistentVolumeClaim) -> Reserved {
    let Some(reference) = reference else { return Reserved::No };
    let metadata = &claim.metadata;
    let is_named = reference.name == metadata.name && reference.namespace == metadata.namespace;
    if is_named && (reference.uid.is_empty() || reference.uid == metadata.uid) {
        Reserved::ForIt
    } else {
        Reserved::ForAnother
    }
}

/// The choice of a volume for a claim that names none: one that is reserved for it, or the smallest free one
/// that suffices. Volumes are offered one by one.
#[derive(Default)]
pub(super) struct Choice<'v> {
    best: Option<&'v VolumeView>,
}

impl<'v> Choice<'v> {
    /// Offers a volume. Returns whether no other one has to be looked at.
    pub(super) fn is_made_by(
        &mut self,
        volume: &'v VolumeView,
        claim: &PersistentVolumeClaim,
        vocabulary: &Vocabulary,
    ) -> bool {
        match reserved(volume.claim.as_ref(), claim) {
            _ if volume.is_terminating => false,
            // Class, access modes and labels are the business of whoever reserved it.
            Reserved::ForIt if is_large_enough(volume, claim) && volume.mode == mode_of(claim) => {
                self.best = Some(volume);
                true
            }
            Reserved::ForIt | Reserved::ForAnother => false,
            Reserved::No => {
                let is_smaller = self.best.is_none_or(|best| volume.capacity < best.capacity);
                if is_smaller && volume.is_free && suits(volume, claim, vocabulary) {
                    self.best = Some(volume);
                }
                false
            }
        }
    }

    /// The best one of those that were offered.
    pub(super) fn best(&self) -> Option<&'v VolumeView> {
        self.best
    }
}

/// Whether a volume can be the one of a claim that does not name it.
pub(super) fn suits(volume: &VolumeView, claim: &PersistentVolumeClaim, vocabulary: &Vocabulary) -> bool {
    let selector = claim.spec.selector.as_ref();
    selector.is_none_or(|selector| selector.selects(&volume.labels))
        && satisfies(volume, claim, vocabulary).is_ok()
}

/// Whether a volume can be the one of a claim that names it. Labels are for choosing, so they do not count.
///
/// # Errors
/// What differs, for people.
pub(super) fn satisfies(
    volume: &VolumeView,
    claim: &PersistentVolumeClaim,
    vocabulary: &Vocabulary,
) -> Result<(), String> {
    if volume.is_terminating {
        return Err(format!("the volume is marked for deletion \"{}\"", volume.name));
    }
    differs(volume, claim, vocabulary).map_or(Ok(()), |what| Err(what.to_owned()))
}

fn differs(
    volume: &VolumeView,
    claim: &PersistentVolumeClaim,
    vocabulary: &Vocabulary,
) -> Option<&'static str> {
    if !is_large_enough(volume, claim) {
        return Some("requested PV is too small");
    }
    if volume.class != class_of(claim, vocabulary) {
        return Some("storageClassName does not match");
    }
    if volume.mode != mode_of(claim) {
        return Some("incompatible volumeMode");
    }
    if !claim.spec.access_modes.iter().all(|mode| volume.access_modes.contains(mode)) {
        return Some("incompatible accessMode");
    }
    None
}

/// The class that a claim asks for; empty for none.
pub(super) fn class_of(claim: &PersistentVolumeClaim, vocabulary: &Vocabulary) -> String {
    named_class(claim, vocabulary).cloned().unwrap_or_default()
}

/// Whether a claim leaves its class open. The empty name asks for a volume without a class.
pub(super) fn names_no_class(claim: &PersistentVolumeClaim, vocabulary: &Vocabulary) -> bool {
    named_class(claim, vocabulary).is_none()
}

fn named_class<'c>(claim: &'c PersistentVolumeClaim, vocabulary: &Vocabulary) -> Option<&'c String> {
    let named = claim.metadata.annotations.get(&class_annotation(vocabulary));
    named.or(claim.spec.storage_class_name.as_ref())
}

fn is_large_enough(volume: &VolumeView, claim: &PersistentVolumeClaim) -> bool {
    volume.capacity >= storage(&claim.spec.resources.requests)
}

fn mode_of(claim: &PersistentVolumeClaim) -> &str {
    mode(claim.spec.volume_mode.as_deref())
}

#[cfg(test)]
mod tests {
    use orch_api::ORCH;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn claim(more: &Value) -> PersistentVolumeClaim {
        let mut claim = json!({
            "metadata": {"name": "c", "namespace": "n", "uid": "u"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}},
        });
        merge(&mut claim["spec"], more);
        from_value(claim).unwrap()
    }

    fn volume(name: &str, capacity: &str) -> VolumeView {
        VolumeView {
            name: name.into(),
            labels: [("disk".to_owned(), name.to_owned())].into(),
            capacity: capacity.parse().unwrap(),
            access_modes: ["ReadWriteOnce", "ReadOnlyMany"].map(str::to_owned).into(),
            mode: mode(None).to_owned(),
            is_free: true,
            ..VolumeView::default()
        }
    }

    fn merge(spec: &mut Value, more: &Value) {
        for (field, value) in more.as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
    }

    fn chosen(volumes: &[VolumeView], claim: &PersistentVolumeClaim) -> Option<String> {
        let mut choice = Choice::default();
        let _ = volumes.iter().any(|volume| choice.is_made_by(volume, claim, &ORCH));
        choice.best().map(|volume| volume.name.to_string())
    }

    #[test]
    fn the_smallest_volume_that_suffices_is_chosen() {
        let sizes = [("small", "1Gi"), ("large", "10Gi"), ("fitting", "3Gi"), ("same", "3Gi")];
        let volumes = sizes.map(|(name, size)| volume(name, size));
        for (more, expected) in [
            (json!({}), Some("fitting")),
            (json!({"resources": {"requests": {"storage": "4Gi"}}}), Some("large")),
            (json!({"resources": {"requests": {"storage": "11Gi"}}}), None),
            (json!({"resources": {"requests": {"storage": "1024Mi"}}}), Some("small")),
            (json!({"accessModes": ["ReadOnlyMany"]}), Some("fitting")),
            (json!({"accessModes": ["ReadWriteMany"]}), None),
            (json!({"storageClassName": "fast"}), None),
            (json!({"storageClassName": ""}), Some("fitting")),
            (json!({"volumeMode": "Block"}), None),
            (json!({"volumeMode": "Filesystem"}), Some("fitting")),
            (json!({"selector": {"matchLabels": {"disk": "large"}}}), Some("large")),
            (json!({"selector": {"matchLabels": {"disk": "small"}}}), None),
        ] {
            assert_eq!(chosen(&volumes, &claim(&more)).as_deref(), expected, "{more}");
        }
    }

    #[test]
    fn reserved_volumes_are_for_one_claim() {
        let reserved_for = |name: &str, uid: &str| {
            let claim = from_value(json!({"name": name, "namespace": "n", "uid": uid})).unwrap();
            VolumeView { class: "any".to_owned(), claim: Some(claim), ..volume("reserved", "9Gi") }
        };
        let free = volume("free", "2Gi");
        for (name, uid, expected) in [
            ("c", "", "reserved"),
            ("c", "u", "reserved"),
            // An earlier claim of the name.
            ("c", "v", "free"),
            ("d", "", "free"),
        ] {
            let volumes = [free.clone(), reserved_for(name, uid)];
            assert_eq!(chosen(&volumes, &claim(&json!({}))).as_deref(), Some(expected), "{name} {uid}");
        }
    }

    #[test]
    fn volumes_with_data_or_on_their_way_out_are_not_chosen() {
        let claim = claim(&json!({}));
        for (is_free, is_terminating, expected) in
            [(true, false, Some("v")), (false, false, None), (true, true, None), (false, true, None)]
        {
            let volume = VolumeView { is_free, is_terminating, ..volume("v", "2Gi") };
            assert_eq!(chosen(&[volume], &claim).as_deref(), expected, "{is_free} {is_terminating}");
        }
    }

    #[test]
    fn a_volume_that_a_claim_names_needs_no_labels() {
        let named = volume("v", "2Gi");
        let marked = Err("the volume is marked for deletion \"v\"".to_owned());
        for (more, is_terminating, expected) in [
            (json!({"selector": {"matchLabels": {"disk": "other"}}}), false, Ok(())),
            (json!({}), true, marked),
            (json!({"storageClassName": "fast"}), false, Err("storageClassName does not match".to_owned())),
        ] {
            let volume = VolumeView { is_terminating, ..named.clone() };
            assert_eq!(satisfies(&volume, &claim(&more), &ORCH), expected, "{more}");
        }
    }
}
