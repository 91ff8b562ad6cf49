//! `PersistentVolume`: a finalizer that keeps a volume while it is in use, and the time of its last change of phase.

use orch_api::core::v1::{PersistentVolume, PersistentVolumePhase};
use orch_runtime::{Tree, object::ApiObject, resource_def::FieldPath, vocabulary::Vocabulary};

use super::{Change, Hooks, add_finalizer};

pub(super) struct PersistentVolumeHooks;

impl Hooks for PersistentVolumeHooks {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, change: &Change<'_>) {
        let Some(volume) = object.as_any_mut().downcast_mut::<PersistentVolume>() else { return };
        match old.and_then(|old| old.as_any().downcast_ref::<PersistentVolume>()) {
            None => {
                add_finalizer(&mut volume.metadata.finalizers, finalizer(change.vocabulary));
                volume.status.phase = Some(PersistentVolumePhase::Pending);
                volume.status.last_phase_transition_time = Some(change.now);
            }
            Some(old) => {
                let (new, old) = (&mut volume.status, &old.status);
                let is_untold = new.last_phase_transition_time.is_none()
                    || new.last_phase_transition_time == old.last_phase_transition_time;
                if new.phase != old.phase && is_untold {
                    new.last_phase_transition_time = Some(change.now);
                }
            }
        }
    }

    fn added_fields(&self) -> &'static [FieldPath] {
        &[&["metadata", "finalizers"]]
    }
}

/// Keeps a volume from going while a claim is bound to it.
pub fn finalizer(vocabulary: &Vocabulary) -> String {
    vocabulary.label("pv-protection")
}

/// Whether a claim is bound to the volume.
pub fn is_in_use(volume: &Tree) -> bool {
    volume.pointer("/status/phase").and_then(Tree::as_str) == Some("Bound")
}

#[cfg(test)]
mod tests {
    use orch_api::KUBERNETES;
    use orch_runtime::scalar::Time;

    use super::*;

    fn prepare(volume: &mut PersistentVolume, old: Option<&PersistentVolume>, seconds: i64) {
        let change =
            Change { vocabulary: &KUBERNETES, subresource: "status", now: Time::from_unix_seconds(seconds) };
        PersistentVolumeHooks.prepare(volume, old.map(|old| old as &dyn ApiObject), &change);
    }

    #[test]
    fn the_time_of_a_phase_is_told_by_the_server_or_whoever_changes_it() {
        let mut new = PersistentVolume::default();
        prepare(&mut new, None, 1);
        assert_eq!(new.metadata.finalizers, ["kubernetes.io/pv-protection"]);
        assert_eq!(new.status.phase, Some(PersistentVolumePhase::Pending));
        assert_eq!(new.status.last_phase_transition_time, Some(Time::from_unix_seconds(1)));
        for (phase, told, expected) in [
            (PersistentVolumePhase::Pending, Some(1), 1),
            (PersistentVolumePhase::Bound, Some(1), 9),
            (PersistentVolumePhase::Bound, None, 9),
            (PersistentVolumePhase::Bound, Some(5), 5),
        ] {
            let mut changed = new.clone();
            changed.status.phase = Some(phase);
            changed.status.last_phase_transition_time = told.map(Time::from_unix_seconds);
            prepare(&mut changed, Some(&new), 9);
            let expected = Some(Time::from_unix_seconds(expected));
            assert_eq!(changed.status.last_phase_transition_time, expected, "{told:?}");
        }
    }
}
