//! Stores the objects of a resource again that are not stored in its storage version, or not under the key
//! that is used for writing.
//!
//! A `StorageVersionMigration` asks for it, once. Its status gets the version from which on the server writes
//! every object in the storage version; older objects are looked at, and those in another version are written
//! without a change. Nothing else is remembered: a run that was cut off begins again and finds less to do.
//! One that cannot be written does not keep the others from it.
//! Conditions and reasons are those of the reference.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use orch_api::storagemigration::v1alpha1::{
    GroupVersionResource, MigrationCondition, StorageVersionMigration, StorageVersionMigrationStatus,
};
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
    migration,
};
use orch_runtime::scalar::Time;
use orch_storage::{Key, Object};
use tokio::task::yield_now;

use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

/// After so many objects others have their turn.
const SLICE: usize = 256;
/// How many objects are written at a time. Each waits for the disk, and the store writes many at once.
const AT_A_TIME: usize = 32;

/// See the module.
pub(super) struct StorageMigration;

/// A condition, and its reason.
type Condition = (&'static str, &'static str);

const RUNNING: Condition = ("Running", "StorageVersionMigrationInProgress");
const SUCCEEDED: Condition = ("Succeeded", "StorageVersionMigrationSucceeded");
const FAILED: Condition = ("Failed", "StorageVersionMigrationFailed");

impl Controller for StorageMigration {
    type Resource = StorageVersionMigration;

    fn name(&self) -> &'static str {
        "storage-version-migrator-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("storage-version-migrator-controller")
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let Some(migration) = cx.api::<StorageVersionMigration>()?.lookup("", &key.name)? else {
            return Ok(Action::Done);
        };
        if has_ended(&migration.status) {
            return Ok(Action::Done);
        }
        let named = &migration.spec.resource;
        let Some(resource) = resource_of(cx, named) else {
            let message = format!("the resource \"{}\" of \"{}\" is not served", named.resource, named.group);
            return tell(cx, migration, FAILED, &message).await;
        };
        if migration.status.resource_version.is_empty() || !holds(&migration.status, RUNNING) {
            let mut migration = migration;
            if migration.status.resource_version.is_empty() {
                migration.status.resource_version = cx.client().snapshot(&resource).revision().to_string();
            }
            // That change brings the key again.
            return tell(cx, migration, RUNNING, "").await;
        }
        match rewrite(cx, &resource).await? {
            Refused { first: None, .. } => tell(cx, migration, SUCCEEDED, "").await,
            Refused { count, first: Some((object, error)) } => {
                let what = "objects that cannot be stored in the storage version";
                tracing::warn!(migration = %key, count, %object, ?error, "{what}");
                let first = ObjectKey::from(&object);
                let message = format!("{what}: {count}, the first is \"{first}\": see the log of the server");
                tell(cx, migration, FAILED, &message).await
            }
        }
    }
}

/// The stored resource that a migration names, in the spelling of either vocabulary.
fn resource_of(cx: &Context, named: &GroupVersionResource) -> Option<Arc<ServedResource>> {
    let catalog = cx.client().core().catalog();
    let own = catalog.spelling_of(&named.group).and_then(|spelling| spelling.own_name(&named.group));
    let group = own.unwrap_or(&named.group);
    let is_named = |resource: &&Arc<ServedResource>| {
        resource.group == group
            && resource.def.plural == named.resource
            && (named.version.is_empty() || resource.def.version == named.version)
    };
    let resource = catalog.resources().find(is_named).filter(|resource| resource.def.stored)?;
    Some(Arc::clone(resource.stored_as.as_ref().unwrap_or(resource)))
}

/// Objects that cannot be written.
#[derive(Default)]
struct Refused {
    count: usize,
    first: Option<(Key, ApiError)>,
}

impl Refused {
    fn add(&mut self, object: &Object, error: ApiError) {
        self.count += 1;
        self.first.get_or_insert_with(|| (object.key().clone(), error));
    }
}

