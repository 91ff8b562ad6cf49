//! One look at a daemon set, and what is done then.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::future::join_all;
use orch_api::{
    apps::v1::{ControllerRevision, DaemonSet},
    core::v1::{Node, Pod, PodSpec},
};
use orch_machinery::media_type::PatchKind;
use orch_meta::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
    options::DeletionOptions,
    stored,
};
use orch_runtime::{
    Tree,
    object::{Kind, typed_from_tree},
};
use orch_storage::{Object, Scope};
use tokio::time::Instant;

use super::{
    claim::{Claim, Owner},
    history::{self, History},
    placement::{Fit, Placement},
    plan::plan,
    pods::pod_for,
    reports::Report,
    sets::Sets,
    state::{HASH_LABEL, NodeState, Plan, Rules, Strategy, Why, sort},
    status,
    view::{OwnedView, PodView, node_of, owned_of, pod_of},
};
use crate::{
    controller::Context,
    events::{self, About},
    key::ObjectKey,
    slice::Slice,
};

/// How many pods are written at a time. The first ones go alone: where one is refused, the rest would be too.
const AT_A_TIME: usize = 64;

/// Revisions that are kept where the set does not say.
const REVISIONS: i32 = 10;

/// See the module.
pub(super) struct Run<'r> {
    cx: &'r Context,
    key: &'r ObjectKey,
    sets: &'r Sets,
    set: DaemonSet,
    selector: LabelSelector,
    /// Of its pods, before they are made for a node.
    spec: PodSpec,
    fit: Arc<Fit>,
    /// What its current revision holds.
    data: Tree,
    /// The reference of what belongs to it.
    reference: OwnerReference,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        cx: &'r Context,
        key: &'r ObjectKey,
        sets: &'r Sets,
        set: DaemonSet,
        spec: PodSpec,
        fit: Arc<Fit>,
        data: Tree,
    ) -> Result<Self> {
        let reference = OwnerReference {
            api_version: cx.served::<DaemonSet>()?.api_version.clone(),
            kind: DaemonSet::RESOURCE.kind.to_owned(),
            name: set.metadata.name.clone(),
            uid: set.metadata.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        };
        let selector = set.spec.selector.clone().unwrap_or_default();
        Ok(Run { cx, key, sets, set, selector, spec, fit, data, reference })
    }

    /// Brings the pods of the set nearer to what they should be. Says in how many seconds that is to be
    /// repeated although nothing changes.
    pub(super) async fn run(mut self) -> Result<Option<u64>> {
        let pods = self.claim_pods().await?;
        let mut history = self.claim_history().await?;
        let Some(hash) = self.current_hash(&mut history).await? else { return Ok(None) };
        let nodes = self.nodes(&pods).await?;
        let rules = Rules {
            hash,
            twins: history.twins(&self.data),
            min_ready_seconds: self.set.spec.min_ready_seconds,
            strategy: Strategy::of(&self.set.spec.update_strategy),
            now: self.cx.client().core().now(),
        };
        let wait = |node: &str| {
            let now = Instant::now();
            self.sets.with(self.key, |known| known.backoff.wait(node, now)).flatten()
        };
        let plan = plan(&nodes, &rules, wait);
        let again = plan.again_in;
        let done = self.carry_out(plan, &rules.hash).await;
        self.store_status(&nodes, &rules).await?;
        done?;
        self.forget_revisions(&history, &pods).await?;
        Ok(again)
    }

    /// The pods of the set. Takes those that it selects and that nobody has, and lets those go that it does
    /// not select any more.
    async fn claim_pods(&self) -> Result<Vec<Arc<PodView>>> {
        let resource = self.cx.served::<Pod>()?;
        let snapshot = self.cx.client().snapshot(resource);
        let scope = Scope::Namespace(Arc::clone(&self.key.namespace));
        let pods = self.owner().candidates(&snapshot, &scope).filter_map(|object| pod_of(object));
        let pods: Vec<(Claim, Arc<PodView>)> =
            pods.map(|pod| (self.owner().claim(&pod.owned), Arc::clone(pod))).collect();
        drop(snapshot);
        let mut claimed = Vec::new();
        for (claim, pod) in pods {
            if self.settle(resource, claim, &pod.name, &pod.owned).await? {
                claimed.push(pod);
            }
        }
        Ok(claimed)
    }

    /// The revisions of the set, told apart.
    async fn claim_history(&self) -> Result<History> {
        let resource = self.cx.served::<ControllerRevision>()?;
        let snapshot = self.cx.client().snapshot(resource);
        let scope = Scope::Namespace(Arc::clone(&self.key.namespace));
        let claim = |object: &Arc<Object>| Some(self.owner().claim(owned_of(object)?));
        let revisions: Vec<(Claim, Arc<Object>)> = self
            .owner()
            .candidates(&snapshot, &scope)
            .filter_map(|object| Some((claim(object)?, Arc::clone(object))))
            .collect();
        drop(snapshot);
        let mut claimed = Vec::new();
        for (claim, object) in revisions {
            let Some(owned) = owned_of(&object).filter(|it| !it.is_terminating) else { continue };
            if self.settle(resource, claim, &object.key().name, owned).await?
                && let Ok(revision) = typed_from_tree(stored::tree_of(resource, &object)?)
            {
                claimed.push(revision);
            }
        }
        Ok(History::of(claimed, &self.data))
    }

    /// Takes an object or lets it go, as the claim says. Says whether it belongs to the set then.
    async fn settle(
        &self,
        resource: &Arc<ServedResource>,
        claim: Claim,
        name: &str,
        object: &OwnedView,
    ) -> Result<bool> {
        if matches!(claim, Claim::Owned | Claim::Other) {
            return Ok(claim == Claim::Owned);
        }
        if claim == Claim::Adopted && !self.is_there()? {
            return Ok(false);
        }
        let patch = self.owner().patch(claim, &self.reference, &object.uid);
        let client = self.cx.client();
        match client.patch(resource, &self.key.namespace, name, PatchKind::Strategic, &patch).await {
            Ok(_) => Ok(claim == Claim::Adopted),
            // It is gone, or another one has its name.
            Err(ApiError::NotFound { .. } | ApiError::Conflict { .. } | ApiError::Invalid { .. }) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the set is still the one that was read, and not being deleted. What a set takes after it was
    /// deleted would go with it.
    fn is_there(&self) -> Result<bool> {
        let set = self.cx.api::<DaemonSet>()?.lookup(&self.key.namespace, &self.key.name)?;
        let own = &self.set.metadata.uid;
        let is_own = |found: &ObjectMeta| found.uid == *own && found.deletion_timestamp.is_none();
        Ok(set.is_some_and(|set| is_own(&set.metadata)))
    }

    /// The hash of the current revision, which is made or numbered anew where that is needed. `None` where
    /// its name is taken: the set then counts a collision, which makes another name.
    async fn current_hash(&mut self, history: &mut History) -> Result<Option<String>> {
        let revisions = self.cx.api::<ControllerRevision>()?;
        let number = history.number();
        if let Some(current) = &mut history.current {
            if current.revision != number {
                current.revision = number;
                // After a conflict the next run sees the other write.
                revisions.update(current).await?;
            }
            return Ok(Some(history::hash_of(current).to_owned()));
        }
        let hash = history::hash(&self.data, self.set.status.collision_count.unwrap_or_default());
        let mut labels = self.set.spec.template.metadata.labels.clone();
        labels.insert(HASH_LABEL.to_owned(), hash.clone());
        let metadata = ObjectMeta {
            name: format!("{}-{hash}", self.key.name),
            namespace: self.key.namespace.as_ref().to_owned(),
            labels,
            annotations: self.set.metadata.annotations.clone(),
            owner_references: vec![self.reference.clone()],
            ..ObjectMeta::default()
        };
        let revision = ControllerRevision { metadata, data: Some(self.data.clone()), revision: number };
        match revisions.create(&self.key.namespace, &revision).await {
            Ok(_) => Ok(Some(hash)),
            Err(ApiError::AlreadyExists { .. }) => {
                let collisions = &mut self.set.status.collision_count;
                *collisions = Some(collisions.unwrap_or_default().saturating_add(1));
                ignore_lost_race(self.cx.api::<DaemonSet>()?.update_status(&self.set).await)?;
                Ok(None)
            }
            Err(error) if is_ending(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All nodes, and those that pods name and that are gone, with the pods of the set.
    async fn nodes(&self, pods: &[Arc<PodView>]) -> Result<Vec<NodeState>> {
        let mut by_node: BTreeMap<Arc<str>, Vec<Arc<PodView>>> = BTreeMap::new();
        for pod in pods {
            if let Some(node) = &pod.node {
                by_node.entry(Arc::clone(node)).or_default().push(Arc::clone(pod));
            }
        }
        let mut nodes = Vec::new();
        let snapshot = self.cx.client().snapshot(self.cx.served::<Node>()?);
        let mut slice = Slice::begin();
        for object in snapshot.iter() {
            slice.next().await;
            let name = Arc::clone(&object.key().name);
            let mut pods = by_node.remove(&name).unwrap_or_default();
            pods.retain(|pod| !pod.is_over());
            sort(&mut pods);
            // Nothing is changed on a node that cannot be read.
            let placement = node_of(object).map_or(Placement::Stays, |node| self.fit.placement(node));
            nodes.push(NodeState { name, placement, pods });
        }
        let gone = by_node.into_iter();
        nodes.extend(gone.map(|(name, pods)| NodeState { name, placement: Placement::Gone, pods }));
        Ok(nodes)
    }

    async fn carry_out(&self, plan: Plan, hash: &str) -> Result<()> {
        let mut deleted = Ok(());
        for some in plan.delete.chunks(AT_A_TIME) {
            let each = join_all(some.iter().map(|(pod, why)| self.delete(pod, *why))).await;
            deleted = each.into_iter().fold(deleted, Result::and);
        }
        let mut rest = plan.create.as_slice();
        let mut batch = 1;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch.min(rest.len()));
            let each = join_all(now.iter().map(|node| self.create(node, hash))).await;
            let created: Result<Vec<bool>> = each.into_iter().collect();
            if !created?.into_iter().all(|can_go_on| can_go_on) {
                break;
            }
            (rest, batch) = (later, (batch * 2).min(AT_A_TIME));
        }
        deleted
    }

    /// Makes the pod of a node. `false` where no more pods can be made, because the namespace is ending.
    async fn create(&self, node: &str, hash: &str) -> Result<bool> {
        let pod = pod_for(node, &self.set, self.spec.clone(), &self.reference, hash);
        match self.cx.api::<Pod>()?.create(&self.key.namespace, &pod).await {
            Ok(pod) => {
                self.tell(Report::created(&pod.key().name)).await;
                Ok(true)
            }
            Err(error) if is_ending(&error) => Ok(false),
            Err(error) => {
                self.tell(Report::not_created(&error)).await;
                Err(error)
            }
        }
    }

    async fn delete(&self, pod: &PodView, why: Why) -> Result<()> {
        let node = pod.node.as_deref().unwrap_or_default();
        if let Some(report) = Report::ended(&self.key.namespace, &pod.name, node, why) {
            self.tell(report).await;
        }
        let options = DeletionOptions {
            uid: Some(pod.owned.uid.clone()),
            grace_period: (why == Why::NodeGone).then_some(0),
            ..DeletionOptions::default()
        };
        match self.cx.api::<Pod>()?.delete(&self.key.namespace, &pod.name, options).await {
            Ok(_) => self.tell(Report::deleted(&pod.name)).await,
            // Somebody else was faster.
            Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => {}
            Err(error) => {
                self.tell(Report::not_deleted(&error)).await;
                return Err(error);
            }
        }
        Ok(())
    }

    async fn store_status(&mut self, nodes: &[NodeState], rules: &Rules) -> Result<()> {
        let observed = status::observed(&self.set.status, self.set.metadata.generation, nodes, rules);
        if observed == self.set.status {
            return Ok(());
        }
        self.set.status = observed;
        ignore_lost_race(self.cx.api::<DaemonSet>()?.update_status(&self.set).await)
    }

    /// Deletes the revisions beyond the limit, but for those that pods still have.
    async fn forget_revisions(&self, history: &History, pods: &[Arc<PodView>]) -> Result<()> {
        let limit = self.set.spec.revision_history_limit.unwrap_or(REVISIONS);
        let live: BTreeSet<&str> =
            pods.iter().filter_map(|pod| pod.owned.labels.get(HASH_LABEL)).map(String::as_str).collect();
        let revisions = self.cx.api::<ControllerRevision>()?;
        for revision in history.surplus(usize::try_from(limit).unwrap_or_default(), &live) {
            let ObjectMeta { name, uid, .. } = &revision.metadata;
            let options = DeletionOptions { uid: Some(uid.clone()), ..DeletionOptions::default() };
            ignore_lost_race(revisions.delete(&self.key.namespace, name, options).await)?;
        }
        Ok(())
    }

    async fn tell(&self, report: Report) {
        let now = Instant::now();
        if self.sets.with(self.key, |known| known.events.take(now)) != Some(true) {
            return;
        }
        let Ok(resource) = self.cx.served::<DaemonSet>() else { return };
        let (namespace, name, uid) = (&self.key.namespace, &self.key.name, &self.set.metadata.uid);
        let about = About { resource, namespace, name, uid };
        events::report(self.cx, &about, report.severity, report.reason, &report.message).await;
    }

    fn owner(&self) -> Owner<'_> {
        Owner { uid: &self.set.metadata.uid, selector: &self.selector }
    }
}

/// Somebody else has changed or deleted the object: that change brings the key again.
fn ignore_lost_race<T>(result: Result<T>) -> Result<()> {
    match result {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether nothing new can be made because the namespace is being deleted, and the set with it.
fn is_ending(error: &ApiError) -> bool {
    const ENDING: &str = "NamespaceTerminating";
    let forbidden = match error {
        ApiError::Forbidden(forbidden) => forbidden,
        ApiError::NotFound { .. } => return true,
        _ => return false,
    };
    forbidden.cause.as_ref().is_some_and(|(reason, ..)| *reason == ENDING)
}

#[cfg(test)]
mod tests {
    use orch_registry::options::Propagation;
    use serde_json::json;

    use super::*;
    use crate::fixture::{Fixture, NAMESPACE};

    /// It may be deleted so that its pods stay; those that it took from then on would go with it.
    #[tokio::test]
    async fn a_set_that_was_deleted_since_it_was_read_takes_no_pods() {
        let fixture = Fixture::new().await;
        let cx = Context::new(fixture.client.clone());
        let (key, sets) = (ObjectKey::new(NAMESPACE, "d"), Sets::default());
        let labels = json!({"app": "a"});
        let containers = json!({"containers": [{"name": "c", "image": "i"}]});
        let template = json!({"metadata": {"labels": labels}, "spec": containers});
        let spec = json!({"selector": {"matchLabels": labels}, "template": template});
        let set = json!({"metadata": {"name": "d", "namespace": NAMESPACE}, "spec": spec});
        fixture.create::<DaemonSet>(set).await;
        let set: DaemonSet = fixture.client.api().unwrap().get(NAMESPACE, "d").unwrap();
        for (name, taken) in [("first", 1), ("second", 1)] {
            let metadata = json!({"name": name, "namespace": NAMESPACE, "labels": labels});
            fixture.create::<Pod>(json!({"metadata": metadata, "spec": containers})).await;
            let (spec, fit) = (PodSpec::default(), Arc::default());
            let run = Run::new(&cx, &key, &sets, set.clone(), spec, fit, json!({})).unwrap();
            assert_eq!(run.claim_pods().await.unwrap().len(), taken, "{name}");
            let orphan =
                DeletionOptions { propagation: Some(Propagation::Orphan), ..DeletionOptions::default() };
            fixture.client.delete(fixture.resource::<DaemonSet>(), NAMESPACE, "d", orphan).await.unwrap();
        }
    }
}
