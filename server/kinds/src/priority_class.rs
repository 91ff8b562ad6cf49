//! `PriorityClass`: its generation is 1, whatever changes, and those of the system stay.

use orch_api::scheduling::v1::PriorityClass;
use orch_registry::behaviour::{Behaviour, WriteInfo};

/// The classes that every server has (`schema/seed/priorityclasses.yaml`).
const OF_THE_SYSTEM: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

pub(crate) struct PriorityClassBehaviour;

impl Behaviour<PriorityClass> for PriorityClassBehaviour {
    fn prepare(&self, class: &mut PriorityClass, old: Option<&PriorityClass>, _write: &WriteInfo<'_>) {
        if old.is_none() {
            class.metadata.generation = 1;
        }
    }

    fn why_undeletable(&self, name: &str) -> Option<&'static str> {
        let is_of_system = OF_THE_SYSTEM.contains(&name);
        is_of_system.then_some("this is a system priority class and cannot be deleted")
    }
}