/// Writes what is not stored in the storage version. Returns what is damaged, or refused for good.
///
/// # Errors
/// Where a later try may succeed; then it is likely that the other objects could not be written either.
async fn rewrite(cx: &Context, resource: &Arc<ServedResource>) -> Result<Refused> {
    let snapshot = cx.client().snapshot(resource);
    let mut refused = Refused::default();
    let mut old: Vec<Arc<Object>> = Vec::new();
    for (looked_at, object) in snapshot.iter().enumerate() {
        if looked_at % SLICE == SLICE - 1 {
            yield_now().await;
        }
        match migration::is_outdated(cx.client(), resource, object) {
            Ok(true) => old.push(Arc::clone(object)),
            Ok(false) => {}
            Err(error) => refused.add(object, error),
        }
    }
    let each = old.into_iter().map(|object| async move {
        let written = migration::rewrite(cx.client(), resource, &object).await;
        (object, written)
    });
    let mut all = stream::iter(each).buffered(AT_A_TIME);
    while let Some((object, written)) = all.next().await {
        match written {
            Ok(()) => {}
            Err(error) if may_pass(&error) => return Err(error),
            Err(error) => refused.add(&object, error),
        }
    }
    Ok(refused)
}

/// Whether a later try may succeed although nobody changes the migration or the object. A right that is
/// missing can be given.
fn may_pass(error: &ApiError) -> bool {
    use ApiError::{Forbidden, InsufficientStorage, Timeout, TooManyRequests, Unavailable};
    matches!(
        error,
        Forbidden(_) | InsufficientStorage(_) | Timeout(_) | TooManyRequests { .. } | Unavailable(_)
    )
}

/// Stores a condition. Where somebody has changed the migration meanwhile, that change brings its key again.
async fn tell(
    cx: &Context,
    mut migration: StorageVersionMigration,
    condition: Condition,
    message: &str,
) -> Result<Action> {
    add(&mut migration.status, condition, message, cx.client().core().now());
    match cx.api::<StorageVersionMigration>()?.update_status(&migration).await {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(Action::Done),
        Err(error) => Err(error),
    }
}

fn has_ended(status: &StorageVersionMigrationStatus) -> bool {
    holds(status, SUCCEEDED) || holds(status, FAILED)
}

fn holds(status: &StorageVersionMigrationStatus, (kind, _): Condition) -> bool {
    status.conditions.iter().any(|condition| condition.type_ == kind && condition.status == "True")
}

