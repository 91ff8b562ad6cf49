//! `PriorityClass`: its generation is 1, whatever changes.

use orch_api::scheduling::v1::PriorityClass;
use orch_registry::behaviour::{Behaviour, WriteInfo};

pub(crate) struct PriorityClassBehaviour;

impl Behaviour<PriorityClass> for PriorityClassBehaviour {
    fn prepare(&self, class: &mut PriorityClass, old: Option<&PriorityClass>, _write: &WriteInfo<'_>) {
        if old.is_none() {
            class.metadata.generation = 1;
        }
    }
}
