//! Gives claims their volumes.
//!
//! The two are bound in steps, each a write of its own: the volume refers to the claim, the claim names the
//! volume, the claim's status says so. A run that was cut off between them goes on with the next step. The
//! reference decides: of two claims that want one volume only one can write it.

use orch_api::{
    core::v1::{ObjectReference, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimPhase},
    storage::v1::StorageClass,
};
use orch_kinds::default_class;
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
    stored,
};
use orch_runtime::{
    object::{Kind, typed_from_tree},
    vocabulary::Vocabulary,
};
use orch_storage::Snapshot;

use super::{
    EVENT_SOURCE, annotations,
    known::Known,
    matching::{Choice, Reserved, class_of, names_no_class, reserved, satisfies},
    view::{VolumeView, volume_of},
};
use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    events::{self, About, Severity},
    key::ObjectKey,
    slice::Slice,
    trigger::Trigger,
};

const WAIT_FOR_FIRST_CONSUMER: &str = "WaitForFirstConsumer";
/// The provisioner of classes whose volumes people make, in the product's own domain.
const NO_PROVISIONER: &str = "no-provisioner";

/// See the module.
pub(crate) struct ClaimBinder {
    known: Known,
}

/// Where a claim is.
enum Standing {
    /// It has its volume, which is this.
    Bound(Box<PersistentVolume>),
    /// It waits for a volume, because of this.
    Pending(Option<Report>),
    /// It was made before there was a default class, which is this one.
    Classless(String),
    /// It waits for this program, which makes a volume for it.
    Ordered(String),
    /// It had a volume and has it no more, because of this. It has it again where the volume comes back.
    Lost(Report),
}

/// An event.
struct Report {
    severity: Severity,
    reason: &'static str,
    message: String,
}

impl ClaimBinder {
    pub(super) fn new(known: Known) -> Self {
        ClaimBinder { known }
    }
}

impl Controller for ClaimBinder {
    type Resource = PersistentVolumeClaim;

    fn name(&self) -> &'static str {
        "persistentvolumeclaim-binder"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("persistent-volume-binder")
    }

    fn also_watches(&self) -> Vec<Trigger> {
        let (of_volumes, of_classes) = (self.known.clone(), self.known.clone());
        vec![
            Trigger::new(PersistentVolume::RESOURCE, move |change| of_volumes.claims(change)),
            Trigger::new(StorageClass::RESOURCE, move |change| of_classes.of_class(change)),
        ]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let claims = cx.api::<PersistentVolumeClaim>()?;
        let Some(claim) = claims.lookup(&key.namespace, &key.name)? else {
            self.known.waits_no_more(key);
            return Ok(Action::Done);
        };
        // Before the volumes are read: one that comes from now on makes this run again.
        self.known.waits(key, &claim, claims.resource().vocabulary);
        let standing = if claim.spec.volume_name.is_empty() {
            without_volume(cx, &claim).await?
        } else {
            with_volume(cx, &claim)?
        };
        match standing {
            Standing::Bound(volume) => {
                self.known.waits_no_more(key);
                bind(cx, claim, *volume).await?;
            }
            Standing::Pending(report) => {
                tell(cx, &claim, report).await;
                store_phase(cx, claim, PersistentVolumeClaimPhase::Pending).await?;
            }
            Standing::Classless(class) => {
                let mut claim = claim;
                claim.spec.storage_class_name = Some(class);
                // That change brings the key again.
                claims.update(&claim).await?;
            }
            Standing::Ordered(provisioner) => order(cx, claim, &provisioner).await?,
            Standing::Lost(report) => {
                if claim.spec.volume_name.is_empty() {
                    self.known.waits_no_more(key);
                }
                let is_news = claim.status.phase != Some(PersistentVolumeClaimPhase::Lost);
                tell(cx, &claim, Some(report).filter(|_| is_news)).await;
                store_phase(cx, claim, PersistentVolumeClaimPhase::Lost).await?;
            }
        }
        Ok(Action::Done)
    }
}

