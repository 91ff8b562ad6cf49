//! Daemon sets: one pod on every node that a set selects.
//!
//! What is to be done follows from the set, its pods, its revisions and the nodes as they are now
//! ([`plan`]); nothing is remembered but how often pods failed. Reads show every write that was answered, so
//! there are no expectations to wait for: the next run sees what this one did. A run that was cut off, by an
//! error or by a crash, needs no repair.
//!
//! Pods are read before nodes: a pod whose node is not found then was left behind by it.

mod backoff;
mod claim;
mod history;
mod placement;
mod plan;
mod pods;
mod reports;
mod rolling;
mod run;
mod sets;
mod state;
mod status;
#[cfg(test)]
mod tests;
mod view;

use std::{sync::Arc, time::Duration};

use orch_api::{
    apps::v1::{ControllerRevision, DaemonSet},
    core::v1::{Node, Pod},
};
use orch_registry::error::{ApiError, Result};
use orch_runtime::object::{Kind, typed_from_tree};

use self::{placement::Fit, run::Run, sets::Sets};
use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
    trigger::Trigger,
};

/// See the module.
#[derive(Default)]
pub(super) struct DaemonSets {
    sets: Sets,
}

impl Controller for DaemonSets {
    type Resource = DaemonSet;

    fn name(&self) -> &'static str {
        "daemonset-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("daemon-set-controller")
    }

    fn also_watches(&self) -> Vec<Trigger> {
        let (of_pods, of_nodes) = (self.sets.clone(), self.sets.clone());
        vec![
            Trigger::new(Pod::RESOURCE, move |change| of_pods.of_pod(change)),
            Trigger::new(Node::RESOURCE, move |change| of_nodes.of_node(change)),
            Trigger::owner::<DaemonSet, ControllerRevision>(),
        ]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let resource = cx.served::<DaemonSet>()?;
        let Some(current) = cx.lookup(resource, key)? else {
            self.sets.remove(key);
            return Ok(Action::Done);
        };
        let data = history::data_of(&current.tree["spec"]["template"]);
        let set: DaemonSet = typed_from_tree(current.tree)
            .map_err(|error| ApiError::internal("a stored object cannot be read", error))?;
        let spec = pods::spec_of(&set, resource.vocabulary);
        let fit = Arc::new(Fit::of(&spec, resource.vocabulary));
        self.sets.enter(key, &set, &fit);
        // What a set leaves behind is deleted by its owner references, or stays.
        if set.metadata.deletion_timestamp.is_some() {
            return Ok(Action::Done);
        }
        let again = Run::new(cx, key, &self.sets, set, spec, fit, data)?.run().await?;
        Ok(again.map_or(Action::Done, |seconds| Action::Again(Duration::from_secs(seconds))))
    }
}
