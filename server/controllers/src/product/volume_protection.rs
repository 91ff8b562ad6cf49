//! Lets volumes and claims go that are being deleted and no longer in use.
//!
//! Both get a finalizer when they are made. It stays while a volume is bound to a claim, and while a pod uses
//! a claim.

use std::{sync::Arc, time::Duration};

use orch_api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use orch_kinds::volume_protection::{claim_finalizer, claims_used_by_pod, is_volume_bound, volume_finalizer};
use orch_machinery::meta::{Meta, MetaMut};
use orch_registry::{catalog::ServedResource, error::Result, stored};
use orch_runtime::{Tree, object::Kind, vocabulary::Vocabulary};
use orch_storage::Object;

use super::release;
use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
    slice::Slice,
    trigger::{Changed, Trigger},
};

/// How soon a claim is looked at again that only pods keep which cannot be read: what changes about them is
/// not known.
const RETRY: Duration = Duration::from_secs(10);

/// Lets go of volumes that no claim is bound to.
pub(super) struct VolumeProtection;

/// Lets go of claims that no pod uses.
pub(super) struct ClaimProtection;

impl Controller for VolumeProtection {
    type Resource = PersistentVolume;

    fn name(&self) -> &'static str {
        "persistentvolume-protection"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("pv-protection-controller")
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let volumes = cx.served::<PersistentVolume>()?;
        match kept_by(cx, volumes, key, volume_finalizer)? {
            Some(volume) if !is_volume_bound(&volume) => {
                let_go(cx, volumes, volume, volume_finalizer).await?;
            }
            // When its phase changes, the key comes again.
            _ => {}
        }
        Ok(Action::Done)
    }
}

impl Controller for ClaimProtection {
    type Resource = PersistentVolumeClaim;

    fn name(&self) -> &'static str {
        "persistentvolumeclaim-protection"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("pvc-protection-controller")
    }

    fn also_watches(&self) -> Vec<Trigger> {
        vec![Trigger::new(Pod::RESOURCE, claims_let_go)]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let claims = cx.served::<PersistentVolumeClaim>()?;
        let Some(claim) = kept_by(cx, claims, key, claim_finalizer)? else { return Ok(Action::Done) };
        match use_of(cx, key).await {
            Use::ByPods => Ok(Action::Done),
            Use::Unknown => Ok(Action::Again(RETRY)),
            Use::None => {
                let_go(cx, claims, claim, claim_finalizer).await?;
                Ok(Action::Done)
            }
        }
    }
}

/// An object that is being deleted and has the finalizer.
fn kept_by(
    cx: &Context,
    resource: &ServedResource,
    key: &ObjectKey,
    finalizer: fn(&Vocabulary) -> String,
) -> Result<Option<Tree>> {
    let Some(current) = cx.lookup(resource, key)? else { return Ok(None) };
    let meta = Meta::of(&current.tree);
    let finalizer = finalizer(resource.vocabulary);
    let is_kept = meta.deletion_timestamp().is_some() && meta.finalizers().any(|name| name == finalizer);
    Ok(is_kept.then_some(current.tree))
}

async fn let_go(
    cx: &Context,
    resource: &Arc<ServedResource>,
    mut tree: Tree,
    finalizer: fn(&Vocabulary) -> String,
) -> Result<()> {
    MetaMut::of(&mut tree).remove_finalizer(&finalizer(resource.vocabulary));
    release(cx, resource, "", tree).await
}

/// Who uses a claim.
enum Use {
    None,
    /// These pods tell when they no longer do.
    ByPods,
    /// There are pods that cannot be read. They keep what they may use.
    Unknown,
}

async fn use_of(cx: &Context, claim: &ObjectKey) -> Use {
    // A server without pods has nobody who uses claims.
    let Ok(pods) = cx.served::<Pod>() else { return Use::None };
    let (mut found, mut slice) = (Use::None, Slice::begin());
    let snapshot = cx.client().snapshot(pods);
    for pod in snapshot.in_namespace(&claim.namespace) {
        slice.next().await;
        match claims_of(pods, pod) {
            Some(claims) if claims.contains(&claim.name) => return Use::ByPods,
            Some(_) => {}
            None => found = Use::Unknown,
        }
    }
    found
}

/// The claims that a pod used before a change and does not use any more.
fn claims_let_go(change: &Changed<'_>) -> Vec<ObjectKey> {
    let Some(before) = change.before else { return Vec::new() };
    let after = change.after.and_then(|pod| claims_of(change.resource, pod)).unwrap_or_default();
    let let_go = claims_of(change.resource, before).unwrap_or_default();
    let let_go = let_go.iter().filter(|claim| !after.contains(claim));
    let_go.map(|claim| ObjectKey::new(Arc::clone(&before.key().namespace), Arc::clone(claim))).collect()
}

/// The claims that a pod uses, remembered with each state of it; `None` for a pod that cannot be read.
struct Claims(Option<Box<[Arc<str>]>>);

fn claims_of<'p>(pods: &ServedResource, pod: &'p Object) -> Option<&'p [Arc<str>]> {
    pod.memo(|pod| Claims(read_claims(pods, pod))).0.as_deref()
}

fn read_claims(pods: &ServedResource, pod: &Object) -> Option<Box<[Arc<str>]>> {
    if !stored::may_have_field(pod, "persistentVolumeClaim") && !stored::may_have_field(pod, "ephemeral") {
        return Some(Box::default());
    }
    let tree = stored::tree_of(pods, pod).ok()?;
    Some(claims_used_by_pod(&tree).into_iter().map(Arc::from).collect())
}