/// A claim that names no volume gets the best one there is.
async fn without_volume(cx: &Context, claim: &PersistentVolumeClaim) -> Result<Standing> {
    let resource = cx.served::<PersistentVolume>()?;
    let vocabulary = resource.vocabulary;
    if annotations::has(&claim.metadata, annotations::BIND_COMPLETED, vocabulary) {
        let message = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
        return Ok(Standing::Lost(Report::warning("ClaimLost", message)));
    }
    if claim.metadata.deletion_timestamp.is_some() {
        return Ok(Standing::Pending(None));
    }
    let class = class_of(claim, vocabulary);
    let class = match class.as_str() {
        "" => None,
        // Where classes are not served there is none.
        name => cx.api::<StorageClass>().map_or(Ok(None), |classes| classes.lookup("", name))?,
    };
    let waits_for_pod = class.as_ref().and_then(|class| class.volume_binding_mode.as_deref())
        == Some(WAIT_FOR_FIRST_CONSUMER);
    if let Some(volume) = choose(resource, &cx.client().snapshot(resource), claim, waits_for_pod).await? {
        return Ok(Standing::Bound(Box::new(volume)));
    }
    if names_no_class(claim, vocabulary)
        && let Some(class) = default_class::name(cx.client().core().objects())
    {
        return Ok(Standing::Classless(class));
    }
    Ok(without_suitable(claim, class, waits_for_pod, vocabulary))
}

/// The best volume of a snapshot for a claim that names none. It is as the choice saw it, so that the write
/// that takes it fails where another claim was faster.
async fn choose(
    resource: &ServedResource,
    snapshot: &Snapshot,
    claim: &PersistentVolumeClaim,
    waits_for_pod: bool,
) -> Result<Option<PersistentVolume>> {
    let vocabulary = resource.vocabulary;
    // Whoever places the pod reserves a volume for it then.
    let may_have =
        |volume: &&VolumeView| !waits_for_pod || reserved(volume.claim.as_ref(), claim) == Reserved::ForIt;
    let (mut choice, mut slice) = (Choice::default(), Slice::begin());
    for object in snapshot.iter() {
        slice.next().await;
        if let Some(volume) = volume_of(object, vocabulary).filter(may_have)
            && choice.is_made_by(volume, claim, vocabulary)
        {
            break;
        }
    }
    let Some(object) = choice.best().and_then(|best| snapshot.get("", &best.name)) else { return Ok(None) };
    typed_from_tree(stored::tree_of(resource, object)?)
        .map(Some)
        .map_err(|error| stored::unreadable(resource, object, &error))
}

/// A claim for which there is no volume yet. Where it waits for a pod, a volume is made once it is known on
/// which node that runs.
fn without_suitable(
    claim: &PersistentVolumeClaim,
    class: Option<StorageClass>,
    waits_for_pod: bool,
    vocabulary: &Vocabulary,
) -> Standing {
    let report = match class {
        Some(_) if waits_for_pod && !annotations::has_node(&claim.metadata, vocabulary) => {
            Report::normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding")
        }
        Some(class) if class.provisioner == vocabulary.label(NO_PROVISIONER) => Report::warning(
            "ProvisioningFailed",
            format!("no volume plugin matched name: {}", class.provisioner),
        ),
        Some(class) => return Standing::Ordered(class.provisioner),
        None => match class_of(claim, vocabulary).as_str() {
            "" => Report::normal(
                "FailedBinding",
                "no persistent volumes available for this claim and no storage class is set",
            ),
            name => {
                let group = vocabulary.group(StorageClass::RESOURCE.group);
                Report::warning("ProvisioningFailed", format!("storageclass.{group} \"{name}\" not found"))
            }
        },
    };
    Standing::Pending(Some(report))
}

