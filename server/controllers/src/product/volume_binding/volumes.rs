//! Keeps the phases of volumes, and does what their reclaim policies say when their claims are gone.

use orch_api::core::v1::{
    ObjectReference, PersistentVolume, PersistentVolumeClaim, PersistentVolumePhase,
    PersistentVolumeReclaimPolicy,
};
use orch_registry::{
    error::{ApiError, Result},
    options::DeletionOptions,
};
use orch_runtime::object::Kind;

use super::{EVENT_SOURCE, annotations, known::Known};
use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    events::{self, About, Severity},
    key::ObjectKey,
    trigger::Trigger,
};

/// See the module.
pub(crate) struct VolumeKeeper {
    known: Known,
}

/// What is to become of a volume.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It has this phase.
    Phase(PersistentVolumePhase),
    /// Its claim is gone.
    Reclaimed,
    /// Its claim has another volume.
    Unbound,
}

impl VolumeKeeper {
    pub(super) fn new(known: Known) -> Self {
        VolumeKeeper { known }
    }
}

impl Controller for VolumeKeeper {
    type Resource = PersistentVolume;

    fn name(&self) -> &'static str {
        "persistentvolume-binder"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("persistent-volume-binder")
    }

    fn also_watches(&self) -> Vec<Trigger> {
        let known = self.known.clone();
        vec![Trigger::new(PersistentVolumeClaim::RESOURCE, move |change| known.volumes(change))]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let found = cx.api::<PersistentVolume>()?.lookup("", &key.name)?;
        let reference = found.as_ref().and_then(|volume| volume.spec.claim_ref.as_ref());
        // Before the claim is read: a change of it from now on makes this run again.
        self.known.refers(&key.name, reference);
        let Some(volume) = found else { return Ok(Action::Done) };
        let claim = match &volume.spec.claim_ref {
            None => None,
            Some(reference) => {
                cx.api::<PersistentVolumeClaim>()?.lookup(&reference.namespace, &reference.name)?
            }
        };
        match fate(&volume, claim.as_ref()) {
            Fate::Phase(phase) => store_phase(cx, volume, phase, "").await.map(drop)?,
            Fate::Reclaimed => reclaim(cx, volume).await?,
            Fate::Unbound => unbind(cx, volume).await?,
        }
        Ok(Action::Done)
    }
}

/// What a volume's reference to its claim, and the claim of that name, say.
fn fate(volume: &PersistentVolume, claim: Option<&PersistentVolumeClaim>) -> Fate {
    let Some(reference) = volume.spec.claim_ref.as_ref().filter(|it| !it.uid.is_empty()) else {
        return Fate::Phase(PersistentVolumePhase::Available);
    };
    // A claim of the same name may have come after it.
    let Some(claim) = claim.filter(|claim| claim.metadata.uid == reference.uid) else {
        return Fate::Reclaimed;
    };
    let named = &claim.spec.volume_name;
    if *named == volume.metadata.name || named.is_empty() {
        // In the second case the claim is about to be bound.
        Fate::Phase(PersistentVolumePhase::Bound)
    } else {
        Fate::Unbound
    }
}

/// A volume that made way for another is free again. What people wrote into its reference stays.
async fn unbind(cx: &Context, mut volume: PersistentVolume) -> Result<()> {
    let volumes = cx.api::<PersistentVolume>()?;
    let vocabulary = volumes.resource().vocabulary;
    if annotations::has(&volume.metadata, annotations::BOUND_BY_CONTROLLER, vocabulary) {
        annotations::remove(&mut volume.metadata, annotations::BOUND_BY_CONTROLLER, vocabulary);
        volume.spec.claim_ref = None;
    } else if let Some(reference) = &mut volume.spec.claim_ref {
        let ObjectReference { uid, resource_version, .. } = reference;
        (*uid, *resource_version) = (String::new(), String::new());
    }
    ignore_lost_race(volumes.update(&volume).await)
}

/// The claim is gone: the volume stays with its data, is deleted, or waits for who made it.
async fn reclaim(cx: &Context, volume: PersistentVolume) -> Result<()> {
    let policy = volume.spec.persistent_volume_reclaim_policy.clone();
    match policy.unwrap_or(PersistentVolumeReclaimPolicy::Retain) {
        PersistentVolumeReclaimPolicy::Delete if volume.metadata.deletion_timestamp.is_none() => {
            delete(cx, volume).await
        }
        PersistentVolumeReclaimPolicy::Recycle => {
            let message = "no volume plugin recycles this volume";
            let is_news = volume.status.phase != Some(PersistentVolumePhase::Failed);
            if is_news {
                tell(cx, &volume, Severity::Warning, "VolumeFailedRecycle", message).await;
            }
            store_phase(cx, volume, PersistentVolumePhase::Failed, message).await.map(drop)
        }
        _ => store_phase(cx, volume, PersistentVolumePhase::Released, "").await.map(drop),
    }
}

