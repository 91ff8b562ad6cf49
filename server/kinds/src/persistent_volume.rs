//! `PersistentVolume`: the phase of a new one, the time of the last change of phase, and the nodes from which
//! it can be used, which stay.

use orch_api::{
    core::v1::{NodeSelectorRequirement, PersistentVolume, PersistentVolumePhase, VolumeNodeAffinity},
    formats::new_name_of_label,
};
use orch_registry::behaviour::{Behaviour, WriteInfo};
use orch_runtime::{
    field_error::{FieldError, Reason, Validation, json},
    path::Path,
    resource_def::FieldPath,
    vocabulary::Vocabulary,
};

pub(crate) struct PersistentVolumeBehaviour;

impl Behaviour<PersistentVolume> for PersistentVolumeBehaviour {
    fn prepare(&self, volume: &mut PersistentVolume, old: Option<&PersistentVolume>, write: &WriteInfo<'_>) {
        let new = &mut volume.status;
        match old.map(|old| &old.status) {
            None => {
                new.phase = Some(PersistentVolumePhase::Pending);
                new.last_phase_transition_time = Some(write.now);
            }
            Some(old) => {
                let is_time_sent = new.last_phase_transition_time.is_some()
                    && new.last_phase_transition_time != old.last_phase_transition_time;
                if new.phase != old.phase && !is_time_sent {
                    new.last_phase_transition_time = Some(write.now);
                } else if new.last_phase_transition_time.is_none() {
                    new.last_phase_transition_time = old.last_phase_transition_time;
                }
            }
        }
    }

    /// The node affinity stays once it is set, but labels may get their new names: Rust, because requirements
    /// are compared by their places.
    fn validate(
        &self,
        volume: &PersistentVolume,
        old: Option<&PersistentVolume>,
        write: &WriteInfo<'_>,
        violations: &mut Validation<'_>,
    ) {
        let Some(old) = old.and_then(|old| old.spec.node_affinity.as_ref()) else { return };
        let new = volume.spec.node_affinity.as_ref();
        if new.is_some_and(|new| with_old_labels(new, old, write.vocabulary) == *old) {
            return;
        }
        let at = Path::ROOT.field("nodeAffinity");
        let shown = new.map_or_else(|| "\"null\"".to_owned(), json);
        let detail = "field is immutable, except for updating from beta label to GA";
        violations.push(FieldError::in_words(&at, Reason::Invalid, &shown, detail));
    }

    fn server_fields(&self, subresource: &str) -> &'static [FieldPath] {
        if subresource == "status" { &[&["status", "lastPhaseTransitionTime"]] } else { &[] }
    }
}

/// The new affinity with the labels of the old one where they are only renamed.
fn with_old_labels(
    new: &VolumeNodeAffinity,
    old: &VolumeNodeAffinity,
    words: &Vocabulary,
) -> VolumeNodeAffinity {
    let mut affinity = new.clone();
    let new = affinity.required.iter_mut().flat_map(|required| &mut required.node_selector_terms);
    let old = old.required.iter().flat_map(|required| &required.node_selector_terms);
    for (new, old) in new.zip(old) {
        for (new, old) in new.match_expressions.iter_mut().zip(&old.match_expressions) {
            take_old_label(new, old, words);
        }
    }
    affinity
}

/// As in the reference, an empty key in the place of a label without a new name is no change: the key is
/// refused because it is empty, and one error is enough.
fn take_old_label(new: &mut NodeSelectorRequirement, old: &NodeSelectorRequirement, words: &Vocabulary) {
    if new.key == new_name_of_label(&old.key, words).unwrap_or_default() {
        new.key.clone_from(&old.key);
    }
}

#[cfg(test)]
mod tests {
    use orch_api::KUBERNETES;
    use orch_runtime::scalar::Time;

    use super::*;

    fn prepare(volume: &mut PersistentVolume, old: Option<&PersistentVolume>, seconds: i64) {
        let now = Time::from_unix_seconds(seconds);
        let write = WriteInfo { vocabulary: &KUBERNETES, subresource: "status", now };
        PersistentVolumeBehaviour.prepare(volume, old, &write);
    }

    #[test]
    fn the_server_sets_the_time_of_a_phase_unless_a_client_does() {
        let mut new = PersistentVolume::default();
        prepare(&mut new, None, 1);
        assert_eq!(new.status.phase, Some(PersistentVolumePhase::Pending));
        assert_eq!(new.status.last_phase_transition_time, Some(Time::from_unix_seconds(1)));
        for (phase, sent, expected) in [
            (PersistentVolumePhase::Pending, Some(1), 1),
            (PersistentVolumePhase::Pending, None, 1),
            (PersistentVolumePhase::Bound, Some(1), 9),
            (PersistentVolumePhase::Bound, None, 9),
            (PersistentVolumePhase::Bound, Some(5), 5),
        ] {
            let mut changed = new.clone();
            changed.status.phase = Some(phase);
            changed.status.last_phase_transition_time = sent.map(Time::from_unix_seconds);
            prepare(&mut changed, Some(&new), 9);
            let expected = Some(Time::from_unix_seconds(expected));
            assert_eq!(changed.status.last_phase_transition_time, expected, "{sent:?}");
        }
    }
}