/// Asks a program for a volume: it finds its name in the claim's annotations.
async fn order(cx: &Context, mut claim: PersistentVolumeClaim, provisioner: &str) -> Result<()> {
    let claims = cx.api::<PersistentVolumeClaim>()?;
    if annotations::set_provisioner(&mut claim.metadata, provisioner, claims.resource().vocabulary) {
        // The rest follows when that change brings the key again.
        return claims.update(&claim).await.map(drop);
    }
    let message = format!(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually \
         by the system administrator. If volume creation is delayed, please verify that the provisioner is \
         running and correctly registered."
    );
    tell(cx, &claim, Some(Report::normal("ExternalProvisioning", message))).await;
    store_phase(cx, claim, PersistentVolumeClaimPhase::Pending).await
}

/// A claim that names its volume, because it was bound to it or because people say so.
fn with_volume(cx: &Context, claim: &PersistentVolumeClaim) -> Result<Standing> {
    let resource = cx.served::<PersistentVolume>()?;
    let vocabulary = resource.vocabulary;
    let was_bound = annotations::has(&claim.metadata, annotations::BIND_COMPLETED, vocabulary);
    let name = &claim.spec.volume_name;
    let Some(volume) = cx.api::<PersistentVolume>()?.lookup("", name)? else {
        let message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
        return Ok(if was_bound {
            Standing::Lost(Report::warning("ClaimLost", message))
        } else {
            Standing::Pending(None)
        });
    };
    match reserved(volume.spec.claim_ref.as_ref(), claim) {
        Reserved::ForIt => Ok(Standing::Bound(Box::new(volume))),
        Reserved::No if was_bound => Ok(Standing::Bound(Box::new(volume))),
        Reserved::No => {
            let snapshot = cx.client().snapshot(resource);
            let view = snapshot.get("", name).and_then(|object| volume_of(object, vocabulary));
            Ok(match view.map(|view| satisfies(view, claim, vocabulary)) {
                Some(Err(why)) => {
                    let message = format!("Cannot bind to requested volume \"{name}\": {why}");
                    Standing::Pending(Some(Report::warning("VolumeMismatch", message)))
                }
                Some(Ok(())) => Standing::Bound(Box::new(volume)),
                None => Standing::Pending(None),
            })
        }
        Reserved::ForAnother if was_bound => Ok(Standing::Lost(Report::warning(
            "ClaimMisbound",
            "Two claims are bound to the same volume, this one is bound incorrectly",
        ))),
        Reserved::ForAnother => {
            let message = format!("volume \"{name}\" already bound to a different claim.");
            Ok(Standing::Pending(Some(Report::warning("FailedBinding", message))))
        }
    }
}

/// Takes the steps that are left until a claim and a volume are bound.
async fn bind(cx: &Context, mut claim: PersistentVolumeClaim, mut volume: PersistentVolume) -> Result<()> {
    let claims = cx.api::<PersistentVolumeClaim>()?;
    let vocabulary = claims.resource().vocabulary;
    let is_referred = |reference: &ObjectReference| reference.uid == claim.metadata.uid;
    if !volume.spec.claim_ref.as_ref().is_some_and(is_referred) {
        if volume.spec.claim_ref.is_none() {
            annotations::set(&mut volume.metadata, annotations::BOUND_BY_CONTROLLER, vocabulary);
        }
        volume.spec.claim_ref = Some(reference_to(&claim));
        // A conflict means that the volume has changed, so that the choice has to be made again.
        cx.api::<PersistentVolume>()?.update(&volume).await?;
    }
    let was_bound = annotations::has(&claim.metadata, annotations::BIND_COMPLETED, vocabulary);
    if claim.spec.volume_name.is_empty() {
        claim.spec.volume_name.clone_from(&volume.metadata.name);
        annotations::set(&mut claim.metadata, annotations::BOUND_BY_CONTROLLER, vocabulary);
    }
    if !was_bound {
        annotations::set(&mut claim.metadata, annotations::BIND_COMPLETED, vocabulary);
        // The status follows when that change brings the key again.
        return claims.update(&claim).await.map(drop);
    }
    let mut status = claim.status.clone();
    status.phase = Some(PersistentVolumeClaimPhase::Bound);
    status.access_modes.clone_from(&volume.spec.access_modes);
    // The node tells how large the file system really is; until then it is as large as the volume.
    if claim.status.phase != Some(PersistentVolumeClaimPhase::Bound) {
        status.capacity.clone_from(&volume.spec.capacity);
    }
    if status != claim.status {
        claim.status = status;
        claims.update_status(&claim).await?;
    }
    Ok(())
}

