//! `ControllerRevision`: the controller whose history it is looks for its own.

use orch_api::apps::v1::ControllerRevision;
use orch_registry::behaviour::Behaviour;

pub(crate) struct ControllerRevisionBehaviour;

impl Behaviour<ControllerRevision> for ControllerRevisionBehaviour {
    fn is_found_by_controller(&self) -> bool {
        true
    }
}
