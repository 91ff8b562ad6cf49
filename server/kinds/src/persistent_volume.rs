//! `PersistentVolume`: the phase of a new one, and the time of the last change of phase.

use orch_api::core::v1::{PersistentVolume, PersistentVolumePhase};
use orch_registry::behaviour::{Behaviour, WriteInfo};
use orch_runtime::resource_def::FieldPath;

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

    fn server_fields(&self, subresource: &str) -> &'static [FieldPath] {
        if subresource == "status" { &[&["status", "lastPhaseTransitionTime"]] } else { &[] }
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