/// Adds a condition. What has ended no longer runs.
fn add(status: &mut StorageVersionMigrationStatus, condition: Condition, message: &str, now: Time) {
    if condition != RUNNING {
        for running in status.conditions.iter_mut().filter(|it| it.type_ == RUNNING.0) {
            "False".clone_into(&mut running.status);
            running.last_update_time = Some(now);
        }
    }
    let (kind, reason) = condition;
    status.conditions.retain(|it| it.type_ != kind);
    status.conditions.push(MigrationCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        last_update_time: Some(now),
        reason: reason.to_owned(),
        message: message.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture::{Fixture, NAMESPACE},
        product::bootstrap_policy,
    };
    use orch_api::{
        core::v1::ConfigMap,
        rbac::v1::{ClusterRole, ClusterRoleBinding},
    };
    use orch_registry::stored;
    use orch_runtime::Tree;
    use orch_storage::{Body, Change, Key, Revision};
    use serde_json::json;

    const BINDING: &str = "system:controller:storage-version-migrator-controller";

    /// Stores a config map as a server did that began its stored form otherwise.
    async fn store_old(fixture: &Fixture, name: &str) {
        store_with(fixture, name, r#"{"k":"v"}"#).await;
    }

    /// The same, with this data.
    async fn store_with(fixture: &Fixture, name: &str, data: &str) {
        let start = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"test","uid":"u-{name}","resourceVersion":""#
        );
        let at = start.len();
        let text = format!("{start}\"}},\"data\":{data}}}\n");
        let resource = fixture.resource::<ConfigMap>();
        let key = Key::new(resource.storage_name.clone(), NAMESPACE, name);
        let body = Body::new(text.into_bytes(), at);
        fixture.client.core().storage().commit(Change::Create { key, body }).await.unwrap();
    }

    fn state(fixture: &Fixture, name: &str) -> (Revision, Tree) {
        let found = fixture.client.get(fixture.resource::<ConfigMap>(), NAMESPACE, name).unwrap();
        (found.revision(), found.tree)
    }

    fn is_current(fixture: &Fixture, name: &str) -> bool {
        let resource = fixture.resource::<ConfigMap>();
        let snapshot = fixture.client.snapshot(resource);
        stored::is_in_storage_version(resource, snapshot.get(NAMESPACE, name).unwrap()).unwrap()
    }

    async fn migrate(fixture: &Fixture, name: &str, resource: Tree) {
        let spec = json!({"resource": resource});
        fixture.create::<StorageVersionMigration>(json!({"metadata": {"name": name}, "spec": spec})).await;
    }

    /// Types and states of the conditions, once it has ended, and the version.
    async fn ended(fixture: &Fixture, name: &str) -> (Vec<(String, String, String)>, String) {
        let status = || {
            let migrations = fixture.client.api::<StorageVersionMigration>().unwrap();
            migrations.get("", name).unwrap().status
        };
        fixture.until("it has ended", || has_ended(&status())).await;
        let StorageVersionMigrationStatus { conditions, resource_version, .. } = status();
        let told = conditions.into_iter().map(|it| (it.type_, it.status, it.reason)).collect();
        (told, resource_version)
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_stored_in_the_storage_version_is_written() {
        let fixture = Fixture::new().await;
        fixture.create::<ConfigMap>(json!({"metadata": {"name": "new", "namespace": NAMESPACE}})).await;
        for name in ["old", "older"] {
            store_old(&fixture, name).await;
        }
        let (new, (old, before)) = (state(&fixture, "new").0, state(&fixture, "old"));
        assert!(is_current(&fixture, "new") && !is_current(&fixture, "old"));
        let asked = json!({"version": "v1", "resource": "configmaps"});
        migrate(&fixture, "m", asked.clone()).await;
        let version = fixture.client.core().storage().current_revision();
        let (running, _) = fixture.start(vec![Box::new(StorageMigration)]);
        let (told, listed) = ended(&fixture, "m").await;
        let text = |texts: [&str; 3]| (texts[0].to_owned(), texts[1].to_owned(), texts[2].to_owned());
        assert_eq!(
            told,
            [
                text(["Running", "False", "StorageVersionMigrationInProgress"]),
                text(["Succeeded", "True", "StorageVersionMigrationSucceeded"]),
            ]
        );
        assert_eq!(listed, version.to_string());
        assert_eq!(state(&fixture, "new").0, new, "nothing is written without need");
        let (rewritten, after) = state(&fixture, "old");
        assert!(rewritten > old && is_current(&fixture, "old") && is_current(&fixture, "older"));
        assert_eq!(
            (&after["data"], &after["metadata"]["uid"]),
            (&before["data"], &before["metadata"]["uid"])
        );
        // One that ended does not run again.
        store_old(&fixture, "late").await;
        fixture
            .change::<StorageVersionMigration>(("", "m"), "", |it| {
                it["metadata"]["labels"] = json!({"a": "b"});
            })
            .await;
        fixture.settle().await;
        assert!(!is_current(&fixture, "late"));
        // A later one, in the middle of which a server was stopped, goes on.
        migrate(&fixture, "n", asked).await;
        fixture.settle().await;
        assert!(is_current(&fixture, "late"));
        fixture.finish(running).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_was_cut_off_goes_on() {
        let fixture = Fixture::new().await;
        store_old(&fixture, "old").await;
        migrate(&fixture, "m", json!({"version": "v1", "resource": "configmaps"})).await;
        fixture
            .change::<StorageVersionMigration>(("", "m"), "status", |it| {
                it["status"] = json!({"resourceVersion": "7", "conditions": [{
                    "type": "Running", "status": "True", "lastUpdateTime": null, "reason": RUNNING.1,
                }]});
            })
            .await;
        let (running, _) = fixture.start(vec![Box::new(StorageMigration)]);
        let (told, listed) = ended(&fixture, "m").await;
        assert_eq!((told.len(), listed.as_str()), (2, "7"));
        assert!(is_current(&fixture, "old"));
        fixture.finish(running).await;
    }

    /// Some are damaged, or refused as no server would write them today.
    #[tokio::test(start_paused = true)]
    async fn one_that_cannot_be_written_keeps_no_other_from_it() {
        let fixture = Fixture::new().await;
        store_with(&fixture, "a-damaged", "[").await;
        store_with(&fixture, "b-refused", r#"{"no key!":"v"}"#).await;
        let many: Vec<String> = (0..2 * AT_A_TIME).map(|number| format!("old-{number}")).collect();
        for name in &many {
            store_old(&fixture, name).await;
        }
        migrate(&fixture, "m", json!({"version": "v1", "resource": "configmaps"})).await;
        let (running, _) = fixture.start(vec![Box::new(StorageMigration)]);
        let (told, _) = ended(&fixture, "m").await;
        assert_eq!(told.last().unwrap().0, "Failed");
        assert!(many.iter().all(|name| is_current(&fixture, name)));
        let migrations = fixture.client.api::<StorageVersionMigration>().unwrap();
        let status = migrations.get("", "m").unwrap().status;
        assert_eq!(
            status.conditions.last().unwrap().message,
            "objects that cannot be stored in the storage version: 2, the first is \"test/a-damaged\": see \
             the log of the server"
        );
        fixture.finish(running).await;
    }

    /// It works with the rights of its account; without them it waits, and ends well when they are back.
    #[tokio::test(start_paused = true)]
    async fn a_right_that_is_missing_may_come() {
        let fixture = Fixture::new().await;
        store_old(&fixture, "old").await;
        let (running, monitor) = fixture.start_under_roles(vec![Box::new(StorageMigration)]).await;
        fixture.delete::<ClusterRoleBinding>(("", BINDING)).await;
        migrate(&fixture, "m", json!({"version": "v1", "resource": "configmaps"})).await;
        fixture.until("it is refused", || monitor.stats()[0].retries > 3).await;
        // A part of them: it may tell, and not write.
        let rules = json!([{
            "apiGroups": ["storagemigration.orch.io"],
            "resources": ["storageversionmigrations/status"], "verbs": ["update"],
        }]);
        fixture.create::<ClusterRole>(json!({"metadata": {"name": "part"}, "rules": rules})).await;
        let account = json!([{
            "kind": "ServiceAccount", "name": "storage-version-migrator-controller",
            "namespace": orch_api::ORCH.namespace_system,
        }]);
        let part = json!({"apiGroup": "rbac.authorization.orch.io", "kind": "ClusterRole", "name": "part"});
        let binding = json!({"metadata": {"name": "part"}, "roleRef": part, "subjects": account});
        fixture.create::<ClusterRoleBinding>(binding).await;
        let before = monitor.stats()[0].retries;
        fixture.until("it is refused again", || monitor.stats()[0].retries > before + 8).await;
        let status = || fixture.client.api::<StorageVersionMigration>().unwrap().get("", "m").unwrap().status;
        assert!(holds(&status(), RUNNING) && !has_ended(&status()), "{:?}", status());
        assert!(!is_current(&fixture, "old"));

        bootstrap_policy::reconcile(&fixture.client).await.unwrap();
        let (told, _) = ended(&fixture, "m").await;
        assert_eq!(told.last().unwrap().0, "Succeeded");
        assert!(is_current(&fixture, "old"));
        fixture.finish(running).await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_served_cannot_be_migrated() {
        let fixture = Fixture::new().await;
        let reviews = "subjectaccessreviews";
        for (name, resource) in [
            ("unknown", json!({"group": "example.com", "version": "v1", "resource": "things"})),
            ("version", json!({"version": "v9", "resource": "configmaps"})),
            ("virtual", json!({"group": "authorization.orch.io", "version": "v1", "resource": reviews})),
        ] {
            migrate(&fixture, name, resource).await;
        }
        for (name, group) in [("own", "coordination.orch.io"), ("other", "coordination.k8s.io")] {
            migrate(&fixture, name, json!({"group": group, "version": "v1", "resource": "leases"})).await;
        }
        let (running, _) = fixture.start(vec![Box::new(StorageMigration)]);
        for (name, expected) in [
            ("unknown", "Failed"),
            ("version", "Failed"),
            ("virtual", "Failed"),
            ("own", "Succeeded"),
            ("other", "Succeeded"),
        ] {
            let (told, _) = ended(&fixture, name).await;
            assert_eq!(told.last().unwrap().0, expected, "{name}");
        }
        fixture.finish(running).await;
    }
}