async fn store_phase(
    cx: &Context,
    mut claim: PersistentVolumeClaim,
    phase: PersistentVolumeClaimPhase,
) -> Result<()> {
    if claim.status.phase.as_ref() == Some(&phase) {
        return Ok(());
    }
    claim.status.phase = Some(phase);
    match cx.api::<PersistentVolumeClaim>()?.update_status(&claim).await {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn tell(cx: &Context, claim: &PersistentVolumeClaim, report: Option<Report>) {
    let (Some(report), Ok(resource)) = (report, cx.served::<PersistentVolumeClaim>()) else { return };
    let metadata = &claim.metadata;
    let about = About { resource, namespace: &metadata.namespace, name: &metadata.name, uid: &metadata.uid };
    events::report_as(EVENT_SOURCE, cx, &about, report.severity, report.reason, &report.message).await;
}

/// The reference of a volume to a claim.
fn reference_to(claim: &PersistentVolumeClaim) -> ObjectReference {
    ObjectReference {
        kind: PersistentVolumeClaim::RESOURCE.kind.to_owned(),
        api_version: "v1".to_owned(),
        namespace: claim.metadata.namespace.clone(),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone(),
        resource_version: claim.metadata.resource_version.clone(),
        ..ObjectReference::default()
    }
}

impl Report {
    fn normal(reason: &'static str, message: impl Into<String>) -> Self {
        Report { severity: Severity::Normal, reason, message: message.into() }
    }

    fn warning(reason: &'static str, message: impl Into<String>) -> Self {
        Report { severity: Severity::Warning, reason, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::{Fixture, NAMESPACE};

    async fn claim(fixture: &Fixture, name: &str) -> PersistentVolumeClaim {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let metadata = json!({"name": name, "namespace": NAMESPACE});
        fixture.create::<PersistentVolumeClaim>(json!({"metadata": metadata, "spec": spec})).await;
        fixture.client.api().unwrap().get(NAMESPACE, name).unwrap()
    }

    /// Two claims see the same free volume. Who writes first has it, and the other one chooses again.
    #[tokio::test]
    async fn of_two_claims_that_chose_one_volume_only_one_takes_it() {
        let fixture = Fixture::new().await;
        let cx = Context::new(fixture.client.clone());
        let spec = json!({
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"},
        });
        fixture.create::<PersistentVolume>(json!({"metadata": {"name": "v"}, "spec": spec})).await;
        let (first, second) = (claim(&fixture, "first").await, claim(&fixture, "second").await);
        let resource = fixture.resource::<PersistentVolume>();
        let snapshot = fixture.client.snapshot(resource);
        let chosen = choose(resource, &snapshot, &first, false).await.unwrap().unwrap();
        bind(&cx, first.clone(), chosen).await.unwrap();
        let chosen = choose(resource, &snapshot, &second, false).await.unwrap().unwrap();
        let late = bind(&cx, second.clone(), chosen).await.unwrap_err();
        assert!(matches!(late, ApiError::Conflict { .. }), "{late:?}");
        let volume: PersistentVolume = fixture.client.api().unwrap().get("", "v").unwrap();
        assert_eq!(volume.spec.claim_ref.unwrap().uid, first.metadata.uid);
        let none = choose(resource, &fixture.client.snapshot(resource), &second, false).await.unwrap();
        assert!(none.is_none());
    }
}