/// Storage that a driver or a provisioner made is deleted by it, and the volume with it. Other storage has no
/// owner: only the volume goes.
async fn delete(cx: &Context, volume: PersistentVolume) -> Result<()> {
    let volumes = cx.api::<PersistentVolume>()?;
    let vocabulary = volumes.resource().vocabulary;
    let is_provisioned = annotations::has(&volume.metadata, annotations::PROVISIONED_BY, vocabulary);
    let waits = is_provisioned || volume.spec.csi.is_some();
    if waits && volume.status.phase != Some(PersistentVolumePhase::Released) {
        let message = "waiting for the provisioner of the volume to delete it";
        tell(cx, &volume, Severity::Normal, "ExternalDeleting", message).await;
    }
    let released = store_phase(cx, volume, PersistentVolumePhase::Released, "").await?;
    let Some(released) = released.filter(|_| !waits) else { return Ok(()) };
    // This state only: somebody may want to keep the volume after all.
    let PersistentVolume { metadata, .. } = released;
    let options = DeletionOptions {
        uid: Some(metadata.uid),
        resource_version: Some(metadata.resource_version),
        ..DeletionOptions::default()
    };
    ignore_lost_race(volumes.delete("", &metadata.name, options).await)
}

/// Returns the volume with the phase; `None` where somebody else was faster.
async fn store_phase(
    cx: &Context,
    mut volume: PersistentVolume,
    phase: PersistentVolumePhase,
    message: &str,
) -> Result<Option<PersistentVolume>> {
    if volume.status.phase.as_ref() == Some(&phase) && volume.status.message == message {
        return Ok(Some(volume));
    }
    volume.status.phase = Some(phase);
    message.clone_into(&mut volume.status.message);
    match cx.api::<PersistentVolume>()?.update_status(&volume).await {
        Ok(stored) => Ok(stored.map(|stored| {
            volume.metadata.resource_version = stored.revision().to_string();
            volume
        })),
        Err(error) => ignore_lost_race::<()>(Err(error)).map(|()| None),
    }
}

async fn tell(cx: &Context, volume: &PersistentVolume, severity: Severity, reason: &str, message: &str) {
    let Ok(resource) = cx.served::<PersistentVolume>() else { return };
    let about = About { resource, namespace: "", name: &volume.metadata.name, uid: &volume.metadata.uid };
    events::report_as(EVENT_SOURCE, cx, &about, severity, reason, message).await;
}

/// Somebody else has changed or deleted the object: that change brings the key again.
fn ignore_lost_race<T>(result: Result<T>) -> Result<()> {
    match result {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::Tree;
    use serde_json::{from_value, json};

    use super::*;
    use crate::fixture::Fixture;

    /// Whoever changes the policy after it was read keeps the volume, with or without a phase to store.
    #[tokio::test]
    async fn a_volume_that_changed_since_it_was_judged_stays() {
        let fixture = Fixture::new().await;
        let cx = Context::new(fixture.client.clone());
        let spec = json!({
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"},
            "persistentVolumeReclaimPolicy": "Delete",
        });
        for (name, phase, changes) in
            [("bound", "Bound", true), ("released", "Released", true), ("same", "Bound", false)]
        {
            fixture.create::<PersistentVolume>(json!({"metadata": {"name": name}, "spec": spec})).await;
            let status = |tree: &mut Tree| tree["status"]["phase"] = phase.into();
            fixture.change::<PersistentVolume>(("", name), "status", status).await;
            let volumes = || cx.api::<PersistentVolume>().unwrap();
            let judged = volumes().get("", name).unwrap();
            if changes {
                let keep = |tree: &mut Tree| {
                    tree["spec"]["persistentVolumeReclaimPolicy"] = "Retain".into();
                };
                fixture.change::<PersistentVolume>(("", name), "", keep).await;
            }
            delete(&cx, judged).await.unwrap();
            let found = volumes().get("", name).unwrap();
            assert_eq!(found.metadata.deletion_timestamp.is_none(), changes, "{name}");
        }
    }

    #[test]
    fn the_reference_and_its_claim_decide() {
        use PersistentVolumePhase::{Available, Bound};
        for (reference, claim, expected) in [
            (json!(null), None, Fate::Phase(Available)),
            (json!({"name": "c", "namespace": "n"}), Some(("u", "")), Fate::Phase(Available)),
            (json!({"name": "c", "namespace": "n", "uid": "u"}), Some(("u", "")), Fate::Phase(Bound)),
            (json!({"name": "c", "namespace": "n", "uid": "u"}), Some(("u", "v")), Fate::Phase(Bound)),
            (json!({"name": "c", "namespace": "n", "uid": "u"}), Some(("u", "w")), Fate::Unbound),
            (json!({"name": "c", "namespace": "n", "uid": "u"}), Some(("x", "v")), Fate::Reclaimed),
            (json!({"name": "c", "namespace": "n", "uid": "u"}), None, Fate::Reclaimed),
        ] {
            let volume = json!({"metadata": {"name": "v"}, "spec": {"claimRef": reference}});
            let claim = claim.map(|(uid, name)| {
                let metadata = json!({"name": "c", "namespace": "n", "uid": uid});
                from_value(json!({"metadata": metadata, "spec": {"volumeName": name}})).unwrap()
            });
            assert_eq!(fate(&from_value(volume).unwrap(), claim.as_ref()), expected, "{reference}");
        }
    }
}
