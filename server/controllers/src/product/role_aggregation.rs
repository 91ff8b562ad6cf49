//! Fills in the rules of aggregated cluster roles: those of all cluster roles that they select, in the order
//! of names, each rule once.
//!
//! This is for those who read the role. Authorization collects the rules by itself, so a change of a part is
//! in force before the whole is filled in.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use orch_api::rbac::v1::{ClusterRole, PolicyRule};
use orch_meta::meta::v1::LabelSelector;
use orch_registry::{
    catalog::ServedResource,
    client::Client,
    error::{ApiError, Result},
    stored,
};
use orch_runtime::object::{Kind, typed_from_tree};
use orch_storage::Object;
use serde_json::json;

use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
    trigger::{Changed, Trigger},
};

/// How many levels of aggregated roles are filled in before the server listens.
const MAX_LEVELS: usize = 10;

/// See the module.
#[derive(Default)]
pub(super) struct RoleAggregation {
    /// The aggregated roles, and what they select.
    wholes: Arc<Mutex<Wholes>>,
}

type Wholes = BTreeMap<Arc<str>, Vec<LabelSelector>>;

impl Controller for RoleAggregation {
    type Resource = ClusterRole;

    fn name(&self) -> &'static str {
        "clusterrole-aggregation-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("clusterrole-aggregation-controller")
    }

    /// A change of a role concerns the roles that select it, or did.
    fn also_watches(&self) -> Vec<Trigger> {
        let wholes = Arc::clone(&self.wholes);
        vec![Trigger::new(ClusterRole::RESOURCE, move |change| concerned(&lock(&wholes), change))]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let roles = cx.api::<ClusterRole>()?;
        let role = roles.lookup("", &key.name)?;
        let selectors = role.as_ref().and_then(|role| role.aggregation_rule.as_ref());
        let Some(selectors) = selectors.map(|rule| rule.cluster_role_selectors.clone()) else {
            lock(&self.wholes).remove(&key.name);
            return Ok(Action::Done);
        };
        // Before the rules are collected: a role that comes from now on makes this run again.
        lock(&self.wholes).insert(Arc::clone(&key.name), selectors.clone());
        let Some(role) = role else { return Ok(Action::Done) };
        if let Some(rules) = collect(cx.client(), &role, &selectors) {
            match fill_in(cx.client(), roles.resource(), &role, rules).await {
                // That change brings the key again.
                Err(ApiError::Conflict { .. } | ApiError::NotFound { .. }) => {}
                filled => filled?,
            }
        }
        Ok(Action::Done)
    }
}

/// Fills in all aggregated roles. To be called before anything listens, so that the controller finds them as
/// they should be.
///
/// # Errors
/// As of PUT.
pub(super) async fn fill_all(client: &Client) -> Result<()> {
    let Some(roles) = client.api::<ClusterRole>() else { return Ok(()) };
    // A role may select others that select some: each pass fills in one level at least.
    for _ in 0..MAX_LEVELS {
        let mut is_filled = true;
        // In this order the parts that every server has come before what selects them.
        for role in roles.list("").into_iter().rev() {
            let Some(rule) = &role.aggregation_rule else { continue };
            if let Some(rules) = collect(client, &role, &rule.cluster_role_selectors) {
                fill_in(client, roles.resource(), &role, rules).await?;
                is_filled = false;
            }
        }
        if is_filled {
            return Ok(());
        }
    }
    Ok(())
}

/// The aggregated roles that select a role as it was or as it is.
fn concerned(wholes: &Wholes, change: &Changed<'_>) -> Vec<ObjectKey> {
    let states: Vec<_> =
        [change.before, change.after].into_iter().flatten().map(|role| labels(role)).collect();
    let selected = wholes.iter().filter(|(_, selectors)| {
        states.iter().any(|labels| selectors.iter().any(|selector| selector.selects(labels)))
    });
    selected.map(|(name, _)| ObjectKey::new("", Arc::clone(name))).collect()
}

/// Applies the rules of a role, and nothing else. Without any the role keeps those that its author gave it:
/// an apply without items says nothing of a list.
async fn fill_in(
    client: &Client,
    resource: &Arc<ServedResource>,
    role: &ClusterRole,
    rules: Vec<PolicyRule>,
) -> Result<()> {
    // With its uid, so that a role that is gone does not come again.
    let (name, uid) = (&role.metadata.name, &role.metadata.uid);
    let mut configuration = json!({
        "apiVersion": resource.api_version,
        "kind": resource.def.kind,
        "metadata": {"name": name, "uid": uid},
    });
    if !rules.is_empty() {
        let rules = serde_json::to_value(rules);
        configuration["rules"] =
            rules.map_err(|error| ApiError::internal("the rules of a role cannot be written", error))?;
    }
    client.apply(resource, "", name, &configuration, true).await.map(drop)
}

/// The rules of all others that are selected, where the role has other ones; their order does not count.
fn collect(client: &Client, role: &ClusterRole, selectors: &[LabelSelector]) -> Option<Vec<PolicyRule>> {
    let resource = client.core().catalog().served(ClusterRole::RESOURCE)?;
    let snapshot = client.snapshot(resource);
    let is_part = |object: &Arc<Object>| {
        let labels = labels(object);
        *object.key().name != *role.metadata.name && selectors.iter().any(|selector| selector.selects(labels))
    };
    let (mut rules, mut known) = (Vec::new(), BTreeSet::new());
    for part in snapshot.iter().filter(|object| is_part(object)) {
        let Ok(tree) = stored::tree_of(resource, part) else { continue };
        let Ok(part) = typed_from_tree::<ClusterRole>(tree) else { continue };
        for rule in part.rules.unwrap_or_default() {
            if known.insert(key_of(&rule)) {
                rules.push(rule);
            }
        }
    }
    let present = role.rules.as_deref().unwrap_or_default();
    if present.len() == rules.len() && present.iter().all(|rule| known.contains(&key_of(rule))) {
        return None;
    }
    Some(rules)
}

/// The lists of a rule. Rules with the same ones are the same.
fn key_of(rule: &PolicyRule) -> [Vec<String>; 5] {
    let PolicyRule { verbs, api_groups, resources, resource_names, non_resource_urls } = rule.clone();
    [verbs, api_groups, resources, resource_names, non_resource_urls]
}

/// The labels of a role, read once for each state of it. One that cannot be read has none.
fn labels(object: &Object) -> &BTreeMap<String, String> {
    struct Labels(BTreeMap<String, String>);
    let read =
        |object: &Object| Labels(object.value().map(|value| stored::labels_of(value)).unwrap_or_default());
    &object.memo(read).0
}

fn lock(wholes: &Mutex<Wholes>) -> MutexGuard<'_, Wholes> {
    wholes.lock().unwrap_or_else(PoisonError::into_inner)
}
